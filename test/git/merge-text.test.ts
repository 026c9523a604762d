import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { mergeTexts } from '../../lib/git/merge/text.ts';
import { atOnce } from '../../lib/git/work.ts';
import { random } from './history-fixture.ts';

const LABELS = { ours: 'ours', theirs: 'theirs' };

describe('merged texts are those of git merge-file', () => {
  const directory = mkdtempSync(join(tmpdir(), 'lemnos-merge-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  /** What `git merge-file` prints, and the number of conflicts. */
  function mergeFile(base: Buffer, ours: Buffer, theirs: Buffer, ...options: string[]) {
    for (const [name, content] of Object.entries({ base, ours, theirs })) {
      writeFileSync(join(directory, name), content);
    }
    const labels = ['-L', 'ours', '-L', 'base', '-L', 'theirs'];
    const files = ['ours', 'base', 'theirs'];
    const { status, stdout } = spawnSync('git', ['merge-file', '-p', ...options, ...labels, ...files], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: directory, GIT_CONFIG_NOSYSTEM: '1' },
    });
    return { conflicts: status, text: stdout.toString('latin1') };
  }

  test('generated texts: the same conflicts, byte for byte', () => {
    const pick = random(21);
    let conflicting = 0;
    for (let n = 0; n < 250; n++) {
      const [base, ours, theirs] = threeTexts(pick);
      const merged = atOnce(
        mergeTexts(base, ours, theirs, {
          labels: LABELS,
          algorithm: 'myers',
          joinUnlessAlphanumeric: true,
        }),
      )!;
      const found = { conflicts: merged.conflicts, text: merged.data.toString('latin1') };
      expect(found).toEqual(mergeFile(base, ours, theirs));
      if (merged.conflicts > 0) conflicting++;
    }
    expect(conflicting).toBeGreaterThan(50);
    expect(conflicting).toBeLessThan(220);
  });

  const CASES: [string, string, string, string][] = [
    ['nothing changed', 'a\n', 'a\n', 'a\n'],
    ['both made the same change', 'a\nb\nc\n', 'a\nx\nc\n', 'a\nx\nc\n'],
    ['changes side by side', 'a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'a\nB\nc\nd\n'],
    ['changes with a line between', 'a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'a\nb\nC\nd\n'],
    ['the last line without its end', 'a\nb', 'a\nb\nc', 'a\nB'],
    ['one side takes the end of the last line', 'a\nb\n', 'a\nb', 'a\nb\nc\n'],
    ['one side is empty', 'a\nb\n', '', 'a\nB\n'],
    ['the base is empty', '', 'a\nb\n', 'a\nc\n'],
    ['CRLF in a conflict', 'a\r\nb\r\n', 'a\r\nx\r\n', 'a\r\ny\r\n'],
    ['CRLF on one side', 'a\nb\n', 'a\r\nx\r\n', 'a\ny\n'],
    ['markers in the text', '<<<<<<< ours\na\n', '<<<<<<< ours\nb\n', '<<<<<<< ours\nc\n'],
  ];
  test.each(CASES)('%s', (_, ...texts) => {
    const [base, ours, theirs] = texts.map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];
    const options = { labels: LABELS, algorithm: 'myers', joinUnlessAlphanumeric: true } as const;
    const merged = atOnce(mergeTexts(base, ours, theirs, { ...options, markerSize: 9 }))!;
    const git = mergeFile(base, ours, theirs, '--marker-size=9');
    expect({ conflicts: merged.conflicts, text: merged.data.toString() }).toEqual(git);
  });
});

describe('properties', () => {
  const lines = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', '}\n'), { maxLength: 25 });
  const content = lines.map((all) => Buffer.from(all.join('')));
  const algorithm = fc.constantFrom('myers' as const, 'histogram' as const);

  test('a change of one side, or the same change of both, is applied', () => {
    fc.assert(
      fc.property(content, content, algorithm, (base, x, algorithm) => {
        for (const [ours, theirs] of [
          [x, x],
          [base, x],
          [x, base],
        ] as const) {
          const merged = atOnce(mergeTexts(base, ours, theirs, { algorithm }))!;
          expect(merged).toEqual({ data: x, conflicts: 0 });
        }
      }),
      { numRuns: 300 },
    );
  });

  test('neither side is preferred', () => {
    fc.assert(
      fc.property(content, content, content, algorithm, (base, a, b, algorithm) => {
        const one = atOnce(mergeTexts(base, a, b, { algorithm }))!;
        const other = atOnce(mergeTexts(base, b, a, { algorithm }))!;
        expect(other.conflicts === 0).toBe(one.conflicts === 0);
        if (one.conflicts === 0) expect(other.data).toEqual(one.data);
      }),
      { numRuns: 300 },
    );
  });

  test('separate changes are both applied', () => {
    const side = fc.array(fc.constantFrom('x\n', 'y\n', 'z\n'), { maxLength: 5 });
    fc.assert(
      fc.property(side, side, fc.integer({ min: 2, max: 6 }), algorithm, (first, second, gap, algorithm) => {
        const kept = Array.from({ length: gap }, (_, n) => `kept ${n}\n`).join('');
        const text = (top: string, bottom: string) => Buffer.from(`${top}${kept}${bottom}`);
        const [top, bottom] = [first.join(''), second.join('')];
        const merged = atOnce(
          mergeTexts(text('t\n', 'b\n'), text(top, 'b\n'), text('t\n', bottom), { algorithm }),
        )!;
        expect(merged).toEqual({ data: text(top, bottom), conflicts: 0 });
      }),
    );
  });

  test('texts too different to compare do not merge cleanly', () => {
    const pick = random(9);
    const noise = () => Buffer.from(Array.from({ length: 3000 }, () => `${pick(50)}\n`).join(''));
    expect(atOnce(mergeTexts(noise(), noise(), noise(), { budget: { steps: 1000 } }))).toBeUndefined();
  });
});

function threeTexts(pick: (below: number) => number): [Buffer, Buffer, Buffer] {
  const words = ['a', 'b', 'x = 1', '}', '', '  foo', 'bar()', 'end'];
  const end = pick(4) === 0 ? '\r\n' : '\n';
  const base = Array.from({ length: pick(30) }, () => words[pick(words.length)]! + (pick(2) ? pick(9) : ''));
  const edited = () => {
    const lines = [...base];
    for (let i = 0; i < 1 + pick(4); i++) {
      const added = Array.from(
        { length: pick(4) },
        () => words[pick(words.length)]! + (pick(3) ? '' : pick(5)),
      );
      lines.splice(pick(lines.length + 1), pick(3), ...added);
    }
    return lines;
  };
  const text = (lines: string[]) => {
    const newline = pick(8) === 0 ? ['\n', '\r\n'][pick(2)]! : end;
    return Buffer.from(lines.join(newline) + (lines.length === 0 || pick(5) === 0 ? '' : newline));
  };
  return [text(base), text(edited()), text(edited())];
}
