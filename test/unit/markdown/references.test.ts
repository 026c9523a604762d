import { describe, expect, test } from 'vitest';
import {
  MAX_REFERENCES,
  mayNameAny,
  mayNameIssues,
  referencesIn,
} from '../../../lib/domain/markdown/references.ts';
import { atOnce, inTurns } from '../../../lib/git/work.ts';
import { stopsOf } from '../git/stops.ts';

const baseUrl = 'https://forge.example';
const sha = '0123456789abcdef0123456789abcdef01234567';
/** What is found: kind, container, number, title, name or id. */
const found = (text: string) =>
  atOnce(referencesIn(text, { baseUrl })).map((reference) => {
    const {
      kind,
      container,
      number,
      title,
      name,
      sha: id,
      note,
    } = reference as unknown as Record<string, unknown>;
    return [kind, ...[container, number, title, name, id, note].filter((each) => each !== undefined)].join(
      ' ',
    );
  });

describe('a reference is found', () => {
  test.each([
    ['#1', ['issue 1']],
    ['!12', ['merge-request 12']],
    ['&3', ['epic 3']],
    ['$4', ['snippet 4']],
    [
      'group/project#1 project!2 group&3 g/h/p$4',
      ['issue group/project 1', 'merge-request project 2', 'epic group 3', 'snippet g/h/p 4'],
    ],
    [
      '%v1.0 %"next one" %5 group/project%v2',
      ['milestone v1.0', 'milestone next one', 'milestone 5', 'milestone group/project v2'],
    ],
    [
      '~bug ~"two words" ~7 p~urgent ~scope::value',
      ['label bug', 'label two words', 'label 7', 'label p urgent', 'label scope::value'],
    ],
    ['@ada, @group/sub and @all.', ['mention ada', 'mention group/sub', 'mention all']],
    [
      `${sha} 0123456 group/project@0123456`,
      [`commit ${sha}`, 'commit 0123456', 'commit group/project 0123456'],
    ],
    [
      '(#1), **#2** _#3_ ~~#4~~ "#5": #6; #7!',
      ['issue 1', 'issue 2', 'issue 3', 'issue 4', 'issue 5', 'issue 6', 'issue 7'],
    ],
    ['#1 and #1 again', ['issue 1']],
    ['Done.\n#8', ['issue 8']],
    ['größe #9 日本 !3', ['issue 9', 'merge-request 3']],
  ])('in %s', (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  test.each([
    ['/a/b/-/issues/1', 'issue a/b 1'],
    ['/a/b/-/issues/1#note_7', 'issue a/b 1 7'],
    ['/a/b/c/-/merge_requests/2', 'merge-request a/b/c 2'],
    ['/groups/a/b/-/epics/3', 'epic a/b 3'],
    ['/a/b/-/snippets/4', 'snippet a/b 4'],
    ['/a/b/-/milestones/5', 'milestone a/b 5'],
    [`/a/b/-/commit/${sha}`, `commit a/b ${sha}`],
    ['/a/b/issues/1', 'issue a/b 1'],
    ['/a/b/merge_requests/2#note_3', 'merge-request a/b 2 3'],
  ])('in the URL %s of the instance', (path, expected) => {
    expect(found(`see ${baseUrl}${path}.`)).toEqual([expected]);
    expect(found(`<${baseUrl}${path}>, `)).toEqual([expected]);
    expect(found(`https://elsewhere.example${path}`)).toEqual([]);
  });
});

test.each([
  ['a word', 'a#b C# x#y 1#a'],
  ['what goes on', '#1a !2b #3_c 0123456g'],
  ['an address', 'ada@example.com'],
  ['an escaped sign', '\\#1 \\!2 \\@ada'],
  ['code', '`#1`\n```\n#2\n```\n~~~\n!3\n~~~'],
  ['a quote', '> #1'],
  ['an entity', '&#35;1 &amp;'],
  ['money and percents', '$ 5, 100 %, 5%'],
  ['a heading', '# 1'],
  ['an image', '![a](b)'],
  ['a short or long number of digits', 'abcdef 0123456789abcdef0123456789abcdef012345678'],
  ['another page of the instance', `${baseUrl}/a/b/-/issues/1/designs ${baseUrl}/a/b/-/issues/1?x=y`],
])('none is found in %s', (_, text) => {
  expect(found(text)).toEqual([]);
});

test('of a text at most a thousand different ones are found, the first', () => {
  const all = Array.from({ length: 20_000 }, (_, i) => `#${i + 1}`).join(' ');
  expect(atOnce(referencesIn(all))).toHaveLength(MAX_REFERENCES);
  // The same ones are looked at ten thousand times.
  expect(atOnce(referencesIn(`${'#1 '.repeat(9_999)}#2 #3`)).map(({ source }) => source)).toEqual([
    '#1',
    '#2',
  ]);
});

test.each([
  ['nothing', 'word '],
  ['paths', 'a/b/c/d/e/f/g '],
  ['signs', '#!&$%~@'],
  ['quoted titles without an end', '~"a'],
  ['digits', '0123456789abcdef'],
  ['URLs', `${baseUrl}/a/b/-/issues/`],
  ['dots', '~a.?&:-'],
])('a long text full of %s is read to its end', (_, piece) => {
  const text = `${piece.repeat(100_000)} #1`;
  expect(atOnce(referencesIn(text, { baseUrl })).length).toBeLessThanOrEqual(MAX_REFERENCES);
});

test('a quick look tells texts that may name issues, and anything that is told of it, from others', () => {
  for (const [text, issues, any] of [
    ['see #1', true, true],
    ['see !1', false, true],
    [`${baseUrl}/a/-/issues/1`, true, true],
    [`${baseUrl}/a/-/merge_requests/1`, false, true],
    ['see a/b&1', false, true],
    [`${baseUrl}/groups/a/-/epics/1`, false, true],
    ['as of 1a2b3c4.', false, true],
    [`${baseUrl}/a/-/commit/1a2b3c4d`, false, true],
    ['nothing! # 1, 1a2b3c, facade1x', false, false],
    ['', false, false],
    [null, false, false],
  ] as const)
    expect([text, mayNameIssues(text), mayNameAny(text)]).toEqual([text, issues, any]);
});

test('a long text is searched in parts, and references at their ends are those of a short one', () => {
  const short = 'group/project#1 a#2 _#3_ x_#4 b~"my label"#5 %one.two @user/x, 0123456789abcdef é!6';
  const expected = atOnce(referencesIn(short));
  expect(expected.length).toBeGreaterThan(5);
  for (let shift = 0; shift < short.length; shift++) {
    const long = `${'- '.repeat(100_000)}`.slice(0, 128 * 1024 - shift - 1);
    expect(atOnce(referencesIn(`${long} ${short}`))).toEqual(expected);
  }
});

test('a long text is searched beside other work', async () => {
  const text = `a \`b\`\n`.repeat(200_000);
  expect(await stopsOf(() => inTurns(referencesIn(text)))).toBeGreaterThan(10);
});
