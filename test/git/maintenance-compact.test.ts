/** Merging packs, verified by git. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compact } from '../../lib/git/maintenance/compact.ts';
import { compactionPlan } from '../../lib/git/maintenance/plan.ts';
import { repack } from '../../lib/git/maintenance/repack.ts';
import type { MemoryRepository } from '../../lib/git/memory.ts';
import { writeDistance, writeEntryHeader } from '../../lib/git/pack/entry.ts';
import { indexPack } from '../../lib/git/pack/index-pack.ts';
import { ObjectList } from '../../lib/git/pack/object-list.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { hashObject } from '../../lib/git/parse.ts';
import { type PackDescription, PacksChanged } from '../../lib/git/ports.ts';
import { buildPack } from '../harness/build-pack.ts';
import { allObjects, maintained, writeRepository } from './maintenance-fixture.ts';
import { addPack, generator, makeHistory, packObjects, scratch, storeOf } from './pack-fixture.ts';
import { git } from './repository-files.ts';

const soon = () => ({ deadline: Date.now() + 60_000 });

/** A history pushed in pieces: thin packs that are completed, packs whose deltas name their bases, repeated ones. */
async function pushedInPieces(directory: string, seed: number): Promise<MemoryRepository> {
  makeHistory(directory, 90, seed);
  const commits = git(directory, ['rev-list', '--reverse', '--topo-order', 'main'])
    .toString()
    .trim()
    .split('\n');
  const random = generator(seed);
  const { repository, store } = await storeOf();
  const push = async (pack: Uint8Array) => {
    await store.refresh();
    await addPack(repository, await indexPack([pack], { store, fsck: false }));
  };
  let from = 0;
  while (from < commits.length) {
    const to = Math.min(commits.length - 1, from + random(12));
    const range = from === 0 ? [commits[to]!] : [commits[to]!, `^${commits[from - 1]}`];
    const style = random(3);
    const options = style === 0 ? ['--thin'] : style === 1 ? ['--no-reuse-delta'] : [];
    await push(packObjects(directory, range, options));
    // Again with bases by id, and more objects than before.
    if (random(3) === 0) {
      const revisions = [commits[to]!, ...(from > 20 ? [`^${commits[from - 20]}`] : [])];
      await push(
        git(
          directory,
          ['pack-objects', '--revs', '--stdout', '-q', '--no-reuse-delta'],
          revisions.join('\n'),
        ),
      );
    }
    from = to + 1;
  }
  await push(packObjects(directory, ['--all']));
  return repository;
}

describe('compaction', () => {
  test.for([1, 2, 3, 4])('one pack has every object, as git reads them (seed %i)', async (seed) => {
    using dir = scratch();
    const repository = await pushedInPieces(join(dir.path, 'source'), seed);
    const objects = maintained(repository);
    const before = await objects.listPacks();
    expect(before.length).toBeGreaterThan(8);
    await writeRepository(join(dir.path, 'before'), objects, before);

    expect(await compact(objects, before, { ...soon(), scratchDir: dir.path })).toBe(true);
    const after = await objects.listPacks();
    expect(after).toHaveLength(1);
    expect(after[0]).toMatchObject({ source: 'compact' });
    const target = join(dir.path, 'after');
    await writeRepository(target, objects, after);
    expect(allObjects(target)).toEqual(allObjects(join(dir.path, 'before')));
    expect(after[0]!.objectCount).toBe(allObjects(target).length);
    git(target, ['fsck', '--full', '--strict']);

    // git's index of the pack is the same, byte for byte.
    const pack = join(target, 'objects/pack', `pack-${after[0]!.id}.pack`);
    git(target, ['index-pack', '-o', join(dir.path, 'own.idx'), pack]);
    expect(readFileSync(join(dir.path, 'own.idx')).equals(readFileSync(pack.replace(/pack$/, 'idx')))).toBe(
      true,
    );

    // Deltas stay deltas: not much larger than the largest input, which had most objects.
    const largest = Math.max(...before.map(({ packSize }) => packSize));
    expect(after[0]!.packSize).toBeLessThan(2 * largest);
    // A second run has nothing to do.
    expect(await compact(objects, after, soon())).toBe(true);
    expect(await objects.listPacks()).toEqual(after);
  });

  test('a pack too large for memory is written to the scratch disk, and removed from there', async () => {
    using dir = scratch();
    const repository = await pushedInPieces(join(dir.path, 'source'), 7);
    const store = new PackStore(repository.objects);
    const list = new ObjectList();
    for (const pack of await store.packs()) {
      const { names } = await store.run(() => pack.index.whole());
      for (let i = 0; i < names.length / 20; i++) list.add(names, 20 * i, 0, pack, i);
    }
    const files = () => readdirSync(dir.path).filter((name) => name !== 'source');
    const small = await repack(store, list, { scratchDir: dir.path });
    expect(small.content.kind).toBe('bytes');
    expect(files()).toEqual([]);
    const large = await repack(store, list, { scratchDir: dir.path, memoryPackBytes: 10_000 });
    if (large.content.kind !== 'file' || small.content.kind !== 'bytes') throw new Error('not as asked');
    expect(files()).toHaveLength(1);
    expect(readFileSync(large.content.packPath).equals(small.content.pack)).toBe(true);
    expect(Buffer.from(large.content.index).equals(small.content.index)).toBe(true);
    rmSync(large.content.packPath);

    await compact(maintained(repository), await repository.objects.listPacks(), {
      ...soon(),
      scratchDir: dir.path,
      memoryPackBytes: 10_000,
    });
    expect(await repository.objects.listPacks()).toHaveLength(1);
    expect(files()).toEqual([]);
  });

  test('large entries are copied in pieces', async () => {
    using dir = scratch();
    const { repository } = await storeOf();
    const random = generator(3);
    const noise = (bytes: number) =>
      Buffer.from(
        Array.from({ length: bytes / 4 }, () => random(2 ** 31)).flatMap((n) => [
          n & 255,
          (n >> 8) & 255,
          (n >> 16) & 255,
          (n >> 24) & 127,
        ]),
      );
    for (let i = 0; i < 9; i++) {
      const data = noise(i === 4 ? 3_000_000 : 400_000);
      const { content, objectCount } = buildPack([{ type: 'blob', oid: hashObject('blob', data), data }]);
      await addPack(
        repository,
        await indexPack([content.kind === 'bytes' ? content.pack : ''] as Uint8Array[]),
      );
      expect(objectCount).toBe(1);
    }
    const before = await repository.objects.listPacks();
    await writeRepository(join(dir.path, 'before'), repository.objects, before);
    await compact(maintained(repository), before, soon());
    const after = await repository.objects.listPacks();
    expect(after).toHaveLength(1);
    await writeRepository(join(dir.path, 'after'), repository.objects, after);
    expect(allObjects(join(dir.path, 'after'))).toEqual(allObjects(join(dir.path, 'before')));
    git(join(dir.path, 'after'), ['fsck', '--full']);
  });

  test('delta chains do not grow with every merge', async () => {
    const { repository, store } = await storeOf();
    // Each pack starts with the last object of the previous one, whole, and ends 4,000 deltas later.
    let first: Buffer = Buffer.from(`start${'.'.repeat(100)}`);
    for (let k = 0; k < 9; k++) {
      const { pack, last } = chain(first, k < 3 ? 4000 : 1, k);
      await addPack(repository, await indexPack([pack], { fsck: false }));
      first = last;
    }
    await compact(maintained(repository), await repository.objects.listPacks(), soon());
    const listed = await repository.objects.listPacks();
    expect(listed).toHaveLength(1);
    await store.refresh();
    expect((await store.read(hashObject('blob', first))).data).toEqual(first);
    using dir = scratch();
    await writeRepository(dir.path, repository.objects, listed);
    const pack = join(dir.path, 'objects/pack', `pack-${listed[0]!.id}.idx`);
    const depths = [
      ...git(dir.path, ['verify-pack', '-v', pack])
        .toString()
        .matchAll(/^chain length = (\d+):/gm),
    ];
    expect(Math.max(...depths.map(([, depth]) => Number(depth)))).toBeLessThanOrEqual(4095);
  });

  test('damage is detected and not copied', async () => {
    using dir = scratch();
    const repository = await pushedInPieces(join(dir.path, 'source'), 5);
    const listed = await repository.objects.listPacks();
    const victim = listed.at(-1)!;
    const objects = {
      ...maintained(repository),
      open: (pack: PackDescription, part: 'pack' | 'index') => {
        const access = repository.objects.open(pack, part);
        if (pack.id !== victim.id || part === 'index') return access;
        return {
          size: access.size,
          read: async (offset: number, length: number) => {
            const bytes = Buffer.from(await access.read(offset, length));
            const at = Math.floor(access.size / 2) - offset;
            if (at >= 0 && at < bytes.length) bytes[at]! ^= 0x10;
            return bytes;
          },
        };
      },
    };
    await expect(compact(objects, listed, { ...soon(), scratchDir: dir.path })).rejects.toMatchObject({
      name: 'CorruptData',
    });
    expect(await repository.objects.listPacks()).toEqual(listed);
    expect(readdirSync(dir.path)).toEqual(['source']);
  });

  test('a pack that was replaced meanwhile is not replaced again, and the new pack is deleted', async () => {
    using dir = scratch();
    const repository = await pushedInPieces(join(dir.path, 'source'), 6);
    const listed = await repository.objects.listPacks();
    repository.relist((packs) => packs.slice(1));
    const rolledBack: string[] = [];
    const objects = {
      ...maintained(repository),
      rollbackPack: async (pack: PackDescription) => {
        rolledBack.push(pack.id);
        await repository.objects.rollbackPack(pack);
      },
    };
    await expect(compact(objects, listed, soon())).rejects.toBeInstanceOf(PacksChanged);
    expect(rolledBack).toHaveLength(1);
    expect(await repository.objects.listPacks()).toEqual(listed.slice(1));
  });

  test('no merge starts after the deadline', async () => {
    using dir = scratch();
    const repository = await pushedInPieces(join(dir.path, 'source'), 8);
    const listed = await repository.objects.listPacks();
    expect(await compact(maintained(repository), listed, { deadline: 0 })).toBe(false);
    expect(await repository.objects.listPacks()).toEqual(listed);
  });
});

/** `start`, and a chain of `length` deltas, each of which inserts text at the front. */
function chain(start: Buffer, length: number, seed: number): { pack: Buffer; last: Buffer } {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
  header.writeUInt32BE(length + 1, 8);
  const parts: Buffer[] = [header];
  let at = 12;
  const add = (head: Buffer, data: Buffer) => {
    const bytes = Buffer.concat([head, deflateSync(data)]);
    parts.push(bytes);
    const begun = at;
    at += bytes.length;
    return begun;
  };
  const head = (type: number, size: number, distance?: number) => {
    const bytes = Buffer.alloc(32);
    let end = writeEntryHeader(bytes, 0, type, size);
    if (distance !== undefined) end = writeDistance(bytes, end, distance);
    return bytes.subarray(0, end);
  };
  let base = add(head(3, start.length), start);
  let last = start;
  for (let i = 0; i < length; i++) {
    const text = Buffer.from(`${seed}.${i} `);
    // Insert the text, then copy the first 100 bytes of the base.
    const delta = Buffer.concat([
      Buffer.from([...varint(last.length), ...varint(text.length + 100), text.length]),
      text,
      Buffer.from([0x90, 100]),
    ]);
    const begun = at;
    add(head(6, delta.length, begun - base), delta);
    base = begun;
    last = Buffer.concat([text, last.subarray(0, 100)]);
  }
  const body = Buffer.concat(parts);
  return { pack: Buffer.concat([body, createHash('sha1').update(body).digest()]), last };
}

function varint(n: number): number[] {
  return n < 128 ? [n] : [(n & 127) | 128, ...varint(n >> 7)];
}

describe('the compaction plan', () => {
  const MiB = 2 ** 20;
  const pack = (
    packSize: number,
    id: number,
    source: PackDescription['source'] = 'insert',
  ): PackDescription => ({
    id: String(id).padStart(6, '0'),
    source,
    objectCount: 3,
    packSize,
    indexSize: 1100,
    layout: 'joined',
    location: '',
  });
  const packs = (...sizes: number[]) => sizes.map((size, i) => pack(size, i));
  const planned = (...sizes: number[]) => compactionPlan(packs(...sizes)).map(({ packSize }) => packSize);
  const small = (count: number, size = 1000) => Array.from({ length: count }, () => size);

  test('leaves short lists alone', () => {
    expect(planned(...small(8))).toEqual([]);
    expect(planned(...small(9))).toHaveLength(9);
  });

  test('skips large enough packs, and includes those too close to the result in size', () => {
    expect(planned(100 * MiB, ...small(9))).toEqual(small(9));
    expect(planned(0.4 * MiB, ...small(9))).toEqual([0.4 * MiB, ...small(9)]);
    expect(planned(80 * MiB, 16 * MiB, 12 * MiB, ...small(8, MiB))).toEqual([
      16 * MiB,
      12 * MiB,
      ...small(8, MiB),
    ]);
  });

  test('includes no garbage packs and no large ones', () => {
    const garbage = Array.from({ length: 20 }, (_, i) => pack(1000, 100 + i, 'unreachable-garbage'));
    expect(compactionPlan([...packs(...small(8)), ...garbage])).toEqual([]);
    expect(planned(...small(20, 3000 * MiB))).toEqual([]);
  });

  test('results are bounded; repeated, it ends with few packs, each byte written a few times', () => {
    const sizes = fc.array(
      fc.oneof(fc.integer({ min: 40, max: 5000 }), fc.integer({ min: 40, max: 40 * MiB })),
      {
        maxLength: 400,
      },
    );
    fc.assert(
      fc.property(sizes, (all) => {
        let list = packs(...all);
        let serial = 1000;
        let written = 0;
        for (let inputs = compactionPlan(list); inputs.length > 0; inputs = compactionPlan(list)) {
          const bytes = inputs.reduce((sum, { packSize }) => sum + packSize, 0);
          expect(inputs.length).toBeGreaterThan(1);
          expect(inputs.length).toBeLessThanOrEqual(40);
          expect(bytes).toBeLessThanOrEqual(4096 * MiB);
          written += bytes;
          list = [...list.filter((one) => !inputs.includes(one)), pack(bytes, serial++)];
        }
        const unsettled = list.filter(({ packSize }) => packSize <= 2048 * MiB);
        expect(unsettled.length).toBeLessThanOrEqual(13);
        const total = all.reduce((sum, size) => sum + size, 0);
        expect(written).toBeLessThanOrEqual(10 * total);
      }),
      { numRuns: 200 },
    );
  });

  test('the packs of 20,000 commits are rewritten a logarithmic number of times', () => {
    let list: PackDescription[] = [];
    let written = 0;
    let large = 0;
    let merges = 0;
    let most = 0;
    for (let i = 0; i < 20_000; i++) {
      list = [pack(1500, i), ...list];
      const inputs = compactionPlan(list);
      if (inputs.length === 0) continue;
      const bytes = inputs.reduce((sum, { packSize }) => sum + packSize, 0);
      merges++;
      written += bytes;
      if (bytes > MiB / 2) large += bytes;
      list = [pack(bytes, i), ...list.filter((one) => !inputs.includes(one))];
      most = Math.max(most, list.length);
    }
    expect(most).toBeLessThanOrEqual(12);
    expect(merges).toBeLessThan(20_000 / 4);
    // Small packs are rewritten every time, which costs requests; larger ones only a few times.
    expect(written / 20_000).toBeLessThan(50_000);
    expect(large).toBeLessThan(20_000 * 1500 * 5);
  });
});
