/** Of how many addresses at a time one may come, by the interface and by Git; and what it costs. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { fetch as events } from '../../../functions/events.ts';
import { fetch as git } from '../../../functions/git.ts';
import { fetch as settings } from '../../../functions/settings.ts';
import { fetch as users } from '../../../functions/users.ts';
import { UserAddresses } from '../../../lib/store/rate-limits/user-addresses.ts';
import { type Service, startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';

let service: Service;
let names = 0;
type Person = { readonly id: number; readonly username: string; readonly token: string };
let ada: Person;
beforeAll(async () => {
  service = await startService({ background: false });
});
afterAll(() => service.stop());
beforeEach(async () => {
  ada = await service.user(`ada-${++names}`);
  await limit({
    unique_ips_limit_enabled: true,
    unique_ips_limit_per_user: 2,
    unique_ips_limit_time_window: 3600,
  });
});

const limit = (json: Record<string, unknown>) => changeSettings(service, json);
/** A request from an address; the answer's status. */
async function from(
  address: string,
  {
    fetch = users,
    path = '/api/v4/user',
    token = ada.token,
    headers = {},
    method = 'GET',
    body,
  }: {
    fetch?: typeof users;
    path?: string;
    token?: string;
    headers?: Record<string, string>;
    method?: string;
    body?: string;
  } = {},
) {
  const request = new Request(`http://lemnos.test${path}`, {
    method,
    headers: { ...(token === '' ? {} : { 'PRIVATE-TOKEN': token }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const answer = await fetch(request, { sourceIp: address, baseUrl: 'http://lemnos.test' });
  const text = await answer.text();
  return answer.status === 403 ? [403, JSON.parse(text).message] : answer.status;
}
const REFUSED = [403, '403 Forbidden - Too many IP addresses'];

test('a new address beyond the per-user limit is refused on every kind of request, known ones are not', async () => {
  expect([await from('192.0.2.1'), await from('192.0.2.2')]).toEqual([200, 200]);
  expect(await from('192.0.2.3')).toEqual(REFUSED);
  expect(await from('192.0.2.3', { fetch: events, path: '/api/v4/events' })).toEqual(REFUSED);
  expect([await from('192.0.2.1'), await from('192.0.2.2')]).toEqual([200, 200]);
  expect(await from('192.0.2.1', { fetch: events, path: '/api/v4/events' })).toBe(200);
  // It is a person's, whichever token; and nobody else's.
  const { body } = await service.call('POST', `/users/${ada.id}/personal_access_tokens`, {
    token: service.rootToken,
    json: { name: 'other', scopes: ['api'] },
  });
  expect(await from('192.0.2.3', { token: body.token })).toEqual(REFUSED);
  const bob = await service.user(`bob-${++names}`);
  expect(await from('192.0.2.3', { token: bob.token })).toBe(200);
  expect(await from('192.0.2.3', { token: '', path: '/api/v4/users?username=x' })).toBe(200);
});

test('the per-user address limit applies to Git too', async () => {
  const { body: project } = await service.call('POST', '/projects', {
    token: ada.token,
    json: { name: 'p', initialize_with_readme: true },
  });
  const basic = { Authorization: `Basic ${btoa(`ada:${ada.token}`)}` };
  const refs = async (address: string) => {
    const url = `http://lemnos.test/${project.path_with_namespace}.git/info/refs?service=git-upload-pack`;
    const answer = await git(new Request(url, { headers: basic }), { sourceIp: address, baseUrl: '' });
    return [answer.status, answer.status === 403 ? await answer.text() : ''];
  };
  // Where the service's own requests came from counts as well.
  expect(await refs('192.0.2.1')).toEqual([200, '']);
  expect(await refs('192.0.2.2')).toEqual([403, '403 Forbidden - Too many IP addresses\n']);
});

test('addresses of one IPv6 network count as one, and so does an IPv4-mapped address', async () => {
  expect([await from('2001:db8::1'), await from('2001:db8::ffff'), await from('::ffff:192.0.2.9')]).toEqual([
    200, 200, 200,
  ]);
  expect(await from('192.0.2.9')).toBe(200);
  expect(await from('2001:db8:1::1')).toEqual(REFUSED);
});

test('an address not seen within the window is forgotten', async () => {
  const addresses = new UserAddresses(deps().store.table);
  const [few, start] = [{ addresses: 2, seconds: 600 }, Date.now()];
  const at = (seconds: number) => new Date(start + seconds * 1000);
  const asked = (address: string, seconds: number) => addresses.admits(7_000_001, address, few, at(seconds));
  expect([await asked('a', 0), await asked('b', 300), await asked('c', 301)]).toEqual([true, true, false]);
  // A refused address is not recorded, and is admitted when another's time is over.
  expect([await asked('c', 599), await asked('c', 601)]).toEqual([false, true]);
  expect([await asked('a', 602), await asked('b', 800), await asked('a', 1202)]).toEqual([false, true, true]);
});

test('of many simultaneous new addresses only the limit is admitted, in one process or several', async () => {
  const one = new UserAddresses(deps().store.table);
  const other = new UserAddresses(deps().store.table);
  const few = { addresses: 3, seconds: 600 };
  const asked = Array.from({ length: 4 }, (_, n) =>
    (n % 2 === 0 ? one : other).admits(7_000_002, `address ${n}`, few, new Date()),
  );
  expect((await Promise.all(asked)).filter((admitted) => admitted)).toHaveLength(3);
});

test.each([10, 40])('of a hundred new addresses in four processes exactly %i are admitted', async (most) => {
  const several = Array.from({ length: 4 }, () => new UserAddresses(deps().store.table));
  const limit = { addresses: most, seconds: 600 };
  const asked = Array.from({ length: 100 }, (_, n) =>
    several[n % 4]!.admits(7_000_100 + most, `address ${n}`, limit, new Date()),
  );
  expect((await Promise.all(asked)).filter((admitted) => admitted)).toHaveLength(most);
});

test('a limit of one, an empty window and a full row work; when disabled, nothing is read', async () => {
  await limit({ unique_ips_limit_per_user: 1 });
  expect([await from('192.0.2.1'), await from('192.0.2.2')]).toEqual([200, REFUSED]);
  await limit({ unique_ips_limit_time_window: 0 });
  expect(await from('192.0.2.2')).toBe(200);
  await limit({ unique_ips_limit_time_window: 2_147_483_647, unique_ips_limit_per_user: 2_147_483_647 });
  expect(await from('192.0.2.3')).toBe(200);
  await limit({ unique_ips_limit_enabled: false, unique_ips_limit_per_user: 1 });
  expect(await from('192.0.2.4')).toBe(200);
  const row = await deps().store.table.get({
    pk: `RATE#addresses#${String(ada.id).padStart(12, '0')}`,
    sk: 'ADDRESSES',
  } as never);
  expect(Object.keys(row!['seen'] as object)).toEqual(['address 192.0.2.1', 'address 192.0.2.3']);
});

test('administrators are exempt from the address limit, so that they can change it', async () => {
  await limit({ unique_ips_limit_per_user: 1 });
  const token = service.rootToken;
  expect([await from('192.0.2.1', { token }), await from('192.0.2.2', { token })]).toEqual([200, 200]);
  const changed = await from('192.0.2.3', {
    fetch: settings,
    token,
    method: 'PUT',
    path: '/api/v4/application/settings?unique_ips_limit_per_user=5',
  });
  expect(changed).toBe(200);
});

test('blocked users get their own error first, and invalid tokens are not counted', async () => {
  await from('192.0.2.1');
  await from('192.0.2.2');
  expect(await from('192.0.2.3', { token: 'glpat-nobodys-own-token-1' })).toBe(401);
  await service.call('POST', `/users/${ada.id}/block`, { token: service.rootToken });
  expect(await from('192.0.2.3')).toEqual([403, '403 Forbidden - Your account has been blocked.']);
});
