import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutIntoLines, lineStarts } from '../../../lib/git/diff/line-starts.ts';
import { countLines, countShared, numberLines, numberMiddle } from '../../../lib/git/diff/line-table.ts';
import { atOnce } from '../../../lib/git/work.ts';

const cut = (text: string) => text.split(/(?<=\n)/).filter((line) => line !== '');
const line = fc.constantFrom(
  '\n',
  'a\n',
  'b\n',
  'ab\n',
  'a longer line\n',
  '\x8a\x0b\n',
  '}\n',
  `${'x'.repeat(200)}\n`,
);
const some = fc.array(line, { maxLength: 12 }).map((lines) => lines.join(''));
const ending = fc.constantFrom('', '', 'a', 'no newline');
/** Two texts with a common head and tail, at any place of a larger piece of memory. */
const pairs = fc
  .record({
    head: some,
    old: some,
    after: some,
    tail: some,
    oldEnding: ending,
    newEnding: ending,
    shift: fc.nat(7),
  })
  .map(({ head, old, after, tail, oldEnding, newEnding, shift }) => {
    const texts = [head + old + tail + oldEnding, head + after + tail + newEnding] as const;
    const placed = (text: string) => Buffer.from(' '.repeat(shift) + text, 'latin1').subarray(shift);
    return { texts, data: [placed(texts[0]), placed(texts[1])] as const };
  });

test('lines start behind each newline, wherever the text lies in memory', () => {
  fc.assert(
    fc.property(pairs, ({ texts, data }) => {
      for (const [n, text] of texts.entries()) {
        let at = 0;
        expect([...lineStarts(data[n]!)]).toEqual([0, ...cut(text).map((each) => (at += each.length))]);
      }
    }),
  );
});

test('two texts are cut into the lines of each, and as many of both ends as are equal are told', () => {
  fc.assert(
    fc.property(pairs, ({ texts, data }) => {
      const pair = atOnce(cutIntoLines(data[0], data[1], 1000))!;
      expect([...pair.old.starts]).toEqual([...lineStarts(data[0])]);
      expect([...pair.new.starts]).toEqual([...lineStarts(data[1])]);
      const [old, after] = texts.map(cut) as [string[], string[]];
      const shorter = Math.min(old.length, after.length);
      let head = 0;
      while (head < shorter && old[head] === after[head]) head++;
      let tail = 0;
      while (tail < shorter - head && old.at(-1 - tail) === after.at(-1 - tail)) tail++;
      expect([pair.head, pair.tail]).toEqual([head, tail]);
    }),
    { numRuns: 500 },
  );
});

test('no texts of more lines than are allowed are cut, in both together', () => {
  const text = (lines: number, last = '') => Buffer.from('x\n'.repeat(lines) + last);
  expect(atOnce(cutIntoLines(text(5), text(5), 10))).toBeDefined();
  expect(atOnce(cutIntoLines(text(5), text(5, 'y'), 10))).toBeUndefined();
  expect(atOnce(cutIntoLines(text(6), text(5), 10))).toBeUndefined();
  expect(atOnce(cutIntoLines(text(11), text(0), 10))).toBeUndefined();
});

test('lines between the ends have numbers by content, and those of the ends that are equal to one of them too', () => {
  fc.assert(
    fc.property(pairs, ({ data }) => {
      const pair = atOnce(cutIntoLines(data[0], data[1], 1000))!;
      const [all, middle] = [atOnce(numberLines(pair)), atOnce(numberMiddle(pair))];
      const between = new Set([
        ...all.old.subarray(pair.head, all.old.length - pair.tail),
        ...all.new.subarray(pair.head, all.new.length - pair.tail),
      ]);
      const renamed = new Map<number, number>();
      for (const side of ['old', 'new'] as const) {
        for (const [at, number] of all[side].entries()) {
          const found = middle[side][at]!;
          if (!between.has(number)) expect(found).toBe(-1);
          else {
            if (!renamed.has(number)) renamed.set(number, found);
            expect(found).toBe(renamed.get(number));
            expect(middle.oldCount[found]).toBe(all.oldCount[number]);
            expect(middle.newCount[found]).toBe(all.newCount[number]);
          }
        }
      }
      expect(new Set(renamed.values()).size).toBe(renamed.size);
    }),
    { numRuns: 500 },
  );
});

test('lines that two texts share are counted in whatever order, as often as both have them', () => {
  const shuffled = fc.tuple(
    fc.array(line, { maxLength: 30 }),
    fc.array(line, { maxLength: 30 }),
    ending,
    ending,
  );
  const texts = fc.oneof(
    pairs.map(({ data }) => data),
    shuffled.map(([old, after, oldEnd, newEnd]) => [
      Buffer.from(old.join('') + oldEnd, 'latin1'),
      Buffer.from(after.join('') + newEnd, 'latin1'),
    ]),
  );
  fc.assert(
    fc.property(texts, ([old, after]) => {
      const [a, b] = [cut(old!.toString('latin1')), cut(after!.toString('latin1'))];
      let shared = 0;
      const left = [...b];
      for (const each of a) {
        const at = left.indexOf(each);
        if (at < 0) continue;
        left.splice(at, 1);
        shared++;
      }
      expect(atOnce(countShared(old!, after!))).toEqual({ old: a.length, new: b.length, shared });
      expect([countLines(old!), countLines(after!)]).toEqual([a.length, b.length]);
    }),
    { numRuns: 500 },
  );
});

test('lines are counted a window at a time, however many they are and differ', () => {
  const numbered = (from: number) =>
    Buffer.from(Array.from({ length: 50_000 }, (_, n) => `${from + n}\n`).join(''));
  const [old, after] = [numbered(0), Buffer.concat([Buffer.from('first\n'), numbered(20_000)])];
  expect(atOnce(countShared(old, after))).toEqual({ old: 50_000, new: 50_001, shared: 30_000 });
});
