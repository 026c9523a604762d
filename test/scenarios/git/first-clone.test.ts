/** The pack of a clone of depth 1 is kept after much was pushed, before anybody asks for it. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { maintainRepository } from '../../../lib/domain/maintenance/run.ts';
import { ARCHIVES } from '../../../lib/store/table/schema.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { storeOf } from '../../harness/world.ts';

const git = new GitCli();
const { service, world } = ownWorld();
afterAll(() => {
  service.host.s3.onOperation = undefined;
  git[Symbol.dispose]();
});

const url = () => withToken(service.url, 'owner/private-thing', world.tokens.owner);
const work = git.path('work');

/** So many files that maintenance lists those of the tip, and so large that clones are kept. */
async function pushMuch(name: string, files: number): Promise<void> {
  mkdirSync(join(work, name));
  writeFileSync(join(work, name, 'large'), randomBytes(5 << 20));
  for (let i = 0; i < files; i++) writeFileSync(join(work, name, `${i}`), `${name} ${i}\n`);
  await git.ok(work, 'add', '.');
  await git.ok(work, 'commit', '--quiet', '-m', name);
  await git.ok(work, 'push', '--quiet', url(), 'main');
}

async function maintained(): Promise<string[]> {
  const project = await deps().store.projects.byPath('owner/private-thing');
  const order = { repositoryId: project!.repositoryId, collect: false, refs: false };
  await maintainRepository(deps(), order, {
    deadline: Date.now() + 60_000,
    stopsAt: Date.now() + 900_000,
  });
  const { keys } = await storeOf().blobs.list(ARCHIVES);
  return keys.filter((key) => key.includes('/pack-'));
}

test('after much was pushed the first shallow clone is copied from what maintenance kept, and once is enough', async () => {
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', work);
  await pushMuch('first', 1100);
  await expect.poll(maintained).toHaveLength(3);
  const kept = await maintained();
  const read = new Set<string>();
  service.host.s3.onOperation = ({ operation, key, status }) => {
    const name = String((operation as { name?: string }).name ?? operation);
    if (name === 'GetObject' && status < 300 && key?.includes('/pack-')) read.add(key);
  };
  const at = await git.clone(url(), 'clone', '--depth=1');
  await git.ok(at, 'fsck', '--strict');
  expect((await git.ok(at, 'ls-files')).split('\n').filter(Boolean)).toHaveLength(1101);
  expect([...read]).toEqual([expect.stringMatching(/pack-[0-9a-f]{64}$/)]);
  await pushMuch('second', 600);
  await maintained();
  expect(await maintained()).toEqual(kept);
});
