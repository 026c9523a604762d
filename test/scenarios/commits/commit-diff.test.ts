import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateHistory } from '../../git/history-fixture.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { codeReads, seedCode } from '../repository/code-audience.ts';
import { gitCommitDiff, type ShownDiff } from '../repository/git-diff.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, world } = ownWorld();
let pushed: Pushed;
let limits: Pushed;
beforeAll(async () => {
  await seedCode(world);
  const owner = { username: 'owner', token: world.tokens.owner! };
  pushed = await pushedProject(service, owner, 'history', (git) => {
    generateHistory(git, { seed: 71, commits: 90, skew: false });
  });
  limits = await pushedProject(service, owner, 'limits', (git) => {
    const file = (name: string, text: string) => `M 100644 inline ${name}\ndata ${text.length}\n${text}\n`;
    const commit = (mark: number, files: string, from?: number) =>
      `commit refs/heads/main\nmark :${mark}\ncommitter C <c@example.com> ${1.6e9 + mark} +0000\ndata 1\nm\n` +
      `${from === undefined ? '' : `from :${from}\n`}${files}\n`;
    const lines = (count: number, word: string) => `${word} ${'x'.repeat(80)}\n`.repeat(count);
    const many = Array.from({ length: 1100 }, (_, i) => file(`many/${String(i).padStart(4, '0')}`, `${i}\n`));
    const heavy = Array.from({ length: 40 }, (_, i) => file(`heavy/${i + 10}`, lines(2000, String(i))));
    git.feed(
      commit(1, file('big', lines(100, 'old')) + file('small', 'old\n')) +
        commit(2, file('big', lines(4000, 'new')) + file('small', 'new\n'), 1) +
        commit(3, many.join(''), 2) +
        commit(4, heavy.join(''), 3) +
        commit(5, file('blob', 'a\0b') + file('latin', 'caf\xe9\n') + file('utf8', 'caf\xc3\xa9\n'), 4) +
        commit(6, file('blob', 'a\0c') + file('latin', 'th\xe9\n') + file('utf8', 'th\xc3\xa9'), 5),
      'fast-import',
      '--quiet',
    );
    for (let n = 1; n <= 6; n++) git.git('tag', `c${n}`, `main~${6 - n}`);
  });
});
afterAll(() => {
  pushed.git[Symbol.dispose]();
  limits.git[Symbol.dispose]();
});

const diff = (of: Pushed, sha: string, query = '') =>
  service.call('GET', `${of.repository}/commits/${encodeURIComponent(sha)}/diff${query}`);

describe('permission to read a commit’s diff', () =>
  scenarios(() => world, codeReads('GET', '/repository/commits/main/diff')));

test('a commit’s diff equals git diff, file by file, for every commit of a history', async () => {
  const seen = { files: 0, renamed: 0, binary: 0, modes: 0, merges: 0 };
  for (const commit of pushed.git.lines('rev-list', '--all')) {
    const { status, body, headers } = await diff(pushed, commit, '?per_page=100');
    const expected = gitCommitDiff(pushed.git, commit);
    expect([commit, status, body]).toEqual([commit, 200, expected]);
    expect(headers.get('x-total')).toBe(`${expected.length}`);
    seen.files += expected.length;
    seen.renamed += expected.filter((file) => file.renamed_file).length;
    seen.binary += expected.filter((file) => file.diff.startsWith('Binary')).length;
    seen.modes += expected.filter(({ a_mode, b_mode, diff }) => a_mode !== b_mode && diff === '').length;
    seen.merges += pushed.git.lines('rev-list', '--no-walk', '--merges', commit).length;
  }
  // The history is worth comparing.
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(2);
  expect(seen.files).toBeGreaterThan(100);
});

test('a commit’s diff can be asked for by branch and tag, in pages', async () => {
  const [commit] = pushed.git.lines('rev-list', '--all', '--max-parents=1');
  for (const ref of ['main', 'light', 'annotated', 'nested', 'b7', commit!.slice(0, 12)]) {
    const { body } = await diff(pushed, ref);
    expect([ref, body]).toEqual([ref, gitCommitDiff(pushed.git, pushed.git.oid(`${ref}^{commit}`))]);
  }
  const all = (await diff(limits, 'c4', '?per_page=100')).body;
  expect(all).toHaveLength(40);
  const joined: ShownDiff[] = [];
  for (let page = 1; page <= 6; page++) {
    const { body, headers } = await diff(limits, 'c4', `?per_page=7&page=${page}`);
    joined.push(...body);
    expect([headers.get('x-total'), headers.get('x-next-page')]).toEqual([
      '40',
      page < 6 ? `${page + 1}` : '',
    ]);
  }
  expect(joined).toEqual(all);
  expect((await diff(limits, 'c4', '?page=9')).body).toEqual([]);
});

test('a diff beyond the limits of file size, file count or total lists names without text', async () => {
  const large = (await diff(limits, 'c2')).body;
  expect(large.map(({ new_path, diff }: ShownDiff) => [new_path, diff])).toEqual([
    ['big', ''],
    ['small', '@@ -1 +1 @@\n-old\n+new\n'],
  ]);
  const many = await diff(limits, 'c3', '?per_page=100&page=10');
  expect([many.body.length, many.headers.get('x-total'), many.headers.get('x-next-page')]).toEqual([
    100,
    '1000',
    '',
  ]);
  const heavy = (await diff(limits, 'c4', '?per_page=100')).body;
  const shown = heavy.filter((file: ShownDiff) => file.diff !== '');
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.length).toBeLessThan(40);
  // What is left out is what came last.
  expect(heavy.slice(0, shown.length)).toEqual(shown);
});

test('binary files and invalid UTF-8 appear in a diff as git shows them', async () => {
  expect((await diff(limits, 'c6')).body).toEqual(gitCommitDiff(limits.git, 'c6'));
  expect((await diff(limits, 'c6')).body.map((file: ShownDiff) => file.diff)).toEqual([
    'Binary files a/blob and b/blob differ\n',
    '@@ -1 +1 @@\n-café\n+thé\n',
    '@@ -1 +1 @@\n-café\n+thé\n\\ No newline at end of file\n',
  ]);
});

test('the diff of something that is not a commit is 404', async () => {
  const tree = pushed.git.oid('main^{tree}');
  for (const sha of ['nope', '0'.repeat(40), tree, 'main..light', '-x', ' ']) {
    const { status, body } = await diff(pushed, sha);
    expect([sha, status, body]).toEqual([sha, 404, { message: '404 Commit Not Found' }]);
  }
  expect((await diff(pushed, 'main', '?per_page=0')).status).toBe(400);
});
