/** Repositories crafted to be slow: valid, but extreme in one dimension. */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { reachedObjects } from '../../lib/git/bitmap/reached-objects.ts';
import { bundleBuilder } from '../../lib/git/bundle-builder.ts';
import { History } from '../../lib/git/history.ts';
import { collect } from '../../lib/git/maintenance/collect.ts';
import { deriveFiles } from '../../lib/git/maintenance/derive.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { EMPTY_TREE, type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import type { Unpacked } from '../../lib/git/pack/build-pack.ts';
import { BLOB, OFS_DELTA, writeDistance, writeEntryHeader } from '../../lib/git/pack/entry.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { encodeCommit, encodeTree, hashObject } from '../../lib/git/parse.ts';
import { enumerate } from '../../lib/git/reachable.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { advertise } from '../../lib/git/wire/advertise.ts';
import { lsRefs, parseLsRefs } from '../../lib/git/wire/ls-refs.ts';
import { buildPack } from '../harness/build-pack.ts';
import { maintained } from './maintenance-fixture.ts';
import { addPack } from './pack-fixture.ts';

const person = { name: 'A', email: 'a@example.com', seconds: 1_700_000_000, timezone: '+0000' };

function commitOf(parents: readonly Oid[], seconds = 0): { type: 'commit'; data: Uint8Array; oid: Oid } {
  const by = { ...person, seconds: person.seconds + seconds };
  const data = encodeCommit({ tree: EMPTY_TREE, parents, author: by, committer: by, message: 'm\n' });
  return { type: 'commit', data, oid: hashObject('commit', data) };
}

async function storeWith(objects: readonly ReturnType<typeof commitOf>[]) {
  const { content } = buildPack([{ type: 'tree', data: Buffer.alloc(0), oid: EMPTY_TREE }, ...objects]);
  if (content.kind !== 'bytes') throw new Error('expected bytes');
  const repository = new MemoryRepository();
  await addPack(repository, await indexPack([content.pack]));
  return { repository, store: new PackStore(repository.objects) };
}

it('a commit with 10,000 parents takes as long as that many commits', async () => {
  const roots = Array.from({ length: 10_000 }, (_, i) => commitOf([], i));
  const octopus = commitOf(
    roots.map(({ oid }) => oid),
    30_000,
  );
  const { store } = await storeWith([...roots, octopus]);
  const history = new History(store);
  const list = await enumerate(store, { include: [octopus.oid] });
  expect(list.count).toBe(10_002);
  expect(await history.isAncestor(roots[0]!.oid, octopus.oid)).toBe(true);
  const bases = await history.mergeBases(octopus.oid, [roots[7]!.oid]);
  expect(bases.map(({ oid }) => oid)).toEqual([roots[7]!.oid]);
});

describe('a chain of deltas', () => {
  /** A blob and a chain of deltas, each a byte longer than the one before. */
  function chain(length: number): Buffer {
    const varint = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)]);
    const entries: Buffer[] = [];
    const head = Buffer.alloc(32);
    const first = Buffer.from('base');
    entries.push(Buffer.concat([head.subarray(0, writeEntryHeader(head, 0, BLOB, 4)), deflateSync(first)]));
    for (let i = 0; i < length; i++) {
      const size = 4 + i;
      const delta = Buffer.from([...varint(size), ...varint(size + 1), 0xb0, size & 255, size >> 8, 1, 97]);
      let at = writeEntryHeader(head, 0, OFS_DELTA, delta.length);
      at = writeDistance(head, at, entries[i]!.length);
      entries.push(Buffer.concat([head.subarray(0, at), deflateSync(delta)]));
    }
    const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
    header.writeUInt32BE(entries.length, 8);
    const body = Buffer.concat([header, ...entries]);
    return Buffer.concat([body, createHash('sha1').update(body).digest()]);
  }

  it('of 4,095, the maximum of git, is accepted and read', async () => {
    const repository = new MemoryRepository();
    await addPack(repository, await indexPack([chain(4095)]));
    const store = new PackStore(repository.objects);
    const last = hashObject('blob', Buffer.from(`base${'a'.repeat(4095)}`));
    expect((await store.read(last)).data).toHaveLength(4099);
  });

  it('of 10,000 is refused before all of it is resolved, with little memory or much', async () => {
    const pack = chain(10_000);
    for (const memoryBytes of [96 * 2 ** 20, 10_000])
      await expect(indexPack([pack], { limits: { memoryBytes } })).rejects.toMatchObject({
        code: 'delta-too-deep',
      });
  });
});

it('100,000 refs are advertised as a stream, and a single one can be requested', async () => {
  const root = commitOf([]);
  const { repository, store } = await storeWith([root]);
  const names = Array.from({ length: 100_000 }, (_, i) => `refs/heads/topic-${i}` as RefName);
  await repository.refs.compareAndSwap(
    names.slice(0, 1).map((name) => ({ name, from: ZERO_OID, to: root.oid })),
  );
  const refs = names.map((name) => ({ name, oid: root.oid })).sort((a, b) => (a.name < b.name ? -1 : 1));
  const head = 'refs/heads/topic-0' as RefName;
  const many = {
    objects: repository.objects,
    store,
    refs: {
      ...repository.refs,
      view: async () => ({
        head,
        async *refs(prefix = '') {
          const under = refs.filter(({ name }) => name.startsWith(prefix));
          for (let i = 0; i < under.length; i += 500) yield under.slice(i, i + 500);
        },
      }),
      get: async () => new Map([[head, { name: head, oid: root.oid }]]),
    },
  };
  let bytes = 0;
  let largest = 0;
  for await (const piece of await advertise(many, 'git-upload-pack', 0, {
    visible: undefined,
    bundles: false,
    packUris: false,
  })) {
    bytes += piece.length;
    largest = Math.max(largest, piece.length);
  }
  expect(bytes).toBeGreaterThan(6_000_000);
  expect(largest).toBeLessThan(256 * 1024);
  const prefixes = Array.from({ length: 50_000 }, (_, i) => `ref-prefix refs/heads/topic-${2 * i}`);
  let listed = 0;
  for await (const piece of await lsRefs(many, parseLsRefs(prefixes))) listed += piece.length;
  expect(listed).toBeGreaterThan(3_000_000);
});

it('trees of 5,000 levels survive all of maintenance', async () => {
  const LEVELS = 5000;
  const objects: Unpacked[] = [];
  const put = (type: Unpacked['type'], data: Uint8Array): Oid => {
    objects.push({ type, data });
    return hashObject(type, data);
  };
  /** A commit of one file so deep. */
  const commitOfFile = (text: string, parents: readonly Oid[]): Oid => {
    let below = put('tree', encodeTree([{ mode: 0o100644, name: 'f', oid: put('blob', Buffer.from(text)) }]));
    for (let level = 1; level < LEVELS; level++)
      below = put('tree', encodeTree([{ mode: 0o040000, name: 'd', oid: below }]));
    return put(
      'commit',
      encodeCommit({ tree: below, parents, author: person, committer: person, message: text }),
    );
  };
  const first = commitOfFile('first', []);
  const second = commitOfFile('second', [first]);
  const reachable = objects.length;
  const dropped = commitOfFile('dropped', [first]);
  const repository = new MemoryRepository();
  const built = buildPack(objects);
  if (built.content.kind !== 'bytes') throw new Error('expected bytes');
  // As a push: with all checks.
  await addPack(repository, await indexPack([built.content.pack]));
  const move = (name: string, from: Oid, to: Oid) =>
    repository.refs.compareAndSwap([{ name: `refs/heads/${name}` as RefName, from, to }]);
  await move('main', ZERO_OID, second);
  await move('dropped', ZERO_OID, dropped);
  const maintenance = maintained(repository);
  const time = { deadline: Number.POSITIVE_INFINITY, stopsAt: Number.POSITIVE_INFINITY };
  const made = () =>
    (['commit-graph', 'tip', 'object-index', 'bitmap'] as const).map((kind) => {
      const { size, provenance } = repository.objects.derived!.current(kind)!;
      return size > 0 && !/^(?:refused|unfinished)/.test(provenance.note);
    });
  expect(await deriveFiles(maintenance, repository.refs, time)).toBe(true);
  expect(made()).toEqual([true, true, true, true]);

  await move('dropped', dropped, ZERO_OID);
  const garbage = objects.length - reachable;
  const collected = await collect(maintenance, repository.refs, { epoch: 1, now: new Date() });
  expect(collected).toEqual({ garbage, resurrected: 0 });
  // Made anew, by a walk beside the graph that is there.
  expect(await deriveFiles(maintenance, repository.refs, time)).toBe(true);
  expect(made()).toEqual([true, true, true, true]);
  const store = new PackStore(repository.objects);
  expect((await reachedObjects(store, { include: [second] }))!.count).toBe(reachable);
  const packs = await repository.objects.listPacks();
  const bundle = (await bundleBuilder.build({ store, refs: repository.refs, packs, ...time }))!;
  if (bundle.content.kind === 'file') await rm(bundle.content.path);
  expect(bundle.content.size).toBeGreaterThan(reachable * 20);
});
