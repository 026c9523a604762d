/** Garbage collection separates reachable and unreachable objects; verified by git over the remaining packs. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CollectOptions, collect, GARBAGE_MS } from '../../lib/git/maintenance/collect.ts';
import type { MemoryRepository } from '../../lib/git/memory.ts';
import { type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import type { Unpacked } from '../../lib/git/pack/build-pack.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { encodeCommit, encodeTree, hashObject } from '../../lib/git/parse.ts';
import type { MaintainedObjects, RefUpdate } from '../../lib/git/ports.ts';
import { parseRefName } from '../../lib/git/refname.ts';
import { buildPack } from '../harness/build-pack.ts';
import { allObjects, maintained, writeRepository } from './maintenance-fixture.ts';
import { addPack, makeHistory, packObjects, revList, revParse, scratch, storeOf } from './pack-fixture.ts';
import { git } from './repository-files.ts';

const options = (change: Partial<CollectOptions> = {}): CollectOptions => ({
  epoch: 1,
  now: new Date(),
  ...change,
});
const name = (text: string) => parseRefName(text)!;

interface Story {
  readonly repository: MemoryRepository;
  readonly objects: MaintainedObjects;
  readonly source: string;
  readonly path: string;
  move(...updates: [ref: string, from: Oid, to: Oid][]): Promise<void>;
}

/** The fixture's history, pushed in a few packs, all reachable; `dropped` is a branch with 20 more commits. */
async function story(path: string): Promise<Story> {
  const source = join(path, 'source');
  makeHistory(source, 80, 4);
  const stream = Array.from(
    { length: 20 },
    (_, i) =>
      `commit refs/heads/dropped\ncommitter C <c@example.com> ${1700001000 + i} +0000\ndata 6\nwork ${i % 10}\n` +
      `${i === 0 ? 'from refs/heads/main^0\n' : ''}M 100644 inline work/${i}.txt\ndata 9\nworking ${i % 10}\n`,
  );
  git(source, ['fast-import', '--quiet'], stream.join(''));
  const { repository, store } = await storeOf();
  for (const range of [
    ['main~9'],
    ['main', '^main~9'],
    ['dropped~10', '^main'],
    ['dropped', '^dropped~10'],
    ['--all'],
  ]) {
    const pack = packObjects(source, range, ['--thin']);
    await store.refresh();
    await addPack(repository, await indexPack([pack], { store, fsck: false }));
  }
  const move: Story['move'] = (...updates) =>
    repository.refs.compareAndSwap(
      updates.map(([ref, from, to]): RefUpdate => ({ name: name(ref), from, to })),
    );
  const refs = git(source, ['for-each-ref', '--format=%(refname) %(objectname)'])
    .toString()
    .trim()
    .split('\n');
  await move(
    ...refs
      .map((line) => line.split(' ') as [string, Oid])
      .map(([ref, oid]) => [ref, ZERO_OID, oid] as [string, Oid, Oid]),
  );
  return { repository, objects: maintained(repository), source, path, move };
}

const live = async ({ objects }: Story) =>
  (await objects.listPacks()).filter(({ source }) => source !== 'unreachable-garbage');
const garbage = async ({ objects }: Story) =>
  (await objects.listPacks()).filter(({ source }) => source === 'unreachable-garbage');

let written = 0;
/** Ids in these packs, verified by git with the current refs. */
async function inPacks(
  told: Story,
  packs: Awaited<ReturnType<typeof live>>,
  check = true,
): Promise<string[]> {
  const target = join(told.path, `written-${written++}`);
  await writeRepository(target, told.objects, packs, check ? (await told.repository.refs.all()).refs : []);
  if (check) git(target, ['fsck', '--full', '--strict', '--no-dangling', '--connectivity-only']);
  if (check) git(target, ['fsck', '--full', '--strict', '--no-dangling']);
  return allObjects(target).map((line) => line.split(' ')[0]!);
}

describe('garbage collection', () => {
  test('changes nothing in a repository without garbage', async () => {
    using dir = scratch();
    const told = await story(dir.path);
    const before = await told.objects.listPacks();
    expect(await collect(told.objects, told.repository.refs, options())).toEqual({
      garbage: 0,
      resurrected: 0,
    });
    expect(await told.objects.listPacks()).toEqual(before);
  });

  test('keeps what git finds reachable, commits and blobs in separate packs, and the rest readable', async () => {
    using dir = scratch();
    const told = await story(dir.path);
    const all = await inPacks(told, await live(told));
    await told.move(['refs/heads/dropped', revParse(told.source, 'dropped'), ZERO_OID]);
    await told.move(['refs/heads/main', revParse(told.source, 'main'), revParse(told.source, 'main~10')]);
    git(told.source, ['branch', '-D', 'dropped']);
    git(told.source, ['update-ref', 'refs/heads/main', 'main~10']);

    const outcome = await collect(told.objects, told.repository.refs, options());
    const reachable = revList(told.source, ['--all']);
    expect(await inPacks(told, await live(told))).toEqual(reachable);
    expect(await inPacks(told, await garbage(told), false)).toEqual(
      all.filter((oid) => !reachable.includes(oid)),
    );
    expect(outcome).toEqual({ garbage: all.length - reachable.length, resurrected: 0 });

    const types = await Promise.all(
      (await live(told)).map(async (pack) => {
        const target = join(dir.path, `types-${pack.id}`);
        await writeRepository(target, told.objects, [pack]);
        return new Set(allObjects(target).map((line) => line.split(' ')[1]));
      }),
    );
    expect(types).toHaveLength(2);
    expect(types).toContainEqual(new Set(['blob']));
    expect(types).toContainEqual(new Set(['commit', 'tree', 'tag']));
  });

  test.each([
    ['a tree of a branch', false],
    ['a tree of a branch that another pinned commit comes from', true],
  ])(
    'keeps what pinned commits reach, though %s names them, and their trees, as files',
    async (_, isParent) => {
      const objects: Unpacked[] = [];
      const put = (type: Unpacked['type'], data: Uint8Array): Oid => {
        objects.push({ type, data });
        return hashObject(type, data);
      };
      const tree = (...entries: [mode: number, oid: Oid][]) =>
        put('tree', encodeTree(entries.map(([mode, oid], i) => ({ mode, name: `${i}`, oid }))));
      let seconds = 1_700_000_000;
      const commit = (root: Oid, ...parents: Oid[]) => {
        const by = { name: 'A', email: 'a@example.com', seconds: ++seconds, timezone: '+0000' };
        const links = { tree: root, parents, author: by, committer: by };
        return put('commit', encodeCommit({ ...links, message: 'change' }));
      };
      const file = (text: string): [number, Oid] => [0o100644, put('blob', Buffer.from(text))];
      const below = tree(file('below'));
      const early = commit(tree(file('early'), [0o040000, below]));
      const odd = commit(tree([0o100644, early], [0o100644, below]));
      const late = commit(tree(file('late'), [0o040000, below]), ...(isParent ? [odd] : []));
      const { repository } = await storeOf();
      const { content, objectCount } = buildPack(objects);
      const pack = await repository.objects.newPack(content, { source: 'receive', objectCount });
      await repository.refs.compareAndSwap([{ name: name('refs/heads/odd'), from: ZERO_OID, to: odd }], {
        packs: [pack],
      });
      for (const oid of [early, late]) repository.pinnedCommits.add(oid);
      const outcome = await collect(maintained(repository), repository.refs, options());
      expect(outcome).toEqual({ garbage: 0, resurrected: 0 });
    },
  );

  test('is not kept from its work by a branch whose tree names a file as a tree', async () => {
    const { repository } = await storeOf();
    const file = { type: 'blob' as const, data: Buffer.from('file') };
    const [oid, dropped] = [hashObject('blob', file.data), { type: 'blob' as const, data: Buffer.from('x') }];
    const tree = { type: 'tree' as const, data: encodeTree([{ mode: 0o040000, name: 'd', oid }]) };
    const by = { name: 'A', email: 'a@example.com', seconds: 1_700_000_000, timezone: '+0000' };
    const links = { tree: hashObject('tree', tree.data), parents: [], author: by, committer: by };
    const commit = { type: 'commit' as const, data: encodeCommit({ ...links, message: 'odd' }) };
    const { content, objectCount } = buildPack([file, dropped, tree, commit]);
    const pack = await repository.objects.newPack(content, { source: 'receive', objectCount });
    const odd = { name: name('refs/heads/odd'), from: ZERO_OID, to: hashObject('commit', commit.data) };
    await repository.refs.compareAndSwap([odd], { packs: [pack] });
    const objects = maintained(repository);
    expect(await collect(objects, repository.refs, options())).toEqual({ garbage: 1, resurrected: 0 });
    const kept = (await objects.listPacks()).filter(({ source }) => source === 'gc');
    expect(kept.reduce((sum, { objectCount: count }) => sum + count, 0)).toBe(3);
  });

  test('writes several packs if one would be too large', async () => {
    using dir = scratch();
    const told = await story(dir.path);
    await told.move(['refs/heads/dropped', revParse(told.source, 'dropped'), ZERO_OID]);
    git(told.source, ['branch', '-D', 'dropped']);
    await collect(told.objects, told.repository.refs, options({ packBytes: 10_000 }));
    expect((await live(told)).length).toBeGreaterThan(4);
    expect(await inPacks(told, await live(told))).toEqual(revList(told.source, ['--all']));
  });

  test('resurrects objects that become reachable while it runs', async () => {
    using dir = scratch();
    const told = await story(dir.path);
    const dropped = revParse(told.source, 'dropped');
    await told.move(['refs/heads/dropped', dropped, ZERO_OID]);
    const objects: MaintainedObjects = {
      ...told.objects,
      commitPacks: async (add, replaced, how) => {
        // Like a push that read the packs during this collection: everything existed.
        if (how?.epoch !== undefined) await told.move(['refs/heads/again', ZERO_OID, dropped]);
        await told.objects.commitPacks(add, replaced, how);
      },
    };
    const outcome = await collect(objects, told.repository.refs, options());
    expect(outcome!.resurrected).toBe(outcome!.garbage);
    expect(await inPacks(told, await live(told))).toEqual(revList(told.source, ['--all']));
  });

  test('resurrects objects that became reachable later, and deletes other garbage after two weeks', async () => {
    using dir = scratch();
    const told = await story(dir.path);
    const [dropped, half] = [revParse(told.source, 'dropped'), revParse(told.source, 'dropped~10')];
    await told.move(['refs/heads/dropped', dropped, ZERO_OID]);
    await collect(told.objects, told.repository.refs, options());
    const kept = await garbage(told);
    await told.move(['refs/heads/half', ZERO_OID, half]);
    git(told.source, ['update-ref', 'refs/heads/dropped', half]);
    const soon = new Date(Date.now() + GARBAGE_MS - 3600_000);
    const outcome = await collect(told.objects, told.repository.refs, options({ now: soon }));
    expect(outcome).toMatchObject({ garbage: 0 });
    expect(outcome!.resurrected).toBeGreaterThan(10);
    expect(await garbage(told)).toEqual(kept);
    expect(await inPacks(told, await live(told))).toEqual(revList(told.source, ['--all']));
    const before = await live(told);

    const later = new Date(Date.now() + GARBAGE_MS + 3600_000);
    expect(await collect(told.objects, told.repository.refs, options({ now: later }))).toEqual({
      garbage: 0,
      resurrected: 0,
    });
    expect(await garbage(told)).toEqual([]);
    expect(await live(told)).toEqual(before);
    expect(await inPacks(told, await live(told))).toEqual(revList(told.source, ['--all']));
  });

  test('can be stopped at any step: reachable objects exist, and a later run finishes', async () => {
    using dir = scratch();
    const told = await story(dir.path);
    const dropped = revParse(told.source, 'dropped');
    await told.move(['refs/heads/dropped', dropped, ZERO_OID]);
    git(told.source, ['branch', '-D', 'dropped']);
    const initial = await told.objects.listPacks();
    for (let step = 0; ; step++) {
      told.repository.relist(() => [...initial]);
      let left = step;
      let stopped = false;
      const count =
        <A extends unknown[], T>(act: (...args: A) => Promise<T>, after = false) =>
        async (...args: A) => {
          if (left-- === 0) {
            stopped = true;
            if (after) await act(...args);
            throw new Error('stopped');
          }
          return act(...args);
        };
      const objects: MaintainedObjects = {
        ...told.objects,
        listPacks: count(told.objects.listPacks),
        newPack: count(told.objects.newPack),
        commitPacks: count(told.objects.commitPacks, step % 2 === 1),
      };
      const refs = { ...told.repository.refs, view: count(told.repository.refs.view) };
      await collect(objects, refs, options()).catch((error: Error) => expect(error.message).toBe('stopped'));
      const reachable = revList(told.source, ['--all']);
      expect(await inPacks(told, await live(told))).toEqual(expect.arrayContaining(reachable));
      await collect(told.objects, told.repository.refs, options());
      expect(await inPacks(told, await live(told))).toEqual(reachable);
      if (!stopped) {
        expect(step).toBeGreaterThan(6);
        return;
      }
    }
  });
});
