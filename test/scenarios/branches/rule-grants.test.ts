import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../harness/service.ts';

type User = Awaited<ReturnType<Service['user']>>;
let service: Service;
let owner: User;
let named: User;
let other: User;
let inGroup: User;
let stranger: User;
let project: number;
let group: number;
let elsewhere: number;

const call = (user: User, method: string, path: string, json?: unknown) =>
  service.call(method, path, { token: user.token, ...(json === undefined ? {} : { json }) });
const at = (kind: 'branches' | 'tags', name = '') =>
  `/projects/${project}/protected_${kind}${name && `/${encodeURIComponent(name)}`}`;
const protect = (json: object) => call(owner, 'POST', at('branches'), json);

beforeAll(async () => {
  service = await startService();
  [owner, named, other, inGroup, stranger] = (await Promise.all(
    ['owner', 'named', 'other', 'ingroup', 'stranger'].map((name) => service.user(name)),
  )) as [User, User, User, User, User];
  const json = { name: 'guarded', initialize_with_readme: true };
  project = (await call(owner, 'POST', '/projects', json)).body.id;
  for (const { id } of [named, other, inGroup])
    await call(owner, 'POST', `/projects/${project}/members`, { user_id: id, access_level: 30 });
  const newGroup = async (path: string) =>
    (await call(owner, 'POST', '/groups', { name: path, path })).body.id;
  [group, elsewhere] = [await newGroup('invited'), await newGroup('elsewhere')];
  await call(owner, 'POST', `/groups/${group}/members`, { user_id: inGroup.id, access_level: 10 });
  await call(owner, 'POST', `/projects/${project}/share`, { group_id: group, group_access: 30 });
});
afterAll(() => service.stop());

let files = 0;
const commit = async (user: User, branch: string) =>
  (
    await call(user, 'POST', `/projects/${project}/repository/files/f${++files}`, {
      branch,
      content: 'x',
      commit_message: 'x',
    })
  ).status;
const newBranch = (name: string) =>
  call(owner, 'POST', `/projects/${project}/repository/branches`, { branch: name, ref: 'main' });

/** Pushes a new commit on a branch. @returns what git says of a refusal; empty for success */
async function push(user: User, ref: string): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'lemnos-grants-'));
  const remote = new URL(`${service.url}/owner/guarded.git`);
  [remote.username, remote.password] = [user.username, user.token];
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: directory, GIT_TERMINAL_PROMPT: '0' },
    });
  await git('clone', '--quiet', remote.href, '.');
  await git(
    'checkout',
    '--quiet',
    '-B',
    'work',
    ref.startsWith('refs/heads/') ? `origin/${ref.slice(11)}` : 'HEAD',
  );
  await git('commit', '--quiet', '--allow-empty', '-m', 'more');
  return git('push', '--quiet', 'origin', `work:${ref}`).then(
    () => '',
    (error: { stderr: string }) => error.stderr,
  );
}

describe('a rule that names users and groups', () => {
  test('lets them push, by the API and by git, and nobody of their level', async () => {
    await newBranch('of-users');
    const lead = await service.user('lead');
    await call(owner, 'POST', `/projects/${project}/members`, { user_id: lead.id, access_level: 40 });
    const made = await protect({
      name: 'of-users',
      allowed_to_push: [{ user_id: named.id }, { group_id: group }],
      allow_force_push: true,
    });
    expect(made).toMatchObject({
      status: 201,
      body: {
        push_access_levels: [
          { access_level: null, user_id: named.id, group_id: null, access_level_description: 'named' },
          { access_level: null, user_id: null, group_id: group, access_level_description: 'invited' },
        ],
        merge_access_levels: [{ access_level: 40 }],
      },
    });
    expect((await call(owner, 'GET', at('branches', 'of-users'))).body).toEqual(made.body);
    for (const [user, status] of [
      [named, 201],
      [inGroup, 201],
      [other, 400],
      [lead, 400],
    ] as const)
      expect([user.username, await commit(user, 'of-users')]).toEqual([user.username, status]);
    expect(await push(named, 'refs/heads/of-users')).toBe('');
    expect(await push(inGroup, 'refs/heads/of-users')).toBe('');
    expect(await push(other, 'refs/heads/of-users')).toMatch(
      /not allowed to push code to protected branches/,
    );
    const branch = (user: User) => call(user, 'GET', `/projects/${project}/repository/branches/of-users`);
    expect((await branch(named)).body.can_push).toBe(true);
    expect((await branch(other)).body.can_push).toBe(false);
  });

  test('adds them to those who have the level', async () => {
    await newBranch('of-both');
    await protect({ name: 'of-both', push_access_level: 40, allowed_to_push: [{ user_id: named.id }] });
    expect(await commit(owner, 'of-both')).toBe(201);
    expect(await commit(named, 'of-both')).toBe(201);
    expect(await commit(other, 'of-both')).toBe(400);
  });

  test('does not give a member more than the project does', async () => {
    await newBranch('of-guests');
    const guest = await service.user('guest');
    await call(owner, 'POST', `/projects/${project}/members`, { user_id: guest.id, access_level: 10 });
    await protect({ name: 'of-guests', allowed_to_push: [{ user_id: guest.id }] });
    expect(await commit(guest, 'of-guests')).toBe(403);
  });

  test('loses users and groups that lose access or are removed', async () => {
    await newBranch('of-former');
    const leaver = await service.user('leaver');
    const team = (await call(owner, 'POST', '/groups', { name: 'team', path: 'team' })).body.id;
    await call(owner, 'POST', `/projects/${project}/members`, { user_id: leaver.id, access_level: 30 });
    await call(owner, 'POST', `/groups/${team}/members`, { user_id: other.id, access_level: 10 });
    await call(owner, 'POST', `/projects/${project}/share`, { group_id: team, group_access: 30 });
    const given = [{ user_id: leaver.id }, { group_id: team }];
    expect((await protect({ name: 'of-former', allowed_to_push: given })).status).toBe(201);
    expect(await commit(other, 'of-former')).toBe(201);
    await call(owner, 'DELETE', `/projects/${project}/share/${team}`);
    expect(await commit(other, 'of-former')).toBe(400);
    await service.call('DELETE', `/users/${leaver.id}`, { token: service.rootToken });
    const shown = async () => (await call(owner, 'GET', at('branches', 'of-former'))).body.push_access_levels;
    await expect.poll(async () => (await shown()).length).toBe(1);
    expect(await shown()).toMatchObject([{ group_id: team }]);
  });

  test.each<[string, () => object, number, unknown]>([
    [
      'no member',
      () => ({ user_id: stranger.id }),
      422,
      ['Push access levels user is not a member of the project'],
    ],
    ['nobody', () => ({ user_id: 999_999 }), 422, ['Push access levels user is not a member of the project']],
    [
      'a group without access',
      () => ({ group_id: elsewhere }),
      422,
      ['Push access levels group does not have access to the project'],
    ],
    [
      'a deploy key',
      () => ({ deploy_key_id: 1 }),
      422,
      ['Push access levels deploy key is not enabled for this project'],
    ],
    [
      'nothing',
      () => ({}),
      422,
      ['Push access levels must each have one of access_level, user_id and group_id'],
    ],
    ['an entry that is not there', () => ({ id: 9, user_id: named.id }), 404, '404 Not found'],
  ])('is refused for %s, and changes nothing', async (_, entry, status, message) => {
    const answer = await protect({ name: 'refused', allowed_to_push: [entry()] });
    expect([answer.status, answer.body]).toEqual([status, { message }]);
    expect((await call(owner, 'GET', at('branches', 'refused'))).status).toBe(404);
    const update = await call(owner, 'PATCH', at('branches', 'main'), { allowed_to_push: [entry()] });
    expect([update.status, update.body]).toEqual([status, { message }]);
  });

  test('names nobody twice', async () => {
    const twice = [{ user_id: named.id }, { user_id: named.id }];
    const answer = await protect({ name: 'twice', allowed_to_merge: twice });
    expect([answer.status, answer.body]).toEqual([
      422,
      { message: ['Merge access levels user has already been taken'] },
    ]);
  });
});

describe('PATCH of a protected branch', () => {
  test('adds, changes and removes single entries, and keeps the rest', async () => {
    await newBranch('patched');
    const { body: made } = await protect({ name: 'patched', allowed_to_push: [{ user_id: named.id }] });
    const patch = async (json: object) => (await call(owner, 'PATCH', at('branches', 'patched'), json)).body;
    const added = await patch({ allowed_to_push: [{ user_id: other.id }, { access_level: 40 }] });
    expect(added.push_access_levels).toMatchObject([
      made.push_access_levels[0],
      { user_id: other.id },
      { access_level: 40 },
    ]);
    expect(new Set(added.push_access_levels.map(({ id }: { id: number }) => id)).size).toBe(3);
    expect(await commit(other, 'patched')).toBe(201);
    const [first, second] = added.push_access_levels;
    const changed = await patch({
      allowed_to_push: [
        { id: first.id, _destroy: true },
        { id: second.id, user_id: inGroup.id },
      ],
      allow_force_push: true,
      code_owner_approval_required: true,
    });
    expect(changed).toMatchObject({
      id: made.id,
      push_access_levels: [{ id: second.id, user_id: inGroup.id }, { access_level: 40 }],
      merge_access_levels: made.merge_access_levels,
      allow_force_push: true,
      code_owner_approval_required: true,
    });
    expect(await commit(named, 'patched')).toBe(400);
    expect(await commit(inGroup, 'patched')).toBe(201);
    expect((await call(owner, 'GET', at('branches', 'patched'))).body).toEqual(changed);
    expect((await call(owner, 'PATCH', at('branches', 'absent'), {})).status).toBe(404);
  });
});

test('who may unprotect is obeyed by every way to change or delete a rule', async () => {
  const maintainer = await service.user('maintainer');
  await call(owner, 'POST', `/projects/${project}/members`, { user_id: maintainer.id, access_level: 40 });
  await newBranch('locked');
  const made = await protect({ name: 'locked', allowed_to_unprotect: [{ user_id: owner.id }] });
  expect(made.body.unprotect_access_levels).toMatchObject([{ user_id: owner.id }]);
  const branch = `/projects/${project}/repository/branches/locked`;
  for (const [method, path, json] of [
    ['DELETE', at('branches', 'locked'), undefined],
    ['PATCH', at('branches', 'locked'), { allow_force_push: true }],
    ['PUT', `${branch}/unprotect`, undefined],
    ['PUT', `${branch}/protect`, { developers_can_push: true }],
  ] as const)
    expect((await call(maintainer, method, path, json)).status, `${method} ${path}`).toBe(403);
  expect((await call(owner, 'GET', at('branches', 'locked'))).body).toEqual(made.body);
  expect((await call(owner, 'PATCH', at('branches', 'locked'), { allow_force_push: true })).status).toBe(200);
  expect((await protect({ name: 'forever', unprotect_access_level: 0 })).status).toBe(400);
  expect((await call(owner, 'DELETE', at('branches', 'locked'))).status).toBe(204);
  const admins = await protect({ name: 'admins', unprotect_access_level: 60 });
  expect(admins.status).toBe(201);
  expect((await call(owner, 'DELETE', at('branches', 'admins'))).status).toBe(403);
  const root = { token: service.rootToken };
  expect((await service.call('DELETE', at('branches', 'admins'), root)).status).toBe(204);
});

test('protected tags are created by the users and groups that their rule names, by the API and by git', async () => {
  const rule = { name: 'v*', allowed_to_create: [{ user_id: named.id }, { group_id: group }] };
  const made = await call(owner, 'POST', at('tags'), rule);
  expect(made).toMatchObject({
    status: 201,
    body: { create_access_levels: [{ user_id: named.id }, { group_id: group }] },
  });
  expect((await call(owner, 'GET', at('tags', 'v*'))).body).toEqual(made.body);
  const create = async (user: User, tag_name: string) =>
    (await call(user, 'POST', `/projects/${project}/repository/tags`, { tag_name, ref: 'main' })).status;
  expect(await create(named, 'v1')).toBe(201);
  expect(await create(inGroup, 'v2')).toBe(201);
  expect(await create(other, 'v3')).toBe(400);
  expect(await push(named, 'refs/tags/v4')).toBe('');
  expect(await push(other, 'refs/tags/v5')).toMatch(/not allowed to create this tag as it is protected/);
  const refused = await call(owner, 'POST', at('tags'), {
    name: 'w*',
    allowed_to_create: [{ user_id: stranger.id }],
  });
  expect([refused.status, refused.body]).toEqual([
    422,
    { message: ['Create access levels user is not a member of the project'] },
  ]);
});
