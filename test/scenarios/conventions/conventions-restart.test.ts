import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ServiceProcess, startProcess } from '../../harness/process.ts';

const FIRST = 'the-first-token-of-root';
const SECOND = 'another-token-of-root-1';
let dataDir: string;
let service: ServiceProcess | undefined;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'lemnos-restart-'));
});
afterAll(async () => {
  await service?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = async (environment: Record<string, string>) => {
  await service?.stop();
  service = undefined;
  service = await startProcess({ DATA_DIR: dataDir, ...environment });
  return service;
};

test('data, counters and the replaced first token survive a restart', async () => {
  let running = await start({ ROOT_TOKEN: FIRST });
  const json = { username: 'keeper', name: 'K', email: 'k@example.com', password: 'long enough' };
  const user = (await running.call('POST', '/users', { token: FIRST, json })).body;
  const tokens = `/users/${user.id}/personal_access_tokens`;
  const given = { token: FIRST, json: { name: 'kept', scopes: ['api'] } };
  const token = (await running.call('POST', tokens, given)).body.token as string;
  const project = (await running.call('POST', '/projects', { token, json: { name: 'Kept' } })).body;
  const doomed = (await running.call('POST', '/projects', { token, json: { name: 'Doomed' } })).body;
  await running.call('DELETE', `/projects/${doomed.id}`, { token });
  const revoked = (await running.call('POST', tokens, given)).body;
  await running.call('DELETE', `/personal_access_tokens/${revoked.id}`, { token });
  const path = `/projects/${project.id}/members`;
  await running.call('POST', path, { token, json: { user_id: 1, access_level: 30 } });
  const before = await running.call('GET', '/projects/keeper%2Fkept', { token });

  running = await start({ ROOT_TOKEN: SECOND });
  const after = await running.call('GET', '/projects/keeper%2Fkept', { token });
  const here = (body: unknown, url: string) =>
    JSON.parse(JSON.stringify(body).replaceAll(new URL(url).host, 'host'));
  expect(after.status).toBe(200);
  expect({ ...here(after.body, running.url), ssh_url_to_repo: '' }).toEqual({
    ...here(before.body, project.web_url),
    ssh_url_to_repo: '',
  });
  expect((await running.call('GET', `/projects/${doomed.id}`, { token })).status).toBe(404);
  expect((await running.call('GET', '/user', { token: revoked.token })).body).toMatchObject({
    error: 'invalid_token',
  });
  expect((await running.call('GET', `${path}/1`, { token })).body).toMatchObject({ access_level: 30 });
  expect((await running.call('POST', '/users', { token: SECOND, json })).status).toBe(409);

  // Ids are never given twice, not even those of what is gone.
  const next = (await running.call('POST', '/projects', { token, json: { name: 'Next' } })).body;
  expect(next.id).toBeGreaterThan(doomed.id);
  const another = { ...json, username: 'next', email: 'next@example.com' };
  const nextUser = (await running.call('POST', '/users', { token: SECOND, json: another })).body;
  expect(nextUser.id).toBeGreaterThan(user.id);
  expect(nextUser.namespace_id).toBeGreaterThan(user.id);
  const nextToken = (await running.call('POST', tokens, { ...given, token: SECOND })).body;
  expect(nextToken.id).toBeGreaterThan(revoked.id);

  const old = await running.call('GET', '/user', { token: FIRST });
  expect([old.status, old.body]).toMatchObject([401, { error: 'invalid_token' }]);
  expect((await running.call('GET', '/user', { token: SECOND })).body).toMatchObject({
    username: 'root',
    id: 1,
  });

  // Without a wish the token stays, and none is told.
  running = await start({});
  expect(running.said).not.toMatch(/glpat-|shown only now/);
  expect((await running.call('GET', '/user', { token: SECOND })).status).toBe(200);
  expect((await running.call('GET', '/user', { token: FIRST })).status).toBe(401);

  // A token that was replaced is not taken back.
  await service?.stop();
  service = undefined;
  await expect(startProcess({ DATA_DIR: dataDir, ROOT_TOKEN: FIRST })).rejects.toThrow('ended with 1');
});

test('a new instance without a configured root token prints a generated one once', async () => {
  const fresh = mkdtempSync(join(tmpdir(), 'lemnos-fresh-'));
  try {
    const running = await startProcess({ DATA_DIR: fresh });
    const token = /glpat-[A-Za-z0-9_-]{20}/.exec(running.said)?.[0];
    expect(token).toBeDefined();
    expect((await running.call('GET', '/user', { token: token! })).body).toMatchObject({
      username: 'root',
      is_admin: true,
    });
    await running.stop();
    const again = await startProcess({ DATA_DIR: fresh });
    expect(again.said).not.toContain('glpat-');
    expect((await again.call('GET', '/user', { token: token! })).status).toBe(200);
    await again.stop();
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
});
