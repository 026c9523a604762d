import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Closures, readBitmap, writeBitmap } from '../../lib/git/bitmap/bitmap-file.ts';
import { Bits } from '../../lib/git/bitmap/bits.ts';
import { bitmapBuilder } from '../../lib/git/bitmap/build-bitmap.ts';
import { compress, compressedEnd, xorCompressed } from '../../lib/git/bitmap/ewah.ts';
import { type OpenedBitmap, openBitmap } from '../../lib/git/bitmap/open.ts';
import { reachedObjects } from '../../lib/git/bitmap/reached-objects.ts';
import { BroughtObjects } from '../../lib/git/commit-graph/brought-objects.ts';
import { commitGraphBuilder } from '../../lib/git/commit-graph/build.ts';
import { CorruptData } from '../../lib/git/corrupt-data.ts';
import { sealDerived } from '../../lib/git/derived.ts';
import { collect } from '../../lib/git/maintenance/collect.ts';
import type { DeriveContext, DerivedBuilder } from '../../lib/git/maintenance/derived-builder.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { type Oid, ZERO_OID } from '../../lib/git/oid.ts';
import type { Unpacked } from '../../lib/git/pack/build-pack.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import type { ObjectList } from '../../lib/git/pack/object-list.ts';
import { PackObjects } from '../../lib/git/pack/pack-objects.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { mergedIndexBuilder } from '../../lib/git/pack/write-merged-index.ts';
import { hashObject } from '../../lib/git/parse.ts';
import type { DerivedContent, DerivedFile, PackDescription } from '../../lib/git/ports.ts';
import { type EnumerateOptions, enumerate } from '../../lib/git/reachable.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { buildPack } from '../harness/build-pack.ts';
import { allObjects, maintained, writeRepository } from './maintenance-fixture.ts';
import { addPack, generator, makeHistory, packObjects, revList, revParse, scratch } from './pack-fixture.ts';
import { git } from './repository-files.ts';

describe('a compressed bitmap', () => {
  test('round-trips', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2000 }),
        fc.array(fc.tuple(fc.nat(1999), fc.integer({ min: 1, max: 700 }), fc.boolean()), { maxLength: 12 }),
        (size, spans) => {
          const bits = new Bits(size);
          for (const [from, length, every] of spans) {
            for (let i = from; i < Math.min(size, from + length); i += every ? 1 : 3) bits.add(i);
          }
          const bytes = compress(bits);
          compress(new Bits(2000));
          expect(compressedEnd(bytes, 0)).toBe(bytes.length);
          // No more memory is kept than it needs.
          expect(bytes.buffer.byteLength).toBe(bytes.length);
          const back = new Bits(size);
          xorCompressed(back, bytes, 0);
          expect(Buffer.compare(Buffer.from(back.words.buffer), Buffer.from(bits.words.buffer))).toBe(0);
        },
      ),
    );
  });

  test('when damaged, gives an error or other bits, but never hangs', () => {
    const random = generator(7);
    const bits = new Bits(5000);
    for (let i = 0; i < 1200; i++) bits.add(random(5000));
    const bytes = compress(bits);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.nat(255), fc.nat(bytes.length), (at, value, end) => {
        const damaged = Buffer.from(bytes.subarray(0, end));
        if (at < end) damaged[at] = value;
        try {
          xorCompressed(new Bits(5000), damaged, 0);
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptData);
        }
      }),
    );
  });
});

describe('the bitmap file', () => {
  test('round-trips closures, also those stored as XOR', () => {
    const size = 3000;
    const random = generator(3);
    const closures = new Closures(size);
    const expected: Bits[] = [];
    const all = new Bits(size);
    for (let i = 0; i < 60; i++) {
      for (let k = 0; k < 40; k++) all.add(random(size));
      closures.add(i * 3, all);
      expected.push(all.copy());
    }
    const none = new Bits(size);
    const types = { commits: all, trees: none, blobs: none, tags: none };
    const checksum = Buffer.alloc(20, 9);
    const read = readBitmap(writeBitmap({ types, closures }, checksum), size, checksum);
    for (const [i, bits] of expected.entries()) expect(read.closures.get(i * 3)!.words).toEqual(bits.words);
    expect(read.types.commits.words).toEqual(all.words);
    expect(read.closures.get(1)).toBeUndefined();
    expect(() => readBitmap(writeBitmap({ types, closures }, checksum), size, Buffer.alloc(20))).toThrow(
      CorruptData,
    );
  });
});

describe('where a tree names as a file what is none', () => {
  const file = (name: string, data: string) =>
    `100644 ${name}\0${Buffer.from(data, 'hex').toString('latin1')}`;
  const person = 'A <a@example.org> 1700000000 +0000';

  test.each([
    // A walk adds commits before trees.
    ['its parent', 'parent', true],
    ['a commit of another branch', 'commit', true],
    ['a commit of another branch', 'commit', false],
    ['a tree of another branch', 'tree', true],
    ['a tree of another branch', 'tree', false],
    ['a tree below that of another branch', 'below', true],
    ['a tree below that of another branch', 'below', false],
  ] as const)('%s: a walk finds all objects, and no bitmap is made', async (_, named, isNoted) => {
    const objects: Unpacked[] = [];
    const put = (type: Unpacked['type'], text: string): Oid => {
      const data = Buffer.from(text, 'latin1');
      objects.push({ type, data });
      return hashObject(type, data);
    };
    const commit = (tree: Oid, parent = '') =>
      put('commit', `tree ${tree}\n${parent}author ${person}\ncommitter ${person}\n\nchange\n`);
    const tree = put('tree', file('a', put('blob', 'x')));
    const isBelow = named === 'below';
    const main = commit(isBelow ? put('tree', file('d', tree).replace('100644', '40000')) : tree);
    const odd = put('tree', file('a', named === 'tree' || isBelow ? tree : main));
    const side = commit(odd, named === 'parent' ? `parent ${main}\n` : '');
    const expected = objects.map(({ type, data }) => hashObject(type, data)).sort();
    const base = commit(put('tree', file('b', put('blob', 'y'))));
    const made = new MemoryRepository();
    const { content, objectCount } = buildPack(objects);
    const pack = await made.objects.newPack(content, { source: 'receive', objectCount });
    const branches = (of: Readonly<Record<string, Oid>>) =>
      Object.entries(of).map(([name, to]) => ({ name: `refs/heads/${name}` as RefName, from: ZERO_OID, to }));
    const forever = { deadline: Number.POSITIVE_INFINITY, stopsAt: Number.POSITIVE_INFINITY };
    const build = async (builder: DerivedBuilder, brought?: BroughtObjects) => {
      const [store, packs] = [new PackStore(made.objects), await made.objects.listPacks()];
      const { content, note } = (await builder.build({
        store,
        refs: made.refs,
        packs,
        ...forever,
        brought,
      }))!;
      await made.storeDerived(builder.kind, content, { packs: [pack.id], objects: objectCount, note });
    };
    const inEachOrder = [{ include: [side, main] }, { include: [main, side] }];
    for (const both of inEachOrder) {
      const list = await enumerate(new PackStore({ ...made.objects, listPacks: async () => [pack] }), both);
      expect([...list.oids()].sort()).toEqual(expected);
    }

    await made.refs.compareAndSwap(branches({ base }), { packs: [pack] });
    await build(mergedIndexBuilder);
    await build(bitmapBuilder);
    for (const both of inEachOrder) {
      const list = await reachedObjects(new PackStore(made.objects), both);
      expect([...list!.oids()].sort()).toEqual(expected);
    }

    await made.refs.compareAndSwap(branches({ main, side }));
    const brought = isNoted ? new BroughtObjects() : undefined;
    await build(commitGraphBuilder, brought);
    expect(brought?.isComplete ?? false).toBe(isNoted && !isBelow);
    await expect(build(bitmapBuilder, brought)).rejects.toThrow('two types');
  });

  test.each([
    ['a commit', 'commit'],
    ['a tree', 'tree'],
  ] as const)(
    '%s that nothing else reaches: a closure of it is not taken for all of that',
    async (_, named) => {
      const objects: Unpacked[] = [];
      const put = (type: Unpacked['type'], text: string): Oid => {
        const data = Buffer.from(text, 'latin1');
        objects.push({ type, data });
        return hashObject(type, data);
      };
      let seconds = 1_700_000_000;
      const commit = (tree: Oid, parent?: Oid) => {
        const by = `A <a@example.org> ${++seconds} +0000`;
        const links = `tree ${tree}\n${parent ? `parent ${parent}\n` : ''}`;
        return put('commit', `${links}author ${by}\ncommitter ${by}\n\nchange\n`);
      };
      const tree = put('tree', file('a', put('blob', 'x')));
      const main = commit(tree);
      const odd = commit(put('tree', file('a', named === 'tree' ? tree : main)));
      const other = put('tree', file('b', put('blob', 'y')));
      const later = named === 'tree' ? commit(tree, odd) : commit(other, main);
      const all = objects.map(({ type, data }) => hashObject(type, data)).sort();
      const made = new MemoryRepository();
      const { content, objectCount } = buildPack(objects);
      const pack = await made.objects.newPack(content, { source: 'receive', objectCount });
      const point = (name: string, to: Oid, packs: PackDescription[] = []) =>
        made.refs.compareAndSwap([{ name: `refs/heads/${name}` as RefName, from: ZERO_OID, to }], { packs });
      const forever = { deadline: Number.POSITIVE_INFINITY, stopsAt: Number.POSITIVE_INFINITY };
      const build = async (builder: DerivedBuilder) => {
        const [store, packs] = [new PackStore(made.objects), await made.objects.listPacks()];
        const { content, note } = (await builder.build({ store, refs: made.refs, packs, ...forever }))!;
        await made.storeDerived(builder.kind, content, { packs: [pack.id], objects: objectCount, note });
      };
      await point('odd', odd, [pack]);
      await build(mergedIndexBuilder);
      await build(bitmapBuilder);
      const found = async (options: EnumerateOptions) => {
        const store = new PackStore(made.objects);
        const list = (await reachedObjects(store, options)) ?? (await enumerate(store, options));
        return [...list.oids()].sort();
      };
      expect(await found({ include: [odd] })).not.toContain(objects[0]);
      const unreached = named === 'tree' ? [main, other, hashObject('blob', Buffer.from('y'))] : [];
      const rest = all.filter((oid) => !unreached.includes(oid));
      for (const include of [
        [odd, later],
        [later, odd],
      ])
        expect(await found({ include })).toEqual(rest);
      await point('later', later);
      await expect(build(bitmapBuilder)).rejects.toThrow(CorruptData);
    },
  );
});

describe('over a repository', () => {
  let path: string;
  let repository: MemoryRepository;
  let old: { repository: MemoryRepository };
  const dir = scratch();

  beforeAll(async () => {
    path = join(dir.path, 'source.git');
    makeHistory(path, 160);
    repository = await withBitmap(['main~4'], ['--all', '^main~4']);
    // A bitmap from before the last push, with one of its packs merged since.
    const before = await withBitmap(['main~12'], ['main~8', '^main~12'], ['main~4', '^main~8']);
    const [newest, second] = await before.objects.listPacks();
    await push(before, ['--all', '^main~4']);
    await merge(before, [newest!, second!]);
    old = { repository: before };
    return () => dir[Symbol.dispose]();
  });

  async function push(target: MemoryRepository, revisions: readonly string[]): Promise<void> {
    const store = new PackStore(target.objects);
    await addPack(target, await indexPack([packObjects(path, revisions, ['--thin'])], { store }));
  }

  async function merge(target: MemoryRepository, packs: readonly PackDescription[]): Promise<void> {
    const all = await target.objects.listPacks();
    const texts: Buffer[] = [];
    for (const pack of packs) {
      const index = new PackStore({ ...target.objects, listPacks: async () => [pack] });
      const names = await index.run((objects) => objects.packs[0]!.index.whole().names);
      for (let i = 0; i < names.length; i += 20) texts.push(Buffer.from(names.subarray(i, i + 20)));
    }
    const ids = texts.map((name) => name.toString('hex')).join('\n');
    const merged = git(path, ['pack-objects', '--stdout', '-q', '--delta-base-offset'], `${ids}\n`);
    await addPack(target, await indexPack([merged], { store: new PackStore(target.objects) }));
    target.relist((listed) => listed.filter(({ id }) => !packs.some((pack) => pack.id === id)));
    expect((await target.objects.listPacks()).length).toBe(all.length - packs.length + 1);
  }

  async function withBitmap(...pushes: string[][]): Promise<MemoryRepository> {
    const made = new MemoryRepository();
    for (const revisions of pushes) await push(made, revisions);
    const listed = git(path, ['for-each-ref', '--format=%(objectname) %(refname)']).toString().trim();
    const store = new PackStore(made.objects);
    for (const line of listed.split('\n')) {
      const [to, name] = line.split(' ') as [Oid, RefName];
      if (await store.has(to)) await made.refs.compareAndSwap([{ name, from: ZERO_OID, to }]);
    }
    await derive(made, mergedIndexBuilder);
    await derive(made, bitmapBuilder);
    return made;
  }

  async function derive(
    made: MemoryRepository,
    builder: DerivedBuilder,
    former?: OpenedBitmap,
  ): Promise<void> {
    const packs = await made.objects.listPacks();
    const { content, note } = (await builder.build({
      store: new PackStore(made.objects),
      refs: made.refs,
      packs,
      deadline: Number.POSITIVE_INFINITY,
      stopsAt: Number.POSITIVE_INFINITY,
      formerBitmap: async () => former,
    }))!;
    await made.storeDerived(builder.kind, content, { packs: packs.map(({ id }) => id), objects: 0, note });
  }

  type Known = Pick<DeriveContext, 'brought' | 'formerBitmap'>;

  async function build(builder: DerivedBuilder, of: MemoryRepository, known: Known = {}) {
    const packs = await of.objects.listPacks();
    const store = new PackStore(of.objects);
    const forever = { deadline: Number.POSITIVE_INFINITY, stopsAt: Number.POSITIVE_INFINITY };
    const { content } = (await builder.build({ store, refs: of.refs, packs, ...forever, ...known }))!;
    return Buffer.from((content as Extract<DerivedContent, { kind: 'bytes' }>).bytes);
  }

  const reads = vi.spyOn(PackObjects.prototype, 'readAt');
  afterAll(() => reads.mockRestore());

  describe('made of what commits bring, as the builder of the commit-graph noted it', () => {
    test('is the same file, and hardly an object is read for it', async () => {
      reads.mockClear();
      const walked = await build(bitmapBuilder, repository);
      const withoutIt = reads.mock.calls.length;
      const brought = new BroughtObjects();
      const graph = await build(commitGraphBuilder, repository, { brought });
      expect(graph.equals(await build(commitGraphBuilder, repository))).toBe(true);
      expect(brought.isComplete).toBe(true);
      reads.mockClear();
      expect((await build(bitmapBuilder, repository, { brought })).equals(walked)).toBe(true);
      expect(reads.mock.calls.length).toBeLessThan(withoutIt / 4);
    });

    test('is walked for where a branch has commits of which that is not known', async () => {
      const made = await withBitmap(['main~4']);
      await push(made, ['--all', '^main~4']);
      const name = 'refs/heads/early' as RefName;
      const early = revParse(path, 'main~4');
      await made.refs.compareAndSwap([{ name, from: ZERO_OID, to: early }]);
      const brought = new BroughtObjects();
      await build(commitGraphBuilder, made, { brought });
      expect(brought.isComplete).toBe(true);
      const late = { name: 'refs/heads/late' as RefName, from: ZERO_OID, to: revParse(path, 'main') };
      await made.refs.compareAndSwap([late]);
      const walked = await build(bitmapBuilder, made);
      expect((await build(bitmapBuilder, made, { brought })).equals(walked)).toBe(true);
    });
  });

  describe('made of the former one, when its index is replaced', () => {
    /** A repository that grew, and whose packs were merged, since its bitmap was made; and that bitmap. */
    async function grown() {
      const made = new MemoryRepository();
      for (const revisions of [['main~8'], ['main~4', '^main~8']]) await push(made, revisions);
      const early = { name: 'refs/heads/early' as RefName, from: ZERO_OID, to: revParse(path, 'main~4') };
      await made.refs.compareAndSwap([early]);
      await derive(made, mergedIndexBuilder);
      await derive(made, bitmapBuilder);
      const former = (await openBitmap(new PackStore(made.objects)))!;
      const packs = await made.objects.listPacks();
      await push(made, ['--all', '^main~4']);
      await merge(made, packs);
      const main = { name: 'refs/heads/main' as RefName, from: ZERO_OID, to: revParse(path, 'main') };
      await made.refs.compareAndSwap([main]);
      await derive(made, mergedIndexBuilder);
      return { made, former };
    }

    test('is accepted by git, and no tree is read for it that the former one has', async () => {
      const { made, former } = await grown();
      reads.mockClear();
      const trees = () => reads.mock.results.filter(({ value }) => value?.type === 'tree').length;
      await build(bitmapBuilder, made);
      const withoutIt = trees();
      reads.mockClear();
      await derive(made, bitmapBuilder, former);
      expect(trees()).toBeLessThanOrEqual(withoutIt - former.bitmap.types.trees.count());
      await acceptedByGit(made);
    });

    test('is walked for where the index lacks an object that the former one has', async () => {
      const { made, former } = await grown();
      const walked = await build(bitmapBuilder, made);
      const { names } = former.index;
      const index = Object.assign(Object.create(former.index) as typeof former.index, {
        names: Buffer.concat([names.subarray(0, -20), Buffer.alloc(20, 0xff)]),
      });
      expect(
        (await build(bitmapBuilder, made, { formerBitmap: async () => ({ ...former, index }) })).equals(
          walked,
        ),
      ).toBe(true);
    });
  });

  const idsOf = (list: ObjectList) => [...list.oids()].sort();
  const derivedBytes = async (of: MemoryRepository, kind: 'bitmap' | 'object-index') => {
    const file = of.objects.derived!.current(kind)!;
    return Buffer.from(await of.objects.derived!.open(file).read(0, file.size));
  };

  test('is accepted by git, which verifies every closure', () => acceptedByGit(repository));

  async function acceptedByGit(of: MemoryRepository): Promise<void> {
    using bare = scratch();
    const refs = (await of.refs.all()).refs;
    await writeRepository(bare.path, of.objects, await of.objects.listPacks(), refs);
    const index = await derivedBytes(of, 'object-index');
    const bitmap = await derivedBytes(of, 'bitmap');
    const directory = join(bare.path, 'objects/pack');
    writeFileSync(join(directory, 'multi-pack-index'), index);
    const checksum = index.subarray(-20).toString('hex');
    writeFileSync(join(directory, `multi-pack-index-${checksum}.bitmap`), bitmap);
    git(bare.path, ['multi-pack-index', 'verify']);
    const opened = (await openBitmap(new PackStore(of.objects)))!;
    const { closures } = opened.bitmap;
    expect(closures.count).toBeGreaterThan(2);
    for (const position of closures.positions()) {
      const name = opened.index.names.subarray(20 * position, 20 * position + 20);
      // Prints to stderr, and fails when a bit or a type is wrong.
      git(bare.path, ['rev-list', '--test-bitmap', Buffer.from(name).toString('hex')]);
    }
    const counted = git(bare.path, ['rev-list', '--objects', '--use-bitmap-index', '--all', '--count']);
    const reached = revList(
      path,
      refs.map(({ oid }) => oid),
    );
    expect(counted.toString().trim()).toBe(String(reached.length));
  }

  const cases: [string, string[], string[]][] = [
    ['everything', ['--all'], []],
    ['one branch', ['main'], []],
    ['a commit between two that have bitmaps', ['main~7'], []],
    ['what is new since', ['main', 'two'], ['main~9']],
    ['since a side branch', ['main'], ['topic/one~3']],
    ['tags of trees and blobs', ['tree-tag', 'blob-tag', 'v1-again'], []],
    ['since a tag', ['main'], ['v1']],
  ];
  const options = (include: string[], exclude: string[]): EnumerateOptions => ({
    include: (include[0] === '--all'
      ? git(path, ['for-each-ref', '--format=%(objectname)']).toString().trim().split('\n')
      : include.map((name) => revParse(path, name))) as Oid[],
    exclude: exclude.map((name) => revParse(path, name)),
  });

  for (const when of ['as it was made', 'older than the last push and a merge of packs'] as const) {
    describe(when, () => {
      test.each(cases)('lists the same objects as git for %s', async (_what, include, exclude) => {
        const from = when === 'as it was made' ? repository : old.repository;
        const list = await reachedObjects(new PackStore(from.objects), options(include, exclude));
        const expected = revList(path, [
          '--use-bitmap-index',
          ...include,
          ...exclude.map((name) => `^${name}`),
        ]);
        const all = revList(path, [...include, ...exclude.map((name) => `^${name}`)]);
        const had = new Set(exclude.length > 0 ? revList(path, exclude) : []);
        // Exactly: without a bitmap, git's walk may list a few objects that the other side has.
        expect(idsOf(list!)).toEqual(all.filter((oid) => !had.has(oid)));
        expect(expected.length).toBeGreaterThanOrEqual(list!.count);
      });
    });
  }

  test('applies blob filters as a walk does', async () => {
    for (const filter of [{ blobLimit: 0 }, { blobLimit: 60 }]) {
      for (const [, include, exclude] of cases) {
        const wanted = { ...options(include, exclude), filter };
        const list = await reachedObjects(new PackStore(old.repository.objects), wanted);
        const walked = idsOf(await enumerate(new PackStore(old.repository.objects), wanted));
        const had = new Set(exclude.length > 0 ? revList(path, exclude) : []);
        expect(idsOf(list!)).toEqual(walked.filter((oid) => !had.has(oid)));
      }
    }
  });

  test('is ignored with one warning when a byte is wrong or it is truncated', async () => {
    const bytes = await derivedBytes(repository, 'bitmap');
    const { note } = repository.objects.derived!.current('bitmap')!.provenance;
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    try {
      await fc.assert(
        fc.asyncProperty(fc.nat(bytes.length - 1), fc.boolean(), async (at, cut) => {
          warn.mockClear();
          const damaged = Buffer.from(cut ? bytes.subarray(0, at) : bytes);
          if (!cut) damaged[at]! ^= 0x10;
          const made = { packs: [], objects: 0, note };
          // With correct checksums: it was written wrong.
          await repository.storeDerived('bitmap', sealDerived(damaged), made);
          const store = new PackStore(repository.objects);
          expect(await reachedObjects(store, options(['main'], []))).toBeUndefined();
          expect(await openBitmap(store)).toBeUndefined();
          expect(warn).toHaveBeenCalledTimes(1);
        }),
        { numRuns: 30 },
      );
    } finally {
      warn.mockRestore();
      await repository.storeDerived('bitmap', sealDerived(bytes), { packs: [], objects: 0, note });
    }
  });

  test('is used by garbage collection: reachable objects stay, the rest is garbage', async () => {
    const made = await withBitmap(['main~30'], ['--all', '^main~30']);
    const dropped = ['refs/heads/two', 'refs/heads/topic/one'] as RefName[];
    for (const name of dropped) {
      await made.refs.compareAndSwap([{ name, from: revParse(path, name), to: ZERO_OID }]);
    }
    const objects = maintained(made);
    const read: string[] = [];
    const { derived } = made.objects;
    const watched = {
      ...objects,
      derived: {
        ...derived!,
        open: (file: DerivedFile) => {
          read.push(file.kind);
          return derived!.open(file);
        },
      },
    };
    const collected = await collect(watched, made.refs, { epoch: 1, now: new Date() });
    expect(collected!.garbage).toBeGreaterThan(0);
    expect(read).toContain('bitmap');
    using bare = scratch();
    const live = (await made.objects.listPacks()).filter(({ source }) => source !== 'unreachable-garbage');
    const { refs } = await made.refs.all();
    await writeRepository(bare.path, made.objects, live, refs);
    git(bare.path, ['fsck', '--strict']);
    const kept = allObjects(bare.path).map((line) => line.slice(0, 40));
    expect(kept).toEqual(revList(bare.path, ['--all']));
  });

  test('made for another index is not used', async () => {
    const bytes = await derivedBytes(repository, 'bitmap');
    const other = new MemoryRepository();
    await push(other, ['--all']);
    await other.storeDerived('bitmap', sealDerived(bytes), { packs: [], objects: 0, note: 'gone' });
    expect(await reachedObjects(new PackStore(other.objects), options(['main'], []))).toBeUndefined();
  });
});
