import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkConnectivity } from '../../lib/git/connectivity.ts';
import { EMPTY_TREE, type Oid } from '../../lib/git/oid.ts';
import { type IndexedPack, indexPack } from '../../lib/git/pack/index-pack.ts';
import { listObjects } from '../../lib/git/pack/object-list.ts';
import { writePack } from '../../lib/git/pack/write.ts';
import { encodeCommit, encodeTag, encodeTree, hashObject } from '../../lib/git/parse.ts';
import { buildPack } from '../harness/build-pack.ts';
import { stopsOf } from '../unit/git/stops.ts';
import { collect, makeHistory, packObjects, revList, revParse, scratch, storeOf } from './pack-fixture.ts';

const home = scratch();
const history = join(home.path, 'history.git');
const rev = (name: string) => revParse(history, name);
beforeAll(() => makeHistory(history));
afterAll(() => home[Symbol.dispose]());

const who = { name: 'A', email: 'a@b', seconds: 1, timezone: '+0000' };
const commitOf = (tree: Oid, parents: readonly Oid[] = [], message = 'm') =>
  encodeCommit({ tree, parents, author: who, committer: who, message });

async function index(objects: Parameters<typeof buildPack>[0]): Promise<IndexedPack> {
  const { content } = buildPack(objects);
  if (content.kind !== 'bytes') throw new Error('expected bytes');
  return await indexPack([content.pack]);
}

describe('a push', () => {
  it('of everything is connected', async () => {
    const { store } = await storeOf();
    const indexed = await indexPack([packObjects(history, ['--all'])], { store });
    expect(
      await checkConnectivity(store, indexed, { tips: [rev('main'), rev('v1-again'), rev('empty')] }),
    ).toEqual([]);
  });

  it('on top of stored objects is connected, but not without them', async () => {
    const { store } = await storeOf(packObjects(history, ['main~7']));
    const indexed = await indexPack([packObjects(history, ['main', '^main~7'], ['--thin'])], { store });
    const tips = { tips: [rev('main')] };
    expect(await checkConnectivity(store, indexed, { ...tips, known: [rev('main~7')] })).toEqual([]);
    expect(await checkConnectivity(store, indexed, tips)).toEqual([]);
    const { store: empty } = await storeOf();
    expect(await checkConnectivity(empty, indexed, tips)).not.toEqual([]);
  });

  it('that lacks any one object is refused, naming the object', async () => {
    const { store } = await storeOf(packObjects(history, ['--all']));
    const { store: empty } = await storeOf();
    const all = revList(history, ['main~14']) as Oid[];
    const tip = rev('main~14');
    for (let i = 0; i < all.length; i += Math.ceil(all.length / 25)) {
      const left = all[i]!;
      const list = await listObjects(
        store,
        all.filter((oid) => oid !== left),
      );
      const indexed = await indexPack([await collect(writePack(store, list))]);
      const problems = await checkConnectivity(empty, indexed, { tips: [tip] });
      // The empty tree exists in git without being stored.
      expect(problems).toEqual(left === EMPTY_TREE ? [] : [{ oid: left, reason: 'missing' }]);
    }
  });

  it('that refers to garbage is refused', async () => {
    const { store, repository } = await storeOf(packObjects(history, ['main~7']));
    const indexed = await indexPack([packObjects(history, ['main', '^main~7'], ['--thin'])], { store });
    repository.relist((packs) => packs.map((pack) => ({ ...pack, source: 'unreachable-garbage' })));
    await store.refresh();
    const problems = await checkConnectivity(store, indexed, { tips: [rev('main')] });
    expect(problems).toContainEqual({ oid: rev('main~7'), reason: 'missing' });
  });

  it('with thousands of parents that are stored is checked beside other work', async () => {
    const roots = Array.from({ length: 2000 }, (_, i) => commitOf(EMPTY_TREE, [], `${i}`));
    const parents = roots.map((data) => hashObject('commit', data));
    const { content } = buildPack(roots.map((data) => ({ type: 'commit', data })));
    if (content.kind !== 'bytes') throw new Error('expected bytes');
    const { store } = await storeOf(content.pack);
    const merge = commitOf(EMPTY_TREE, parents);
    const indexed = await index([{ type: 'commit', data: merge }]);
    const stops = await stopsOf(async () => {
      expect(await checkConnectivity(store, indexed, { tips: [hashObject('commit', merge)] })).toEqual([]);
    });
    // Their names are looked up, and their types are read.
    expect(stops).toBeGreaterThan(parents.length);
    const { store: empty } = await storeOf();
    const refused = await stopsOf(async () => {
      expect(await checkConnectivity(empty, indexed, { tips: [] })).toHaveLength(20);
    });
    expect(refused).toBeGreaterThan(parents.length);
  });

  it('without a pack needs its tips to exist', async () => {
    const { store } = await storeOf(packObjects(history, ['main']));
    expect(await checkConnectivity(store, undefined, { tips: [rev('main~3')] })).toEqual([]);
    const nowhere = '3'.repeat(40) as Oid;
    expect(await checkConnectivity(store, undefined, { tips: [nowhere] })).toEqual([
      { oid: nowhere, reason: 'missing' },
    ]);
  });

  it('may refer to the empty tree without sending it, and to commits of submodules', async () => {
    const { store } = await storeOf();
    const tree = encodeTree([{ mode: 0o160000, name: 'sub', oid: '4'.repeat(40) as Oid }]);
    const first = commitOf(EMPTY_TREE);
    const second = commitOf(hashObject('tree', tree), [hashObject('commit', first)]);
    const indexed = await index([
      { type: 'tree', data: tree },
      { type: 'commit', data: first },
      { type: 'commit', data: second },
    ]);
    expect(await checkConnectivity(store, indexed, { tips: [hashObject('commit', second)] })).toEqual([]);
  });
});

describe('an object of another type than its referrer says', () => {
  const blob = Buffer.from('blob');
  const blobOid = hashObject('blob', blob);
  const cases: [string, Parameters<typeof buildPack>[0]][] = [
    ['a blob as a commit’s tree', [{ type: 'commit', data: commitOf(blobOid) }]],
    ['a blob as a parent', [{ type: 'commit', data: commitOf(EMPTY_TREE, [blobOid]) }]],
    [
      'a blob as a directory',
      [{ type: 'tree', data: encodeTree([{ mode: 0o040000, name: 'd', oid: blobOid }]) }],
    ],
    [
      'a blob as a tagged commit',
      [
        {
          type: 'tag',
          data: encodeTag({ object: blobOid, type: 'commit', name: 't', tagger: who, message: '' }),
        },
      ],
    ],
  ];
  it.each(cases)('%s', async (_name, objects) => {
    const { store } = await storeOf();
    const indexed = await index([{ type: 'blob', data: blob }, ...objects]);
    expect(await checkConnectivity(store, indexed, { tips: [] })).toEqual([{ oid: blobOid, reason: 'type' }]);
  });

  it('a stored blob as a parent', async () => {
    const stored = buildPack([{ type: 'blob', data: blob }]);
    if (stored.content.kind !== 'bytes') throw new Error('expected bytes');
    const { store } = await storeOf(stored.content.pack);
    const indexed = await index([{ type: 'commit', data: commitOf(EMPTY_TREE, [blobOid]) }]);
    expect(await checkConnectivity(store, indexed, { tips: [] })).toEqual([{ oid: blobOid, reason: 'type' }]);
  });

  it('one object referred to as two types is refused immediately', async () => {
    const tree = encodeTree([
      { mode: 0o100644, name: 'a', oid: blobOid },
      { mode: 0o040000, name: 'b', oid: blobOid },
    ]);
    await expect(index([{ type: 'tree', data: tree }])).rejects.toMatchObject({ code: 'object-malformed' });
  });
});
