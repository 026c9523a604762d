import { expect, test } from 'vitest';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
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
