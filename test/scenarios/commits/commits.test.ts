import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { ask, type Who } from '../../harness/world.ts';
import { codeReads, seedCode } from '../repository/code-audience.ts';

const git = new GitCli();
const { service, world } = ownWorld();
/** A clone of the story, where git tells what is true. */
let clone: string;
let story: string;
beforeAll(async () => {
  await seedCode(world);
  const made = await ask(world, 'owner', 'POST', '/projects', { name: 'story', visibility: 'public' });
  world.ids['story'] = made.body.id;
  story = `/projects/${made.body.id}/repository`;
  clone = git.path('story');
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', 'story');
  await tellStory();
  await git.ok(clone, 'push', '--quiet', withToken(service.url, 'owner/story', world.tokens.owner), '--all');
  await git.ok(clone, 'push', '--quiet', withToken(service.url, 'owner/story', world.tokens.owner), '--tags');
});
afterAll(() => {
  git[Symbol.dispose]();
});

/** Twelve commits a minute apart in zones of several offsets, with a merge, a rename and messages of many kinds. */
async function tellStory(): Promise<void> {
  const stream: string[] = [];
  const commit = (
    mark: number,
    branch: string,
    from: number[],
    message: string,
    changes: string[],
    zone = '+0000',
  ) => {
    const when = `${1_700_000_000 + mark * 60} ${zone}`;
    const length = Buffer.byteLength(message);
    stream.push(
      `commit refs/heads/${branch}\nmark :${mark}\nauthor Ada Ł <ada@example.com> ${1_600_000_000 + mark} +0530`,
      `committer Bob <bob@example.com> ${when}\ndata ${length}\n${message}`,
      ...from.map((parent, index) => `${index === 0 ? 'from' : 'merge'} :${parent}`),
      ...changes,
    );
  };
  const file = (path: string, text: string) =>
    `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}`;
  const TEN = '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n';
  commit(1, 'main', [], 'First\n', [file('a.txt', TEN), file('dir/b.txt', 'b\n')], '+0200');
  commit(2, 'main', [1], 'Second line\nof the title\n\nand a body\n', [file('a.txt', `${TEN}11\n`)], '-0930');
  commit(3, 'side', [1], 'On the side\n\nCo-authored-by: X <x@y>\nReviewed-by: Z\n', [
    file('side.txt', 'side\n'),
  ]);
  commit(4, 'main', [2], '\n\n  Padded  \n\nbody', ['D dir/b.txt', file('dir/c.txt', 'b\n')]);
  commit(5, 'side', [3], 'no newline', [file('side.txt', 'other\nlines\n')]);
  commit(6, 'main', [4, 5], "Merge branch 'side'\n", [file('side.txt', 'other\nlines\n')]);
  for (let mark = 7; mark <= 11; mark++) {
    commit(mark, 'main', [mark - 1], `Step ${mark}\n\nChangelog: added\nChangelog: fixed\nId: ${mark}\n`, [
      file('a.txt', `${mark}\n`),
    ]);
  }
  commit(12, 'ahead', [11], 'Ahead\n', [file('bin', '\0\x01'), file('utf', 'ü\n')]);
  stream.push('tag v1', 'from :6', 'tagger T <t@e> 1700001000 +0000', 'data 4\nout\n', '');
  const run = await git.run(['fast-import', '--quiet'], { cwd: clone, input: stream.join('\n') });
  if (run.code !== 0) throw new Error(run.stderr);
}

const get = (path: string, who: Who = 'anonymous') => ask(world, who, 'GET', path);
const ids = (commits: { id: string }[]) => commits.map((commit) => commit.id);
const log = (...args: string[]) => git.lines(clone, 'log', '--format=%H', ...args);

describe('permission to read commits', () => {
  scenarios(
    () => world,
    [
      ...codeReads('GET', '/repository/commits'),
      ...codeReads('GET', '/repository/commits?all=true&with_stats=true&path=README.md'),
      ...codeReads('GET', '/repository/commits/main'),
      ...codeReads('HEAD', '/repository/commits/v2'),
    ],
  );
});

describe('commit lists equal git log', () => {
  const table: [query: string, ...args: string[]][] = [
    ['', 'main'],
    ['?ref_name=', 'main'],
    ['?ref_name=&path=', 'main'],
    ['?ref_name=&path=dir&first_parent=true', '--first-parent', 'main', '--', 'dir'],
    ['?ref_name=main', 'main'],
    ['?ref_name=side', 'side'],
    ['?ref_name=v1', 'v1'],
    ['?ref_name=HEAD~3', 'main~3'],
    ['?ref_name=side..main', 'side..main'],
    ['?ref_name=side...ahead', 'side...ahead'],
    ['?ref_name=main..', 'main..main'],
    ['?ref_name=..ahead', 'main..ahead'],
    ['?all=true', '--all'],
    ['?all=1&ref_name=side', '--all'],
    ['?first_parent=true', '--first-parent', 'main'],
    ['?order=topo', '--topo-order', 'main'],
    ['?order=default&all=true', '--all'],
    ['?path=a.txt', 'main', '--', 'a.txt'],
    ['?path=dir', 'main', '--', 'dir'],
    ['?path=dir/', 'main', '--', 'dir/'],
    ['?path=dir/b.txt', 'main', '--', 'dir/b.txt'],
    ['?path=side.txt&first_parent=true', '--first-parent', 'main', '--', 'side.txt'],
    ['?path=nope', 'main', '--', 'nope'],
    ['?path=side.txt&ref_name=side..main', 'side..main', '--', 'side.txt'],
    ['?since=2023-11-14T22:18:20Z', '--since=2023-11-14T22:18:20Z', 'main'],
    ['?until=2023-11-14T22:18:20Z', '--until=2023-11-14T22:18:20Z', 'main'],
    [
      '?since=2023-11-14T22:15:20Z&until=2023-11-15T00:18:20%2B02:00',
      '--since=2023-11-14T22:15:20Z',
      '--until=2023-11-14T22:18:20Z',
      'main',
    ],
    ['?since=2030-01-01', '--since=2030-01-01T00:00:00Z', 'main'],
  ];
  test.each(table)('%s', async (query, ...args) => {
    const { status, body, headers } = await get(`${story}/commits${query}`);
    expect([status, ids(body)]).toEqual([200, await log(...args)]);
    expect(headers.get('x-total')).toBeNull();
    expectSchema('commits', body);
  });

  test('are empty for an absent ref and an empty repository', async () => {
    for (const ref of [
      'nope',
      'nope..main',
      'main..nope',
      'a b',
      '..',
      '...',
      '-x',
      '@{0}',
      '@{-1}',
      'main:a.txt',
      '^main',
    ]) {
      const answer = await get(`${story}/commits?ref_name=${encodeURIComponent(ref)}`);
      if (ref === '..' || ref === '...') expect(answer.body).toEqual([]);
      else expect([ref, answer.status, answer.body]).toEqual([ref, 200, []]);
    }
    const made = await ask(world, 'owner', 'POST', '/projects', { name: 'nothing', visibility: 'public' });
    for (const query of ['', '?all=true', '?path=a', '?with_stats=true', '?ref_name=main..x']) {
      const answer = await get(`/projects/${made.body.id}/repository/commits${query}`);
      expect([query, answer.status, answer.body]).toEqual([query, 200, []]);
    }
    expect((await get(`/projects/${made.body.id}/repository/commits/HEAD`)).body).toEqual({
      message: '404 Commit Not Found',
    });
  });

  test('have pages that join into the whole, and the last page says so', async () => {
    const all = await log('--all');
    const seen: string[] = [];
    let next: string | null = `${service.url}/api/v4${story}/commits?all=true&per_page=5`;
    for (let page = 0; next !== null && page < 9; page++) {
      const answer: Response = await fetch(next);
      seen.push(...ids((await answer.json()) as { id: string }[]));
      expect([answer.headers.get('x-total'), answer.headers.get('x-total-pages')]).toEqual([null, null]);
      const links = answer.headers.get('link') ?? '';
      expect(links).not.toContain('rel="last"');
      expect(links.includes('rel="next"')).toBe(answer.headers.get('x-next-page') !== '');
      next = /<([^>]+)>; rel="next"/.exec(links)?.[1] ?? null;
    }
    expect(seen).toEqual(all);
    expect((await get(`${story}/commits?page=99`)).body).toEqual([]);
  });

  test('have the line counts of git log --numstat', async () => {
    const { body } = await get(`${story}/commits?with_stats=true&all=true`);
    expectSchema('commits_with_stats', body);
    for (const commit of body) {
      const rows = (
        await git.lines(clone, 'show', '--numstat', '-M', '--format=', '-m', '--first-parent', commit.id)
      ).filter((row) => row !== '');
      const sum = (column: number) =>
        rows.reduce((total, row) => total + (Number(row.split('\t')[column]) || 0), 0);
      expect([commit.id, commit.stats]).toEqual([
        commit.id,
        { additions: sum(0), deletions: sum(1), total: sum(0) + sum(1) },
      ]);
    }
  });

  test('have trailers only on request, with the last value of a key', async () => {
    const plain = await get(`${story}/commits?all=true`);
    expect(
      plain.body.every((commit: { trailers: object }) => Object.keys(commit.trailers).length === 0),
    ).toBe(true);
    const { body } = await get(`${story}/commits?all=true&trailers=true`);
    for (const commit of body) {
      const lines = await git.lines(clone, 'log', '-1', '--format=%(trailers:only,unfold)', commit.id);
      const wanted = Object.fromEntries(
        lines.filter((line) => line !== '').map((line) => line.split(': ') as [string, string]),
      );
      expect([commit.id, commit.trailers]).toEqual([commit.id, wanted]);
    }
    expect(body.some((commit: { trailers: object }) => 'Changelog' in commit.trailers)).toBe(true);
  });
});

test('a single commit has the fields that git shows', async () => {
  for (const id of await log('--all')) {
    const format = ['%H', '%h', '%P', '%an', '%ae', '%aI', '%cn', '%ce', '%cI'].join('%x00');
    const [full, , parents, authorName, authorEmail, authored, name, email, committed] = (
      await git.ok(clone, '-c', 'core.abbrev=8', 'log', '-1', `--format=${format}`, id)
    ).split('\0');
    const raw = await git.run(['cat-file', 'commit', id], { cwd: clone });
    const message = raw.stdout.toString().split('\n\n').slice(1).join('\n\n');
    const { status, body } = await get(`${story}/commits/${id}`);
    expectSchema('commit/detail', body);
    // `+02:00` and milliseconds, where git prints seconds.
    const time = (iso: string) => iso.replace(/Z$/, '+00:00').replace(/(?=[+-]\d\d:\d\d$)/, '.000');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: full,
      short_id: id.slice(0, 8),
      parent_ids: parents === '' ? [] : parents!.split(' '),
      message,
      title: message.trimStart().split('\n')[0]!.trimEnd(),
      author_name: authorName,
      author_email: authorEmail,
      authored_date: time(authored!),
      committer_name: name,
      committer_email: email,
      committed_date: time(committed!),
      created_at: time(committed!),
      web_url: `${service.url}/owner/story/-/commit/${id}`,
      project_id: world.ids['story'],
      status: null,
      last_pipeline: null,
    });
  }
});

test('a commit is found by branch, tag, id and short id; statistics can be left out', async () => {
  const [id] = await log('-1', 'v1');
  for (const name of ['v1', id!, id!.slice(0, 8), 'refs/tags/v1', 'v1~0', id!.toUpperCase()]) {
    const { status, body } = await get(`${story}/commits/${encodeURIComponent(name)}`);
    expect([name, status, body.id]).toEqual([name, 200, id]);
  }
  expect((await get(`${story}/commits/main?stats=false`)).body).not.toHaveProperty('stats');
  for (const name of ['nope', '0'.repeat(40), 'abc', '', 'main:a.txt', '-', 'a..b', `${'0'.repeat(64)}`]) {
    const answer = await get(`${story}/commits/x${encodeURIComponent(name)}`);
    expect([name, answer.status, answer.body]).toEqual([name, 404, { message: '404 Commit Not Found' }]);
  }
  // A tree's id and a blob's are no commit's.
  for (const of of ['main^{tree}', 'main:a.txt']) {
    const answer = await get(`${story}/commits/${await git.ok(clone, 'rev-parse', of)}`);
    expect([of, answer.status, answer.body]).toEqual([of, 404, { message: '404 Commit Not Found' }]);
  }
});

test('invalid parameters of commit lists are refused', async () => {
  for (const [query, error] of [
    ['since=yesterday', 'since is invalid'],
    ['until=x', 'until is invalid'],
    ['order=best', 'order does not have a valid value'],
    ['all=maybe', 'all is invalid'],
    ['with_stats=2', 'with_stats is invalid'],
    ['first_parent=x', 'first_parent is invalid'],
    ['trailers=x', 'trailers is invalid'],
    ['per_page=0', 'per_page has a value not allowed'],
    ['path=%00', undefined],
    ['ref_name=%00', undefined],
  ] as const) {
    const answer = await get(`${story}/commits?${query}`);
    expect([query, answer.status]).toEqual([query, 400]);
    if (error !== undefined) expect(answer.body).toEqual({ error });
  }
});

test('refs outside branches and tags are found by their full names only', async () => {
  const id = await git.ok(clone, 'rev-parse', 'side');
  const run = await git.run(
    ['push', withToken(service.url, 'owner/story', world.tokens.owner), `${id}:refs/notes/hidden`],
    { cwd: clone },
  );
  const answer = await get(`${story}/commits/hidden`);
  expect([run.code, answer.status]).toEqual([run.code, 404]);
});
