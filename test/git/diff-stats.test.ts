import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statFiles } from '../../lib/git/diff/stats.ts';
import { diffStats } from '../../lib/git/diff/totals.ts';
import { diffTrees } from '../../lib/git/diff/tree-diff.ts';
import { EMPTY_TREE, type Oid } from '../../lib/git/oid.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import { formatMode } from '../../lib/git/tree/entry.ts';
import { GitFixture, generateHistory, random } from './history-fixture.ts';

describe('differences of trees', () => {
  const fixture = new GitFixture();
  let store: PackStore;
  let pairs: [Oid, Oid][];

  beforeAll(async () => {
    generateHistory(fixture, { seed: 31, commits: 120, skew: false });
    // git compares a root commit with the empty tree.
    fixture.git('hash-object', '-t', 'tree', '-w', '--stdin');
    ({ store } = await fixture.load());
    const links = fixture.lines('log', '--all', '--format=%T %P').map((line) => line.split(' ') as Oid[]);
    const trees = links.map(([tree]) => tree!);
    pairs = links.map(([tree, parent]) => [parent ? fixture.oid(`${parent}^{tree}`) : EMPTY_TREE, tree!]);
    const pick = random(31);
    for (let i = 0; i < 60; i++) pairs.push([trees[pick(trees.length)]!, trees[pick(trees.length)]!]);
  });
  afterAll(() => fixture[Symbol.dispose]());

  test('changed paths are those of diff-tree -r', async () => {
    for (const [a, b] of pairs) {
      const { changes } = await diffTrees(store, a, b);
      const none = '0'.repeat(40);
      const ours = changes.map(
        (c) =>
          `:${formatMode(c.old?.mode ?? 0)} ${formatMode(c.new?.mode ?? 0)} ${c.old?.oid ?? none} ${c.new?.oid ?? none}\0${c.path}`,
      );
      const fields = fixture.git('diff-tree', '-r', '-z', '--no-renames', a, b).split('\0');
      const git: string[] = [];
      for (let i = 0; i + 1 < fields.length; i += 2)
        git.push(`${fields[i]!.replace(/ [A-Z]$/, '')}\0${fields[i + 1]}`);
      expect(ours).toEqual(git);
    }
  });

  test('counts are those of --numstat', async () => {
    for (const [a, b] of pairs) {
      const { changes } = await diffTrees(store, a, b);
      const { files } = await statFiles(store, changes);
      const ours = files.map((f) =>
        f.binary ? `-\t-\t${f.path}` : `${f.additions}\t${f.deletions}\t${f.path}`,
      );
      expect(ours).toEqual(
        fixture.git('diff-tree', '-r', '-z', '--numstat', '--no-renames', a, b).split('\0').filter(Boolean),
      );
    }
  });

  test('a limit on files is reported', async () => {
    const [a, b] = [EMPTY_TREE, fixture.oid('main^{tree}')];
    const { changes, truncated } = await diffTrees(store, a, b, { limit: 2 });
    expect(changes).toHaveLength(2);
    expect(truncated).toBe(true);
    expect((await diffStats(store, a, b)).approximate).toBe(false);
    expect(await diffStats(store, b, b)).toEqual({
      additions: 0,
      deletions: 0,
      total: 0,
      approximate: false,
    });
  });
});
