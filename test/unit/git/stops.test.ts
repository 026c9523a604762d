import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { gathered } from '../../../lib/git/archive/pieces.ts';
import { cutIntoLines, lineStartsWithin } from '../../../lib/git/diff/line-starts.ts';
import { countShared, numberLines } from '../../../lib/git/diff/line-table.ts';
import { detectRenames } from '../../../lib/git/diff/renames.ts';
import type { TreeChange } from '../../../lib/git/diff/tree-diff.ts';
import type { ObjectStore, SyncObjects } from '../../../lib/git/objects.ts';
import type { Oid } from '../../../lib/git/oid.ts';
import { EntryTable } from '../../../lib/git/pack/entry-table.ts';
import { writeIndex } from '../../../lib/git/pack/write-index.ts';
import { parseCommit } from '../../../lib/git/parse.ts';
import type { RawPath } from '../../../lib/git/tree/path.ts';
import { atOnce, inTurns } from '../../../lib/git/work.ts';
import { signedCommit } from '../../../lib/signatures/signed-commit.ts';
import { stopsOf } from './stops.ts';

const MANY = 1000;
const entry = (n: number) => ({ mode: 0o100644, oid: n.toString(16).padStart(40, '0') as Oid });
const changes = (prefix: string, side: 'old' | 'new', count: number): TreeChange[] =>
  Array.from({ length: count }, (_, n) => ({
    path: `${prefix}${n}` as RawPath,
    [side]: entry(n + (side === 'old' ? 0 : MANY)),
  }));

/** Every object is a line with its id. */
const store = {
  run: async <T>(work: (objects: SyncObjects) => T) => {
    const read = (oid: Oid) => ({ type: 'blob' as const, data: Buffer.from(`${oid}\n`) });
    return work({
      read,
      header: () => ({ type: 'blob', size: 41 }),
    } as Partial<SyncObjects> as SyncObjects);
  },
} as Partial<ObjectStore> as ObjectStore;

it('a list of added files stops for others at every file', async () => {
  const stops = await stopsOf(() => detectRenames(store, changes('a', 'new', MANY)));
  expect(stops).toBeGreaterThanOrEqual(2 * MANY);
});

it('a search for one file among many stops for others at each of them', async () => {
  const all = [...changes('a', 'old', MANY), ...changes('z', 'new', 1)];
  const stops = await stopsOf(() => detectRenames(store, all));
  expect(stops).toBeGreaterThanOrEqual(4 * MANY);
});

it('the index of a pack of many objects is made beside other work', async () => {
  const table = new EntryTable();
  for (let n = 0; n < 20_000; n++) {
    const entry = table.add(12 + n, 1, 1, 0);
    table.names.set(createHash('sha1').update(`${n}`).digest(), 20 * entry);
  }
  // A few hundred nanoseconds for each object.
  const stops = await stopsOf(() => inTurns(writeIndex(table, Buffer.alloc(20))));
  expect(stops).toBeGreaterThanOrEqual(3);
});

it('a long text without ends of lines is looked at in pieces', () => {
  const text = Buffer.alloc(8 * 2 ** 20, 'a');
  expect([...lineStartsWithin(text, 10)]).toHaveLength(7);
});

it('a table of millions of equal lines has room for one of them', () => {
  const lines = Buffer.alloc(2 ** 21, '\n');
  const table = atOnce(numberLines(atOnce(cutIntoLines(lines, lines, 2 ** 22))!));
  expect(table.oldCount[0]).toBe(2 ** 21);
  expect(table.oldCount.buffer.byteLength).toBe(4);
});

it('millions of lines are counted beside other work', async () => {
  const [old, after] = [Buffer.alloc(2 ** 21, 'a\n'), Buffer.alloc(2 ** 21 + 2 ** 20, 'b\n')];
  const stops = await stopsOf(async () => {
    expect(await inTurns(countShared(old, after))).toEqual({ old: 2 ** 20, new: 3 * 2 ** 19, shared: 0 });
  });
  expect(stops).toBeGreaterThan(100);
});

it('an archive is passed on in pieces of tens of kilobytes, however small its parts are', async () => {
  const parts = Array.from({ length: 1000 }, (_, n) => Buffer.alloc(512, n));
  const pieces: Uint8Array[] = [];
  for await (const piece of gathered(Readable.from(parts))) pieces.push(piece);
  expect(pieces).toHaveLength(8);
  expect(Buffer.concat(pieces).equals(Buffer.concat(parts))).toBe(true);
});

it('each parent of a commit is read once', () => {
  const parent = 'a'.repeat(40);
  const person = 'A <a@example.com> 1700000000 +0000';
  const parents = `parent ${parent}\n`.repeat(MANY);
  const commit = Buffer.from(
    `tree ${parent}\n${parents}author ${person}\ncommitter ${person}\nparent x\n\nm\n`,
  );
  const texts = vi.spyOn(Buffer.prototype, 'toString');
  try {
    expect(parseCommit(commit)).toMatchObject({
      parents: Array.from({ length: MANY }, () => parent),
      message: 'm\n',
    });
    expect(texts.mock.calls.length).toBeLessThan(MANY + 100);
    texts.mockClear();
    expect(signedCommit(commit)).toEqual({ signatures: [], payload: commit });
    expect(texts.mock.calls.length).toBeLessThan(100);
  } finally {
    texts.mockRestore();
  }
});
