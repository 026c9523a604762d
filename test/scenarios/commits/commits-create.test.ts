import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { ask, type Who } from '../../harness/world.ts';
import { codeWrites, seedCode } from '../repository/code-audience.ts';

const git = new GitCli();
const { service, world } = ownWorld();
beforeAll(async () => {
  await seedCode(world);
});
afterAll(() => {
  git[Symbol.dispose]();
});

const repository = (project = 'public') => `/projects/${world.ids[project]}/repository`;
const commit = (json: Record<string, unknown>, project = 'public', who: Who = 'maintainer') =>
  ask(world, who, 'POST', `${repository(project)}/commits`, { branch: 'main', commit_message: 'm', ...json });
const create = (file_path: string, content = 'x') => ({ action: 'create', file_path, content });
const refs = async (project = 'public') => {
  const [branches, tags] = await Promise.all([
    ask(world, 'owner', 'GET', `${repository(project)}/branches?per_page=100`),
    ask(world, 'owner', 'GET', `${repository(project)}/tags`),
  ]);
  return [branches.body, tags.body];
};
async function project(name: string): Promise<void> {
  const made = await ask(world, 'owner', 'POST', '/projects', { name, visibility: 'public' });
  world.ids[name] = made.body.id;
  const member = { user_id: world.ids['maintainer'], access_level: 40 };
  const added = await ask(world, 'owner', 'POST', `/projects/${made.body.id}/members`, member);
  expect([made.status, made.body, added.status, added.body]).toMatchObject([201, made.body, 201, added.body]);
}

describe('permission to create commits', () => {
  scenarios(
    () => world,
    codeWrites(
      'POST',
      '/repository/commits',
      (_, who) => ({ branch: 'feature/x', commit_message: 'm', actions: [create(`of/${who}`)] }),
      {
        status: 201,
        forbidden: { message: '403 Forbidden - You are not allowed to push into this branch' },
      },
    ),
  );
});

describe('an invalid commit is refused with a reason and changes nothing', () => {
  const NO_BRANCH = { message: 'You can only create or edit files when you are on a branch' };
  const EXISTS = { message: 'A file with this name already exists' };
  const MISSING = { message: "A file with this name doesn't exist" };
  const README = { file_path: 'README.md' };
  const one = { actions: [create('new')] };
  const stale = '0'.repeat(40);
  const table: [json: Record<string, unknown>, body: unknown][] = [
    [{ ...one, branch: undefined }, { error: 'branch is missing, branch is empty' }],
    [{ ...one, branch: ' ' }, { error: 'branch is empty' }],
    [{ ...one, commit_message: undefined }, { error: 'commit_message is missing' }],
    [{ ...one, commit_message: '' }, { message: 'You must provide a commit message' }],
    [{}, { error: 'actions is missing' }],
    [{ actions: [] }, { message: '400 Bad request - actions is empty' }],
    [
      { actions: [create('.gitmodules', '[submodule "x"]\n\tpath = x\n\turl = -u./payload\n')] },
      { message: expect.stringMatching(/^The commit is invalid: /) },
    ],
    [{ actions: 'create' }, { error: 'actions is invalid' }],
    [{ actions: ['create'] }, { error: 'actions[0] is invalid' }],
    [
      { actions: [{ ...README, action: 'mend' }] },
      { error: 'actions[0][action] does not have a valid value' },
    ],
    [{ actions: [README] }, { error: 'actions[0][action] is missing' }],
    [{ actions: [{ action: 'delete' }] }, { error: 'actions[0][file_path] is missing' }],
    [
      { actions: [create('a'), { action: 'create', file_path: 'b' }] },
      { error: 'actions[1][content] is missing' },
    ],
    [{ actions: [{ ...README, action: 'update' }] }, { error: 'actions[0][content] is missing' }],
    [{ actions: [{ ...README, action: 'move' }] }, { error: 'actions[0][previous_path] is missing' }],
    [{ actions: [{ ...README, action: 'chmod' }] }, { error: 'actions[0][execute_filemode] is missing' }],
    [
      { actions: [{ ...create('a'), encoding: 'hex' }] },
      { error: 'actions[0][encoding] does not have a valid value' },
    ],
    [
      { actions: [{ ...create('a', 'a?b'), encoding: 'base64' }] },
      { message: 'actions[0][content] is not valid Base64' },
    ],
    [
      { actions: [{ ...create('a', 'abcde'), encoding: 'base64' }] },
      { message: 'actions[0][content] is not valid Base64' },
    ],
    [
      { ...one, start_branch: 'main', start_sha: stale },
      { error: 'start_branch, start_sha are mutually exclusive' },
    ],
    [{ ...one, stats: 'perhaps' }, { error: 'stats is invalid' }],
    [{ actions: [create('new'), create('README.md')] }, EXISTS],
    [{ actions: [create('twice'), create('twice')] }, EXISTS],
    [{ actions: [create('README.md/below')] }, EXISTS],
    [{ actions: [create('src')] }, { message: 'A directory with this name already exists' }],
    [{ actions: [{ action: 'update', file_path: 'nope', content: 'x' }] }, MISSING],
    [{ actions: [{ action: 'delete', file_path: 'nope' }] }, MISSING],
    [{ actions: [{ action: 'delete', file_path: 'src' }] }, MISSING],
    [
      {
        actions: [
          { action: 'delete', ...README },
          { action: 'delete', ...README },
        ],
      },
      MISSING,
    ],
    [{ actions: [{ action: 'chmod', file_path: 'nope', execute_filemode: true }] }, MISSING],
    [{ actions: [{ action: 'move', file_path: 'to', previous_path: 'nope' }] }, MISSING],
    [{ actions: [{ action: 'move', file_path: 'README.md', previous_path: 'src/deep/word.txt' }] }, EXISTS],
    [
      { actions: [{ action: 'update', ...README, content: '# public\n' }] },
      { message: 'The commit would change nothing' },
    ],
    [
      { actions: [create('a'), { action: 'delete', file_path: 'a' }] },
      { message: 'The commit would change nothing' },
    ],
    [{ actions: [create('a/../b')] }, { message: 'Path cannot include directory traversal' }],
    [{ actions: [create('')] }, { message: 'You must provide a file path' }],
    [{ actions: [create('.git/hooks/x')] }, { message: "invalid path: '.git/hooks/x'" }],
    [
      { actions: [{ action: 'update', ...README, content: 'x', last_commit_id: stale }] },
      { message: 'The file has changed since you started editing it: README.md' },
    ],
    [
      { actions: [{ action: 'delete', ...README, last_commit_id: stale }] },
      { message: 'The file has changed since you started editing it: README.md' },
    ],
    [
      { actions: [{ action: 'move', file_path: 'to', previous_path: 'README.md', last_commit_id: stale }] },
      { message: 'The file has changed since you started editing it: README.md' },
    ],
    [
      { ...one, branch: 'feature/x', start_branch: 'main' },
      {
        message: "A branch called 'feature/x' already exists. Switch to that branch in order to make changes",
      },
    ],
    [
      { ...one, branch: 'feature/x', start_sha: stale },
      {
        message: "A branch called 'feature/x' already exists. Switch to that branch in order to make changes",
      },
    ],
    [{ ...one, branch: 'fresh' }, NO_BRANCH],
    [{ ...one, branch: 'fresh', start_branch: 'nope' }, NO_BRANCH],
    [{ ...one, branch: 'fresh', start_sha: stale }, { message: `Cannot find start_sha '${stale}'` }],
    [{ ...one, branch: 'fresh', start_sha: 'abc' }, { message: "Invalid start_sha 'abc'" }],
    [{ ...one, branch: 'fresh', start_sha: 'main' }, { message: "Invalid start_sha 'main'" }],
    [{ ...one, author_email: 'a@b>\n' }, { message: 'author_email is invalid' }],
  ];
  test.each(table)('%j', async (json, body) => {
    const before = await refs();
    const answer = await commit(json);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 400, body });
    expect(await refs()).toEqual(before);
  });
});

test('a commit may start from another project only if it is a visible fork', async () => {
  const from = (start_project: unknown, who: Who = 'stranger') =>
    commit({ branch: 'n', start_branch: 'main', start_project, actions: [create('n')] }, 'strangers', who);
  const made = await ask(world, 'stranger', 'POST', '/projects', {
    name: 'strangers',
    visibility: 'private',
  });
  world.ids['strangers'] = made.body.id;
  await commit({ actions: [create('a')] }, 'strangers', 'stranger');
  for (const hidden of [
    world.ids['private'],
    'owner/private-thing',
    99_999,
    'no/body',
    '9'.repeat(30),
    'x',
    '../..',
  ]) {
    const answer = await from(hidden);
    expect([hidden, answer.status, answer.body]).toEqual([hidden, 404, { message: '404 Project Not Found' }]);
  }
  for (const seen of [world.ids['public'], 'owner/Internal-thing']) {
    const answer = await from(seen);
    expect([seen, answer.status, answer.body]).toEqual([
      seen,
      403,
      { message: '403 Forbidden - Project is not included in the fork network for stranger / strangers' },
    ]);
  }
  expect((await from('Stranger/strangers')).status).toBe(201);
});

test('one commit applies all five kinds of action and is returned', async () => {
  await project('actions');
  const first = await commit(
    {
      branch: 'trunk',
      actions: [
        create('keep'),
        create('go'),
        create('from/a', 'A\n'),
        create('from/b', 'B\n'),
        create('run'),
      ],
    },
    'actions',
  );
  expect(first.status).toBe(201);
  expectSchema('commit/detail', first.body);
  expect(first.body).toMatchObject({
    parent_ids: [],
    stats: { additions: 5, deletions: 0, total: 5 },
    status: null,
  });
  const second = await commit(
    {
      branch: 'trunk',
      commit_message: 'All at once\n\nSigned-off-by: D\n',
      author_name: 'Ada',
      author_email: 'ada@example.com',
      actions: [
        create('new/empty', ''),
        { ...create('new/bytes', Buffer.from([0, 255, 1]).toString('base64')), encoding: 'base64' },
        {
          action: 'update',
          file_path: 'keep',
          content: 'kept\n',
          last_commit_id: first.body.id.toUpperCase(),
        },
        { action: 'delete', file_path: 'go' },
        { action: 'move', file_path: 'to/a', previous_path: 'from/a' },
        { action: 'move', file_path: 'to/b', previous_path: 'from/b', content: 'other' },
        { action: 'chmod', file_path: 'run', execute_filemode: true },
        { action: 'update', file_path: 'to/a', content: 'after the move' },
      ],
    },
    'actions',
  );
  expect(second.status).toBe(201);
  expect(second.body).toMatchObject({
    parent_ids: [first.body.id],
    title: 'All at once',
    author_name: 'Ada',
    committer_name: 'maintainer',
  });
  const clone = await git.clone(withToken(service.url, 'owner/actions'), 'actions');
  expect(await git.lines(clone, 'ls-tree', '-r', '--format=%(objectmode) %(path)', 'trunk')).toEqual([
    '100644 keep',
    '100644 new/bytes',
    '100644 new/empty',
    '100755 run',
    '100644 to/a',
    '100644 to/b',
  ]);
  const shown = async (path: string) => (await git.run(['show', `trunk:${path}`], { cwd: clone })).stdout;
  expect(await shown('new/bytes')).toEqual(Buffer.from([0, 255, 1]));
  expect((await shown('to/a')).toString()).toBe('after the move');
  expect((await shown('to/b')).toString()).toBe('other');
});

test('a commit can be sent as a form with a list of hashes', async () => {
  const fields: [string, string][] = [
    ['branch', 'formed'],
    ['start_branch', 'main'],
    ['commit_message', 'form & co'],
    ['actions[][action]', 'create'],
    ['actions[][file_path]', 'form/a b.txt'],
    ['actions[][content]', 'one=1&two'],
    ['actions[][action]', 'move'],
    ['actions[][file_path]', 'form/word.txt'],
    ['actions[][previous_path]', 'src/deep/word.txt'],
    ['actions[][action]', 'chmod'],
    ['actions[][file_path]', 'README.md'],
    ['actions[][execute_filemode]', '1'],
  ];
  const form = new URLSearchParams(fields).toString();
  const token = world.tokens.maintainer!;
  const urlencoded = await service.call('POST', `${repository()}/commits`, { token, form });
  expect([urlencoded.status, urlencoded.body.title]).toEqual([201, 'form & co']);
  const data = new FormData();
  for (const [name, value] of fields) data.append(name, value === 'formed' ? 'multi' : value);
  const multipart = await service.call('POST', `${repository()}/commits`, { token, raw: data });
  expect(multipart.status).toBe(201);
  for (const ref of ['formed', 'multi']) {
    const tree = await ask(world, 'owner', 'GET', `${repository()}/tree?ref=${ref}&recursive=1`);
    const rows = tree.body.map((row: { mode: string; path: string }) => `${row.mode} ${row.path}`);
    expect(rows).toEqual(
      expect.arrayContaining(['100644 form/a b.txt', '100644 form/word.txt', '100755 README.md']),
    );
    expect(rows).not.toContain('100644 src/deep/word.txt');
  }
});

test('a commit can create its branch from a branch, from an id, and by force', async () => {
  await project('force');
  const base = (await commit({ actions: [create('a')] }, 'force')).body;
  const second = (await commit({ actions: [create('b')] }, 'force')).body;
  const from = await commit(
    { branch: 'x', start_branch: 'main', actions: [create('c')], stats: false },
    'force',
  );
  expect([from.status, from.body.parent_ids]).toEqual([201, [second.id]]);
  expect(from.body).not.toHaveProperty('stats');
  const old = await commit({ branch: 'y', start_sha: base.id, actions: [create('c')] }, 'force');
  expect([old.status, old.body.parent_ids]).toEqual([201, [base.id]]);
  // The branch itself as its start is the branch as it is.
  const same = await commit({ branch: 'y', start_branch: 'y', actions: [create('d')] }, 'force');
  expect([same.status, same.body.parent_ids]).toEqual([201, [old.body.id]]);
  const forced = await commit(
    { branch: 'y', start_sha: base.id, force: true, actions: [create('e')] },
    'force',
  );
  expect([forced.status, forced.body.parent_ids]).toEqual([201, [base.id]]);
  const over = await commit(
    { branch: 'y', start_branch: 'main', force: true, actions: [create('e')] },
    'force',
  );
  expect([over.status, over.body.parent_ids]).toEqual([201, [second.id]]);
  const plain = await commit({ branch: 'y', force: true, actions: [create('f')] }, 'force');
  expect([plain.status, plain.body.parent_ids]).toEqual([201, [over.body.id]]);
  // An orphan is no way to a second history.
  expect((await commit({ branch: 'z', force: true, actions: [create('f')] }, 'force')).status).toBe(400);
  const clone = await git.clone(withToken(service.url, 'owner/force'), 'force');
  expect(await git.ok(clone, 'rev-parse', 'origin/y', 'origin/x', 'origin/main')).toBe(
    [plain.body.id, from.body.id, second.id].join('\n'),
  );
});

test('after many commits git reads the same history as the API', async () => {
  await project('series');
  const path = repository('series');
  const file = (name: string) => `${path}/files/${encodeURIComponent(name)}`;
  const send = async (method: string, url: string, json: unknown, status: number) => {
    const answer = await ask(world, 'maintainer', method, url, json);
    expect([method, url, answer.status, answer.body]).toMatchObject([method, url, status, answer.body]);
  };
  const base = { branch: 'main', commit_message: 'm' };
  for (const name of ['a.txt', 'dir/b', 'dir/sub/c', 'dir.x', 'dir-', 'ü', 'z'])
    await send('POST', file(name), { ...base, content: `${name}\n`.repeat(3) }, 201);
  await send('PUT', file('a.txt'), { ...base, content: 'one\ntwo\nthree\n' }, 200);
  await send('DELETE', file('dir/b'), base, 204);
  await send('POST', `${path}/branches`, { branch: 'topic/1', ref: 'main' }, 201);
  await send(
    'PUT',
    file('z'),
    { ...base, branch: 'topic/1', content: Buffer.from([1, 0, 2]).toString('base64'), encoding: 'base64' },
    200,
  );
  await send(
    'POST',
    `${path}/commits`,
    { ...base, actions: [{ action: 'move', previous_path: 'dir', file_path: 'nope' }] },
    400,
  );
  await send(
    'POST',
    `${path}/commits`,
    {
      ...base,
      actions: [
        { action: 'move', previous_path: 'dir/sub/c', file_path: 'dir/b/c' },
        { action: 'chmod', file_path: 'ü', execute_filemode: true },
      ],
    },
    201,
  );
  await send('POST', `${path}/tags`, { tag_name: 't1', ref: 'main' }, 201);
  await send('POST', `${path}/tags`, { tag_name: 't2', ref: 'topic/1', message: 'two\nlines' }, 201);
  await send('POST', `${path}/branches`, { branch: 'gone', ref: 'main' }, 201);
  await send('DELETE', `${path}/branches/gone`, undefined, 204);

  const clone = await git.clone(withToken(service.url, 'owner/series'), 'series', '--mirror');
  const get = async (url: string) => (await ask(world, 'anonymous', 'GET', url)).body;
  const heads = await get(`${path}/branches`);
  expect(
    heads.map((b: { name: string; commit: { id: string } }) => `${b.commit.id} refs/heads/${b.name}`),
  ).toEqual(await git.lines(clone, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads'));
  const tags = await get(`${path}/tags?order_by=name&sort=asc`);
  expect(tags.map((t: { name: string; target: string }) => `${t.target} refs/tags/${t.name}`)).toEqual(
    await git.lines(clone, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/tags'),
  );
  expect(
    await git.ok(clone, 'tag', '-l', '--format=%(contents:subject)|%(contents:body)|%(taggername)', 't2'),
  ).toBe('two lines||maintainer');
  for (const ref of ['main', 'topic/1']) {
    const commits = await get(`${path}/commits?ref_name=${ref}&per_page=100&with_stats=true`);
    expect(commits.map((c: { id: string }) => c.id)).toEqual(
      await git.lines(clone, 'log', '--format=%H', ref),
    );
    for (const { id, stats } of commits) {
      const rows = (await git.lines(clone, 'show', '--numstat', '-M', '--format=', id)).map((row) =>
        row.split('\t'),
      );
      const sum = (column: number) => rows.reduce((total, row) => total + (Number(row[column]) || 0), 0);
      expect([id, stats.additions, stats.deletions]).toEqual([id, sum(0), sum(1)]);
    }
    const tree = await get(`${path}/tree?ref=${ref}&recursive=true&per_page=100`);
    expect(
      tree.map((e: Record<string, string>) => `${e['mode']} ${e['type']} ${e['id']}\t${e['path']}`),
    ).toEqual(await git.lines(clone, '-c', 'core.quotePath=false', 'ls-tree', '-r', '-t', ref));
  }
});

test('author names are stored without characters that would break the commit format', async () => {
  const made = await service.user('odd', { name: 'A <b@c> "x"\\' });
  const odd = await service.call('POST', '/projects', {
    token: made.token,
    json: { name: 'odd', visibility: 'public' },
  });
  const path = `/projects/${odd.body.id}/repository`;
  for (const author_name of [undefined, '...', ' , ', "O'Neil; DROP", 'Ünï 😀', '-'.repeat(3000)]) {
    const json = { branch: 'main', commit_message: 'm', content: `${author_name}`, author_name };
    const answer = await service.call(
      'POST',
      `${path}/files/${encodeURIComponent(`f${author_name}`.slice(0, 20))}`,
      { token: made.token, json },
    );
    expect([author_name, answer.status]).toEqual([author_name, 201]);
  }
  await service.call('POST', `${path}/tags`, {
    token: made.token,
    json: { tag_name: 't', ref: 'main', message: 'm' },
  });
  // `git fsck --strict` on every clone.
  const clone = await git.clone(withToken(service.url, 'odd/odd'), 'odd');
  const names = (await service.call('GET', `${path}/commits`, {})).body.map(
    (commit: { author_name: string }) => commit.author_name,
  );
  // Answers show 1,024 bytes of a name.
  const stored = await git.lines(clone, 'log', '--format=%an');
  expect(names).toEqual(stored.map((name) => name.slice(0, 1024)));
  expect(stored).toContain('-'.repeat(3000));
});

test('a caller who cannot read code cannot commit, and learns nothing of the code', async () => {
  await project('closed');
  expect((await commit({ actions: [create('inside')] }, 'closed')).body).toMatchObject({ title: 'm' });
  // No endpoint sets it yet.
  const record = (await world.store.projects.get(world.ids['closed']!))!;
  const settings = { ...record.settings, repository_access_level: 'private' };
  await world.store.projects.update(record, { settings });
  for (const path of [
    'tree',
    'commits',
    'branches',
    'tags',
    'files/inside?ref=main',
    'files/inside/raw',
    'commits/main',
    'branches/main',
  ]) {
    for (const [who, status] of [
      ['anonymous', 401],
      ['stranger', 403],
      ['maintainer', 200],
    ] as const) {
      const answer = await ask(world, who, 'GET', `${repository('closed')}/${path}`);
      expect([path, who, answer.status, answer.body]).toEqual([path, who, status, answer.body]);
      if (status !== 200) expect(JSON.stringify(answer.body)).not.toContain('inside');
    }
  }
  const door = (who: Who) =>
    git
      .run(['ls-remote', withToken(service.url, 'owner/closed', world.tokens[who])])
      .then((run) => [run.code === 0, run.stderr]);
  expect(await door('anonymous')).toEqual([false, expect.stringMatching(/could not read Username/)]);
  expect(await door('stranger')).toEqual([false, expect.stringMatching(/403/)]);
  expect(await door('maintainer')).toEqual([true, '']);
});
