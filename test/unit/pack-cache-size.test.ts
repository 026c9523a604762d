import { expect, test } from 'vitest';
import { CachedFile } from '../../lib/git/pack/block-cache.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { readEnvironment } from '../../lib/store/environment.ts';

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
