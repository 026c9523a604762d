import { describe, expect, test } from 'vitest';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { BLOCK_SIZE, BlockMiss, BlockPins, CachedFile } from '../../lib/git/pack/block-cache.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { readEnvironment } from '../../lib/store/environment.ts';
import { buildPack } from '../harness/build-pack.ts';

const MB = 2 ** 20;

test.each([
  [{}, 528],
  [{ AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1000' }, 300],
  [{ PACK_CACHE_MB: '96' }, 96],
  [{ PACK_CACHE_MB: '96', AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '1000' }, 96],
])('of packs as much is kept as %o leaves room for', (env, megabytes) => {
  expect(readEnvironment(env).packCacheBytes).toBe(megabytes * MB);
});

test('blocks of packs take their share of what is kept', () => {
  const { blocks } = new PackCache({ bytes: 33 * MB });
  for (let i = 0; i < 24; i++) {
    const file = new CachedFile(`pack ${i}`, 2 * MB, () => {
      throw new Error('nothing is read');
    });
    blocks.keep(file, new Uint8Array(2 * MB));
  }
  expect(blocks.bytes / MB).toBe(16);
});

describe('what was not used between two calls is dropped', () => {
  const nothing = () => {
    throw new Error('nothing is read');
  };

  test('blocks, but those that a reader holds', async () => {
    const { blocks } = new PackCache();
    const file = new CachedFile('pack', 3 * BLOCK_SIZE, nothing);
    blocks.keep(file, new Uint8Array(3 * BLOCK_SIZE));
    expect(blocks.dropUnused()).toBe(0);
    file.block(1);
    using pins = new BlockPins();
    pins.hold(file.blocks[2]!);
    expect(blocks.dropUnused()).toBe(BLOCK_SIZE);
    expect(file.blocks.map((block) => block !== undefined)).toEqual([false, true, true]);
    expect(blocks.bytes).toBe(2 * BLOCK_SIZE);
    expect(() => file.block(0)).toThrow(BlockMiss);
  });

  test('inflated objects and indexes', async () => {
    const cache = new PackCache();
    const { content, objectCount } = buildPack([{ type: 'blob', data: Buffer.from('x') }]);
    const repository = new MemoryRepository();
    const description = await repository.objects.newPack(content, { source: 'insert', objectCount });
    const [pack] = cache.open(repository.objects, [description]);
    cache.keep(repository.objects, description, content);
    pack!.index.whole();
    const object = { type: 'blob' as const, data: new Uint8Array(1000) };
    cache.bases.put(pack!, 12, object);
    expect(cache.dropUnused()).toBe(0);
    expect(cache.open(repository.objects, [description])).toEqual([pack]);
    expect(cache.bases.get(pack!, 12)).toBe(object);
    cache.dropUnused();
    expect(cache.open(repository.objects, [description])[0]!.serial).toBe(pack!.serial);
    expect(cache.bases.get(pack!, 12)).toBe(object);
    const held = pack!.index.heldBytes;
    cache.dropUnused();
    expect(cache.dropUnused()).toBe(held + 1128);
    expect(cache.bases.get(pack!, 12)).toBeUndefined();
    expect(cache.open(repository.objects, [description])[0]!.serial).not.toBe(pack!.serial);
  });
});
