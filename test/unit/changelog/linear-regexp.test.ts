import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LinearRegExp } from '../../../lib/domain/changelog/linear-regexp.ts';
import { BadExpression } from '../../../lib/domain/changelog/linear-regexp-syntax.ts';

/** What JavaScript's own expressions find: the two agree where both know the syntax. */
function byEngine(source: string, text: string): Record<string, string> | undefined {
  const match = new RegExp(source.replaceAll('(?P<', '(?<'), 'u').exec(text);
  if (match === null) return undefined;
  return Object.fromEntries(Object.entries({ ...match.groups }).filter(([, value]) => value !== undefined));
}
function byMachine(source: string, text: string): Record<string, string> | undefined {
  const found = new LinearRegExp(source).exec(text);
  return found && Object.fromEntries(found);
}

const SEMVER =
  '^v?(?P<major>0|[1-9]\\d*)\\.(?P<minor>0|[1-9]\\d*)\\.(?P<patch>0|[1-9]\\d*)(?:-(?P<pre>(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+(?P<meta>[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$';

describe('finds what other engines find', () => {
  test.each([
    [SEMVER, 'v1.20.3'],
    [SEMVER, '1.0.0-rc.1+build.5'],
    [SEMVER, '01.0.0'],
    ['^version-(?P<major>\\d+)\\.(?P<minor>\\d+)\\.(?P<patch>\\d+)$', 'version-1.2.3'],
    ['^version-(?P<major>\\d+)\\.(?P<minor>\\d+)\\.(?P<patch>\\d+)$', 'version-1.2'],
    ['(?P<a>a+?)(?P<b>a*)', 'xaaa'],
    ['(?P<a>a|ab)(?P<c>c|bcd)(?P<d>d*)', 'abcd'],
    ['x{2,3}(?<r>x*)', 'xxxxx'],
    ['[]x]+(?P<r>[^]]*)', 'x]yz'],
    ['\\bfoo\\b(?P<r>.*)', 'a foo bar'],
    ['(?P<h>\\x41\\x{42})', 'zAB'],
    ['(?P<e>[\\w.-]+)@', 'mail a-b.c@d'],
    ['(?P<s>😀|.)$', 'a😀'],
    ['a{,2}', 'a{,2}'],
  ])('%s in %j', (source, text) => {
    const expected =
      source === '[]x]+(?P<r>[^]]*)'
        ? { r: 'yz' }
        : source === 'a{,2}'
          ? {}
          : byEngine(source.replace('\\x{42}', 'B'), text);
    expect(byMachine(source, text)).toEqual(expected);
  });

  const atom = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '\\d',
    '\\w',
    'a-',
    '1',
    '\\.',
    '\\b',
    '$',
    '^',
  );
  // Repeating what may be empty is where engines differ.
  const solid = fc.constantFrom('a', 'b', '.', '[ab1]', '\\d', 'ab', '1.');
  const quantified = fc
    .tuple(solid, fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{1,2}', '{1,}', '{0,2}?'))
    .map(([body, quantifier]) => `(?:${body})${quantifier}`);
  const piece = fc.oneof(atom, quantified);
  const sequence = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
  const expression = fc
    .array(
      fc.oneof(
        sequence,
        sequence.map((body) => `NAME${body})`),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .chain((parts) => fc.constantFrom('', '|').map((glue) => parts.join(glue)))
    .map((source) => {
      let n = 0;
      return source.replace(/NAME/g, () => `(?P<g${n++}>`);
    });
  test('of random expressions', () => {
    fc.assert(
      fc.property(
        expression,
        fc.string({ unit: fc.constantFrom('a', 'b', '1', '.', '-', 'c'), maxLength: 12 }),
        (source, text) => {
          expect(byMachine(source, text)).toEqual(byEngine(source, text));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

test('what would take other engines years takes none', () => {
  const hard = 'a'.repeat(1000);
  const started = performance.now();
  for (const source of [
    '^(a+)+$',
    '^(a|a)*$',
    '^(a|aa)+$',
    '(.*)*x',
    `${'a?'.repeat(100)}${'a'.repeat(100)}b`,
  ])
    new LinearRegExp(source).exec(`${hard}!`);
  expect(performance.now() - started).toBeLessThan(3000);
});

test.each([
  ['(', /missing closing \)/],
  [')', /unexpected \)/],
  ['[a', /missing closing \]/],
  ['[b-a]', /character class range/],
  ['*', /no argument/],
  ['a**', /nested repetition/],
  ['a{3,2}', /repetition size/],
  ['a{1001}', /repetition size/],
  ['(?:(?:(?:a{1000}){1000}){1000})', /too large/],
  [`${'('.repeat(60)}${')'.repeat(60)}`, /inside each other/],
  ['(?P<x>a)(?P<x>b)', /duplicate/],
  ['(?P<a', /named capture/],
  ['(?=a)', /perl operator/],
  ['(?i)a', /perl operator/],
  ['(a)\\1', /escape sequence: \\1/],
  ['\\pL', /escape sequence/],
  ['[[:digit:]]', /POSIX/],
  ['a\\', /trailing/],
  ['a'.repeat(2001), /longer/],
])('%.40s is refused', (source, problem) => {
  expect(() => new LinearRegExp(source)).toThrow(problem);
});

test('nothing, repeated without end, is compiled in no time', () => {
  const nested = Array.from({ length: 45 }).reduce<string>((body) => `(?:${body}){1000}`, '');
  expect(new LinearRegExp(nested).exec('x')).toEqual(new Map());
});

test('any text is an expression or refused as none', () => {
  const texts = fc.string({ unit: fc.constantFrom(...'ab\\[]()|*+?{}^$.-P<>:dx1,=!'), maxLength: 20 });
  fc.assert(
    fc.property(texts, (source) => {
      try {
        new LinearRegExp(source).exec('abba-1.2');
      } catch (error) {
        expect(error).toBeInstanceOf(BadExpression);
      }
    }),
    { numRuns: 3000 },
  );
});

test('effort is taken off as it is spent', () => {
  const effort = { steps: 10_000 };
  new LinearRegExp('^v\\d+$').exec(`x${'1'.repeat(1000)}`, effort);
  expect(effort.steps).toBeGreaterThan(9_900);
  new LinearRegExp('(?:a?){300}!').exec('a'.repeat(1000), effort);
  expect(effort.steps).toBeLessThan(0);
});
