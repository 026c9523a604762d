import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { type Answer, request } from '../../harness/service.ts';
import type { Who } from '../../harness/world.ts';

const git = new GitCli();
const { service, world } = ownWorld();

beforeAll(async () => {
  const work = git.path('work');
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', work);
  // Larger than what is soon cloned.
  writeFileSync(join(work, 'large.bin'), randomBytes(11 << 20));
  await git.ok(work, 'add', '.');
  await git.ok(work, 'commit', '--quiet', '-m', 'a large file');
  await git.ok(work, 'push', '--quiet', url(), 'main');
});
afterAll(() => {
  git[Symbol.dispose]();
});

const url = () => withToken(service.url, 'owner/private-thing', world.tokens.owner);

function ask(who: Who): Promise<Answer> {
  const token = world.tokens[who];
  return request(`${service.url}/owner/private-thing.git/git-upload-pack`, 'POST', {
    headers: {
      'Content-Type': 'application/x-git-upload-pack-request',
      'Git-Protocol': 'version=2',
      ...(token === undefined ? {} : { Authorization: `Basic ${btoa(`any:${token}`)}` }),
    },
    body: '0017command=bundle-uri\n00010000',
  });
}

test('clones of a private repository above the size limit get a bundle from the bucket, readers only, once one was asked for', async () => {
  const bundles = async () => {
    const token = world.tokens.owner!;
    const { body } = await service.call('GET', '/projects/owner%2Fprivate-thing', { token });
    const { repositoryId } = (await world.store.projects.get(body.id))!;
    const { derived } = await world.store.repositories.open(repositoryId).listing();
    return derived.filter(({ kind }) => kind === 'bundle').length;
  };
  expect([(await ask('owner')).body, await bundles()]).toEqual(['0000', 0]);
  const told = async () => /bundle\.default\.uri=(.*?)0000$/.exec((await ask('owner')).body)?.[1];
  const uri = await vi.waitUntil(told, { timeout: 60_000, interval: 100 });
  expect(uri).toContain('X-Amz-Expires=900');
  const clone = await git.clone(url(), 'clone', `--bundle-uri=${uri}`);
  expect(await git.ok(clone, 'rev-parse', 'refs/bundles/main')).toBe(
    await git.ok(clone, 'rev-parse', 'HEAD'),
  );
  await git.ok(clone, 'fsck', '--strict');
  expect((await ask('anonymous')).status).toBe(401);
  expect((await ask('stranger')).status).toBe(404);
});
