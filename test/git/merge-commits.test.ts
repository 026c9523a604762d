import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { History } from '../../lib/git/history.ts';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { mergeCommits, mergeThreeTrees } from '../../lib/git/merge/commits.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { hashObject } from '../../lib/git/parse.ts';
import { RefConflict } from '../../lib/git/ports.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { LimitExceeded, underWatch } from '../../lib/git/work.ts';
import { buildPack } from '../harness/build-pack.ts';
import { GitFixture } from './history-fixture.ts';
import { generateMerges, gitMergeTree, type MergeCase } from './merge-fixture.ts';

describe('merges of generated branches are those of git merge-tree', () => {
  const fixture = new GitFixture();
  let cases: MergeCase[];
  let store: PackStore;
  let history: History;

  beforeAll(async () => {
    cases = generateMerges(fixture, 2, 105);
    ({ store } = await fixture.load());
    history = new History(store);
  });
  afterAll(() => fixture[Symbol.dispose]());

  test('the same result, and the same tree with or without conflicts', async () => {
    let [clean, crossed] = [0, 0];
    for (const [ours, theirs] of cases) {
      const labels = { ours, theirs };
      const merged = await mergeCommits(store, history, fixture.oid(ours), fixture.oid(theirs), { labels });
      const found = { clean: merged.conflicts.length === 0, tree: merged.tree };
      expect(found, `${ours} and ${theirs}`).toEqual(gitMergeTree(fixture, ours, theirs));
      if (found.clean) clean++;
      if (merged.bases.length > 1) crossed++;
    }
    expect(clean).toBeGreaterThan(40);
    expect(cases.length - clean).toBeGreaterThan(40);
    expect(crossed).toBeGreaterThan(30);
  });

  test('a side that contains the other wins, and neither side is preferred', async () => {
    for (const [n, [ours, theirs]] of cases.slice(0, 60).entries()) {
      const [base, a, b] = [fixture.oid(`base${n}`), fixture.oid(ours), fixture.oid(theirs)];
      const forward = await mergeCommits(store, history, base, a);
      expect(forward).toMatchObject({ tree: fixture.oid(`${ours}^{tree}`), conflicts: [], objects: [] });
      const one = await mergeCommits(store, history, a, b);
      const other = await mergeCommits(store, history, b, a);
      expect(other.conflicts.length === 0).toBe(one.conflicts.length === 0);
      if (one.conflicts.length === 0) expect(other.tree).toBe(one.tree);
    }
  });

  test('unrelated histories', async () => {
    for (const n of [0, 1, 3, 4, 6]) {
      const [ours, theirs] = [cases[n]![0], cases[n + 30]![1]];
      const labels = { ours, theirs };
      const merged = await mergeCommits(store, history, fixture.oid(ours), fixture.oid(theirs), { labels });
      expect(merged.bases).toEqual([]);
      const found = { clean: merged.conflicts.length === 0, tree: merged.tree };
      expect(found).toEqual(gitMergeTree(fixture, ours, theirs));
    }
  });
});

type Files = Record<string, string | { mode: string; data: string }>;

describe('kinds of conflicts', () => {
  const text = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join('');
  const [top, bottom] = [text.replace('line 0', 'top'), text.replace('line 19', 'bottom')];
  const link = (data: string) => ({ mode: '120000', data });
  const module = (digit: string) => ({ mode: '160000', data: digit.repeat(40) });
  const CASES: [name: string, base: Files, ours: Files, theirs: Files, conflicts: string[]][] = [
    ['edits apart', { a: text }, { a: top }, { a: bottom }, []],
    ['edits of one line', { a: text }, { a: top }, { a: text.replace('line 0', 'x') }, ['content a']],
    ['both add', { z: '' }, { z: '', a: text }, { z: '', a: top }, ['add-add a']],
    ['changed and deleted', { a: text, b: '' }, { a: top, b: '' }, { b: '' }, ['modify-delete a']],
    ['moved and changed', { a: text }, { b: text }, { a: top }, []],
    ['moved with its edit, and changed', { a: text }, { b: bottom }, { a: top }, []],
    [
      'moved by both alike, edited apart',
      { a: text },
      { b: top },
      { b: text.replace('line 0', 'x') },
      ['content b'],
    ],
    ['moved by both alike', { a: text }, { b: bottom }, { b: top }, []],
    [
      'moved apart',
      { a: text },
      { b: text },
      { c: top },
      ['rename-rename a', 'rename-rename b', 'rename-rename c'],
    ],
    ['moved and deleted', { a: text, z: '' }, { b: text, z: '' }, { z: '' }, ['rename-delete b']],
    ['moved onto what the other added', { a: text }, { b: text }, { a: top, b: 'other\n' }, ['add-add b']],
    [
      'two moved to one place',
      { a: text, b: 'x\ny\nz\n' },
      { c: text, b: 'x\ny\nz\n' },
      { a: text, c: 'x\ny\nz\n' },
      ['add-add c'],
    ],
    ['binary', { a: '\0base' }, { a: '\0ours' }, { a: '\0theirs' }, ['binary a']],
    ['links', { a: link('x') }, { a: link('y') }, { a: link('z') }, ['symlink a']],
    ['submodules', { a: module('1') }, { a: module('2') }, { a: module('3') }, ['submodule a']],
    [
      'a submodule moved on by one',
      { a: module('1'), b: '' },
      { a: module('2'), b: '' },
      { a: module('1'), b: 'x' },
      [],
    ],
    [
      'a file against a link',
      { z: '' },
      { z: '', a: text },
      { z: '', a: link('x') },
      ['distinct-types a', 'distinct-types a~ours'],
    ],
    [
      'a file against a directory',
      { z: '' },
      { z: '', a: text },
      { z: '', 'a/b': text },
      ['file-directory a~ours'],
    ],
    [
      'the name beside it is taken',
      { 'a~ours': 'x' },
      { 'a~ours': 'x', a: text },
      { 'a~ours': 'x', 'a/b': text },
      ['file-directory a~ours_0'],
    ],
    [
      'a directory gave way to a file',
      { 'a/b': text, z: '' },
      { a: 'new\n', z: '' },
      { 'a/b': text, z: 'x' },
      [],
    ],
    [
      'modes apart',
      { z: '' },
      { z: '', a: { mode: '100755', data: text } },
      { z: '', a: { mode: '100644', data: text } },
      ['mode a'],
    ],
    [
      'added to a directory that the other moved',
      { 'd/a': text, 'd/b': 'b\n' },
      { 'e/a': text, 'e/b': 'b\n' },
      { 'd/a': text, 'd/b': 'b\n', 'd/c': 'c\n' },
      ['file-location e/c'],
    ],
    [
      'moved into a directory that the other moved',
      { 'd/a': text, 'd/b': 'b\n', c: bottom },
      { 'e/a': text, 'e/b': 'b\n', c: bottom },
      { 'd/a': text, 'd/b': 'b\n', 'd/c': bottom },
      ['file-location e/c'],
    ],
    [
      'added to a directory that the other moved, where the place is taken',
      { 'd/a': text, 'd/b': 'b\n', 'e/c': 'old\n' },
      { 'e/a': text, 'e/b': 'b\n', 'e/c': 'old\n' },
      { 'd/a': text, 'd/b': 'b\n', 'd/c': 'c\n', 'e/c': 'old\n' },
      ['directory-in-the-way d/c'],
    ],
    [
      'added to two directories that the other moved into one',
      { 'd/a': text, 'f/b': bottom },
      { 'e/a': text, 'e/b': bottom },
      { 'd/a': text, 'd/c': 'c\n', 'f/b': bottom, 'f/c': 'c2\n' },
      ['directory-collision d/c', 'directory-collision f/c'],
    ],
    [
      'added to a directory whose files the other moved apart',
      { 'd/a': text, 'd/b': bottom },
      { 'e/a': text, 'f/b': bottom },
      { 'd/a': text, 'd/b': bottom, 'd/c': 'c\n' },
      ['directory-split d'],
    ],
    ['mode by one, content by the other', { a: text }, { a: { mode: '100755', data: text } }, { a: top }, []],
  ];

  test.each(CASES)('%s', async (_, base, ours, theirs, conflicts) => {
    using fixture = new GitFixture();
    threeBranches(fixture, base, ours, theirs);
    const { store } = await fixture.load();
    const [one, other] = [fixture.oid('ours'), fixture.oid('theirs')];
    const labels = { ours: 'ours', theirs: 'theirs' };
    const merged = await mergeCommits(store, new History(store), one, other, { labels });
    expect(merged.conflicts.map(({ kind, path }) => `${kind} ${path}`).sort()).toEqual(conflicts);
    expect({ clean: conflicts.length === 0, tree: merged.tree }).toEqual(
      gitMergeTree(fixture, 'ours', 'theirs'),
    );
  });

  test('an edit is not lost if both sides have the old file at the new path', async () => {
    // git 2.39 reports a clean merge, takes the old text and drops the edit: here it is a conflict.
    using fixture = new GitFixture();
    threeBranches(fixture, { a: text }, { a: top, b: text }, { b: text });
    const { store } = await fixture.load();
    const merged = await mergeCommits(store, new History(store), fixture.oid('ours'), fixture.oid('theirs'));
    expect(merged.conflicts).toMatchObject([{ kind: 'add-add', path: 'b' }]);
  });
});

test('thirty merge bases are merged into one, as by git', async () => {
  using fixture = new GitFixture();
  const lines = (changed: (n: number) => boolean, first = 'line 0') =>
    Array.from(
      { length: 300 },
      (_, n) => `${n === 0 ? first : `line ${n}`}${changed(n) ? ' changed' : ''}\n`,
    ).join('');
  let [stream, clock] = ['', 1_700_000_000];
  const commit = (branch: string, parents: readonly string[], data: string) => {
    stream += `commit refs/heads/${branch}\ncommitter C <c@example.com> ${clock++} +0000\ndata 0\n\n`;
    for (const [i, parent] of parents.entries())
      stream += `${i === 0 ? 'from' : 'merge'} refs/heads/${parent}\n`;
    stream += `M 100644 inline f\ndata ${data.length}\n${data}\n`;
  };
  commit(
    'base',
    [],
    lines(() => false),
  );
  const sides = Array.from({ length: 30 }, (_, i) => `side${i}`);
  for (const [i, side] of sides.entries())
    commit(
      side,
      ['base'],
      lines((n) => n === 9 * i + 9),
    );
  const all = (n: number) => n > 0 && n <= 270 && n % 9 === 0;
  // One changes what the oldest bases have changed before, which is no conflict for who knows those bases.
  commit(
    'ours',
    sides,
    lines((n) => all(n) && n > 90),
  );
  commit('theirs', sides, lines(all, 'top'));
  fixture.feed(stream, 'fast-import', '--quiet');
  const { store } = await fixture.load();
  const [ours, theirs] = [fixture.oid('ours'), fixture.oid('theirs')];
  const merged = await mergeCommits(store, new History(store), ours, theirs);
  expect(merged.bases).toHaveLength(30);
  expect(merged.conflicts).toEqual([]);
  expect({ clean: true, tree: merged.tree }).toEqual(gitMergeTree(fixture, 'ours', 'theirs'));
});

test('a merge is committed with all objects of its tree; the loser of a race is refused', async () => {
  using fixture = new GitFixture();
  const text = (n: number) =>
    Array.from({ length: 9 }, (_, line) => `${line === n ? 'new' : line}\n`).join('');
  const other = { 'x/y/z': 'z' };
  threeBranches(
    fixture,
    { 'd/a': text(-1), ...other },
    { 'd/a': text(0), ...other },
    { 'd/a': text(8), ...other },
  );
  const { repository, store } = await fixture.load();
  const git = new GitRepository({ ...repository, store });
  const [ours, theirs] = [fixture.oid('ours'), fixture.oid('theirs')];
  const { tree, objects, conflicts } = await git.merge(ours, theirs);
  expect(conflicts).toEqual([]);
  expect(objects.map((object) => object.type).sort()).toEqual(['blob', 'tree', 'tree']);
  const who = { name: 'A', email: 'a@example.com', seconds: 1_700_000_000, timezone: '+0000' };
  const request = {
    branch: 'refs/heads/ours' as RefName,
    expected: ours,
    parents: [ours, theirs],
    tree,
    objects,
    author: who,
    committer: who,
    message: 'Merge\n',
  };
  const commit = await git.commitTree(request);
  expect((await git.commit(commit)).parents).toEqual([ours, theirs]);
  const entry = await git.entryAt(commit, 'd/a');
  const merged = Buffer.from((await git.readBlob(entry!.id))!).toString();
  expect(merged).toBe(text(0).replace('8', 'new'));
  await expect(git.commitTree({ ...request, message: 'again\n' })).rejects.toThrow(RefConflict);
});

/** `base`, and `ours` and `theirs` that come from it. */
function threeBranches(fixture: GitFixture, base: Files, ours: Files, theirs: Files): void {
  const commit = (name: string, files: Files, from: string) => {
    const rows = Object.entries(files).map(([path, file]) => {
      const { mode, data } = typeof file === 'string' ? { mode: '100644', data: file } : file;
      if (mode === '160000') return `M ${mode} ${data} ${path}\n`;
      return `M ${mode} inline ${path}\ndata ${data.length}\n${data}\n`;
    });
    const head = `commit refs/heads/${name}\ncommitter C <c@example.com> 1 +0000\ndata 0\n\n`;
    return `${head}${from}deleteall\n${rows.join('')}`;
  };
  const stream = [
    commit('base', base, ''),
    commit('ours', ours, 'from refs/heads/base\n'),
    commit('theirs', theirs, 'from refs/heads/base\n'),
  ];
  fixture.feed(stream.join('\n'), 'fast-import', '--quiet');
}

describe('trees that git would not make', () => {
  type Made = { readonly type: 'blob' | 'tree'; readonly data: Buffer };
  const objects: Made[] = [];
  const add = (type: Made['type'], data: Buffer): Oid => {
    objects.push({ type, data });
    return hashObject(type, data);
  };
  const blob = (text: string) => add('blob', Buffer.from(text));
  const tree = (entries: readonly (readonly [mode: string, name: string, oid: Oid])[]) =>
    add(
      'tree',
      Buffer.concat(
        entries.flatMap(([mode, name, oid]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
      ),
    );
  const merged = async (base: Oid, ours: Oid, theirs: Oid) => {
    const repository = new MemoryRepository();
    const { content, objectCount } = buildPack(objects);
    const pack = await repository.objects.newPack(content, { source: 'receive', objectCount });
    await repository.refs.compareAndSwap([], { packs: [pack] });
    const store = new PackStore(repository.objects);
    return mergeThreeTrees(store, { base, ours, theirs }, { ours: 'ours', theirs: 'theirs' });
  };

  test('a merge of 20,000 changes on each side takes all of them, and stops now and then', async () => {
    const [old, one, other] = [blob('old\n'), blob('one\n'), blob('other\n')];
    const FILES = 40_000;
    const files = (of: (i: number) => Oid) =>
      tree(
        Array.from({ length: FILES }, (_, i) => ['100644', `f${String(i).padStart(6, '0')}`, of(i)] as const),
      );
    const [base, ours] = [files(() => old), files((i) => (i % 2 === 0 ? one : old))];
    const theirs = files((i) => (i % 2 === 1 ? other : old));
    let turns = 0;
    const rests = (): undefined => void turns++;
    const { tree: found, conflicts } = await underWatch({ rests }, () => merged(base, ours, theirs));
    expect(conflicts).toEqual([]);
    expect(found).toBe(files((i) => (i % 2 === 0 ? one : other)));
    expect(turns).toBeGreaterThan(3);
  });

  test('a change below 3,000 directories is not merged', async () => {
    const at = (text: string, more: string) => {
      let below = tree([['100644', 'f', blob(text)]]);
      for (let level = 0; level < 3000; level++) below = tree([['40000', 'd', below]]);
      return tree([
        ['40000', 'd', below],
        ['100644', 'other', blob(more)],
      ]);
    };
    const sides = [at('old\n', 'old\n'), at('new\n', 'old\n'), at('old\n', 'new\n')] as const;
    await expect(merged(...sides)).rejects.toThrow(LimitExceeded);
  });
});
