import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { CorruptData } from '../../lib/git/corrupt-data.ts';
import { sealDerived } from '../../lib/git/derived.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import type { ObjectDatabase } from '../../lib/git/ports.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { tipBuilder } from '../../lib/git/tree/build-tip.ts';
import { TipListing } from '../../lib/git/tree/tip-listing.ts';
import { addPack, makeHistory, packObjects, revParse, scratch } from './pack-fixture.ts';
import { git } from './repository-files.ts';

const MAIN = 'refs/heads/main' as RefName;
const dir = scratch();
const path = join(dir.path, 'source.git');
const repository = new MemoryRepository();
let listing: Buffer;

beforeAll(async () => {
  makeHistory(path, 90);
  for (const revisions of [['main~10'], ['--all', '^main~10']]) {
    const store = new PackStore(repository.objects);
    await addPack(repository, await indexPack([packObjects(path, revisions)], { store }));
  }
  await repository.refs.compareAndSwap([{ name: MAIN, from: ZERO_OID, to: revParse(path, 'main') }]);
  const store = new PackStore(repository.objects);
  const packs = await repository.objects.listPacks();
  const made = (await tipBuilder.build({
    store,
    refs: repository.refs,
    packs,
    deadline: Infinity,
    stopsAt: Infinity,
  }))!;
  expect(made.note).toBe(revParse(path, 'main'));
  const bytes = (made.content as { bytes: Uint8Array }).bytes;
  listing = Buffer.from(bytes.subarray(0, made.content.size));
  return () => dir[Symbol.dispose]();
});

/** Uses these bytes as tip listing; records which parts of packs are read. */
function opened(file: Uint8Array | undefined, hidden?: string) {
  const reads: string[] = [];
  const { objects } = repository;
  const sealed = file && sealDerived(file);
  const id = String(serial++);
  const database: ObjectDatabase = {
    ...objects,
    listPacks: async () => (await objects.listPacks()).filter((pack) => pack.id !== hidden),
    open: (pack, part) => ({
      size: 0,
      read: (at, length) => {
        reads.push(part);
        return objects.open(pack, part).read(at, length);
      },
    }),
    derived: {
      current: (kind) =>
        sealed && kind === 'tip'
          ? {
              kind,
              id,
              size: sealed.size,
              checksumsCrc: sealed.checksumsCrc!,
              location: '',
              provenance: PROVENANCE,
            }
          : undefined,
      open: () => ({
        size: 0,
        read: async (at, length) => (sealed as { bytes: Uint8Array }).bytes.subarray(at, at + length),
      }),
    },
  };
  const store = new PackStore(database);
  return { reads, store, git: new GitRepository({ objects: database, refs: repository.refs, store }) };
}

const PROVENANCE = { packs: [], objects: 0, note: '' };
let serial = 0;

const recursive = { recursive: true, limit: 10_000 };

describe('the tip listing', () => {
  test('gives the same trees and files, at the tip and at other commits', async () => {
    const [with_, without] = [opened(listing).git, opened(undefined).git];
    for (const revision of ['main', 'main~1', 'main~9', 'two']) {
      const commit = revParse(path, revision);
      const listed = await with_.listTree(commit, recursive);
      expect(listed).toEqual(await without.listTree(commit, recursive));
      const files = listed!.entries.filter(({ type }) => type === 'blob');
      expect(files.map(({ id }) => id).join('\n')).toBe(
        git(path, ['ls-tree', '-r', commit])
          .toString('latin1')
          .split('\n')
          .filter((line) => line.split(' ')[1] === 'blob')
          .map((line) => line.split(/[ \t]/)[2])
          .join('\n'),
      );
      for (const { id } of files) {
        expect(await with_.readBlob(id)).toEqual(await without.readBlob(id));
        expect(await with_.blobHeader(id)).toEqual(await without.blobHeader(id));
      }
    }
  });

  test('saves reading trees, and the index before a file', async () => {
    const root = revParse(path, 'main^{tree}');
    const fresh = opened(listing);
    const big = revParse(path, 'main:big.txt');
    await fresh.store.run((objects) => objects.tipTree(root));
    fresh.reads.length = 0;
    const entry = await fresh.git.entryAt(revParse(path, 'main'), 'big.txt');
    expect(entry?.id).toBe(big);
    fresh.reads.length = 0;
    expect(await fresh.git.blobHeader(big)).toEqual({ size: git(path, ['cat-file', 'blob', big]).length });
    expect(fresh.reads).toEqual([]);
  });

  test('is ignored for blobs whose pack is not listed', async () => {
    for (const { id: hidden } of await repository.objects.listPacks()) {
      const [with_, without] = [opened(listing, hidden), opened(undefined, hidden)];
      await with_.store.run((objects) => objects.tipTree(revParse(path, 'main^{tree}')));
      for (const line of git(path, ['ls-tree', '-r', 'main']).toString('latin1').trim().split('\n')) {
        const [, type, id] = line.split(/[ \t]/);
        if (type === 'blob')
          expect(await with_.store.has(id as Oid)).toBe(await without.store.has(id as Oid));
      }
    }
  });

  test('is ignored with one warning when a byte is wrong or it is truncated', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    const commit = revParse(path, 'main');
    const expected = await opened(undefined).git.listTree(commit, recursive);
    try {
      for (const end of [0, 3, 4, 5, listing.length >> 1, listing.length - 1]) {
        warn.mockClear();
        expect(await opened(listing.subarray(0, end)).git.listTree(commit, recursive)).toEqual(expected);
        expect(warn).toHaveBeenCalledTimes(1);
      }
    } finally {
      warn.mockRestore();
    }
  });

  test('of arbitrary bytes gives a listing or an error, and never hangs', () => {
    fc.assert(
      fc.property(
        fc.nat(listing.length - 1),
        fc.nat(255),
        fc.uint8Array({ size: 'small' }),
        (at, value, tail) => {
          const damaged = Buffer.concat([listing, tail]);
          damaged[at] = value;
          try {
            new TipListing(damaged).blob(Buffer.alloc(20), 0);
          } catch (error) {
            expect(error).toBeInstanceOf(CorruptData);
          }
        },
      ),
    );
  });
});
