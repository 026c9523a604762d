import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GitRepository } from '../../lib/git/repository.ts';
import { GitFixture } from './history-fixture.ts';

describe('revisions', () => {
  const fixture = new GitFixture();
  let repository: GitRepository;

  beforeAll(async () => {
    let parent: string[] = [];
    const tree = fixture.feed('', 'mktree').trim();
    for (let n = 0; n < 6; n++) {
      const commit = fixture.git('commit-tree', ...parent, '-m', `commit ${n}`, tree).trim();
      parent = n === 3 ? ['-p', commit, '-p', parent[1]!] : ['-p', commit];
      fixture.git('update-ref', 'refs/heads/main', commit);
      if (n === 4) fixture.git('update-ref', 'refs/heads/merge', commit);
    }
    fixture.git('tag', '-a', '-m', 'annotated', 'v1', 'main~1');
    fixture.git('tag', '-a', '-m', 'nested', 'v2', 'v1');
    fixture.git('tag', 'light', 'main~3');
    fixture.git('tag', 'treetag', tree);
    fixture.git('update-ref', 'refs/tags/both', 'main~1');
    fixture.git('update-ref', 'refs/heads/both', 'main~2');
    fixture.git('update-ref', 'refs/heads/beef', 'main~4');
    fixture.git('update-ref', 'refs/heads/with/slash', 'main~4');
    fixture.git('update-ref', 'refs/keep-around/x', 'main~5');
    const { repository: memory, store } = await fixture.load();
    repository = new GitRepository({ objects: memory.objects, refs: memory.refs, store });
  });
  afterAll(() => fixture[Symbol.dispose]());

  const expressions = [
    'main',
    'HEAD',
    '@',
    'refs/heads/main',
    'heads/main',
    'tags/light',
    'v1',
    'v2',
    'refs/tags/v2',
    'light',
    'both',
    'beef',
    'with/slash',
    'refs/keep-around/x',
    'keep-around/x',
    'main~',
    'main~2',
    'HEAD~2',
    'HEAD^',
    'main^0',
    'merge^2',
    'merge^2~1',
    'merge^1~1',
    'v2^{}',
    'v2^{commit}',
    'v1~1^0',
    'main~~',
    'main^^',
    'main~100',
    'merge^3',
    'nothing',
    'treetag',
    '',
    '~1',
    'main~x',
    'main^{tree}',
    'main:README',
    'main..v1',
    '@{-1}',
    'main@{1}',
    'with',
    '-h',
    '--all',
    'a\0b',
    '^main',
    'main^{commit}x',
    'refs/heads/',
  ];
  test.each(expressions)('%j resolves as in git', async (text) => {
    const git = () => {
      try {
        return fixture.git('rev-parse', '--verify', '--quiet', '--end-of-options', `${text}^{commit}`).trim();
      } catch {
        return undefined;
      }
    };
    // Expressions for several commits, or with unsupported syntax, are refused.
    const foreign =
      /[:@\0]./.test(text) ||
      text.includes('..') ||
      text === '' ||
      text.includes('{tree}') ||
      text.startsWith('^');
    expect((await repository.resolve(text))?.commit).toBe(foreign ? undefined : git());
  });

  test('ids, full and abbreviated', async () => {
    const commit = fixture.oid('main~2');
    for (const length of [7, 8, 12, 39, 40]) {
      expect((await repository.resolve(commit.slice(0, length)))?.commit).toBe(commit);
    }
    expect((await repository.resolve(commit.toUpperCase()))?.commit).toBe(commit);
    expect((await repository.resolve(`${commit}~1`))?.commit).toBe(fixture.oid('main~3'));
    expect(await repository.resolve(commit.slice(0, 3))).toBeUndefined();
    expect(await repository.resolve('0'.repeat(40))).toBeUndefined();
    expect(await repository.resolve(fixture.oid('main^{tree}'))).toBeUndefined();
    expect(await repository.resolve(fixture.oid('v2'))).toMatchObject({
      commit: fixture.oid('main~1'),
      tag: { name: 'v2' },
    });
  });

  test('the ref or tag that was named is returned', async () => {
    expect(await repository.resolve('main')).toEqual({
      commit: fixture.oid('main'),
      ref: { name: 'refs/heads/main', oid: fixture.oid('main') },
    });
    expect(await repository.resolve('v2')).toMatchObject({
      ref: { name: 'refs/tags/v2' },
      tag: { oid: fixture.oid('v2'), message: 'nested\n' },
    });
    expect((await repository.resolve('main~1'))?.ref).toBeUndefined();
  });

  test('tips of branches and tags', async () => {
    const branches = await repository.tips((await repository.branches()).refs);
    expect(branches.map((tip) => tip.commit.oid)).toEqual(
      fixture.lines('for-each-ref', '--format=%(objectname)', 'refs/heads'),
    );
    const tags = await repository.tips((await repository.tags()).refs);
    expect(tags.map((tip) => tip.ref.name)).toEqual([
      'refs/tags/both',
      'refs/tags/light',
      'refs/tags/v1',
      'refs/tags/v2',
    ]);
    expect(tags.at(-1)!.tag!.message).toBe('nested\n');
  });
});
