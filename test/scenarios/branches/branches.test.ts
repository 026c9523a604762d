import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { parseRefName } from '../../../lib/git/refname.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { codeReads, codeWrites, seedCode } from '../repository/code-audience.ts';

const { as, service, world } = ownWorld();
beforeAll(async () => {
  await seedCode(world);
});

const at = (project: string, name?: string) =>
  `/projects/${world.ids[project]}/repository/branches${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
async function project(name: string, files = true): Promise<void> {
  const made = await as('owner', 'POST', '/projects', { name, visibility: 'public' });
  world.ids[name] = made.body.id;
  if (files) await commit(name, 'main', 'first');
}
const commit = async (name: string, branch: string, path: string, start?: string) => {
  const answer = await as('owner', 'POST', `/projects/${world.ids[name]}/repository/files/${path}`, {
    branch,
    content: path,
    commit_message: path,
    ...(start === undefined ? {} : { start_branch: start }),
  });
  expect(answer.status).toBe(201);
};
const names = (body: { name: string }[]) => body.map((branch) => branch.name);

describe('permission on branches', () => {
  scenarios(
    () => world,
    [
      ...codeReads('GET', '/repository/branches'),
      ...codeReads('GET', '/repository/branches/feature%2Fx'),
      ...codeReads('HEAD', '/repository/branches/main', { status: 204 }),
      ...codeWrites('POST', '/repository/branches', (_, who) => ({ branch: `of-${who}`, ref: 'main' }), {
        status: 201,
      }),
      ...codeWrites('DELETE', (_, who) => `/repository/branches/of-${who}`, undefined, { status: 204 }),
      ...codeWrites('DELETE', '/repository/merged_branches', undefined, { status: 202 }),
    ],
  );
});

test('a branch looks the same alone and in the list', async () => {
  const { body: list, headers } = await as('reporter', 'GET', at('private'));
  expectSchema('branches', list);
  expect(names(list)).toContain('main');
  expect(headers.get('x-total')).toBe(`${list.length}`);
  for (const branch of list) {
    const { body } = await as('reporter', 'GET', at('private', branch.name));
    expectSchema('branch', body);
    expect(body).toEqual(branch);
    expect(branch).toMatchObject({ can_push: false, developers_can_push: false });
    expect(branch.web_url).toBe(`${service.url}/owner/private-thing/-/tree/${branch.name}`);
  }
  expect((await as('maintainer', 'GET', at('private', 'main'))).body).toMatchObject({
    default: true,
    merged: false,
    can_push: true,
  });
  await as('owner', 'POST', at('private'), { branch: 'open', ref: 'main' });
  expect((await as('developer', 'GET', at('private', 'open'))).body).toMatchObject({
    default: false,
    protected: false,
    can_push: true,
  });
  expect((await as('developer', 'GET', at('archived', 'main'))).body.can_push).toBe(false);
  expect((await as('anonymous', 'GET', at('public', 'main'))).body.can_push).toBe(false);
});

describe('branch lists', () => {
  beforeAll(async () => {
    await project('lists');
    for (const name of ['zeta', 'Alpha', 'feature/one', 'feature/two', 'one-feature', 'a$b'])
      expect((await as('owner', 'POST', at('lists'), { branch: name, ref: 'main' })).status).toBe(201);
  });

  test.each([
    ['', ['Alpha', 'a$b', 'feature/one', 'feature/two', 'main', 'one-feature', 'zeta']],
    ['?search=', ['Alpha', 'a$b', 'feature/one', 'feature/two', 'main', 'one-feature', 'zeta']],
    ['?search=feature', ['feature/one', 'feature/two', 'one-feature']],
    ['?search=FEATURE', ['feature/one', 'feature/two', 'one-feature']],
    ['?search=^feature', ['feature/one', 'feature/two']],
    ['?search=feature$', ['one-feature']],
    ['?search=^main$', ['main']],
    ['?search=^mai$', []],
    ['?search=$', ['a$b']],
    ['?search=a$b', ['a$b']],
    ['?search=^', ['Alpha', 'a$b', 'feature/one', 'feature/two', 'main', 'one-feature', 'zeta']],
    ['?search=^^', []],
    ['?search=.*', []],
    ['?search=(', []],
    ['?search=nothing', []],
    ['?sort=name_asc&per_page=2&page=2', ['feature/one', 'feature/two']],
    ['?per_page=100&page=2', []],
    ['?pagination=keyset&per_page=3', ['Alpha', 'a$b', 'feature/one']],
    ['?pagination=keyset&per_page=3&page_token=feature/one', ['feature/two', 'main', 'one-feature']],
    ['?pagination=keyset&per_page=2&page_token=gone-meanwhile', ['main', 'one-feature']],
    ['?pagination=keyset&page_token=zz', []],
  ])('%s', async (query, expected) => {
    const { status, body } = await as(
      'anonymous',
      'GET',
      `${at('lists')}${query.replace(/[$^]/g, encodeURIComponent)}`,
    );
    expect([status, names(body)]).toEqual([200, expected]);
  });

  test('have keyset pages that join into the whole list', async () => {
    const seen: string[] = [];
    for (
      let url: string | undefined = `${service.url}/api/v4${at('lists')}?pagination=keyset&per_page=3`;
      url !== undefined;
    ) {
      const answer: Response = await fetch(url);
      seen.push(...names((await answer.json()) as { name: string }[]));
      url = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual(names((await as('anonymous', 'GET', at('lists'))).body));
  });

  test('can be sorted by the time of the last commit', async () => {
    await project('times');
    await setTimeout(1100);
    await commit('times', 'newer', 'n', 'main');
    await setTimeout(1100);
    await commit('times', 'newest', 'n', 'main');
    expect(names((await as('anonymous', 'GET', `${at('times')}?sort=updated_desc`)).body)).toEqual([
      'newest',
      'newer',
      'main',
    ]);
    expect(names((await as('anonymous', 'GET', `${at('times')}?sort=updated_asc`)).body)).toEqual([
      'main',
      'newer',
      'newest',
    ]);
  });

  test('refuse invalid parameters', async () => {
    const answer = await as('anonymous', 'GET', `${at('lists')}?sort=best`);
    expect([answer.status, answer.body]).toEqual([400, { error: 'sort does not have a valid value' }]);
  });
});

test('an absent branch and an impossible name are 404', async () => {
  for (const [name, status, message] of [
    ['nope', 404, '404 Branch Not Found'],
    ['v1', 404, '404 Branch Not Found'],
    ['feature', 404, '404 Branch Not Found'],
    ['refs/heads/main', 400, 'The branch refname is invalid'],
    ['a..b', 400, 'The branch refname is invalid'],
    ['a b', 400, 'The branch refname is invalid'],
    ['-x', 400, 'The branch refname is invalid'],
    ['x.lock', 400, 'The branch refname is invalid'],
    ['HEAD', 400, 'The branch refname is invalid'],
    ['x'.repeat(2000), 400, 'The branch refname is invalid'],
  ] as const) {
    for (const method of ['GET', 'DELETE']) {
      const answer = await as('owner', method, at('public', name));
      expect([method, name, answer.status, answer.body]).toEqual([method, name, status, { message }]);
    }
    expect((await as('owner', 'HEAD', at('public', name))).status).toBe(404);
  }
  const raw = await service.call('GET', `${at('public')}/feature/x`);
  expect([raw.status, raw.body]).toEqual([404, { error: '404 Not Found' }]);
  expect((await as('owner', 'GET', at('public', 'v1.0.json'))).body).toEqual({
    message: '404 Branch Not Found',
  });
});

describe('creating a branch', () => {
  test('works from a branch, a tag and a commit id', async () => {
    await project('make');
    const main = (await as('owner', 'GET', at('make', 'main'))).body;
    await as('owner', 'POST', `/projects/${world.ids['make']}/repository/tags`, {
      tag_name: 't',
      ref: 'main',
      message: 'm',
    });
    for (const [index, ref] of [
      'main',
      't',
      main.commit.id,
      main.commit.short_id,
      'HEAD',
      'refs/heads/main',
    ].entries()) {
      const { status, body } = await as('owner', 'POST', at('make'), { branch: `from-${index}`, ref });
      expect([ref, status, body.commit.id]).toEqual([ref, 201, main.commit.id]);
    }
    const made = await as('owner', 'POST', at('make'), { branch: 'ü/😀', ref: 'main' });
    expectSchema('branch', made.body);
    expect(made.body).toMatchObject({ name: 'ü/😀', merged: true, default: false, can_push: true });
    expect((await as('owner', 'GET', at('make', 'ü/😀'))).body).toEqual(made.body);
  });

  beforeAll(async () => {
    await as('owner', 'POST', at('public'), { branch: 'nest/below', ref: 'v1' });
    await commit('public', 'nest/below', 'nested');
  });
  test.each<[json: { branch?: string; ref?: string }, body: { error?: string; message?: string }]>([
    [{ ref: 'main' }, { error: 'branch is missing, branch is empty' }],
    [{ branch: 'b' }, { error: 'ref is missing, ref is empty' }],
    [{ branch: '', ref: 'main' }, { error: 'branch is empty' }],
    [{ branch: 'main', ref: 'main' }, { message: 'Branch already exists' }],
    [{ branch: 'b', ref: 'nope' }, { message: 'Invalid reference name: nope' }],
    [{ branch: 'b', ref: '0'.repeat(40) }, { message: `Invalid reference name: ${'0'.repeat(40)}` }],
    [{ branch: 'main/below', ref: 'main' }, { message: 'Branch name is invalid' }],
    [{ branch: 'nest', ref: 'main' }, { message: 'Branch name is invalid' }],
    ...[
      'a b',
      'a..b',
      'a~1',
      '/a',
      'a/',
      'a//b',
      '.a',
      'a.lock',
      'a@{b',
      '@',
      'refs/heads/x',
      'refs/tags/x',
      'HEAD',
      '-a',
      'a\tb',
      'a\\b',
      `${'a/'.repeat(512)}a`,
      'x'.repeat(251),
    ].map((branch): [{ branch: string; ref: string }, { message: string }] => [
      { branch, ref: 'main' },
      { message: 'Branch name is invalid' },
    ]),
    ...['a'.repeat(40), 'A'.repeat(40), '0'.repeat(64), `${'1'.repeat(40)}/x`].map(
      (branch): [{ branch: string; ref: string }, { message: string }] => [
        { branch, ref: 'main' },
        { message: 'You cannot create a branch with a SHA-1 or SHA-256 branch name.' },
      ],
    ),
    [{ branch: 'a\0b', ref: 'main' }, { error: 'branch is invalid' }],
    [{ branch: '\ud800', ref: 'main' }, { error: 'branch is invalid' }],
  ])('refuses %j', async (json, body) => {
    const before = (await as('owner', 'GET', at('public'))).body;
    const answer = await as('owner', 'POST', at('public'), json);
    expect([answer.status, answer.body]).toEqual([400, body]);
    expect((await as('owner', 'GET', at('public'))).body).toEqual(before);
  });

  test.each([
    [
      '/repository/commits',
      { branch: 'f'.repeat(40), start_branch: 'main', commit_message: 'm', actions: [] },
    ],
    [
      '/repository/files/x',
      { branch: 'f'.repeat(40), start_branch: 'main', commit_message: 'm', content: '' },
    ],
  ])('through POST %s is refused where the name is that of a commit', async (path, json) => {
    const actions = [{ action: 'create', file_path: 'x', content: '' }];
    const body = 'actions' in json ? { ...json, actions } : json;
    const answer = await as('owner', 'POST', `/projects/${world.ids['public']}${path}`, body);
    const message = 'You cannot create a branch with a SHA-1 or SHA-256 branch name.';
    expect([answer.status, answer.body]).toEqual([400, { message }]);
  });

  test('is possible with names that only resemble ids of commits', async () => {
    for (const branch of ['f'.repeat(39), 'f'.repeat(41), 'f'.repeat(63), `x/${'f'.repeat(40)}`]) {
      expect((await as('owner', 'POST', at('public'), { branch, ref: 'main' })).status).toBe(201);
      expect((await as('owner', 'DELETE', at('public', branch))).status).toBe(204);
    }
  });

  test('in an empty repository makes the first commit, only where that creates the branch', async () => {
    await project('void', false);
    for (const json of [
      { branch: 'b', ref: 'nope' },
      { branch: 'main/b', ref: 'main' },
      { branch: 'a..b', ref: 'main' },
    ]) {
      expect((await as('owner', 'POST', at('void'), json)).status).toBe(400);
      expect((await as('owner', 'GET', at('void'))).body).toEqual([]);
    }
    expect((await as('owner', 'GET', `/projects/${world.ids['void']}`)).body).toMatchObject({
      empty_repo: true,
    });
    const made = await as('owner', 'POST', at('void'), { branch: 'topic', ref: 'main' });
    expect([made.status, made.body.name, made.body.commit.message]).toEqual([201, 'topic', 'Initial commit']);
    expect(names((await as('owner', 'GET', at('void'))).body)).toEqual(['main', 'topic']);
    expect((await as('owner', 'GET', `/projects/${world.ids['void']}`)).body).toMatchObject({
      empty_repo: false,
      default_branch: 'main',
    });
    await project('void2', false);
    const same = await as('owner', 'POST', at('void2'), { branch: 'main', ref: 'main' });
    expect([same.status, same.body.default]).toEqual([201, true]);
  });
});

test('a branch and a tag from when names could be longer than those of files are shown, committed to, merged and deleted', async () => {
  await project('longer');
  const name = 'x'.repeat(251);
  const projectPath = `/projects/${world.ids['longer']}`;
  const tip = (await as('owner', 'GET', at('longer', 'main'))).body.commit.id as Oid;
  const { repositoryId } = (await world.store.projects.get(world.ids['longer']!))!;
  const made = ['heads', 'tags'].map((space) => parseRefName(`refs/${space}/${name}`)!);
  await world.store.repositories
    .open(repositoryId)
    .compareAndSwap(made.map((ref) => ({ name: ref, from: ZERO_OID, to: tip })));
  expect((await as('owner', 'GET', at('longer', name))).body).toMatchObject({ name, commit: { id: tip } });
  await commit('longer', name, 'more');
  const request = await as('owner', 'POST', `${projectPath}/merge_requests`, {
    source_branch: name,
    target_branch: 'main',
    title: 'Longer',
    remove_source_branch: false,
  });
  expect(request.status).toBe(201);
  const merged = await as('owner', 'PUT', `${projectPath}/merge_requests/${request.body.iid}/merge`);
  expect([merged.status, merged.body.state]).toEqual([200, 'merged']);
  expect((await as('owner', 'DELETE', at('longer', name))).status).toBe(204);
  const tag = `${projectPath}/repository/tags/${name}`;
  expect((await as('owner', 'GET', tag)).body).toMatchObject({ name, target: tip });
  expect((await as('owner', 'DELETE', tag)).status).toBe(204);
  // Once they are gone, they cannot be made again.
  const again = await as('owner', 'POST', `${projectPath}/repository/files/other`, {
    branch: name,
    start_branch: 'main',
    content: '',
    commit_message: 'Again',
  });
  expect([again.status, again.body]).toEqual([
    400,
    { message: 'You can only create or edit files when you are on a branch' },
  ]);
});

describe('deleting a branch', () => {
  test('works for all but the default one, and respects If-Unmodified-Since', async () => {
    await project('end');
    await commit('end', 'topic', 't', 'main');
    const refused = await as('owner', 'DELETE', at('end', 'main'));
    expect([refused.status, refused.body]).toEqual([
      400,
      { message: 'The default branch of a project cannot be deleted.' },
    ]);
    const token = world.tokens.owner!;
    const until = (time: number) => ({ 'If-Unmodified-Since': new Date(time).toUTCString() });
    const late = await service.call('DELETE', at('end', 'topic'), {
      token,
      headers: until(Date.now() - 60_000),
    });
    expect([late.status, late.body]).toEqual([412, { message: '412 Precondition Failed' }]);
    expect(
      (await service.call('DELETE', at('end', 'topic'), { token, headers: until(Date.now() + 60_000) }))
        .status,
    ).toBe(204);
    const again = await as('owner', 'DELETE', at('end', 'topic'));
    expect([again.status, again.body]).toEqual([404, { message: '404 Branch Not Found' }]);
  });

  test('that is merged is done by the worker for all merged branches, and no others, nor any that is proposed', async () => {
    await project('merged');
    await as('owner', 'POST', at('merged'), { branch: 'old', ref: 'main' });
    await commit('merged', 'main', 'second');
    await as('owner', 'POST', at('merged'), { branch: 'same', ref: 'main' });
    await as('owner', 'POST', at('merged'), { branch: 'proposed', ref: 'main' });
    await commit('merged', 'ahead', 'third', 'main');
    const proposal = { source_branch: 'proposed', target_branch: 'ahead', title: 'Proposed' };
    const { status } = await as('owner', 'POST', `/projects/${world.ids['merged']}/merge_requests`, proposal);
    expect(status).toBe(201);
    const list = (await as('owner', 'GET', at('merged'))).body;
    expect(list.map((branch: { name: string; merged: boolean }) => [branch.name, branch.merged])).toEqual([
      ['ahead', false],
      ['main', false],
      ['old', true],
      ['proposed', true],
      ['same', true],
    ]);
    const answer = await as('owner', 'DELETE', `/projects/${world.ids['merged']}/repository/merged_branches`);
    expect([answer.status, answer.body]).toEqual([202, { message: '202 Accepted' }]);
    await expect
      .poll(async () => names((await as('owner', 'GET', at('merged'))).body))
      .toEqual(['ahead', 'main', 'proposed']);
  });
});
