import { randomBytes } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { deflate, usesHandle } from '../../../lib/git/pack/deflate.ts';

test('objects of any size and content are deflated by one handle, and inflate to what they were', () => {
  expect(usesHandle).toBe(true);
  const sizes = [0, 1, 100, 70_000, 2 ** 20, 2 ** 20 + 1];
  const contents = sizes.flatMap((size) => [randomBytes(size), Buffer.alloc(size, 'a line of text\n')]);
  for (const content of [...contents, ...contents.reverse()])
    expect(inflateSync(deflate(content)).equals(content), `${content.length}`).toBe(true);
});
