import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { listObjects } from '../../lib/git/pack/object-list.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { storedBytesAbove } from '../../lib/git/pack/stored-bytes.ts';
import { writePack } from '../../lib/git/pack/write.ts';
import type { ObjectDatabase } from '../../lib/git/ports.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { buildPack } from '../harness/build-pack.ts';

test('an index of several blocks is read once for many consecutive lookups', async () => {
  const { objects, refs } = new MemoryRepository({ head: 'refs/heads/main' as RefName });
  const blobs = Array.from({ length: 50_000 }, (_, i) => ({
    type: 'blob' as const,
    data: Buffer.from(`${i}`),
  }));
  const { content, objectCount, oids } = buildPack(blobs);
  const pack = await objects.newPack(content, { source: 'receive', objectCount });
  await refs.compareAndSwap([], { packs: [pack] });
  expect(pack.indexSize).toBeGreaterThan(5 * 256 * 1024);
  let reads = 0;
  const counted: ObjectDatabase = {
    listPacks: (options) => objects.listPacks(options),
    newPack: (made, about) => objects.newPack(made, about),
    rollbackPack: (made) => objects.rollbackPack(made),
    open: (of, part) => {
      const access = objects.open(of, part);
      const read = (offset: number, length: number) => {
        if (part === 'index') reads++;
        return access.read(offset, length);
      };
      return { size: access.size, read };
    },
  };
  const store = new PackStore(counted);
  for (let i = 0; i < 40; i++)
    expect((await store.read(oids[i * 1000]!)).data.toString()).toBe(`${i * 1000}`);
  // Its first block, the block of a name, the rest.
  expect(reads).toBeLessThanOrEqual(5);
});

test('a few objects of very many are measured and copied without sorting all entries', async () => {
  const { objects, refs } = new MemoryRepository({ head: 'refs/heads/main' as RefName });
  const blobs = Array.from({ length: 30_000 }, (_, i) => ({
    type: 'blob' as const,
    data: Buffer.from(`${i}`.repeat(i % 50)),
  }));
  const { content, objectCount, oids } = buildPack(blobs);
  const stored = await objects.newPack(content, { source: 'receive', objectCount });
  await refs.compareAndSwap([], { packs: [stored] });
  const store = new PackStore(objects);
  const few = await listObjects(
    store,
    oids.filter((_, i) => i % 100 === 7),
  );
  const written = async () => buffer(writePack(store, few));
  const bytes = await storedBytesAbove(store, few, 0);
  const pack = await written();
  const { index } = few.packs[0]!;
  expect(index.hasSortedOffsets).toBe(false);
  index.sortedOffsets();
  expect(await written()).toEqual(pack);
  // Without the checksum.
  expect(bytes).toBe(pack.length - 20);
  expect(await storedBytesAbove(store, few, 0)).toBe(bytes);
});
