import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { History } from '../../lib/git/history.ts';
import { Merging } from '../../lib/git/merge/merging.ts';
import type { Oid } from '../../lib/git/oid.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import { RefConflict } from '../../lib/git/ports.ts';
import { parseRefName } from '../../lib/git/refname.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { decodePath } from '../../lib/git/tree/path.ts';
import { GitFixture } from './history-fixture.ts';
import { generateMerges, gitMergeTree, type MergeCase } from './merge-fixture.ts';

const author = { name: 'A U Thor', email: 'author@example.com', seconds: 1_700_000_000, timezone: '+0100' };
const committer = { ...author, name: 'C O Mitter', email: 'committer@example.com' };
const text = { author, committer, message: 'Merged\n' };

describe('merges of a source into a target', () => {
  const fixture = new GitFixture();
  let cases: MergeCase[];
  let store: PackStore;
  let repository: GitRepository;
  let merging: Merging;

  beforeAll(async () => {
    cases = generateMerges(fixture, 2, 45);
    const loaded = await fixture.load();
    ({ store } = loaded);
    repository = new GitRepository({ ...loaded.repository, store });
    merging = new Merging(store, new History(store));
  });
  afterAll(() => fixture[Symbol.dispose]());

  test('verdicts and commits are those of git merge-tree and commit-tree', async () => {
    const kinds = new Set<string>();
    for (const [ours, theirs] of cases) {
      const [target, source] = [fixture.oid(ours), fixture.oid(theirs)];
      const expected = gitMergeTree(fixture, ours, theirs);
      const verdict = await merging.check(target, source);
      kinds.add(verdict.kind);
      expect(verdict.kind, `${ours} and ${theirs}`).toBe(expected.clean ? 'mergeable' : 'conflict');
      const merge = await merging.mergeCommit(target, source, text);
      const squash = await merging.squashCommit(target, source, text);
      if (verdict.kind !== 'mergeable') {
        expect([merge, squash]).toEqual([verdict, verdict]);
        continue;
      }
      expect(verdict).toMatchObject({ tree: expected.tree, fastForward: false });
      const { changes } = await repository.changes(target, verdict.tree, { made: verdict.objects });
      const differing = fixture.git('diff-tree', '-r', '-z', '--name-only', target, expected.tree);
      expect(changes.map(({ path }) => decodePath(path))).toEqual(differing.split('\0').slice(0, -1));
      const commit = (...parents: Oid[]) =>
        fixture.git('commit-tree', expected.tree, ...parents.flatMap((oid) => ['-p', oid]), '-m', 'Merged');
      expect(merge).toMatchObject({ kind: 'built', commit: commit(target, source).trim() });
      expect(squash).toMatchObject({ kind: 'built', commit: commit(target).trim() });
    }
    expect([...kinds].sort()).toEqual(['conflict', 'mergeable']);
  });

  test('a target that the source contains can be fast-forwarded, and one that contains it has nothing to merge', async () => {
    const [base, tip] = [fixture.oid('base0'), fixture.oid('ours0')];
    const tree = fixture.oid('ours0^{tree}');
    expect(await merging.check(base, tip)).toEqual({
      kind: 'mergeable',
      tree,
      objects: [],
      fastForward: true,
      bases: [base],
    });
    for (const [target, source] of [
      [tip, base],
      [tip, tip],
    ] as const) {
      expect(await merging.check(target, source)).toEqual({ kind: 'contained' });
      expect(await merging.mergeCommit(target, source, text)).toEqual({ kind: 'contained' });
    }
  });

  test('a squash on top of the merge base has the tree of the source', async () => {
    for (const name of ['theirs0', 'theirs1', 'theirs3']) {
      const [base, source] = [fixture.oid(name.replace('theirs', 'base')), fixture.oid(name)];
      const squash = await merging.squashCommit(base, source, text);
      expect(squash).toMatchObject({ kind: 'built', tree: fixture.oid(`${name}^{tree}`) });
    }
  });

  test('more history than allowed is an answer, not an error', async () => {
    const [ours, theirs] = cases[2]!;
    const bounds = { maxCommits: 1 };
    const found = await merging.check(fixture.oid(ours), fixture.oid(theirs), bounds);
    expect(found.kind).toBe('too-large');
  });
});

test('a built merge moves several refs in one transaction, or none', async () => {
  using fixture = new GitFixture();
  const [[ours, theirs]] = cleanCases(fixture) as [MergeCase];
  const { repository, store } = await fixture.load();
  const git = new GitRepository({ ...repository, store });
  const [target, source] = [fixture.oid(ours), fixture.oid(theirs)];
  const built = await (await git.merging()).mergeCommit(target, source, text);
  if (built.kind !== 'built') throw new Error(built.kind);
  const branch = parseRefName(`refs/heads/${ours}`)!;
  const other = parseRefName('refs/merge-requests/1/merge')!;
  const zero = '0'.repeat(40) as Oid;
  const updates = [
    { name: branch, from: target, to: built.commit },
    { name: other, from: zero, to: built.commit },
  ];
  await expect(git.publish(built.objects, [{ ...updates[0]!, from: source }, updates[1]!])).rejects.toThrow(
    RefConflict,
  );
  expect((await repository.refs.get([branch, other])).get(other)).toBeUndefined();
  await git.publish(built.objects, updates);
  const refs = await repository.refs.get([branch, other]);
  expect([refs.get(branch)?.oid, refs.get(other)?.oid]).toEqual([built.commit, built.commit]);
  const page = await git.listTree(built.commit, { recursive: true, limit: 100 });
  expect(page?.entries.map(({ path }) => path)).toEqual(
    fixture.lines('ls-tree', '-r', '-t', '--name-only', gitMergeTree(fixture, ours, theirs).tree),
  );
});

/** Cases that git merges without a conflict. */
function cleanCases(fixture: GitFixture): MergeCase[] {
  return generateMerges(fixture, 17, 8).filter(([ours, theirs]) => gitMergeTree(fixture, ours, theirs).clean);
}
