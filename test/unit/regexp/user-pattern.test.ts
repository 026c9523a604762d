import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_TEXT, PatternError, userPattern } from '../../../lib/regexp/user-pattern.ts';
import { cpuMs } from '../../harness/cpu-ms.ts';

/** What JavaScript's own expressions find: the two agree where both know the syntax. */
function byEngine(source: string, text: string): Record<string, string> | undefined {
  const match = new RegExp(source.replaceAll('(?P<', '(?<'), 'u').exec(text);
  if (match === null) return undefined;
  return Object.fromEntries(Object.entries({ ...match.groups }).filter(([, value]) => value !== undefined));
}
async function byRe2(source: string, text: string): Promise<Record<string, string> | undefined> {
  const found = (await userPattern(source)).find(text);
  return found && Object.fromEntries(found);
}

const SEMVER =
  '^v?(?P<major>0|[1-9]\\d*)\\.(?P<minor>0|[1-9]\\d*)\\.(?P<patch>0|[1-9]\\d*)(?:-(?P<pre>(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+(?P<meta>[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$';

describe('a user pattern matches like other engines', () => {
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
  ])('%s in %j', async (source, text) => {
    const expected =
      source === '[]x]+(?P<r>[^]]*)'
        ? { r: 'yz' }
        : source === 'a{,2}'
          ? {}
          : byEngine(source.replace('\\x{42}', 'B'), text);
    expect(await byRe2(source, text)).toEqual(expected);
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
  // Engines differ in the repetition of empty matches.
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
  test('for random expressions', async () => {
    await fc.assert(
      fc.asyncProperty(
        expression,
        fc.string({ unit: fc.constantFrom('a', 'b', '1', '.', '-', 'c'), maxLength: 12 }),
        async (source, text) => {
          expect(await byRe2(source, text)).toEqual(byEngine(source, text));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

test('a pattern with exponential cost in other engines is matched quickly', async () => {
  const hard = 'a'.repeat(MAX_TEXT - 1);
  const started = cpuMs();
  for (const source of [
    '^(a+)+$',
    '^(a|a)*$',
    '^(a|aa)+$',
    '(.*)*x',
    `${'a?'.repeat(100)}${'a'.repeat(100)}b`,
    // Without a letter that the text would have to hold.
    '.*a.{400}[bc]',
    '(?:a?b?){200}[cd]',
    `(?P<x>${'(a?)'.repeat(230)})[cd]`,
  ])
    (await userPattern(source)).find(`${hard}!`);
  expect(cpuMs() - started).toBeLessThan(3000);
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
  ['((a{1000}){1000})', /too large/],
  [`(?:${'.'.repeat(900)}){1000}`, /too large/],
  ['a{1000}'.repeat(280), /too large/],
  [`(?:${'[^a]'.repeat(400)}){4}`, /too large/],
  [`${'(?:'.repeat(600)}${')'.repeat(600)}`, /longer/],
  [`${'a|('.repeat(500)}${')'.repeat(500)}`, /nests too deeply/],
  ['(?P<x>a)(?P<x>b)', /duplicate/],
  ['(?P<a', /named capture/],
  ['a\\', /trailing/],
  ['a'.repeat(2001), /longer/],
  ['\\pL'.repeat(600), /Unicode classes/],
  [`(?i)[${'B-\u{1e942}'.repeat(400)}]`, /ranges beyond ASCII/],
  [`(?s-i:a)(?i:${'[\\x{42}-\\x{1e942}]'.repeat(90)})`, /ranges beyond ASCII/],
])('%.40s is refused', async (source, problem) => {
  const began = cpuMs();
  const refused = await userPattern(source).catch((error: unknown) => error);
  expect(cpuMs() - began).toBeLessThan(1000);
  expect(refused).toBeInstanceOf(PatternError);
  expect((refused as Error).message).toMatch(problem);
});

test.each([
  ['a(?=b)', 'look-ahead is not supported: (?='],
  ['a(?!b)', 'look-ahead is not supported: (?!'],
  ['(?<=a)b', 'look-behind is not supported: (?<='],
  ['(?<!a)b', 'look-behind is not supported: (?<!'],
  ['(a)\\1', 'back references are not supported: \\1'],
  ['(?P<x>a)\\k<x>', 'back references are not supported: \\k'],
  ['(?P<x>a)(?P=x)', 'back references are not supported: (?P='],
  ['(?>a)', 'atomic groups are not supported: (?>'],
  ['a\\Z', 'invalid escape sequence: \\Z'],
  ['(?x)a', 'invalid perl operator: (?x'],
])('%s, which RE2 does not have, is named', async (source, problem) => {
  await expect(userPattern(source)).rejects.toThrow(new PatternError(problem));
});

describe('a user pattern supports the syntax of RE2', () => {
  test.each([
    ['(?i)CORP', 'corp', true],
    ['(?i:a)B', 'Ab', false],
    ['CORP', 'corp', false],
    ['^\\pL+$', 'Größe', true],
    ['^\\p{Greek}$', 'λ', true],
    ['^[[:digit:]]+$', '12', true],
    ['\\Qa.b\\E', 'axb', false],
    ['a$', 'a\n', false],
    ['(?m)^b$', 'a\nb\nc', true],
    ['a.b', 'a\nb', false],
    ['(?s)a.b', 'a\nb', true],
  ])('%s in %j', async (source, text, matches) => {
    expect((await userPattern(source)).find(text) !== undefined).toBe(matches);
  });

  test('and ignores case when it is asked to, as far as the pattern does not say otherwise', async () => {
    const found = async (source: string, text: string) =>
      (await userPattern(source, { ignoreCase: true })).find(text) !== undefined;
    expect(await found('@CORP\\.', 'a@Corp.example')).toBe(true);
    expect(await found('^straße$', 'STRAßE')).toBe(true);
    expect(await found('(?-i)@CORP\\.', 'a@Corp.example')).toBe(false);
    await expect(userPattern('[B-\u{1e942}]'.repeat(11), { ignoreCase: true })).rejects.toThrow(PatternError);
    expect(await found(`[B-\u{1e942}]`, 'c')).toBe(true);
  });
});

test('an endless repetition of an empty match is refused quickly', async () => {
  const nested = Array.from({ length: 45 }).reduce<string>((body) => `(?:${body}){1000}`, '');
  await expect(userPattern(nested)).rejects.toThrow(PatternError);
});

test('a text that is too long is not searched', async () => {
  const pattern = await userPattern('a$');
  expect(pattern.find(`${'b'.repeat(MAX_TEXT - 1)}a`)).toEqual(new Map());
  expect(() => pattern.find('b'.repeat(MAX_TEXT + 1))).toThrow(RangeError);
});

test('any text is an expression or refused as invalid', async () => {
  const piece = fc.oneof(
    fc.constantFrom(...'ab\\[]()|*+?{}^$.-P<>:dx1,=!'),
    fc.constantFrom(
      '\\Q',
      '\\E',
      '(?i)',
      '\\p{Greek}',
      '[[:alpha:]]',
      '(?P<__proto__>',
      '(?:',
      '{2}',
      '{0,30}',
      '😀',
      '\ud800',
    ),
  );
  const texts = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));
  await fc.assert(
    fc.asyncProperty(texts, async (source) => {
      try {
        (await userPattern(source)).find('abba-1.2');
      } catch (error) {
        expect(error).toBeInstanceOf(PatternError);
      }
    }),
    { numRuns: 3000 },
  );
});
