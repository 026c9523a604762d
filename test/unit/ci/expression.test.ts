import { expect, test } from 'vitest';
import { holds, parseExpression } from '../../../lib/ci/expression/expression.ts';
import { Matching } from '../../../lib/ci/matching.ts';

const variables = new Map([
  ['BRANCH', 'feature/login'],
  ['EMPTY', ''],
  ['VERSION', 'v1.2.3'],
  ['PATTERN', '/^v\\d+/'],
  ['UPPER', '/^FEATURE/i'],
  ['TEXT', '/no end'],
]);

// What the documentation of variable expressions states.
test.each([
  ['$BRANCH', true],
  ['$EMPTY', false],
  ['$ABSENT', false],
  ['$ABSENT == null', true],
  ['$EMPTY == null', false],
  ['$EMPTY == ""', true],
  ['$EMPTY != null', true],
  ['$BRANCH == "feature/login"', true],
  ["'feature/login' == $BRANCH", true],
  ['$BRANCH != "feature/login"', false],
  ['$BRANCH == $VERSION', false],
  ['$VERSION =~ /^v\\d+\\.\\d+/', true],
  ['$VERSION !~ /^v\\d+\\.\\d+/', false],
  ['$BRANCH =~ /^FEATURE/', false],
  ['$BRANCH =~ /^FEATURE/i', true],
  ['$BRANCH =~ /feature\\/login/', true],
  ['$VERSION =~ $PATTERN', true],
  ['$BRANCH =~ $UPPER', true],
  ['$BRANCH =~ $TEXT', false],
  ['$BRANCH =~ $ABSENT', false],
  ['$ABSENT =~ /x/', false],
  ['$ABSENT !~ /x/', true],
  ['$EMPTY || $BRANCH', true],
  ['$EMPTY && $BRANCH', false],
  ['$BRANCH || $EMPTY && $ABSENT', true],
  ['($BRANCH || $EMPTY) && $ABSENT', false],
  ['$BRANCH == "feature/login" && $VERSION =~ /^v1/ || $ABSENT', true],
  ['$VERSION =~ /^v1/ && ($BRANCH =~ /^main$/ || $BRANCH =~ /^feature/)', true],
])('%s is %s', async (source, expected) => {
  expect(await holds(parseExpression(source), variables, new Matching())).toBe(expected);
});

test.each([
  '',
  '   ',
  '$',
  '$A ==',
  '== $A',
  '$A == /x/',
  '$A =~ "x"',
  '$A $B',
  '($A',
  '$A)',
  '()',
  '$A & $B',
  '"open',
])('%j is no expression', (source) => {
  expect(() => parseExpression(source)).toThrow('invalid expression syntax');
});

test('an expression of too many words or too many parentheses is refused', () => {
  expect(() => parseExpression(`${'$A || '.repeat(1000)}$A`)).toThrow('invalid expression syntax');
  expect(() => parseExpression(`${'('.repeat(100)}$A${')'.repeat(100)}`)).toThrow(
    'invalid expression syntax',
  );
});

test('a pattern that makes other engines slow is matched in steps of its length', async () => {
  const slow = new Map([['A', `${'a'.repeat(50_000)}!`]]);
  expect(await holds(parseExpression('$A =~ /^(a+)+$/'), slow, new Matching())).toBe(false);
});
