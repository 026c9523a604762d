import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from '../../harness/service.ts';
import { expiredToken, storeOf } from '../../harness/world.ts';

let service: Service;
let user: { id: number; token: string };
beforeAll(async () => {
  service = await startService({ limits: true });
  user = await service.user('someone');
});
afterAll(() => service.stop());

test('the gateway renames WWW-Authenticate', async () => {
  const token = await expiredToken(storeOf(), user.id);
  const { status, headers } = await service.call('GET', '/user', { token });
  expect([status, headers.get('www-authenticate')]).toEqual([401, null]);
  expect(headers.get('x-amzn-remapped-www-authenticate')).toMatch(
    /^Bearer realm="The API", error="invalid_token"/,
  );
});

test.each([
  [11 * 1024 * 1024, 413],
  [5 * 1024 * 1024, 413],
  [4 * 1024 * 1024, 400],
])('a request body of %i bytes is answered with %i', async (size, status) => {
  const raw = Buffer.alloc(size, 0x20);
  const headers = { 'Content-Type': 'application/json' };
  const answer = await service.call('POST', '/projects', { token: user.token, raw, headers });
  expect(answer.status).toBe(status);
  if (status === 413) expect(answer.body).toEqual({ message: '413 Request Entity Too Large' });
  // The connection, and the service, are good for the next one.
  expect((await service.call('GET', '/user', { token: user.token })).status).toBe(200);
});

test('headers stay below the gateway’s limit: a Link header that is too long is left out', async () => {
  await Promise.all(
    ['a', 'b'].map((name) => service.call('POST', '/projects', { token: user.token, json: { name } })),
  );
  for (const length of [100, 900, 1000, 1100, 4000, 9000]) {
    const path = `/projects?per_page=1&owned=true&x=${'y'.repeat(length)}`;
    const { status, headers, body } = await service.call('GET', path, { token: user.token });
    expect([length, status, body.length]).toEqual([length, 200, 1]);
    const size = [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0);
    expect(size).toBeLessThan(10_240);
    expect([length, headers.get('x-next-page'), headers.get('x-total')]).toEqual([length, '2', '2']);
    const link = headers.get('link');
    if (length === 100) expect(link).toContain('rel="next"');
    // All of it or nothing: half a URL is a wrong one.
    if (link !== null) expect(link).toMatch(/rel="last"$/);
    if (length >= 4000) expect(link).toBeNull();
  }
});

test('behind a gateway errors, HEAD, encoding and deletion are answered as without one', async () => {
  expect((await service.call('GET', '/nothing')).body).toEqual({ error: '404 Not Found' });
  expect((await service.call('GET', '/user')).body).toEqual({ message: '401 Unauthorized' });
  const head = await service.call('HEAD', '/projects', { token: user.token });
  expect([head.status, head.body, head.headers.get('x-total')]).toEqual([200, null, '2']);
  const odd = await service.call('GET', '/projects?search=%C3%BC%26%3D%2B', { token: user.token });
  expect(odd.headers.get('link')).toContain('search=%C3%BC%26%3D%2B');
  const removed = await service.call('DELETE', '/projects/someone%2Fa', { token: user.token });
  expect([removed.status, removed.body]).toEqual([202, { message: '202 Accepted' }]);
});
