/** What an alert costs, and how long a key that is no longer good is taken. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { alertEndpoint } from '../../../lib/domain/alerts/receive.ts';
import { RoundTrips } from '../../harness/round-trips.ts';
import { request, type Service, startService } from '../../harness/service.ts';
import { storeOf } from '../../harness/world.ts';

let service: Service;
let owner: { token: string };
beforeAll(async () => {
  service = await startService({ background: false });
  owner = await service.user('owner');
});
afterAll(() => service.stop());

async function integrated(name: string) {
  const { token } = owner;
  const { body: project } = await service.call('POST', '/projects', { token, json: { name } });
  const at = `/projects/${project.id}/alert_integrations`;
  const { body } = await service.call('POST', at, { token, json: { name: 'x' } });
  const path = `${at}/${body.id}`;
  return { ...body, path, fullPath: project.path_with_namespace as string } as {
    readonly url: string;
    readonly authorization_key: string;
    readonly endpoint_identifier: string;
    readonly path: string;
    readonly fullPath: string;
  };
}

test('an alert is accepted in one round trip, which is into the queue; the first one of a tool in two', async () => {
  const made = await integrated('watched');
  const trips = RoundTrips.of(service.host);
  const send = async () => {
    const { calls } = await trips.of(async () => {
      const headers = { Authorization: `Bearer ${made.authorization_key}` };
      expect((await request(made.url, 'POST', { headers, body: '{"title":"x"}' })).status).toBe(200);
    });
    return calls;
  };
  await send();
  await service.call('PUT', made.path, { token: owner.token, json: { name: 'y' } });
  expect(await send()).toHaveLength(2);
  const again = await send();
  expect(again).toHaveLength(1);
  expect(again.flat()).toHaveLength(1);
});

test('another process takes a key that was replaced for five seconds at most, and never what it refused', async () => {
  const made = await integrated('rotated');
  let now = Date.now();
  // A process of its own: it shares nothing with the service but the table.
  const other = { ...deps(), store: storeOf(), now: () => new Date(now) };
  const address = { fullPath: made.fullPath, endpoint: made.endpoint_identifier };
  const takes = async (key: string) => {
    const found = await alertEndpoint(other, address, key);
    return typeof found === 'string' ? found : 'taken';
  };
  expect(await takes(made.authorization_key)).toBe('taken');
  const rotated = await service.call('POST', `${made.path}/rotate_key`, { token: owner.token });
  const headers = { Authorization: `Bearer ${made.authorization_key}` };
  // The process that replaced it knows at once.
  expect((await request(made.url, 'POST', { headers, body: '{}' })).status).toBe(401);
  now += 4_999;
  expect(await takes(made.authorization_key)).toBe('taken');
  now += 1;
  expect(await takes(made.authorization_key)).toBe('unauthorized');
  expect(await takes(rotated.body.authorization_key)).toBe('taken');
  const { token } = owner;
  await service.call('PUT', made.path, { token, json: { active: false } });
  now += 5_000;
  expect(await takes(rotated.body.authorization_key)).toBe('forbidden');
  await service.call('PUT', made.path, { token, json: { active: true } });
  expect(await takes(rotated.body.authorization_key)).toBe('taken');
});
