import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { diffTexts } from '../../../lib/git/diff/hunks.ts';
import { countChanges, diffLines } from '../../../lib/git/diff/lines.ts';
import { markChanges } from '../../../lib/git/diff/myers.ts';
import { atOnce } from '../../../lib/git/work.ts';

/** Length of the longest common subsequence, by the table of Wagner and Fischer. */
function commonLength(a: Int32Array, b: Int32Array): number {
  let row = new Int32Array(b.length + 1);
  for (const x of a) {
    const next = new Int32Array(b.length + 1);
    for (const [j, y] of b.entries()) next[j + 1] = x === y ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!);
    row = next;
  }
  return row[b.length]!;
}

const sequence = fc
  .array(fc.integer({ min: 0, max: 4 }), { maxLength: 60 })
  .map((items) => Int32Array.from(items));

test('the edit script is minimal, and the unmarked items of both sides are equal', () => {
  fc.assert(
    fc.property(sequence, sequence, (a, b) => {
      const keptOld = new Set(a.keys());
      const keptNew = new Set(b.keys());
      atOnce(
        markChanges(a, b, {
          deleted: (index) => expect(keptOld.delete(index)).toBe(true),
          inserted: (index) => expect(keptNew.delete(index)).toBe(true),
        }),
      );
      expect([...keptOld].map((i) => a[i])).toEqual([...keptNew].map((i) => b[i]));
      expect(keptOld.size).toBe(commonLength(a, b));
    }),
    { numRuns: 500 },
  );
});

test('unmarked lines are equal, however large the files', () => {
  const line = fc.integer({ min: 0, max: 300 }).map((n) => (n < 100 ? '' : `line ${n}`));
  const file = fc.array(line, { maxLength: 2000 }).map((lines) => Buffer.from(lines.join('\n')));
  fc.assert(
    fc.property(file, file, (a, b) => {
      const { deleted, inserted, oldStarts, newStarts } = atOnce(diffLines(a, b))!;
      const kept = (data: Buffer, starts: Int32Array, marks: Uint8Array) =>
        [...marks.keys()]
          .filter((i) => !marks[i])
          .map((i) => data.toString('latin1', starts[i], starts[i + 1]));
      expect(kept(a, oldStarts, deleted)).toEqual(kept(b, newStarts, inserted));
    }),
    { numRuns: 60 },
  );
});

test('the last line counts with or without newline, and differs by it', () => {
  expect(atOnce(countChanges(Buffer.from('a\nb'), Buffer.from('a\nb\n')))).toEqual({
    additions: 1,
    deletions: 1,
  });
  expect(atOnce(countChanges(Buffer.from(''), Buffer.from('a\nb')))).toEqual({ additions: 2, deletions: 0 });
  expect(atOnce(countChanges(Buffer.from('\n'), Buffer.from('')))).toEqual({ additions: 0, deletions: 1 });
});

test('files too large to align are counted as multisets of lines, in linear time', () => {
  const lines = Array.from({ length: 600_000 }, (_, i) => `${i}\n`);
  const old = Buffer.from(lines.join(''));
  const shuffled = Buffer.from(`new\n${lines.reverse().join('')}`);
  expect(atOnce(countChanges(old, shuffled))).toEqual({ additions: 1, deletions: 0, approximate: true });
});

test('two large files without common lines, and two with common lines only, are compared quickly', () => {
  const old = Buffer.from(Array.from({ length: 100_000 }, (_, i) => `a${i % 977}\n`).join(''));
  const other = Buffer.from(Array.from({ length: 100_000 }, (_, i) => `b${i}\n`).join(''));
  expect(atOnce(countChanges(old, other))).toEqual({ additions: 100_000, deletions: 100_000 });
  const braces = Buffer.from(
    Array.from({ length: 100_000 }, (_, i) => ((i * i) % 7 < 3 ? '{\n' : '}\n')).join(''),
  );
  const brackets = Buffer.from(
    Array.from({ length: 100_000 }, (_, i) => ((i * i) % 11 < 5 ? '{\n' : '}\n')).join(''),
  );
  const { additions, deletions } = atOnce(countChanges(braces, brackets));
  expect(additions).toBe(deletions);
});

test('files that take too long to align are counted as multisets too, and the steps are charged to the budget', () => {
  let state = 1;
  const file = () =>
    Buffer.from(
      Array.from({ length: 60_000 }, () => `${(state = (state * 48_271) % 2_147_483_647) % 5}\n`).join(''),
    );
  const budget = { steps: 2_000_000 };
  const { approximate, additions } = atOnce(countChanges(file(), file(), budget));
  expect(approximate).toBe(true);
  expect(additions).toBeLessThan(2_000);
  expect(budget.steps).toBe(0);
});

describe('the work of a comparison stops now and then, so that others may work', () => {
  const lines = (seed: number, count: number, kinds: number) => {
    let state = seed;
    const next = () => (state = (state * 48_271) % 2_147_483_647) % kinds;
    return Buffer.from(Array.from({ length: count }, () => `${next()}\n`).join(''));
  };
  // Each takes a tenth of a second or more.
  test.each([
    ['many lines in any order', 100, lines(1, 120_000, 1000), lines(2, 120_000, 1000)],
    ['few kinds of lines', 100, lines(1, 60_000, 5), lines(2, 60_000, 5)],
    ['one long line', 30, Buffer.alloc(15 << 20, 'a'), Buffer.alloc((15 << 20) + 1, 'b')],
    ['as many lines as are compared', 50, Buffer.alloc(400_000, '\n'), lines(3, 400_000, 3)],
  ])('%s', (_, atLeast, old, other) => {
    for (const algorithm of ['myers', 'histogram'] as const) {
      const steps = diffTexts(old, other, { algorithm });
      let stops = 0;
      while (!steps.next().done) stops++;
      expect(stops, algorithm).toBeGreaterThan(atLeast);
    }
  });
});
