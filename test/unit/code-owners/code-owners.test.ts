import { describe, expect, test } from 'vitest';
import { matchedEntries } from '../../../lib/domain/code-owners/match.ts';
import { parseOwners } from '../../../lib/domain/code-owners/parse.ts';
import { atOnce, LimitExceeded } from '../../../lib/git/work.ts';

const parsed = (text: string) => atOnce(parseOwners(text));
/** The entries that paths match, as `section: pattern`, with the owners of each. */
const found = (text: string, ...paths: string[]) =>
  Object.fromEntries(
    atOnce(matchedEntries(parsed(text), paths)).map(({ section, entry }) => [
      `${section.name}: ${entry.pattern}`,
      [...entry.names, ...entry.addresses].join(' '),
    ]),
  );
/** The owners of one path. */
const ownersOf = (text: string, path: string): string => Object.values(found(text, path)).join(' + ');
/** Whether a pattern matches paths. */
const matching = (pattern: string, paths: readonly string[]): readonly string[] =>
  paths.filter((path) => ownersOf(`${pattern} @owner`, path) === 'owner');

describe('patterns', () => {
  const PATHS = [
    'readme.md',
    'a/readme.md',
    'lib/a.rb',
    'lib/deep/b.rb',
    'app/lib/c.rb',
    'lib.rb',
    '.hidden',
    'docs/.hidden/x.md',
  ];

  test.each<[string, readonly string[]]>([
    ['*', PATHS],
    ['/*', ['readme.md', 'lib.rb', '.hidden']],
    ['*.rb', ['lib/a.rb', 'lib/deep/b.rb', 'app/lib/c.rb', 'lib.rb']],
    ['/*.rb', ['lib.rb']],
    ['readme.md', ['readme.md', 'a/readme.md']],
    ['/readme.md', ['readme.md']],
    ['README.md', []],
    ['lib/', ['lib/a.rb', 'lib/deep/b.rb', 'app/lib/c.rb']],
    ['/lib/', ['lib/a.rb', 'lib/deep/b.rb']],
    ['/lib/*', ['lib/a.rb']],
    ['lib/*', ['lib/a.rb', 'app/lib/c.rb']],
    ['/lib/**/*.rb', ['lib/a.rb', 'lib/deep/b.rb']],
    ['/lib/**', ['lib/a.rb', 'lib/deep/b.rb']],
    ['**/deep/*.rb', ['lib/deep/b.rb']],
    ['/**/c.rb', ['app/lib/c.rb']],
    ['lib', []],
    ['**/[ab].rb', ['lib/a.rb', 'lib/deep/b.rb']],
    ['?.rb', ['lib/a.rb', 'lib/deep/b.rb', 'app/lib/c.rb']],
    ['docs/', ['docs/.hidden/x.md']],
    ['/', PATHS],
  ])('%s', (pattern, expected) => {
    expect(matching(pattern, PATHS)).toEqual(expected);
  });

  test('white space, a number sign and wildcards are themselves after a backslash', () => {
    expect(matching('path\\ with\\ spaces/', ['path with spaces/x', 'path/x'])).toEqual([
      'path with spaces/x',
    ]);
    expect(matching('\\#file.rb', ['#file.rb', 'a/#file.rb', 'file.rb'])).toEqual(['#file.rb', 'a/#file.rb']);
    expect(matching('\\*.rb', ['*.rb', 'a.rb'])).toEqual(['*.rb']);
    expect(ownersOf('a/odd\\ @name\\ /x @right', 'a/odd @name /x')).toBe('right');
  });

  test('of several that match, the last one counts, wherever the first of the same text stands', () => {
    const text = '*.rb @first\n* @any\n*.rb @last\nlib/ @lib\n';
    expect(ownersOf(text, 'a.rb')).toBe('last');
    expect(ownersOf(text, 'lib/a.rb')).toBe('lib');
    expect(ownersOf(text, 'readme.md')).toBe('any');
  });
});

describe('owners', () => {
  test.each<[string, string]>([
    ['x @one @two\t@three', 'one two three'],
    ['x @Group/Sub-group/deep_er @user.name', 'group/sub-group/deep_er user.name'],
    ['x @legal this does not match Jane.Doe@example.com', 'legal jane.doe@example.com'],
    ['x @one, @two,three@example.com.', 'one two three@example.com'],
    ['x @one @one @ONE', 'one'],
    ['x @@developer @ a@ @/a @a//b @a/ one@two@three', ''],
    [`x @${'a'.repeat(300)} @ok`, 'ok'],
  ])('%s', (line, expected) => {
    expect(ownersOf(line, 'x')).toBe(expected);
  });

  test('an entry without owners takes its files out of those before it', () => {
    const text = '* @all\n/vendor/\n*.lock nobody\n';
    expect([ownersOf(text, 'a'), ownersOf(text, 'vendor/a'), ownersOf(text, 'x.lock')]).toEqual([
      'all',
      '',
      '',
    ]);
  });

  test('comments, empty lines and line ends of any kind are passed over', () => {
    expect(ownersOf('\uFEFF\r\n  # * @no\r\n\r\n  * \t@yes  \r\n#\n', 'a')).toBe('yes');
    expect(parsed('# nothing\n\n')).toEqual([]);
    expect(parsed('')).toEqual([]);
  });
});

describe('sections', () => {
  const TEXT = `
* @any
[Documentation]
docs/ @writers
README.md @writers
^[Go]
*.go @gophers
[Database]
README.md @dba
[DOCUMENTATION]
*.md @docs
`;

  test('each has an entry for a path, and those of one name are one', () => {
    expect(found(TEXT, 'README.md')).toEqual({
      'codeowners: *': 'any',
      'Documentation: *.md': 'docs',
      'Database: README.md': 'dba',
    });
    expect(found(TEXT, 'docs/a.txt', 'main.go')).toEqual({
      'codeowners: *': 'any',
      'Documentation: docs/': 'writers',
      'Go: *.go': 'gophers',
    });
  });

  const requiredBy = (text: string) =>
    parsed(text).map(({ name, approvalsRequired }) => [name, approvalsRequired]);
  test.each<[string, string, readonly unknown[]]>([
    ['one approval', '[A]\n* @a', [['A', 1]]],
    ['none where it is optional', '^[A]\n* @a', [['A', 0]]],
    ['one where only some of its headings are optional', '^[A]\n* @a\n[a]\nx @a', [['A', 1]]],
    ['one, where another heading is optional and has no entries', '^[A]\n[a]\n* @a', [['a', 1]]],
    ['as many as it says', '[A][3] @a\n*', [['A', 3]]],
    ['the most that one of its headings says', '[A][2]\n* @a\n[A]\nx @a', [['A', 2]]],
    ['never none by a number', '[A][0]\n* @a', [['A', 1]]],
    ['as many as a merge request can have', '[A][999999999]\n* @a', [['A', 100]]],
    ['none of those without entries', '[A]\n[B]\n* @a', [['B', 1]]],
    ['no heading without a name', '[]\n* @a', [['codeowners', 1]]],
    ['no heading within a line', 'x[1] @a', [['codeowners', 1]]],
  ])('%s', (_, text, expected) => {
    expect(requiredBy(text)).toEqual(expected);
  });

  test('owners of a heading are those of its entries that name none', () => {
    const text = '[Docs] @writers w@example.com\ndocs/\n*.md @own\n[Other]\nx\n';
    expect(ownersOf(text, 'docs/a')).toBe('writers w@example.com');
    expect(ownersOf(text, 'docs/a.md')).toBe('own');
    expect(ownersOf(text, 'x')).toBe('');
  });
});

describe('what is hostile', () => {
  const steps = (text: string, paths: readonly string[]) => atOnce(matchedEntries(parsed(text), paths));

  test.each<[string, string]>([
    ['too many entries', 'a @b\n'.repeat(10_001)],
    ['too many sections', Array.from({ length: 501 }, (_, i) => `[s${i}]\na @b`).join('\n')],
    ['a long pattern', `${'*a'.repeat(300)} @b`],
    ['a long line', `a ${'@b '.repeat(10_000)}`],
    ['a long name of a section', `[${'s'.repeat(300)}]\na @b`],
  ])('%s is refused', (_, text) => {
    expect(() => parsed(text)).toThrow(LimitExceeded);
  });

  test('long paths, and more comparisons than fit into a request, are refused', () => {
    expect(() => steps('* @a', ['a'.repeat(5_000)])).toThrow(LimitExceeded);
    const patterns = Array.from({ length: 9_000 }, (_, i) => `/x${i}/ @a`).join('\n');
    const paths = Array.from({ length: 9_000 }, (_, i) => `y${i}`);
    expect(() => steps(patterns, paths)).toThrow(LimitExceeded);
  });

  test('patterns that would make others backtrack are decided', () => {
    const pattern = `/${'*a'.repeat(100)}b`;
    expect(matching(pattern, ['a'.repeat(4_000)])).toEqual([]);
    expect(matching(`/${'**/'.repeat(100)}b`, [`${'a/'.repeat(1_000)}c`])).toEqual([]);
  });

  test('it stops now and then for other work', () => {
    let turns = 0;
    const parsing = parseOwners('some/path/or/other @owner\n'.repeat(9_000));
    while (!parsing.next().done) turns++;
    expect(turns).toBeGreaterThan(5);
    const entries = Array.from({ length: 1_000 }, (_, i) => `/x${i}/ @a`).join('\n');
    const matching = matchedEntries(
      parsed(entries),
      Array.from({ length: 1_000 }, (_, i) => `y${i}`),
    );
    let stops = 0;
    while (!matching.next().done) stops++;
    expect(stops).toBeGreaterThan(20);
  });

  test('owners of one entry beyond a hundred do not count', () => {
    const names = Array.from({ length: 150 }, (_, i) => `@u${i}`).join(' ');
    expect(parsed(`* ${names}`)[0]!.entries[0]!.names).toHaveLength(100);
  });
});
