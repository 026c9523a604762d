import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { unfoldedSize } from '../../../lib/regexp/unfolded-size.ts';

test.each([
  ['abc', 3],
  ['[a-z]{1,63}', 126],
  ['[]a]{10}', 20],
  ['[[:alpha:]]{10}', 20],
  ['\\p{Greek}{10}', 20],
  ['\\x{1f600}{10}', 20],
  ['(?P<name>a){10}', 40],
  ['(?:ab){10}', 50],
  ['a(?i){10}', 20],
  ['\\Qab{9}\\E{10}', 24],
  ['a{,9}', 5],
  ['((a{1000}){1000})', 2_003_002],
])('%s', (source, size) => {
  expect(unfoldedSize(source)).toBe(size);
});

const piece = fc.oneof(
  fc.constantFrom(...'ab.|()[]^$*+?{}-,:'),
  fc.constantFrom('(?:', '(?P<x>', '(?i)', '(?s:', ')', '{2}', '{3,}', '{0,4}', '{30}', '{100}', '{,3}'),
  fc.constantFrom(
    '\\d',
    '\\Q',
    '\\E',
    '\\pL',
    '\\p{Greek}',
    '\\x41',
    '\\x{42}',
    '\\07',
    '[^a]',
    '[]a]',
    '[[:alpha:]]',
    '\\]',
    '\\(',
    '😀',
  ),
);

test('no pattern that compiles has more than three times as many instructions', () => {
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join('')),
      (source) => {
        const size = unfoldedSize(source);
        if (size > 20_000) return;
        let compiled: RE2JS;
        try {
          compiled = RE2JS.compile(source);
        } catch {
          return;
        }
        expect(compiled.programSize()).toBeLessThanOrEqual(3 * size + 6);
      },
    ),
    { numRuns: 20_000 },
  );
});
