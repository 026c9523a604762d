import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Oid } from '../../lib/git/oid.ts';
import type { PackStore } from '../../lib/git/pack/store.ts';
import { encodePath } from '../../lib/git/tree/path.ts';
import {
  listTree,
  recordAt,
  type TreeListing,
  type TreeRecord,
  UnknownPageToken,
} from '../../lib/git/tree.ts';
import { GitFixture, generateHistory } from './history-fixture.ts';

describe('listing of trees', () => {
  const fixture = new GitFixture();
  let store: PackStore;
  let commits: Oid[];

  beforeAll(async () => {
    generateHistory(fixture, { seed: 21, commits: 60, skew: false });
    ({ store } = await fixture.load());
    commits = fixture.lines('rev-list', 'main') as Oid[];
  });
  afterAll(() => fixture[Symbol.dispose]());

  const treeOf = (commit: string) => fixture.oid(`${commit}^{tree}`);
  const row = (entry: TreeRecord) => `${entry.mode} ${entry.type} ${entry.id}\t${encodePath(entry.path)}`;
  const gitRows = (...args: string[]) =>
    fixture
      .git('ls-tree', '-z', ...args)
      .split('\0')
      .filter(Boolean);
  async function pages(root: Oid, listing: Omit<TreeListing, 'limit'>, limit: number): Promise<string[]> {
    const rows: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await listTree(store, root, { ...listing, limit, ...(after ? { after } : {}) });
      rows.push(...page!.entries.map(row));
      after = page!.next;
      if (after === undefined) return rows;
    }
  }

  test('recursive: same rows and order as ls-tree -r -t', async () => {
    for (const commit of commits) {
      const page = await listTree(store, treeOf(commit), { recursive: true, limit: 1000 });
      expect(page!.entries.map(row)).toEqual(gitRows('-r', '-t', commit));
      expect(page!.total).toBe(page!.entries.length);
      expect(page!.next).toBeUndefined();
    }
  });

  test('one directory: directories, files, submodules, each in ls-tree order', async () => {
    for (const commit of commits) {
      const rows = gitRows(commit);
      const expected = ['tree', 'blob', 'commit'].flatMap((type) =>
        rows.filter((r) => r.split(' ')[1] === type),
      );
      const page = await listTree(store, treeOf(commit), { limit: 1000 });
      expect(page!.entries.map(row)).toEqual(expected);
      for (const entry of page!.entries.filter((e) => e.type === 'tree')) {
        const below = await listTree(store, treeOf(commit), {
          path: `${entry.path}/`,
          recursive: true,
          limit: 1000,
        });
        expect(below!.entries.map(row)).toEqual(
          gitRows('-r', '-t', commit).filter((r) =>
            r.split('\t')[1]!.startsWith(`${encodePath(entry.path)}/`),
          ),
        );
      }
    }
  });

  test('pages by token and by offset together are the whole listing', async () => {
    for (const commit of commits.slice(0, 10)) {
      for (const recursive of [true, false]) {
        const whole = (await listTree(store, treeOf(commit), { recursive, limit: 1000 }))!.entries.map(row);
        for (const limit of [1, 2, 3, 7]) {
          expect(await pages(treeOf(commit), { recursive }, limit)).toEqual(whole);
          const byOffset: string[] = [];
          for (let offset = 0; offset < whole.length; offset += limit) {
            const page = await listTree(store, treeOf(commit), { recursive, limit, offset });
            expect(page!.total).toBe(whole.length);
            byOffset.push(...page!.entries.map(row));
          }
          expect(byOffset).toEqual(whole);
        }
      }
    }
  });

  test('an entry id as token continues after the first entry with it', async () => {
    const root = treeOf('main');
    const whole = (await listTree(store, root, { recursive: true, limit: 1000 }))!.entries;
    for (const entry of whole) {
      const first = whole.findIndex((other) => other.id === entry.id);
      const page = await listTree(store, root, { recursive: true, limit: 1000, after: entry.id });
      expect(page!.entries).toEqual(whole.slice(first + 1));
    }
  });

  test('unknown tokens are refused', async () => {
    for (const after of ['', 'x', '0'.repeat(40), `${'0'.repeat(40)}.!`]) {
      await expect(listTree(store, treeOf('main'), { limit: 3, after })).rejects.toThrow(UnknownPageToken);
    }
    await expect(
      listTree(store, treeOf('main'), { limit: 3, recursive: true, after: '0'.repeat(40) }),
    ).rejects.toThrow(UnknownPageToken);
  });

  test('no total above the counting limit', async () => {
    const page = await listTree(store, treeOf('main'), { recursive: true, limit: 2, countUpTo: 3 });
    expect(page!.entries).toHaveLength(2);
    expect(page!.total).toBeUndefined();
  });

  test('only directories have a listing; every path has a record', async () => {
    const root = treeOf('main');
    expect(await listTree(store, root, { path: 'no/such', limit: 5 })).toBeUndefined();
    expect(await listTree(store, root, { path: 'README', limit: 5 })).toBeUndefined();
    for (const entry of (await listTree(store, root, { recursive: true, limit: 1000 }))!.entries) {
      expect(await recordAt(store, root, entry.path)).toEqual(entry);
    }
    expect(await recordAt(store, root, 'README/x')).toBeUndefined();
  });
});
