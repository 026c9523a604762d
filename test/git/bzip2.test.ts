/** Compression as bzip2, compared with the program bzip2. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { bzip2 } from '../../lib/git/archive/bzip2.ts';

async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of source) all.push(piece);
  return Buffer.concat(all);
}

const compressed = (bytes: Uint8Array, size = 65_536): Promise<Buffer> => read(bzip2(pieces(bytes, size)));

const expanded = (input: Buffer): Buffer => execFileSync('bzip2', ['-dc'], { input, maxBuffer: 1 << 28 });

test('what was compressed in several streams is whole and in order', async () => {
  for (const bytes of [new Uint8Array(0), randomBytes(1), randomBytes(880_000), randomBytes(3_000_001)])
    expect(expanded(await compressed(bytes)).equals(bytes), `${bytes.length} bytes`).toBe(true);
  const large = randomBytes(2_000_000);
  expect(expanded(await compressed(large, 2_000_000)).equals(large)).toBe(true);
});

test('other work runs while a block is compressed', async () => {
  let turns = 0;
  let done = false;
  const turn = (): void => {
    turns++;
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  // Sorted slowly: a period longer than what the library compares at once.
  await compressed(Buffer.alloc(880_000, randomBytes(1000)), 880_000);
  done = true;
  expect(turns).toBeGreaterThan(1000);
});

test('an error of the source is thrown, and a reader that stops ends the thread', async () => {
  const broken = async function* () {
    yield randomBytes(2_000_000);
    throw new Error('the source broke');
  };
  await expect(read(bzip2(broken()))).rejects.toThrow('the source broke');
  const threads = () => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
  const before = threads();
  const reader = bzip2(pieces(randomBytes(5_000_000), 65_536));
  await reader.next();
  expect(threads()).toBeGreaterThan(before);
  await reader.return(undefined);
  expect(threads()).toBe(before);
});
