import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownService } from '../harness/own-service.ts';
import { GitCli, withToken } from './git-cli.ts';

/** The installed client; without it these tests are skipped. `.ci/run` installs it where it may. */
const version = (() => {
  try {
    return execFileSync('git', ['lfs', 'version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
})();

describe.skipIf(version === undefined)('git-lfs', () => {
  const service = ownService();
  const git = new GitCli();
  let owner: { token: string };
  let developer: { token: string };
  let url: (token: string) => string;
  const large = randomBytes(3_000_000);

  beforeAll(async () => {
    owner = await service.user('ada');
    const other = await service.user('bob');
    developer = other;
    const { body } = await service.call('POST', '/projects', {
      token: owner.token,
      json: { name: 'models' },
    });
    const json = { user_id: other.id, access_level: 40 };
    await service.call('POST', `/projects/${body.id}/members`, { token: owner.token, json });
    url = (token) => withToken(service.url, 'ada/models', token);
    await git.ok(git.home, 'lfs', 'install', '--skip-repo');
  });
  afterAll(() => {
    git[Symbol.dispose]();
  });

  async function work(token: string, name: string): Promise<string> {
    const at = git.path(name);
    await git.ok(git.home, 'clone', '--quiet', url(token), at);
    await git.ok(at, 'lfs', 'install', '--local');
    return at;
  }

  test('pushes, and gets back in another clone, the files that it tracks', async () => {
    const at = await work(owner.token, 'first');
    await git.ok(at, 'checkout', '--quiet', '-B', 'main');
    await git.ok(at, 'lfs', 'track', '--lockable', '*.bin');
    writeFileSync(join(at, 'large.bin'), large);
    for (let i = 0; i < 20; i++) writeFileSync(join(at, `${i}.bin`), randomBytes(1000));
    await git.ok(at, 'add', '.');
    await git.ok(at, 'commit', '--quiet', '-m', 'large files');
    await git.ok(at, 'push', '--quiet', 'origin', 'main');
    expect(await git.ok(at, 'cat-file', '-p', 'HEAD:large.bin')).toContain('git-lfs.github.com/spec/v1');
    const clone = await work(developer.token, 'second');
    expect(readFileSync(join(clone, 'large.bin')).equals(large)).toBe(true);
    await git.ok(clone, 'lfs', 'fsck');
  });

  test('locks files: others cannot push changes of them before they are unlocked', async () => {
    const mine = git.path('first');
    const theirs = git.path('second');
    await git.ok(mine, 'lfs', 'lock', 'large.bin');
    expect(await git.fails(theirs, 'lfs', 'lock', 'large.bin')).toMatch(/already locked|lock.*exists/i);
    expect(await git.ok(theirs, 'lfs', 'locks')).toContain('large.bin');
    await git.ok(theirs, 'config', 'lfs.locksverify', 'true');
    await git.ok(theirs, '-c', 'lfs.setlockablereadonly=false', 'checkout', '--quiet', '-B', 'main');
    await git.ok(theirs, 'rm', '--quiet', 'large.bin');
    writeFileSync(join(theirs, 'large.bin'), randomBytes(5000));
    await git.ok(theirs, 'add', 'large.bin');
    await git.ok(theirs, 'commit', '--quiet', '-m', 'another large file');
    expect(await git.fails(theirs, 'push', 'origin', 'main')).toContain('Cannot update locked files');
    await git.ok(mine, 'lfs', 'unlock', 'large.bin');
    await git.ok(theirs, 'push', '--quiet', 'origin', 'main');
  });

  test('is told why it may not upload', async () => {
    const { token } = await service.user('eve');
    const at = git.path('first');
    const refused = await git.fails(at, 'lfs', 'push', '--all', url(token));
    expect(refused).toMatch(/not found|404/i);
  });
});
