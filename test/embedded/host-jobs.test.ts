import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { GitCli, withToken } from '../clients/git-cli.ts';
import { Host, ROOT_TOKEN } from '../crash/host.ts';
import { type Answer, request } from '../harness/service.ts';

let DATA_DIR: string;
let host: Host | undefined;

beforeEach(() => {
  DATA_DIR = mkdtempSync(join(tmpdir(), 'lemnos-jobs-'));
});
afterEach(async () => {
  await host?.kill();
  rmSync(DATA_DIR, { recursive: true, force: true });
});

const call = (method: string, path: string, json?: unknown): Promise<Answer> =>
  request(`${host!.url}/api/v4${path}`, method, {
    headers: { 'PRIVATE-TOKEN': ROOT_TOKEN, 'Content-Type': 'application/json' },
    body: json === undefined ? undefined : JSON.stringify(json),
  });

test('while repositories are maintained, searches find what is new, mails are sent and pushes go on', async () => {
  host = await Host.start(DATA_DIR);
  for (const name of ['one', 'two', 'three', 'four', 'five', 'six'])
    expect((await call('POST', '/projects', { name, initialize_with_readme: true })).status).toBe(201);
  await host.stop();

  // Each maintenance waits for an hour.
  host = await Host.start(DATA_DIR, 'test/embedded/slow-host.ts');
  for (const name of ['one', 'two', 'three', 'four', 'five', 'six'])
    expect((await call('POST', `/projects/root%2F${name}/housekeeping`)).status).toBe(201);
  const ada = { username: 'ada', name: 'Ada', email: 'ada@example.com', reset_password: true };
  expect((await call('POST', '/users', ada)).status).toBe(201);

  const patience = { timeout: 30_000, interval: 200 };
  await expect
    .poll(async () => (await call('GET', '/search?scope=users&search=ada')).body.length, patience)
    .toBe(1);
  await expect.poll(() => readdirSync(join(DATA_DIR, 'mail')).length, patience).toBeGreaterThan(0);

  const { id } = (await call('POST', '/projects', { name: 'seven' })).body;
  using git = new GitCli();
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', 'seven');
  await git.ok(git.path('seven'), 'commit', '--quiet', '--allow-empty', '-m', 'first');
  const remote = withToken(host.url, 'root/seven', ROOT_TOKEN);
  await git.ok(git.path('seven'), 'push', '--quiet', remote, 'main');
  await expect
    .poll(async () => (await call('GET', `/projects/${id}/events?action=pushed`)).body.length, patience)
    .toBe(1);
}, 120_000);
