import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { diffTexts } from '../../lib/git/diff/hunks.ts';
import { LineMap, traced } from '../../lib/git/diff/line-map.ts';
import { atOnce } from '../../lib/git/work.ts';
import { GitFixture, random } from './history-fixture.ts';

const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;

const mapOf = (old: string, after: string): LineMap => {
  const { edits, oldStarts, newStarts } = atOnce(diffTexts(Buffer.from(old), Buffer.from(after)))!;
  return new LineMap(edits, { old: oldStarts.length - 1, after: newStarts.length - 1 });
};

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

describe('lines of two texts', () => {
  const fixture = new GitFixture();
  const pairs: [string, string][] = [
    ['', 'a\n'],
    ['a\n', ''],
    ['a\nb\n', 'a\nb\n'],
    ['a', 'a\n'],
  ];
  let diffs: Map<string, string>;

  beforeAll(() => {
    const pick = random(11);
    const line = () => 'abcdefgh'[pick(8)]!;
    for (let n = 0; n < 120; n++) {
      const old = Array.from({ length: pick(30) }, line);
      const after = [...old];
      for (let edits = pick(5); edits > 0; edits--)
        after.splice(pick(after.length + 1), pick(4), ...Array.from({ length: pick(4) }, line));
      pairs.push([old.map((each) => `${each}\n`).join(''), after.map((each) => `${each}\n`).join('')]);
    }
    for (const side of [0, 1]) {
      const files = pairs.map((pair, n) => `M 100644 inline f${n}\n${data(pair[side]!)}`);
      const commit = `commit refs/heads/s${side}\ncommitter C <c@example.com> 1 +0000\n${data('')}${files.join('')}`;
      fixture.feed(commit, 'fast-import', '--quiet');
    }
    const text = fixture.git('diff', '-U100', 's0', 's1');
    const files = text.split(/^(?=diff --git )/m).filter(Boolean);
    diffs = new Map(files.map((file) => [/ b\/f(\d+)\n/.exec(file)![1]!, file]));
  });
  afterAll(() => fixture[Symbol.dispose]());

  test('are deleted, added or unchanged, with the numbers that git diff counts', () => {
    for (const [n, [old, after]] of pairs.entries()) {
      const map = mapOf(old, after);
      const known = new Set<string>();
      const text = diffs.get(String(n));
      // A text without lines has none that could be next.
      let [oldAt, newAt] = [old === '' ? 0 : 1, after === '' ? 0 : 1];
      const isShown = (oldLine: number | null, newLine: number | null) => {
        known.add(`${oldLine} ${newLine}`);
        expect(map.numbersOf({ oldLine, newLine }), `f${n} ${oldLine} ${newLine}`).toEqual([oldAt, newAt]);
        if (oldLine !== null) oldAt++;
        if (newLine !== null) newAt++;
      };
      const body = text?.includes('\n@@')
        ? text
            .slice(text.indexOf('\n', text.indexOf('\n@@') + 1) + 1)
            .replace(/\n$/, '')
            .split('\n')
        : linesOf(old).map((each) => ` ${each}`);
      for (const each of body) {
        if (each[0] === '-') isShown(oldAt, null);
        else if (each[0] === '+') isShown(null, newAt);
        else if (each[0] === ' ') isShown(oldAt, newAt);
      }
      const [oldLines, newLines] = [linesOf(old).length, linesOf(after).length];
      for (let a = 0; a <= oldLines + 1; a++)
        for (let b = 0; b <= newLines + 1; b++)
          for (const [oldLine, newLine] of [
            [a, b],
            [a, null],
            [null, b],
          ] as const)
            if (!known.has(`${oldLine} ${newLine}`))
              expect(map.numbersOf({ oldLine, newLine }), `f${n} ${oldLine} ${newLine}`).toBeUndefined();
    }
  });
});

describe('a line of a comparison, in a later one', () => {
  const base = 'one\ntwo\nthree\nfour\nfive\n';
  const head = 'one\n2\nthree\nfour\nnew\nfive\n';
  const tracing = (laterBase: string, laterHead: string) => ({
    heads: mapOf(head, laterHead),
    bases: mapOf(base, laterBase),
    later: mapOf(laterBase, laterHead),
  });

  test.each([
    [
      'an added line moves with what is put before it',
      { oldLine: null, newLine: 5 },
      base,
      `zero\n${head}`,
      { oldLine: null, newLine: 6 },
    ],
    [
      'an unchanged line moves on both sides',
      { oldLine: 4, newLine: 4 },
      `zero\n${base}`,
      `zero\nzero\n${head}`,
      { oldLine: 5, newLine: 6 },
    ],
    [
      'a deleted line moves with its old side',
      { oldLine: 2, newLine: null },
      `zero\n${base}`,
      `zero\n${head}`,
      { oldLine: 3, newLine: null },
    ],
    ['an added line that is gone', { oldLine: null, newLine: 5 }, base, base, undefined],
    [
      'an added line that the target has by now is an unchanged one',
      { oldLine: null, newLine: 5 },
      `zero\n${head}`,
      `zero\n${head}`,
      { oldLine: 6, newLine: 6 },
    ],
    [
      'an unchanged line that the target has no more is an added one',
      { oldLine: 4, newLine: 4 },
      base.replace('four\n', ''),
      head,
      { oldLine: null, newLine: 4 },
    ],
    [
      'a deleted line that the target has no more either',
      { oldLine: 2, newLine: null },
      base.replace('two\n', ''),
      head,
      undefined,
    ],
    ['a deleted line that came back', { oldLine: 2, newLine: null }, base, base, undefined],
    [
      'an unchanged line that was changed',
      { oldLine: 4, newLine: 4 },
      base,
      head.replace('four', '4'),
      undefined,
    ],
  ])('%s', (_name, line, laterBase, laterHead, expected) => {
    expect(traced(line, tracing(laterBase, laterHead))).toEqual(expected);
  });

  test('an unchanged line is gone where its sides are not the same line any more', () => {
    const same = new LineMap([], { old: 2, after: 2 });
    const apart = new LineMap([{ oldStart: 0, oldEnd: 0, newStart: 0, newEnd: 1 }], { old: 2, after: 3 });
    const line = { oldLine: 2, newLine: 2 };
    expect(traced(line, { heads: same, bases: same, later: same })).toEqual(line);
    expect(traced(line, { heads: same, bases: same, later: apart })).toBeUndefined();
  });
});
