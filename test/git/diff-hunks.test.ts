import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareTrees } from '../../lib/git/diff/compare.ts';
import { diffTexts, formatHunks, type TextDiff } from '../../lib/git/diff/hunks.ts';
import { type FileDiff, formatPatch } from '../../lib/git/diff/patch.ts';
import { History } from '../../lib/git/history.ts';
import { EMPTY_TREE, type Oid } from '../../lib/git/oid.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { atOnce } from '../../lib/git/work.ts';
import { GitFixture, generateHistory, random } from './history-fixture.ts';

const UNLIMITED = { files: 1e6, fileBytes: 1e9, totalBytes: 1e9, totalLines: 1e9, renames: false } as const;

describe('hunks of texts are those of git diff', () => {
  const fixture = new GitFixture();
  const texts: [string, string][] = [];
  let patches: Map<string, Map<string, string>>;

  beforeAll(() => {
    const pick = random(5);
    for (let n = 0; n < 600; n++) texts.push(textPair(pick, n));
    texts.push(...TITLES.map((title): [string, string] => [titled(title, 'x'), titled(title, 'y')]));
    const trees = [0, 1].map((side) => {
      const files = texts.map((pair, n) => `M 100644 inline f${n}\n${data(pair[side]!)}`);
      fixture.feed(
        `commit refs/heads/s${side}\ncommitter C <c@example.com> 1 +0000\n${data('')}${files.join('')}`,
        'fast-import',
        '--quiet',
      );
      return `s${side}`;
    });
    patches = new Map(
      ['', '--no-indent-heuristic', '--histogram'].map((option) => {
        const text = fixture.git('diff', '-U3', ...(option ? [option] : []), ...trees);
        const files = text.split(/^(?=diff --git )/m).filter(Boolean);
        return [option, new Map(files.map((file) => [/ b\/f(\d+)\n/.exec(file)![1]!, hunksOf(file)]))];
      }),
    );
  });
  afterAll(() => fixture[Symbol.dispose]());

  test.each([
    ['', {}],
    ['--no-indent-heuristic', { indentHeuristic: false }],
    ['--histogram', { algorithm: 'histogram' }],
  ] as const)('%s', (option, options) => {
    const git = patches.get(option)!;
    for (const [n, [old, after]] of texts.entries()) {
      const [a, b] = [Buffer.from(old, 'latin1'), Buffer.from(after, 'latin1')];
      const text = formatHunks(atOnce(diffTexts(a, b, options))!, a, b)!.toString('latin1');
      expect(text, `f${n}`).toBe(git.get(String(n)) ?? '');
    }
  });
});

describe('patches of trees are those of git diff-tree -p', () => {
  const fixture = new GitFixture();
  let store: PackStore;
  let repository: GitRepository;

  beforeAll(async () => {
    generateHistory(fixture, { seed: 77, commits: 90, skew: false });
    fixture.git('hash-object', '-t', 'tree', '-w', '--stdin');
    const loaded = await fixture.load();
    store = loaded.store;
    repository = new GitRepository({ ...loaded.repository, store });
  });
  afterAll(() => fixture[Symbol.dispose]());

  test('headers, modes, types, symlinks, submodules, binary files, names that are not UTF-8', async () => {
    const trees = fixture.lines('log', '--all', '--format=%T') as Oid[];
    const pick = random(78);
    for (let n = 0; n < 80; n++) {
      const [a, b] = [pick(8) ? trees[pick(trees.length)]! : EMPTY_TREE, trees[pick(trees.length)]!];
      const { files } = await compareTrees(store, a, b, UNLIMITED);
      const ours = Buffer.concat(files.map(formatPatch)).toString('latin1');
      expect(ours).toBe(fixture.git('diff-tree', '-r', '-p', '--full-index', '--no-renames', a, b));
    }
  });

  test('names with spaces and special characters', async () => {
    using names = new GitFixture();
    const paths = ['a b', 'caf\xe9 b', 'tab\\there', 'quote\\"', 'back\\\\slash', '\\001', 'a\xa0b'];
    const files = paths.map((path) => `M 100644 inline "${path}"\n${data(`${path}\n`)}`);
    const head = `commit refs/heads/main\ncommitter C <c@example.com> 1 +0000\n${data('')}`;
    names.feed(head + files.join(''), 'fast-import', '--quiet');
    names.git('hash-object', '-t', 'tree', '-w', '--stdin');
    const { store } = await names.load();
    const tree = names.oid('main^{tree}');
    const { files: added } = await compareTrees(store, EMPTY_TREE, tree, UNLIMITED);
    expect(added).toHaveLength(paths.length);
    const git = names.git('diff-tree', '-r', '-p', '--full-index', EMPTY_TREE, tree);
    expect(patchText(added)).toBe(git);
  });

  test('comparing commits gives git diff a...b and git log a..b', async () => {
    const pick = random(79);
    for (let n = 0; n < 30; n++) {
      const [a, b] = [fixture.oid(`b${pick(90)}`), fixture.oid(`b${pick(90)}`)];
      const related = (await new History(store).mergeBases(a, [b])).length > 0;
      const ours = await repository.compare(a, b, UNLIMITED);
      expect(ours !== undefined).toBe(related);
      const straight = (await repository.compare(a, b, { ...UNLIMITED, straight: true }))!;
      const commits = fixture.lines('rev-list', '--reverse', `${a}..${b}`);
      expect(straight.commits.map((commit) => commit.oid)).toEqual(commits);
      expect(patchText(straight.files)).toBe(fixture.git('diff', '--full-index', '--no-renames', a, b));
      if (!ours) continue;
      expect(ours.commits.map((commit) => commit.oid)).toEqual(commits);
      expect(patchText(ours.files)).toBe(
        fixture.git('diff', '--full-index', '--no-renames', fixture.lines('merge-base', a, b)[0]!, b),
      );
      const few = (await repository.compare(a, b, { ...UNLIMITED, commits: 2 }))!;
      expect(few.commits.map((commit) => commit.oid)).toEqual(commits.slice(-2));
      expect(few.commitsTruncated).toBe(commits.length > 2);
    }
  });

  test('results tell that a limit was reached', async () => {
    const tip = fixture.oid('main^{tree}');
    const all = await compareTrees(store, EMPTY_TREE, tip, UNLIMITED);
    expect(all.files.every((file) => !file.tooLarge && !file.collapsed)).toBe(true);
    const one = await compareTrees(store, EMPTY_TREE, tip, { ...UNLIMITED, files: 1 });
    expect(one).toMatchObject({ overflow: true, changed: all.changed });
    expect(one.files).toEqual(all.files.slice(0, 1));
    const small = await compareTrees(store, EMPTY_TREE, tip, { ...UNLIMITED, fileBytes: 40 });
    for (const [n, file] of small.files.entries()) {
      const whole = all.files[n]!;
      expect(file.tooLarge).toBe(!whole.binary && whole.text.length > 40);
      expect(file.additions).toBe(whole.additions);
      expect(file.text.length).toBe(file.tooLarge ? 0 : whole.text.length);
    }
    const total = await compareTrees(store, EMPTY_TREE, tip, { ...UNLIMITED, totalLines: 3 });
    const collapsed = total.files.findIndex((file) => file.collapsed);
    expect(collapsed).toBeGreaterThan(0);
    expect(total.files.slice(collapsed).every((file) => file.collapsed && file.text.length === 0)).toBe(true);
  });
});

describe('hunks', () => {
  const content = fc
    .array(fc.constantFrom('a\n', 'b\n', '\n', '  a\n', '\tb\n', 'a\r\n', '}\n', 'é\n'), { maxLength: 40 })
    .chain((lines) =>
      fc.constantFrom('', 'end', '\r').map((tail) => Buffer.from(lines.join('') + tail, 'latin1')),
    );

  test('applied to the old text give the new one', () => {
    fc.assert(
      fc.property(
        content,
        content,
        fc.constantFrom('myers', 'histogram'),
        fc.nat(5),
        (a, b, algorithm, context) => {
          const diff = atOnce(diffTexts(a, b, { algorithm }))!;
          const text = formatHunks(diff, a, b, { context })!.toString('latin1');
          expect(applyHunks(a.toString('latin1'), text)).toBe(b.toString('latin1'));
          expect(touching(diff)).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('hostile texts take a bounded number of steps', () => {
    const pick = random(3);
    const noise = () => Buffer.from(Array.from({ length: 150_000 }, () => `${pick(400)}\n`).join(''));
    const same = Buffer.from('x\n'.repeat(300_000));
    const pairs = [
      [noise(), noise()],
      [same, same.subarray(0, 200_000)],
      [Buffer.from('x\ny\n'.repeat(100_000)), Buffer.from('y\nx\nx\n'.repeat(60_000))],
    ] as const;
    for (const [a, b] of pairs) {
      for (const algorithm of ['myers', 'histogram'] as const) {
        const budget = { steps: 20_000_000 };
        atOnce(diffTexts(a, b, { algorithm, budget }));
        expect(budget.steps).toBeGreaterThanOrEqual(0);
      }
    }
  });
});

/** Hunk titles that git truncates: long ones, and those with bytes that are not UTF-8. */
const TITLES = [
  'fo\xe9 bar',
  `${'f'.repeat(78)}\xe9\xe9\xe9\xe9`,
  `${'f'.repeat(79)}\xc3\xa9x`,
  `${'f'.repeat(77)}\xe2\x82\xac\xe2\x82\xac`,
  'ab\xc3',
  `f\xc3\xa9 \xff ${'x'.repeat(100)}`,
  `  ${'x'.repeat(10)}`,
  '$dollar  \t',
  '_under\x0b ',
  '9digit',
];

function titled(title: string, last: string): string {
  const lines = Array.from({ length: 20 }, (_, n) => ` ${n}`);
  return [title, ...lines, ` ${last}`, ''].join('\n');
}

/** Text like a program: indented, with blank lines and repetitions. Some without final newline or with CRLF. */
function textPair(pick: (below: number) => number, n: number): [string, string] {
  const words = [
    'if (x) {',
    '}',
    '',
    'foo();',
    'bar();',
    '} else {',
    'end',
    '#',
    '/* text',
    ' */',
    '\t',
    '  ',
  ];
  const line = () => {
    const indent = pick(3) === 0 ? '\t'.repeat(pick(3)) : ' '.repeat(2 * pick(5));
    return `${indent}${words[pick(words.length)]}${pick(4) ? '' : pick(9)}`;
  };
  const old = Array.from({ length: pick(n % 10 === 0 ? 400 : 60) }, line);
  const after = [...old];
  for (let i = 0; i < 1 + pick(5); i++) {
    const at = pick(after.length + 1);
    const roll = pick(3);
    // Copies of the neighbouring lines make groups that can slide.
    const added =
      roll === 0
        ? after.slice(at, at + pick(8))
        : roll === 1
          ? old.slice(pick(old.length + 1)).slice(0, pick(12))
          : Array.from({ length: pick(5) }, line);
    after.splice(at, pick(3) ? 0 : pick(6), ...added);
  }
  const end = n % 7 === 0 ? '\r\n' : '\n';
  const join = (lines: string[]) => lines.join(end) + (lines.length === 0 || pick(6) === 0 ? '' : end);
  return [join(old), join(after)];
}

function hunksOf(patch: string): string {
  const at = patch.indexOf('\n@@ ');
  return at < 0 ? '' : patch.slice(at + 1);
}

function patchText(files: readonly FileDiff[]): string {
  return Buffer.concat(files.map(formatPatch)).toString('latin1');
}

/** A minimal patch tool. */
function applyHunks(old: string, hunks: string): string {
  const lines = old.split(/(?<=\n)/);
  const result: string[] = [];
  let at = 0;
  const rows = hunks.split(/(?<=\n)/);
  for (const [n, row] of rows.entries()) {
    const header = /^@@ -(\d+)(?:,(\d+))? /.exec(row);
    const bare = rows[n + 1]?.startsWith('\\') ? row.slice(0, -1) : row;
    if (header) {
      const start = header[2] === '0' ? Number(header[1]) : Number(header[1]) - 1;
      result.push(...lines.slice(at, start));
      at = start;
    } else if (row.startsWith('+')) result.push(bare.slice(1));
    else if (row.startsWith(' ') || row.startsWith('-')) {
      if (lines[at] !== bare.slice(1)) throw new Error(`line ${at} is ${lines[at]}, not ${bare.slice(1)}`);
      if (row.startsWith(' ')) result.push(bare.slice(1));
      at++;
    }
  }
  return [...result, ...lines.slice(at)].join('');
}

function touching({ edits }: TextDiff) {
  return edits.filter((edit, n) => n > 0 && edit.oldStart <= edits[n - 1]!.oldEnd);
}

function data(text: string): string {
  return `data ${text.length}\n${text}\n`;
}
