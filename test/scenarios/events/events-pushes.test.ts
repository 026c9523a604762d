/** What pushes tell in the feed of their project, by Git and by the interface: counted and titled as git does. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { type Service, startService } from '../../harness/service.ts';

let service: Service;
let ada: { readonly id: number; readonly username: string; readonly token: string };
let projectId: number;
let clone: string;
const git = new GitCli();

beforeAll(async () => {
  service = await startService();
  ada = await service.user('ada');
  projectId = (await api('POST', '/projects', { name: 'told' })).id;
  clone = git.path('told');
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', clone);
  await git.ok(clone, 'remote', 'add', 'origin', withToken(service.url, 'ada/told', ada.token));
});
afterAll(async () => {
  git[Symbol.dispose]();
  await service.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function api(method: string, path: string, json?: unknown): Promise<any> {
  const { status, body } = await service.call(method, path, {
    token: ada.token,
    ...(json === undefined ? {} : { json }),
  });
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

interface Told {
  readonly id: number;
  readonly action_name: string;
  readonly push_data: object;
}

const feed = (id = projectId): Promise<Told[]> =>
  api('GET', `/projects/${id}/events?per_page=100&action=pushed`);

/** What an act has told since, by ref. */
async function toldBy(act: () => Promise<unknown>, id = projectId): Promise<(readonly [string, object])[]> {
  const before = new Set((await feed(id)).map((event) => event.id));
  await act();
  const told = (await feed(id)).filter((event) => !before.has(event.id));
  const lines = told.map((event) => [event.action_name, event.push_data] as const);
  return lines.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

const sorted = (lines: readonly (readonly [string, object])[]) =>
  lines.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

/** An event as it has to be, by what git says of the clone. */
async function expected(
  action: 'created' | 'pushed' | 'removed',
  ref: string,
  options: { from?: string; to?: string; without?: string; tag?: true },
): Promise<readonly [string, object]> {
  const { from, to, without = from, tag } = options;
  const range = [to ?? '', ...(without === undefined ? [] : [`^${without}`])];
  const commit =
    to === undefined ? '' : await git.ok(clone, 'rev-parse', '--quiet', `${to}^0`).catch(() => '');
  const count =
    action === 'removed' || commit === ''
      ? 0
      : tag
        ? 1
        : Number(await git.ok(clone, 'rev-list', '--count', ...range));
  const title = count === 0 ? '' : await git.ok(clone, 'log', '-1', '--format=%s', commit);
  const data = {
    commit_count: count,
    action,
    ref_type: tag ? 'tag' : 'branch',
    commit_from: action === 'created' ? null : await git.ok(clone, 'rev-parse', from!),
    commit_to: action === 'removed' ? null : await git.ok(clone, 'rev-parse', to!),
    ref,
    commit_title: count === 0 ? null : title.length > 70 ? `${title.slice(0, 67)}...` : title,
    ref_count: null,
  };
  return [{ created: 'pushed new', pushed: 'pushed to', removed: 'deleted' }[action], data];
}

const together = (action: 'created' | 'pushed' | 'removed', ref_type: 'branch' | 'tag', ref_count: number) =>
  [
    { created: 'pushed new', pushed: 'pushed to', removed: 'deleted' }[action],
    {
      commit_count: 0,
      action,
      ref_type,
      commit_from: null,
      commit_to: null,
      ref: null,
      commit_title: null,
      ref_count,
    },
  ] as const;

const commit = (...titles: string[]) =>
  titles.reduce(
    (before, title) => before.then(() => git.ok(clone, 'commit', '--quiet', '--allow-empty', '-m', title)),
    Promise.resolve(''),
  );
const push =
  (...args: string[]) =>
  () =>
    git.ok(clone, 'push', '--quiet', 'origin', ...args);
const on = (branch: string, from = 'main') => git.ok(clone, 'checkout', '--quiet', '-B', branch, from);

describe('events of Git pushes', () => {
  test('count all commits of the first default branch, and for other branches only those it lacks', async () => {
    await commit('one', 'two', 'three');
    await on('dev', 'main~1');
    await commit('four');
    await git.ok(clone, 'tag', 'v1', 'main');
    expect(await toldBy(push('main', 'dev', 'v1'))).toEqual(
      sorted([
        await expected('created', 'main', { to: 'main' }),
        await expected('created', 'dev', { to: 'dev', without: 'main' }),
        await expected('created', 'v1', { to: 'v1', tag: true }),
      ]),
    );
  });

  test('count for an update the commits new to the branch, with those a merge brings', async () => {
    await on('main', 'main');
    await git.ok(clone, 'tag', 'was');
    await commit('  five, with spaces around  ', 'six\n\nand a body');
    await git.ok(clone, 'merge', '--quiet', '--no-ff', '-m', 'Merge it', 'dev');
    expect(await toldBy(push('main'))).toEqual([
      await expected('pushed', 'main', { from: 'was', to: 'main' }),
    ]);
  });

  test('have as title the first non-blank line of the message, as git does', async () => {
    for (const [name, message] of [
      ['blank-first', '\n\n \t\nwhat was done  \n\nbody\n'],
      ['carriage-return', '\r\n\r\nwhat was done\r\n\r\nbody\r\n'],
      ['nothing', '\n \n'],
    ] as const) {
      await on(name);
      const options = ['--quiet', '--allow-empty', '--allow-empty-message', '--cleanup=verbatim'];
      await git.ok(clone, 'commit', ...options, '-m', message);
      expect(await toldBy(push(name))).toEqual([
        await expected('created', name, { to: name, without: 'main' }),
      ]);
    }
    await on('main', 'main');
  });

  test('count for a forced update only the new commits, and none for moving back', async () => {
    await on('forced', 'main');
    await commit('a', 'b');
    await push('forced')();
    await git.ok(clone, 'tag', 'before-force');
    await on('forced', 'forced~1');
    await commit('c', 'd', 'e');
    expect(await toldBy(push('--force', 'forced'))).toEqual([
      await expected('pushed', 'forced', { from: 'before-force', to: 'forced' }),
    ]);
    await git.ok(clone, 'tag', 'before-step');
    await on('forced', 'main');
    const told = await toldBy(push('--force', 'forced'));
    expect(told).toEqual([await expected('pushed', 'forced', { from: 'before-step', to: 'main' })]);
    expect(told[0]![1]).toMatchObject({ commit_count: 0, commit_title: null });
  });

  test('count no commits for a new branch that the default branch contains; titles end at 70 characters', async () => {
    expect(await toldBy(push('main:refs/heads/same'))).toEqual([
      await expected('created', 'same', { to: 'main', without: 'main' }),
    ]);
    await on('long/title', 'main');
    await commit(`${'x'.repeat(69)}é`, `${'é'.repeat(71)}`);
    expect(await toldBy(push('long/title'))).toEqual([
      await expected('created', 'long/title', { to: 'long/title', without: 'main' }),
    ]);
  });

  test('count a new branch against the default branch as moved by the same push', async () => {
    await on('main', 'main');
    await git.ok(clone, 'tag', 'old-main');
    await commit('on main');
    await on('beside', 'main');
    await commit('beside');
    expect(await toldBy(push('main', 'beside'))).toEqual(
      sorted([
        await expected('pushed', 'main', { from: 'old-main', to: 'main' }),
        await expected('created', 'beside', { to: 'beside', without: 'main' }),
      ]),
    );
  });

  test('count one commit for a tag, or none where it leads to none', async () => {
    await git.ok(clone, 'tag', '-a', '-m', 'about it', 'annotated', 'main');
    await git.ok(clone, 'tag', '-a', '-m', 'twice', 'of-a-tag', 'annotated');
    await git.ok(clone, 'tag', 'of-a-tree', 'main^{tree}');
    expect(await toldBy(push('annotated', 'of-a-tag', 'of-a-tree'))).toEqual(
      sorted([
        await expected('created', 'annotated', { to: 'annotated', tag: true }),
        await expected('created', 'of-a-tag', { to: 'of-a-tag', tag: true }),
        await expected('created', 'of-a-tree', { to: 'of-a-tree', tag: true }),
      ]),
    );
    await git.ok(clone, 'tag', 'was-annotated', 'annotated');
    await git.ok(clone, 'tag', '--force', 'annotated', 'main~1');
    expect(await toldBy(push('--force', 'annotated'))).toEqual([
      await expected('pushed', 'annotated', { from: 'was-annotated', to: 'annotated', tag: true }),
    ]);
    expect(await toldBy(push('--delete', 'annotated'))).toEqual([
      await expected('removed', 'annotated', { from: 'annotated', tag: true }),
    ]);
  });

  test('are one per ref for a push of every kind of change', async () => {
    await git.ok(clone, 'tag', 'dev-was', 'dev');
    await on('dev', 'dev');
    await commit('more');
    expect(await toldBy(push('dev', 'dev:refs/heads/another', ':same', ':of-a-tag'))).toEqual(
      sorted([
        await expected('pushed', 'dev', { from: 'dev-was', to: 'dev' }),
        await expected('created', 'another', { to: 'dev', without: 'main' }),
        await expected('removed', 'same', { from: 'old-main' }),
        await expected('removed', 'of-a-tag', { from: 'of-a-tag', tag: true }),
      ]),
    );
  });

  test('are grouped by action when a push has more refs than the limit', async () => {
    const many = (n: number, to = 'main') =>
      Array.from({ length: n }, (_, i) => `${to}:refs/heads/many/${i}`);
    const three = await toldBy(push(...many(3)));
    expect(three.map(([, data]) => (data as { ref: string }).ref)).toEqual(['many/0', 'many/1', 'many/2']);
    expect(await toldBy(push(...many(4, 'dev').map((ref) => `+${ref}`)))).toEqual(
      sorted([
        await expected('created', 'many/3', { to: 'dev', without: 'main' }),
        ...(await Promise.all(
          [0, 1, 2].map((i) => expected('pushed', `many/${i}`, { from: 'main', to: 'dev' })),
        )),
      ]),
    );
    expect(await toldBy(push(...many(4, 'main').map((ref) => `+${ref}`), 'main:refs/tags/t'))).toEqual(
      sorted([together('pushed', 'branch', 4), await expected('created', 't', { to: 'main', tag: true })]),
    );
    expect(await toldBy(push(...many(4, '')))).toEqual([together('removed', 'branch', 4)]);
    expect(await toldBy(push(...many(120)))).toEqual([together('created', 'branch', 120)]);
    expect(await toldBy(push('--prune', 'refs/heads/many/*'))).toEqual([together('removed', 'branch', 120)]);
  });

  test('obey the limit in the settings', async () => {
    const limit = (push_event_activities_limit: number) =>
      service.call('PUT', '/application/settings', {
        token: service.rootToken,
        json: { push_event_activities_limit },
      });
    expect((await limit(0)).status).toBe(200);
    expect(await toldBy(push('main:refs/heads/zero'))).toEqual([together('created', 'branch', 1)]);
    await limit(200);
    // No transaction holds as many as that.
    const refs = Array.from({ length: 60 }, (_, i) => `main:refs/heads/sixty/${i}`);
    expect(await toldBy(push(...refs))).toEqual([together('created', 'branch', 60)]);
    expect((await toldBy(push(...refs.slice(0, 20).map((ref) => ref.slice(4))))).length).toBe(20);
    await limit(3);
  });

  test('are not recorded for refused refs', async () => {
    await api('POST', `/projects/${projectId}/protected_branches`, { name: 'guarded', push_access_level: 0 });
    const refused =
      (...args: string[]) =>
      () =>
        git.fails(clone, 'push', '--quiet', 'origin', ...args);
    expect(await toldBy(refused('main:refs/heads/guarded'))).toEqual([]);
    expect(await toldBy(refused('--atomic', 'main:refs/heads/guarded', 'main:refs/heads/free'))).toEqual([]);
    expect(await toldBy(refused('main:refs/heads/guarded', 'main:refs/heads/free'))).toEqual([
      await expected('created', 'free', { to: 'main', without: 'main' }),
    ]);
    expect(await toldBy(push('main'))).toEqual([]);
  });
});

describe('events of pushes made through the API', () => {
  const fetched = () => git.ok(clone, 'fetch', '--quiet', '--tags', '--force', 'origin');
  const repository = () => `/projects/${projectId}/repository`;
  const at = (branch: string) => git.ok(clone, 'rev-parse', `refs/remotes/origin/${branch}`);
  const file = (name: string) => `${repository()}/files/${name}`;
  const change = (branch: string, more: object = {}) => ({
    branch,
    commit_message: 'By the interface',
    ...more,
  });

  const acts: readonly [string, string, () => Promise<unknown>][] = [
    [
      'a commit',
      'main',
      () =>
        api('POST', `${repository()}/commits`, {
          ...change('main'),
          actions: [{ action: 'create', file_path: 'a', content: 'a' }],
        }),
    ],
    ['a new file', 'main', () => api('POST', file('b'), change('main', { content: 'b' }))],
    ['a changed file', 'main', () => api('PUT', file('b'), change('main', { content: 'c' }))],
    ['a deleted file', 'main', () => api('DELETE', file('b'), change('main'))],
    [
      'a revert',
      'main',
      async () => api('POST', `${repository()}/commits/${await at('main')}/revert`, { branch: 'main' }),
    ],
    [
      'a changelog',
      'main',
      () => api('POST', `${repository()}/changelog`, { version: '1.0.0', from: 'v1', to: 'main' }),
    ],
  ];
  test.each(acts)('count one commit for %s', async (_, branch, act) => {
    await fetched();
    const from = await at(branch);
    const told = await toldBy(act);
    await fetched();
    expect(told).toEqual([await expected('pushed', branch, { from, to: await at(branch) })]);
    expect(told[0]![1]).toMatchObject({ commit_count: 1 });
  });

  test('are recorded for a cherry-pick onto another branch', async () => {
    await fetched();
    const from = await at('dev');
    const { id } = await api('POST', `${repository()}/commits`, {
      ...change('picked-from', { start_branch: 'main' }),
      actions: [{ action: 'create', file_path: 'picked', content: 'x' }],
    });
    const told = await toldBy(() =>
      api('POST', `${repository()}/commits/${id}/cherry_pick`, { branch: 'dev' }),
    );
    await fetched();
    expect(told).toEqual([await expected('pushed', 'dev', { from, to: await at('dev') })]);
  });

  test('are recorded for a commit that creates or replaces its branch', async () => {
    const commitOn = (more: object) => () =>
      api('POST', `${repository()}/commits`, {
        ...change('begun', more),
        actions: [{ action: 'create', file_path: `begun-${JSON.stringify(more).length}`, content: 'x' }],
      });
    const created = await toldBy(commitOn({ start_branch: 'dev' }));
    await fetched();
    const main = await at('main');
    expect(created).toEqual([await expected('created', 'begun', { to: await at('begun'), without: main })]);
    const from = await at('begun');
    const replaced = await toldBy(commitOn({ start_branch: 'main', force: true }));
    await fetched();
    expect(replaced).toEqual([await expected('pushed', 'begun', { from, to: await at('begun') })]);
  });

  test('are recorded for branches and tags created and deleted', async () => {
    await fetched();
    const main = await at('main');
    const dev = await at('dev');
    const branch = (name: string, ref: string) => () =>
      api('POST', `${repository()}/branches`, { branch: name, ref });
    expect(await toldBy(branch('at-main', 'main'))).toEqual([
      await expected('created', 'at-main', { to: main, without: main }),
    ]);
    expect(await toldBy(branch('at-dev', 'dev'))).toEqual([
      await expected('created', 'at-dev', { to: dev, without: main }),
    ]);
    expect(await toldBy(() => api('DELETE', `${repository()}/branches/at-dev`))).toEqual([
      await expected('removed', 'at-dev', { from: dev }),
    ]);
    const light = await toldBy(() => api('POST', `${repository()}/tags`, { tag_name: 'light', ref: 'main' }));
    expect(light).toEqual([await expected('created', 'light', { to: main, tag: true })]);
    const heavy = await toldBy(() =>
      api('POST', `${repository()}/tags`, { tag_name: 'heavy', ref: 'main', message: 'Told' }),
    );
    await fetched();
    expect(heavy).toEqual([await expected('created', 'heavy', { to: 'heavy', tag: true })]);
    expect(await toldBy(() => api('DELETE', `${repository()}/tags/heavy`))).toEqual([
      await expected('removed', 'heavy', { from: 'heavy', tag: true }),
    ]);
  });

  test('name the requester when a worker deletes merged branches', async () => {
    const { id } = await api('POST', '/projects', { name: 'merged', initialize_with_readme: true });
    const tip = (await api('GET', `/projects/${id}/repository/branches/main`)).commit.id;
    for (const branch of ['x', 'y'])
      await api('POST', `/projects/${id}/repository/branches`, { branch, ref: 'main' });
    await api('DELETE', `/projects/${id}/repository/merged_branches`);
    await expect.poll(async () => (await feed(id)).length).toBe(5);
    const removed = (await api('GET', `/projects/${id}/events?action=pushed&per_page=2`)) as (Told & {
      author_id: number;
    })[];
    expect(removed.map(({ author_id, push_data }) => [author_id, push_data])).toEqual(
      expect.arrayContaining(
        ['x', 'y'].map((ref) => [
          ada.id,
          {
            commit_count: 0,
            action: 'removed',
            ref_type: 'branch',
            commit_from: tip,
            commit_to: null,
            ref,
            commit_title: null,
            ref_count: null,
          },
        ]),
      ),
    );
  });

  test('are recorded once for each of several racing commits, in a chain', async () => {
    await fetched();
    const before = await at('main');
    const told = await toldBy(() =>
      Promise.all(
        [1, 2, 3, 4, 5, 6].map((n) =>
          api('POST', `${repository()}/commits`, {
            ...change('main'),
            actions: [{ action: 'create', file_path: `racing-${n}`, content: 'x' }],
          }),
        ),
      ),
    );
    await fetched();
    const commits = (await git.ok(clone, 'rev-list', '--reverse', `${before}..${await at('main')}`)).split(
      '\n',
    );
    const expectedPairs = commits.map((commit, i) => [commits[i - 1] ?? before, commit]);
    const pairs = told.map(([, data]) => {
      const { commit_from, commit_to, commit_count } = data as Record<string, unknown>;
      expect(commit_count).toBe(1);
      return [commit_from, commit_to];
    });
    expect(commits.length).toBe(6);
    expect(new Set(pairs.map(String))).toEqual(new Set(expectedPairs.map(String)));
    expect(pairs.length).toBe(6);
  });

  test('are recorded for the first commit of a project', async () => {
    const { id } = await api('POST', '/projects', { name: 'with-readme', initialize_with_readme: true });
    expect((await feed(id)).map(({ push_data }) => push_data)).toMatchObject([
      { action: 'created', ref: 'main', commit_count: 1, commit_title: 'Initial commit', commit_from: null },
    ]);
    const empty = await api('POST', '/projects', { name: 'without' });
    await api('POST', `/projects/${empty.id}/repository/branches`, { branch: 'begun', ref: 'main' });
    expect((await feed(empty.id)).map(({ push_data }) => push_data)).toMatchObject([
      { action: 'created', ref: 'begun', commit_count: 0 },
      { action: 'created', ref: 'main', commit_count: 1 },
    ]);
  });
});
