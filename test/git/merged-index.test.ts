import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { sealDerived } from '../../lib/git/derived.ts';
import { loadIndexes } from '../../lib/git/maintenance/repack.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { type Oid, oidBytes } from '../../lib/git/oid.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { writeMergedIndex } from '../../lib/git/pack/write-merged-index.ts';
import type { ObjectDatabase, PackDescription } from '../../lib/git/ports.ts';
import { writeRepository } from './maintenance-fixture.ts';
import { addPack, makeHistory, packObjects, revList, scratch } from './pack-fixture.ts';
import { git } from './repository-files.ts';

let repository: MemoryRepository;
let merged: Uint8Array;
let all: Oid[];

beforeAll(async () => {
  using dir = scratch();
  const path = join(dir.path, 'source.git');
  makeHistory(path, 90);
  all = revList(path, ['--all']) as Oid[];
  repository = new MemoryRepository();
  // The second pack also has some objects of the first.
  for (const revisions of [['main~10'], ['main~2', '^main~15'], ['--all', '^main~2']]) {
    const store = new PackStore(repository.objects);
    await addPack(repository, await indexPack([packObjects(path, revisions)], { store }));
  }
  const store = new PackStore(repository.objects);
  const packs = await store.packs();
  await loadIndexes(store, packs);
  merged = await writeMergedIndex(packs);
});

const provenance = (packs: readonly PackDescription[]) => ({
  packs: packs.map(({ id }) => id),
  objects: 0,
  note: '',
});

/** The same packs, with or without these bytes as merged index; records which files are read. */
function opened(bytes?: Uint8Array, hidden?: string): { store: PackStore; reads: string[] } {
  const reads: string[] = [];
  const { objects } = repository;
  const file = bytes && sealDerived(bytes);
  const current = {
    kind: 'object-index' as const,
    id: String(serial++),
    size: merged.length,
    location: 'test',
    checksumsCrc: sealDerived(merged).checksumsCrc!,
  };
  const database: ObjectDatabase = {
    ...objects,
    listPacks: async () => (await objects.listPacks()).filter(({ id }) => id !== hidden),
    open: (pack, part) => {
      const access = objects.open(pack, part);
      return {
        size: access.size,
        read: (at, length) => {
          reads.push(part);
          return access.read(at, length);
        },
      };
    },
    derived: {
      current: (kind) =>
        file && kind === 'object-index' ? { ...current, provenance: provenance(listed) } : undefined,
      open: () => ({
        size: file!.size,
        read: async (at, length) => {
          reads.push('merged');
          const stored = (file as { bytes: Uint8Array }).bytes;
          return stored.subarray(at, at + length);
        },
      }),
    },
  };
  return { store: new PackStore(database, { cache: new PackCache() }), reads };
}

let serial = 0;
let listed: readonly PackDescription[];
beforeAll(async () => {
  listed = await repository.objects.listPacks();
});

describe('a merged index', () => {
  test('is verified by git', async () => {
    using dir = scratch();
    await writeRepository(dir.path, repository.objects, listed);
    writeFileSync(join(dir.path, 'objects/pack/multi-pack-index'), merged);
    git(dir.path, ['multi-pack-index', 'verify']);
    const found = git(
      dir.path,
      ['-c', 'core.multiPackIndex=true', 'cat-file', '--batch-check', '--unordered'],
      all.join('\n'),
    );
    expect(found.toString()).not.toContain('missing');
  });

  test('saves a cold lookup from reading pack indexes', async () => {
    const with_ = opened(merged);
    const without = opened();
    for (const { store } of [with_, without]) await store.read(all[7]!);
    expect(with_.reads.filter((part) => part === 'index')).toEqual([]);
    expect(with_.reads).toContain('merged');
    expect(without.reads.filter((part) => part === 'index')).toHaveLength(3);
  });

  test('finds exactly the objects of the packs', async () => {
    const { store } = opened(merged);
    const absent = all.map((oid) => (oid.startsWith('f') ? `0${oid.slice(1)}` : `f${oid.slice(1)}`) as Oid);
    const missing = await store.missing(Buffer.concat([...all, ...absent].map(oidBytes)));
    expect(missing.sort()).toEqual(absent.filter((oid) => !all.includes(oid)).sort());
    for (const oid of all) expect(await store.header(oid)).toEqual(await opened().store.header(oid));
  });

  test('is ignored for packs that are not listed', async () => {
    for (const { id } of listed) {
      const names = Buffer.concat(all.map(oidBytes));
      const expected = await opened(undefined, id).store.missing(names);
      expect(await opened(merged, id).store.missing(names)).toEqual(expected);
    }
  });

  test('is ignored with one warning when a byte is wrong or it is truncated', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.nat(merged.length - 1),
          fc.integer({ min: 1, max: 255 }),
          fc.boolean(),
          async (at, flip, cut) => {
            warn.mockClear();
            const bytes = Buffer.from(merged);
            bytes[at]! ^= flip;
            // The checksums are those of the original bytes.
            const { store } = opened(cut ? bytes.subarray(0, at) : bytes);
            for (const oid of [all[3]!, all[50]!, all[99]!]) {
              expect(await store.header(oid)).toEqual(await opened().store.header(oid));
            }
            expect(warn).toHaveBeenCalledTimes(1);
          },
        ),
        { numRuns: 40 },
      );
    } finally {
      warn.mockRestore();
    }
  });

  test('that is nonsense with correct checksums does not change any result', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    try {
      for (const text of ['', 'MIDX', 'x'.repeat(5000)]) {
        const bytes = Buffer.from(text);
        await repository.storeDerived('object-index', sealDerived(bytes), provenance(listed));
        const store = new PackStore(repository.objects);
        expect(await store.has(all[5]!)).toBe(true);
      }
    } finally {
      warn.mockRestore();
    }
  });
});
