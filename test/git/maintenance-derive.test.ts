/** How long derived files may take: what cannot go on where it stopped is not begun anew for ever. */
import { rm } from 'node:fs/promises';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { bitmapBuilder } from '../../lib/git/bitmap/build-bitmap.ts';
import { bundleBuilder } from '../../lib/git/bundle-builder.ts';
import { BroughtObjects } from '../../lib/git/commit-graph/brought-objects.ts';
import { commitGraphBuilder } from '../../lib/git/commit-graph/build.ts';
import { CommitTable } from '../../lib/git/commit-graph/commit-table.ts';
import { CorruptData } from '../../lib/git/corrupt-data.ts';
import { sealDerived } from '../../lib/git/derived.ts';
import { deriveFiles } from '../../lib/git/maintenance/derive.ts';
import type { DerivedBuilder } from '../../lib/git/maintenance/derived-builder.ts';
import { dueKinds, REFUSED } from '../../lib/git/maintenance/due.ts';
import type { MemoryRepository } from '../../lib/git/memory.ts';
import { ObjectMissing } from '../../lib/git/objects.ts';
import { type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { mergedIndexBuilder } from '../../lib/git/pack/write-merged-index.ts';
import type {
  DerivedContent,
  DerivedFile,
  DerivedKind,
  MaintainedObjects,
  PackDescription,
  Provenance,
} from '../../lib/git/ports.ts';
import type { RefDatabase } from '../../lib/git/ref-database.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { LimitExceeded } from '../../lib/git/work.ts';
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

/** A repository of which only the listing is asked. */
class Listed {
  packs = [{ id: 'pack', source: 'push', objectCount: 5_000, packSize: 1_000_000 }];
  readonly files = new Map<DerivedKind, DerivedFile>();
  readonly derived = {
    current: (kind: DerivedKind) => this.files.get(kind),
    open: ({ id }: DerivedFile) => ({
      size: 0,
      read: (): Promise<Uint8Array> => Promise.reject(new Error(id)),
    }),
  };

  async listPacks() {
    return this.packs;
  }

  async open(): Promise<never> {
    throw new Error('no packs');
  }

  async newPack(): Promise<never> {
    throw new Error('no packs');
  }

  async rollbackPack(): Promise<void> {}

  async storeDerived(kind: DerivedKind, { size }: DerivedContent, provenance: Provenance) {
    const file = { kind, id: `${kind} ${this.files.size}`, size, provenance, location: 'nowhere' };
    this.files.set(kind, file);
    return file;
  }

  /** Lists a file made of all packs. */
  list(kind: DerivedKind, id: string, note = ''): void {
    const provenance = {
      packs: this.packs.map((pack) => pack.id),
      objects: this.packs.reduce((sum, { objectCount }) => sum + objectCount, 0),
      note,
    };
    this.files.set(kind, { kind, id, size: 10, provenance, location: 'nowhere' });
  }

  derive(builders: readonly DerivedBuilder[], ms = 60_000): Promise<boolean> {
    const time = { deadline: Date.now() + 40_000, stopsAt: Date.now() + ms };
    return deriveFiles(this as unknown as MaintainedObjects, {} as RefDatabase, time, builders);
  }
}

describe('a file that was not done in its time', () => {
  const endless: DerivedBuilder = { kind: 'commit-graph', build: async () => undefined };
  const derive = (ms: number) => new Listed().derive([endless], ms);

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

describe('a file that what was pushed does not allow', () => {
  /** How often each maintenance tries. */
  function failing(kind: DerivedKind, error: Error) {
    const build = vi.fn(() => Promise.reject(error));
    vi.spyOn(console, 'warn').mockImplementation(() => {});
    return { builders: [{ kind, build }], build };
  }
  const more = { id: 'more', source: 'push', objectCount: 5_000, packSize: 1_000_000 };
  const odd = new CorruptData('object-malformed', 'an object is named as one of two types');

  test.each([
    ['tip', odd],
    ['bitmap', odd],
    ['commit-graph', new CorruptData('limit', 'too many commits')],
    ['object-index', new LimitExceeded('too much')],
  ] as const)('is tried once, and again when it would be made anew: %s', async (kind, error) => {
    const listed = new Listed();
    if (kind === 'bitmap') listed.list('object-index', 'first');
    const { builders, build } = failing(kind, error);
    for (let n = 0; n < 3; n++) expect(await listed.derive(builders)).toBe(true);
    expect(build).toHaveBeenCalledTimes(1);
    const derived = (of: DerivedKind) => listed.files.get(of);
    expect(dueKinds(listed.packs as PackDescription[], derived)).not.toContain(kind);
    listed.packs = [more, ...listed.packs];
    if (kind === 'bitmap') listed.list('object-index', 'second');
    for (let n = 0; n < 3; n++) await listed.derive(builders);
    expect(build).toHaveBeenCalledTimes(2);
  });

  test('is tried by each maintenance where it is storage that failed', async () => {
    const { builders, build } = failing('tip', new ObjectMissing('a'.repeat(40) as Oid));
    const listed = new Listed();
    for (let n = 0; n < 3; n++) expect(await listed.derive(builders)).toBe(true);
    expect(build).toHaveBeenCalledTimes(3);
  });

  test('leaves the older one where there is one', async () => {
    const { builders, build } = failing('tip', odd);
    const listed = new Listed();
    listed.list('tip', 'older');
    listed.packs = [more, ...listed.packs];
    await listed.derive(builders);
    expect(build).toHaveBeenCalledTimes(1);
    expect(listed.files.get('tip')!.id).toBe('older');
  });

  test('leaves the bitmap of an index that is not replaced either', async () => {
    const { builders, build } = failing('bitmap', odd);
    const listed = new Listed();
    listed.list('object-index', 'index');
    listed.list('bitmap', 'older', 'index');
    listed.packs = [more, ...listed.packs];
    await listed.derive(builders);
    expect(build).toHaveBeenCalledTimes(1);
    expect(listed.files.get('bitmap')!.id).toBe('older');
  });

  test('is no file for those who read', async () => {
    const note = `${REFUSED} of no index`;
    const store = new PackStore(repository.objects);
    await repository.storeDerived('tip', sealDerived(new Uint8Array(9)), { packs: [], objects: 0, note: '' });
    expect(store.derived('tip')).toBeDefined();
    await repository.storeDerived('tip', sealDerived(new Uint8Array(0)), { packs: [], objects: 0, note });
    expect(store.derived('tip')).toBeUndefined();
  });
});

test('the builder of a bitmap can read the former one, with the index that was just replaced', async () => {
  const listed = new Listed();
  listed.list('object-index', 'former index');
  listed.list('bitmap', 'former bitmap', 'former index');
  listed.packs = [{ id: 'more', source: 'push', objectCount: 5_000, packSize: 1_000_000 }, ...listed.packs];
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const builders: DerivedBuilder[] = [
    { kind: 'object-index', build: async () => ({ content: sealDerived(new Uint8Array(1)), note: '' }) },
    {
      kind: 'bitmap',
      build: async ({ formerBitmap }) => {
        expect(listed.files.get('object-index')!.id).not.toBe('former index');
        expect(await formerBitmap!()).toBeUndefined();
        return { content: sealDerived(new Uint8Array(1)), note: listed.files.get('object-index')!.id };
      },
    },
  ];
  expect(await listed.derive(builders)).toBe(true);
  // It was looked for there.
  expect(warned.mock.calls.flat().join()).toContain('former index');
});

test('what commits bring is forgotten once the bitmap is made of it', async () => {
  let brought: BroughtObjects | undefined;
  const listed = new Listed();
  listed.list('object-index', 'index');
  const builders = (['commit-graph', 'bitmap'] as const).map(
    (kind): DerivedBuilder => ({
      kind,
      build: async (context) => {
        brought = context.brought;
        if (kind === 'commit-graph') brought!.begin(new CommitTable(), 0);
        expect(brought!.isComplete).toBe(true);
        return { content: sealDerived(new Uint8Array(1)), note: kind === 'bitmap' ? 'index' : '' };
      },
    }),
  );
  expect(await listed.derive(builders)).toBe(true);
  expect(brought!.commits).toBeUndefined();
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
