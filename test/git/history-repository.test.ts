import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Oid } from '../../lib/git/oid.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { GitFixture, generateHistory } from './history-fixture.ts';

describe('GitRepository', () => {
  const fixture = new GitFixture();
  let repository: GitRepository;

  beforeAll(async () => {
    generateHistory(fixture, { seed: 51, commits: 80, skew: false });
    const { repository: memory, store } = await fixture.load();
    repository = new GitRepository({ objects: memory.objects, refs: memory.refs, store });
  });
  afterAll(() => fixture[Symbol.dispose]());

  test('commits of a page have their decoded text', async () => {
    const page = await repository.log({ tips: [fixture.oid('main')], skip: 3, limit: 10, path: 'lib' });
    const format = '--format=%H|%an|%ae|%at|%cn|%ce|%ct|%P|%s';
    expect(
      page.map((commit) =>
        [
          commit.oid,
          commit.author.name,
          commit.author.email,
          commit.author.seconds,
          commit.committer.name,
          commit.committer.email,
          commit.committer.seconds,
          commit.parents.join(' '),
          commit.message.trimEnd(),
        ].join('|'),
      ),
    ).toEqual(fixture.lines('log', '--skip=3', '-10', format, 'main', '--', 'lib'));
    expect(page[0]?.committer.timezone).toBe('-0330');
    expect(await repository.log({ tips: [fixture.oid('main')], limit: 5, path: 'a\0b' })).toEqual([]);
  });

  test('a slash at either end of a path is ignored', async () => {
    const query = { tips: [fixture.oid('main')], limit: 500 };
    const plain = await repository.log({ ...query, path: 'lib' });
    expect(await repository.log({ ...query, path: '/lib/' })).toEqual(plain);
  });

  test('stats of every commit, relative to its first parent', async () => {
    for (const commit of fixture.lines('rev-list', 'main') as Oid[]) {
      const [parent] = fixture.lines('rev-list', '--parents', '-1', commit)[0]!.split(' ').slice(1);
      const rows = parent
        ? fixture.lines('diff-tree', '-r', '--numstat', '-M', parent, commit)
        : fixture.lines('diff-tree', '-r', '--root', '--no-commit-id', '--numstat', '-M', commit);
      const sum = (column: number) =>
        rows.reduce((total, row) => total + (Number(row.split('\t')[column]) || 0), 0);
      const [additions, deletions] = [sum(0), sum(1)];
      expect(await repository.stats(commit)).toEqual({
        additions,
        deletions,
        total: additions + deletions,
        approximate: false,
      });
    }
  });

  test('files: entry, size, content', async () => {
    const main = fixture.oid('main');
    const page = await repository.listTree(main, { recursive: true, limit: 1000 });
    for (const entry of page!.entries) {
      expect(await repository.entryAt(main, entry.path)).toEqual(entry);
      const content = entry.type === 'blob' ? fixture.git('cat-file', 'blob', entry.id) : undefined;
      expect((await repository.blobHeader(entry.id))?.size).toBe(content?.length);
      const read = await repository.readBlob(entry.id);
      expect(read && Buffer.from(read).toString('latin1')).toBe(content);
    }
    expect(await repository.readBlob('0'.repeat(40) as Oid)).toBeUndefined();
    expect(await repository.entryAt(main, 'no/such')).toBeUndefined();
  });

  test('the last commit that touched each file', async () => {
    const main = fixture.oid('main');
    const page = await repository.listTree(main, { recursive: true, limit: 1000 });
    for (const { path } of page!.entries.filter((entry) => /^[ -~]*$/.test(entry.path))) {
      expect(await repository.lastCommitForPath(main, path)).toBe(
        fixture.git('rev-list', '-1', 'main', '--', path).trim(),
      );
    }
    expect(await repository.lastCommitForPath(main, 'never/was')).toBeUndefined();
  });

  test('changed paths between commits', async () => {
    const [from, to] = [fixture.oid('main~4'), fixture.oid('main')];
    const { changes } = await repository.changes(from, to);
    const git = fixture
      .git('diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to)
      .split('\0')
      .filter(Boolean);
    expect(changes.map((change) => change.path)).toEqual(git);
  });
});
