/** Packs of shallow clones, and others that are asked for twice, are kept, and sent from the copy to whoever asks for the same. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ARCHIVES } from '../../../lib/store/table/schema.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { storeOf } from '../../harness/world.ts';

const git = new GitCli();
const { service, world } = ownWorld();
let clones = 0;
/** The copies that were read. */
let read: string[] = [];

beforeAll(async () => {
  const work = git.path('work');
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', work);
  await commit('first');
  await commit('second');
  await git.ok(work, 'push', '--quiet', url(), 'main');
  service.host.s3.onOperation = ({ operation, key, status }) => {
    const name = String((operation as { name?: string }).name ?? operation);
    if (name === 'GetObject' && status === 200 && key?.includes('/pack-')) read.push(key);
  };
});
afterEach(() => {
  read = [];
});
afterAll(() => {
  service.host.s3.onOperation = undefined;
  git[Symbol.dispose]();
});

const url = (who: 'owner' | 'stranger' = 'owner') =>
  withToken(service.url, 'owner/private-thing', world.tokens[who]);
/** Two of these are more than what is made as fast as it is read. */
async function commit(name: string): Promise<void> {
  writeFileSync(join(git.path('work'), name), randomBytes(3 << 20));
  await git.ok(git.path('work'), 'add', '.');
  await git.ok(git.path('work'), 'commit', '--quiet', '-m', name);
}
async function clone(...options: string[]): Promise<{ files: string; refs: string }> {
  const at = await git.clone(url(), `clone-${clones++}`, ...options);
  await git.ok(at, 'fsck', '--strict');
  return {
    files: await git.ok(at, 'ls-tree', '-r', 'HEAD'),
    refs: await git.ok(at, 'for-each-ref', '--format=%(objectname) %(refname)'),
  };
}
async function copies(): Promise<string[]> {
  const { keys } = await storeOf().blobs.list(ARCHIVES);
  return keys.filter((key) => key.includes('/pack-'));
}
/** Copies of packs, without what is kept of shallow ones besides. */
const packs = async () => (await copies()).filter((key) => /[0-9a-f]{64}$/.test(key));

test('a shallow clone of which little is kept leaves a copy with an index, and later ones are answered with it', async () => {
  const first = await clone('--depth=1');
  expect((await copies()).map((key) => key.replace(/.*\/pack-[0-9a-f]{64}/, 'pack'))).toEqual([
    'pack',
    'pack-index',
    expect.stringMatching(/\/pack-latest$/),
  ]);
  read = [];
  const [second, third] = [await clone('--depth=1'), await clone('--depth=1')];
  expect(new Set(read)).toEqual(new Set(await packs()));
  expect([second, third]).toEqual([first, first]);
  expect(await git.ok(git.path('clone-2'), 'rev-list', '--count', 'HEAD')).toBe('1');
});

test('another depth, filter or tip, and a tag that comes along, are other packs', async () => {
  const before = await packs();
  for (const options of [['--depth=2'], ['--filter=blob:none'], ['--single-branch']])
    for (let times = 0; times < 2; times++) await clone(...options);
  // And the files that a partial clone fetches when it is checked out.
  expect(await packs()).toHaveLength(before.length + 4);
  await git.ok(git.path('work'), 'tag', '-a', '-m', 'released', 'v1');
  await git.ok(git.path('work'), 'push', '--quiet', url(), 'v1');
  for (let times = 0; times < 3; times++) expect((await clone('--depth=1')).refs).toContain(' refs/tags/v1');
  await commit('third');
  await git.ok(git.path('work'), 'push', '--quiet', url(), 'main');
  for (let times = 0; times < 3; times++) expect((await clone('--depth=1')).files).toContain('third');
});

test('one who may not read the repository gets nothing of a copy', async () => {
  await clone('--depth=1');
  const { code, stderr } = await git.run(['clone', '--depth=1', url('stranger'), 'theirs']);
  expect(code).not.toBe(0);
  expect(stderr).toContain('not found');
});

test('without its copy a pack is made again', async () => {
  await storeOf().blobs.delete(await copies());
  expect((await clone('--depth=1')).files).toContain('third');
});

test('a fetch of one who has something is not kept', async () => {
  const before = await copies();
  for (let times = 0; times < 3; times++) {
    const at = await git.clone(url(), `behind-${times}`, '--depth=1');
    await git.ok(at, 'fetch', '--quiet', '--deepen=1');
    expect(await git.ok(at, 'rev-list', '--count', 'HEAD')).toBe('2');
  }
  expect((await copies()).length - before.length).toBeLessThanOrEqual(1);
});
