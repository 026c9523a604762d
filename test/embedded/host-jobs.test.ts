import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { GitCli, withToken } from '../clients/git-cli.ts';
import { Host, ROOT_TOKEN } from '../crash/host.ts';
import { ownHost } from './own-host.ts';

const own = ownHost('jobs');
const { call } = own;

test('while repositories are maintained, searches find what is new, mails are sent and pushes go on', async () => {
  own.host = await Host.start(own.dataDir);
  for (const name of ['one', 'two', 'three', 'four', 'five', 'six'])
    expect((await call('POST', '/projects', { name, initialize_with_readme: true })).status).toBe(201);
  await own.host.stop();

  // Each maintenance waits for an hour.
  own.host = await Host.start(own.dataDir, 'test/embedded/slow-host.ts');
  for (const name of ['one', 'two', 'three', 'four', 'five', 'six'])
    expect((await call('POST', `/projects/root%2F${name}/housekeeping`)).status).toBe(201);
  const ada = { username: 'ada', name: 'Ada', email: 'ada@example.com', reset_password: true };
  expect((await call('POST', '/users', ada)).status).toBe(201);

  const patience = { interval: 200 };
  await expect
    .poll(async () => (await call('GET', '/search?scope=users&search=ada')).body.length, patience)
    .toBe(1);
  await expect.poll(() => readdirSync(join(own.dataDir, 'mail')).length, patience).toBeGreaterThan(0);

  const { id } = (await call('POST', '/projects', { name: 'seven' })).body;
  using git = new GitCli();
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', 'seven');
  await git.ok(git.path('seven'), 'commit', '--quiet', '--allow-empty', '-m', 'first');
  const remote = withToken(own.host.url, 'root/seven', ROOT_TOKEN);
  await git.ok(git.path('seven'), 'push', '--quiet', remote, 'main');
  await expect
    .poll(async () => (await call('GET', `/projects/${id}/events?action=pushed`)).body.length, patience)
    .toBe(1);
});
