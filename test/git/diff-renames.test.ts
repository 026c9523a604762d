import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FileChange } from '../../lib/git/diff/changes.ts';
import { compareTrees } from '../../lib/git/diff/compare.ts';
import { formatPatch } from '../../lib/git/diff/patch.ts';
import { detectRenames, type RenameOptions } from '../../lib/git/diff/renames.ts';
import { diffStats } from '../../lib/git/diff/totals.ts';
import { diffTrees } from '../../lib/git/diff/tree-diff.ts';
import type { Oid } from '../../lib/git/oid.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import { formatMode } from '../../lib/git/tree/entry.ts';
import { GitFixture, random } from './history-fixture.ts';
import { generateMerges } from './merge-fixture.ts';

describe('renames and copies are those of git diff-tree', () => {
  const fixture = new GitFixture();
  let store: PackStore;
  const pairs: [Oid, Oid][] = [];

  beforeAll(async () => {
    const cases = generateMerges(fixture, 11, 100);
    ({ store } = await fixture.load());
    const trees = cases.flat().map((name) => fixture.oid(`${name}^{tree}`));
    const pick = random(12);
    for (const [n, [ours, theirs]] of cases.entries()) {
      const base = fixture.oid(`base${n}^{tree}`);
      pairs.push([base, fixture.oid(`${ours}^{tree}`)], [fixture.oid(`${theirs}^{tree}`), base]);
      pairs.push([trees[pick(trees.length)]!, trees[pick(trees.length)]!]);
    }
  });
  afterAll(() => fixture[Symbol.dispose]());

  test.each<[string[], RenameOptions]>([
    [['-M'], {}],
    [['-M30%'], { minimum: 30 }],
    [['-M100%'], { minimum: 100 }],
    [['-C'], { copies: true }],
    [['-M', '--no-rename-empty'], { emptyFiles: false }],
    [['-M', '-l1'], { limit: 1 }],
  ])('%s', async (flags, options) => {
    let moved = 0;
    for (const [a, b] of pairs) {
      const { changes } = await diffTrees(store, a, b);
      const ours = await detectRenames(store, changes, options);
      expect(ours.changes.map(raw)).toEqual(gitRaw(fixture, flags, a, b));
      moved += ours.changes.filter(({ status }) => status === 'R' || status === 'C').length;
    }
    expect(moved).toBeGreaterThan(30);
  });

  test('sums of lines', async () => {
    let fewer = 0;
    for (const [a, b] of pairs) {
      const lines = (flag: string) => {
        const rows = fixture.lines('diff-tree', '-r', '--numstat', flag, a, b).map((row) => row.split('\t'));
        const sum = (column: number) => rows.reduce((all, row) => all + (Number(row[column]) || 0), 0);
        return { additions: sum(0), deletions: sum(1), total: sum(0) + sum(1) };
      };
      const expected = lines('-M');
      expect(await diffStats(store, a, b)).toEqual({ ...expected, approximate: false });
      if (expected.total < lines('--no-renames').total) fewer++;
    }
    expect(fewer).toBeGreaterThan(30);
  });

  test('patches of renamed files', async () => {
    for (const [a, b] of pairs.slice(0, 90)) {
      const { files } = await compareTrees(store, a, b);
      const ours = Buffer.concat(files.map(formatPatch)).toString('latin1');
      expect(ours).toBe(fixture.git('diff-tree', '-r', '-p', '-M', '--full-index', a, b));
    }
  });
});

describe('special cases of renames are those of git', () => {
  const text = (seed: number, lines = 20) => {
    const pick = random(seed);
    return Array.from({ length: lines }, () => `line ${pick(1000)} of a file\n`).join('');
  };
  const [one, other] = [text(1), text(2)];
  const CASES: [string, Record<string, string>, Record<string, string>][] = [
    ['the same name wins among equal files', { 'x/a': one, 'x/b': one }, { 'y/b': one, 'y/c': one }],
    ['one file to many places', { a: one }, { b: one, c: one, d: `${one}more\n` }],
    [
      'the same name before the better match',
      { 'docs/ext.txt': one },
      { 'docs/config/ext.txt': one.replace(/line/, 'LINE'), 'docs/ext.md': `${one}.\n` },
    ],
    [
      'the most similar pair first',
      { a: one, b: other },
      { c: one.slice(0, -200), d: one.slice(0, -20) + other },
    ],
    ['CRLF for LF', { a: one }, { b: one.replaceAll('\n', '\r\n') }],
    ['long lines count in pieces', { a: 'x'.repeat(5000) + one }, { b: `${'x'.repeat(5000)}y` }],
    ['binary files too', { a: `\0${one}` }, { b: `\0${one}tail\n` }],
    ['empty files', { a: '' }, { b: '' }],
    ['a swap is no rename', { a: one, b: other }, { a: other, b: one }],
    ['a directory for a file', { a: one }, { 'a/b': one }],
  ];

  test.each(CASES)('%s', async (_, before, after) => {
    using fixture = new GitFixture();
    const [a, b] = [tree(fixture, 'a', before), tree(fixture, 'b', after)];
    const { store } = await fixture.load();
    const { changes } = await diffTrees(store, a, b);
    for (const [flags, options] of [
      [['-M'], {}],
      [['-C'], { copies: true }],
    ] as const) {
      const ours = await detectRenames(store, changes, options);
      expect(ours.changes.map(raw)).toEqual(gitRaw(fixture, [...flags], a, b));
    }
  });

  test('too many files: nothing is compared by content, and the result says so', async () => {
    using fixture = new GitFixture();
    const files = (folder: string) =>
      Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`${folder}/${folder}${n}`, text(n)]));
    const changed = Object.fromEntries(
      Object.entries(files('b')).map(([path, data], n) => [path, n === 0 ? data : `${data}more\n`]),
    );
    const [a, b] = [tree(fixture, 'a', files('a')), tree(fixture, 'b', changed)];
    const { store } = await fixture.load();
    const { changes } = await diffTrees(store, a, b);
    const few = await detectRenames(store, changes, { limit: 10 });
    expect(few.limited).toBe(true);
    expect(few.changes.filter((change) => change.status === 'R')).toHaveLength(1);
    const all = await detectRenames(store, changes, { limit: 12 });
    expect(all.limited).toBe(false);
    expect(all.changes.every((change) => change.status === 'R')).toBe(true);
  });
});

function tree(fixture: GitFixture, name: string, files: Record<string, string>): Oid {
  const rows = Object.entries(files).map(
    ([path, data]) => `M 100644 inline ${path}\ndata ${data.length}\n${data}\n`,
  );
  const head = `commit refs/heads/${name}\ncommitter C <c@example.com> 1 +0000\ndata 0\n\n`;
  fixture.feed(head + rows.join(''), 'fast-import', '--quiet');
  return fixture.oid(`${name}^{tree}`);
}

function raw(change: FileChange): string {
  const { oldMode, newMode, oldId, newId, status, similarity, oldPath, newPath } = change;
  const score = similarity === undefined ? '' : String(similarity).padStart(3, '0');
  const paths = similarity === undefined ? newPath : `${oldPath}\t${newPath}`;
  return `:${formatMode(oldMode)} ${formatMode(newMode)} ${oldId} ${newId} ${status}${score}\t${paths}`;
}

function gitRaw(fixture: GitFixture, flags: string[], a: Oid, b: Oid): string[] {
  return fixture.lines('-c', 'core.quotePath=false', 'diff-tree', '-r', '--raw', ...flags, a, b);
}
