/** How long derived files may take: what cannot go on where it stopped is not begun anew for ever. */
import { rm } from 'node:fs/promises';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { bitmapBuilder } from '../../lib/git/bitmap/build-bitmap.ts';
import { bundleBuilder } from '../../lib/git/bundle-builder.ts';
import { BroughtObjects } from '../../lib/git/commit-graph/brought-objects.ts';
import { commitGraphBuilder } from '../../lib/git/commit-graph/build.ts';
import { CommitTable } from '../../lib/git/commit-graph/commit-table.ts';
import { sealDerived } from '../../lib/git/derived.ts';
import { deriveFiles } from '../../lib/git/maintenance/derive.ts';
import type { DerivedBuilder } from '../../lib/git/maintenance/derived-builder.ts';
import type { MemoryRepository } from '../../lib/git/memory.ts';
import { ZERO_OID } from '../../lib/git/oid.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { mergedIndexBuilder } from '../../lib/git/pack/write-merged-index.ts';
import type { DerivedKind, MaintainedObjects } from '../../lib/git/ports.ts';
import type { RefDatabase } from '../../lib/git/ref-database.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { addPack, makeHistory, packObjects, revParse, scratch, storeOf } from './pack-fixture.ts';

// It would make way for the clock.
vi.mock('../../lib/git/maintenance/give-way.ts', () => ({ giveWay: async () => {} }));

let repository: MemoryRepository;
beforeAll(async () => {
  using dir = scratch();
  makeHistory(dir.path, 60);
  ({ repository } = await storeOf());
  await addPack(repository, await indexPack([packObjects(dir.path, ['--all'])]));
  const to = revParse(dir.path, 'main');
  await repository.refs.compareAndSwap([{ name: 'refs/heads/main' as RefName, from: ZERO_OID, to }]);
  const index = (await build(mergedIndexBuilder, 0, 0))!;
  await repository.storeDerived('object-index', index.content, { packs: [], objects: 0, note: '' });
});
afterEach(() => {
  vi.restoreAllMocks();
});

async function build(builder: DerivedBuilder, deadline: number, stopsAt: number, brought?: BroughtObjects) {
  const packs = await repository.objects.listPacks();
  const store = new PackStore(repository.objects);
  return builder.build({ store, refs: repository.refs, packs, deadline, stopsAt, brought });
}

/** Lets each look at the clock take so long that a slice of work is over at the first one. */
function slowly() {
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => (now += 31));
}

describe('a file that is made from the start each time', () => {
  test.each([bitmapBuilder, bundleBuilder])(
    'is made to its end, past that of the slice: $kind',
    async (builder) => {
      slowly();
      const made = await build(builder, 0, Number.POSITIVE_INFINITY);
      expect(made).toBeDefined();
      if (made!.content.kind === 'file') await rm(made!.content.path);
    },
  );

  test.each([bitmapBuilder, bundleBuilder])('ends with the run of the worker: $kind', async (builder) => {
    slowly();
    expect(await build(builder, 0, 0)).toBeUndefined();
  });
});

describe('a file that was not done in its time', () => {
  const packs = [{ id: 'pack', source: 'push', objectCount: 5_000, packSize: 1_000_000 }];
  const objects = { listPacks: async () => packs, derived: { current: () => undefined } };
  const endless: DerivedBuilder = { kind: 'commit-graph', build: async () => undefined };
  const derive = (ms: number) =>
    deriveFiles(
      objects as unknown as MaintainedObjects,
      {} as RefDatabase,
      { deadline: Date.now() + 40_000, stopsAt: Date.now() + ms },
      [endless],
    );

  test('is begun again in another run when little was left of this one', async () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
    expect(await derive(60_000)).toBe(false);
    expect(warned).not.toHaveBeenCalled();
  });

  test('is given up with a warning when it had a whole run, and not begun anew', async () => {
    const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
    expect(await derive(800_000)).toBe(true);
    expect(warned.mock.calls.flat().join()).toContain('derived file not built');
  });
});

test.each([
  ['both are made in one run', [], true],
  ['one of them is there', ['commit-graph' as const], false],
])('what commits bring is noted for the bitmap when %s: %s', async (_, there, isNoted) => {
  const packs = [{ id: 'pack', source: 'push', objectCount: 5_000, packSize: 1_000_000 }];
  const file = { provenance: { packs: ['pack'], objects: 5_000, note: '' } };
  const made = new Map<DerivedKind, unknown>(there.map((kind) => [kind, file]));
  const objects = {
    listPacks: async () => packs,
    derived: { current: (kind: DerivedKind) => made.get(kind) },
    storeDerived: async (kind: DerivedKind) => {
      made.set(kind, file);
      return file;
    },
  };
  const given = new Map<DerivedKind, unknown>();
  const builders = (['commit-graph', 'bitmap'] as const).map(
    (kind): DerivedBuilder => ({
      kind,
      build: async ({ brought }) => {
        given.set(kind, brought);
        return { content: sealDerived(new Uint8Array(1)), note: '' };
      },
    }),
  );
  const time = { deadline: Number.POSITIVE_INFINITY, stopsAt: Number.POSITIVE_INFINITY };
  await deriveFiles(objects as unknown as MaintainedObjects, {} as RefDatabase, time, builders);
  expect(given.get('bitmap') !== undefined).toBe(isNoted);
  if (isNoted) expect(given.get('bitmap')).toBe(given.get('commit-graph'));
});

describe('what commits bring', () => {
  test('is noted to the end, past that of the slice', async () => {
    let now = Date.now();
    vi.spyOn(Date, 'now').mockImplementation(() => (now += 1000));
    const brought = new BroughtObjects();
    expect((await build(commitGraphBuilder, 0, Number.POSITIVE_INFINITY, brought))!.note).toBe('');
    expect(brought.isComplete).toBe(true);
    expect((await build(commitGraphBuilder, 0, Number.POSITIVE_INFINITY))!.note).toMatch(/^unfinished/);
  });

  test.each([true, false])('is used in the same run, past the end of the slice: %s', async (isComplete) => {
    let now = 1000;
    vi.spyOn(Date, 'now').mockImplementation(() => now);
    const packs = [{ id: 'pack', source: 'push', objectCount: 5_000, packSize: 1_000_000 }];
    const file = { provenance: { packs: ['pack'], objects: 5_000, note: '' } };
    const objects = {
      listPacks: async () => packs,
      derived: { current: () => undefined },
      storeDerived: async () => file,
    };
    const built: DerivedKind[] = [];
    const builders = (['commit-graph', 'bitmap'] as const).map(
      (kind): DerivedBuilder => ({
        kind,
        build: async ({ brought }) => {
          built.push(kind);
          if (isComplete) brought!.begin(new CommitTable(), 0);
          now = 3000;
          return { content: sealDerived(new Uint8Array(1)), note: '' };
        },
      }),
    );
    const time = { deadline: 2000, stopsAt: 4000 };
    await deriveFiles(objects as unknown as MaintainedObjects, {} as RefDatabase, time, builders);
    expect(built).toEqual(isComplete ? ['commit-graph', 'bitmap'] : ['commit-graph']);
  });
});
