import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Answer } from '../../harness/service.ts';
import type { Who, World } from '../../harness/world.ts';
import { SECRET, seedCode } from '../repository/code-audience.ts';

const { as, service, world } = ownWorld();
beforeAll(async () => {
  await seedCode(world);
});

const at = (project: string, name?: string) =>
  `/projects/${world.ids[project]}/protected_branches${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
const code = (project: string, path: string) => `/projects/${world.ids[project]}/repository/${path}`;
const branchAt = (project: string, name: string) => code(project, `branches/${encodeURIComponent(name)}`);
const told = ({ status, body }: Answer) => [status, body];
const people = { guest: 10, reporter: 20, developer: 30, maintainer: 40 } as const;

/** A public project of the owner with everybody in it; its default branch is `main`. */
async function project(name: string, files = true): Promise<void> {
  const made = await as('owner', 'POST', '/projects', { name, visibility: 'public' });
  world.ids[name] = made.body.id;
  for (const [who, access_level] of Object.entries(people))
    await as('owner', 'POST', `/projects/${made.body.id}/members`, { user_id: world.ids[who], access_level });
  if (files) expect((await write('owner', name, 'main', 'first')).status).toBe(201);
}
const write = (who: Who, name: string, branch: string, path: string, start?: string) =>
  as(who, 'POST', code(name, `files/${path}`), {
    branch,
    content: path,
    commit_message: path,
    ...(start === undefined ? {} : { start_branch: start }),
  });
const protect = async (name: string, rule: Record<string, unknown>) => {
  const made = await as('maintainer', 'POST', at(name), rule);
  expect(told(made)).toMatchObject([201, { name: rule['name'] }]);
  return made.body;
};

const level = (access_level: number, access_level_description: string) => ({
  id: expect.any(Number),
  access_level,
  access_level_description,
  user_id: null,
  group_id: null,
});
const MAINTAINERS = level(40, 'Maintainers');
const DEVELOPERS = level(30, 'Developers + Maintainers');
const NOBODY = level(0, 'No one');
const DEFAULT = {
  name: 'main',
  push_access_levels: [MAINTAINERS],
  merge_access_levels: [MAINTAINERS],
  unprotect_access_levels: [MAINTAINERS],
  allow_force_push: false,
  code_owner_approval_required: false,
};

describe('permission on protected branches', () => {
  const bad = { blocked: 403, expired: 401, revoked: 401, unknown: 401 } as const;
  const audience = (read: number, developers: number) =>
    [
      ['public', { anonymous: 401, stranger: 403, external: 403, former: 403, guest: 403 }],
      ['internal', { anonymous: 401, stranger: 403, external: 404, former: 403, guest: 403 }],
      ['private', { anonymous: 401, stranger: 404, external: 404, former: 404, guest: 403 }],
    ].map(
      ([name, others]) =>
        [
          name as string,
          {
            ...(others as object),
            reporter: 403,
            developer: developers,
            maintainer: read,
            owner: read,
            administrator: read,
            ...bad,
            read_user: 403,
            read_repository: 403,
            write_repository: 403,
          },
        ] as const,
    );
  const hides = (name: string) => (name === 'private' ? [SECRET] : []);
  scenarios(
    () => world,
    [
      ...audience(200, 200).flatMap(([name, who]) => [
        {
          request: `GET /projects/{${name}}/protected_branches`,
          as: { ...who, read_api: 200 },
          hides: hides(name),
        },
        {
          request: `GET /projects/{${name}}/protected_branches/main`,
          as: { ...who, read_api: 200 },
          hides: hides(name),
        },
      ]),
      ...audience(201, 403).map(([name, who]) => ({
        request: `POST /projects/{${name}}/protected_branches`,
        json: (_: World, person: Who) => ({ name: `by-${person}-*` }),
        as: { ...who, read_api: 403 },
        hides: hides(name),
      })),
      ...audience(204, 403).map(([name, who]) => ({
        request: (_: World, person: Who) => `DELETE /projects/{${name}}/protected_branches/by-${person}-*`,
        as: { ...who, read_api: 403 },
        hides: hides(name),
      })),
      ...(['protect', 'unprotect'] as const).flatMap((verb) =>
        audience(200, 403).map(([name, who]) => ({
          request: `PUT /projects/{${name}}/repository/branches/feature%2Fx/${verb}`,
          as: { ...who, read_api: 403 },
          hides: hides(name),
        })),
      ),
    ],
  );
});

describe('branch protection rules', () => {
  beforeAll(() => project('rules'));

  test('cover the default branch from its first commit on', async () => {
    const { status, body } = await as('developer', 'GET', at('rules'));
    expect([status, body]).toEqual([200, [{ id: expect.any(Number), ...DEFAULT }]]);
    expect(told(await as('developer', 'GET', at('rules', 'main')))).toEqual([200, body[0]]);
  });

  test.each([
    [{ name: 'plain' }, {}],
    [{ name: 'release/*', push_access_level: 30 }, { push_access_levels: [DEVELOPERS] }],
    [{ name: '*-stable', merge_access_level: '30' }, { merge_access_levels: [DEVELOPERS] }],
    [
      { name: 'none', push_access_level: 0, merge_access_level: 0 },
      { push_access_levels: [NOBODY], merge_access_levels: [NOBODY] },
    ],
    [{ name: 'forced', allow_force_push: true }, { allow_force_push: true }],
    [{ name: 'admins', push_access_level: 60 }, { push_access_levels: [level(60, 'Instance admins')] }],
    [{ name: 'my.feature' }, {}],
    [{ name: 'ü/😀 of nothing' }, {}],
    [{ name: 'x'.repeat(1024) }, {}],
    [{ name: 'Plain' }, {}],
  ])('can be created from %j', async (json, expected) => {
    const made = await as('maintainer', 'POST', at('rules'), json);
    const rule = { ...DEFAULT, id: expect.any(Number), name: json.name, ...expected };
    expect(told(made)).toEqual([201, rule]);
    expect(told(await as('maintainer', 'GET', at('rules', json.name)))).toEqual([200, made.body]);
    const twice = await as('maintainer', 'POST', at('rules'), json);
    expect(told(twice)).toEqual([409, { message: `Protected branch '${json.name}' already exists` }]);
  });

  test.each([
    [{}, 400, { error: 'name is missing' }],
    [{ name: '' }, 422, { message: ["Name can't be blank"] }],
    [{ name: ' ' }, 422, { message: ["Name can't be blank"] }],
    [{ name: 'x'.repeat(1025) }, 422, { message: ['Name is too long (maximum is 1024 characters)'] }],
    [{ name: 'a\0' }, 400, { error: 'name is invalid' }],
    [{ name: 'a', push_access_level: 20 }, 400, { error: 'push_access_level does not have a valid value' }],
    [{ name: 'a', push_access_level: 50 }, 400, { error: 'push_access_level does not have a valid value' }],
    [{ name: 'a', merge_access_level: -1 }, 400, { error: 'merge_access_level does not have a valid value' }],
    [{ name: 'a', merge_access_level: 'all' }, 400, { error: 'merge_access_level is invalid' }],
    [{ name: 'a', allow_force_push: 'perhaps' }, 400, { error: 'allow_force_push is invalid' }],
  ])('are refused for %j', async (json, status, body) => {
    const before = (await as('owner', 'GET', `${at('rules')}?per_page=100`)).body;
    expect(told(await as('maintainer', 'POST', at('rules'), json))).toEqual([status, body]);
    expect((await as('owner', 'GET', `${at('rules')}?per_page=100`)).body).toEqual(before);
  });

  test('are listed in pages by name, and can be searched', async () => {
    await project('pages');
    for (const name of ['b/*', 'a', 'Release/1', 'release/*']) await protect('pages', { name });
    const names = async (query: string) => {
      const { body, headers } = await as('developer', 'GET', `${at('pages')}${query}`);
      return [
        body.map(({ name }: { name: string }) => name),
        headers.get('x-total'),
        headers.get('x-next-page'),
      ];
    };
    expect(await names('')).toEqual([['Release/1', 'a', 'b/*', 'main', 'release/*'], '5', '']);
    expect(await names('?per_page=2&page=2')).toEqual([['b/*', 'main'], '5', '3']);
    expect(await names('?page=9')).toEqual([[], '5', '']);
    expect(await names('?search=release')).toEqual([['Release/1', 'release/*'], '2', '']);
    expect(await names('?search=%2A')).toEqual([['b/*', 'release/*'], '2', '']);
    expect(await names('?search=')).toEqual([['Release/1', 'a', 'b/*', 'main', 'release/*'], '5', '']);
    expect(await names('?search=nothing')).toEqual([[], '0', '']);
  });

  test('answer 404 when absent, and 412 when changed since', async () => {
    for (const method of ['GET', 'DELETE'])
      expect(told(await as('maintainer', method, at('rules', 'unknown')))).toEqual([
        404,
        { message: '404 Not found' },
      ]);
    await protect('rules', { name: 'dated' });
    const token = world.tokens.maintainer!;
    const until = (time: number) => ({ 'If-Unmodified-Since': new Date(time).toUTCString() });
    const late = await service.call('DELETE', at('rules', 'dated'), {
      token,
      headers: until(Date.now() - 60_000),
    });
    expect(told(late)).toEqual([412, { message: '412 Precondition Failed' }]);
    const gone = await service.call('DELETE', at('rules', 'dated'), {
      token,
      headers: until(Date.now() + 60_000),
    });
    expect(told(gone)).toEqual([204, null]);
    expect((await as('maintainer', 'GET', at('rules', 'dated'))).status).toBe(404);
    // A wildcard is a rule's name, not a choice of rules.
    expect((await as('maintainer', 'DELETE', at('rules', '*'))).status).toBe(404);
  });

  test('are created once by many simultaneous requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => as('maintainer', 'POST', at('rules'), { name: 'race' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
  });
});

describe('branches show their protection', () => {
  test.each([
    [[], { protected: false, developers_can_push: false, developers_can_merge: false }, true, true],
    [[{}], { protected: true, developers_can_push: false, developers_can_merge: false }, false, true],
    [
      [{ push_access_level: 30 }],
      { protected: true, developers_can_push: true, developers_can_merge: false },
      true,
      true,
    ],
    [
      [{ merge_access_level: 30 }],
      { protected: true, developers_can_push: false, developers_can_merge: true },
      false,
      true,
    ],
    [
      [{ push_access_level: 0 }],
      { protected: true, developers_can_push: false, developers_can_merge: false },
      false,
      false,
    ],
    // The most generous of those that match.
    [
      [{ push_access_level: 0 }, { name: 'of-*', push_access_level: 30 }],
      { protected: true, developers_can_push: true },
      true,
      true,
    ],
    [[{ name: 'of' }, { name: 'OF-*' }], { protected: false }, true, true],
  ])('under the rules %j', async (rules, expected, developer, maintainer) => {
    const name = `told-${Math.random().toString(36).slice(2)}`;
    await project(name);
    await write('owner', name, 'of-it', 'x', 'main');
    for (const rule of rules) await protect(name, { name: 'of-it', ...rule });
    const seen = async (who: Who) => (await as(who, 'GET', branchAt(name, 'of-it'))).body;
    const branch = await seen('developer');
    expectSchema('branch', branch);
    expect(branch).toMatchObject({ ...expected, can_push: developer });
    expect(await seen('maintainer')).toMatchObject({ ...expected, can_push: maintainer });
    expect(await seen('administrator')).toMatchObject({ ...expected, can_push: maintainer });
    for (const who of ['reporter', 'anonymous'] as const)
      expect(await seen(who)).toMatchObject({ ...expected, can_push: false });
    const list = (await as('developer', 'GET', code(name, 'branches'))).body;
    expectSchema('branches', list);
    expect(list).toContainEqual(branch);
    expect(list).toContainEqual(expect.objectContaining({ name: 'main', protected: true, can_push: false }));
  });
});

describe('writes through the API to protected branches', () => {
  const INTO = 'You are not allowed to push into this branch';
  beforeAll(async () => {
    await project('writes');
    for (const name of ['p40', 'p30', 'p0', 'p60', 'm30']) await write('owner', 'writes', name, 'x', 'main');
    await protect('writes', { name: 'p40' });
    await protect('writes', { name: 'p30', push_access_level: 30 });
    await protect('writes', { name: 'p0', push_access_level: 0 });
    await protect('writes', { name: 'p60', push_access_level: 60 });
    await protect('writes', { name: 'm30', merge_access_level: 30 });
  });

  const table: readonly [string, Partial<Record<Who, boolean>>][] = [
    ['main', { developer: false, maintainer: true, owner: true, administrator: true }],
    ['p40', { developer: false, maintainer: true, owner: true, administrator: true }],
    ['p30', { developer: true, maintainer: true, administrator: true }],
    ['p0', { developer: false, maintainer: false, owner: false, administrator: false }],
    ['p60', { developer: false, maintainer: false, owner: false, administrator: true }],
    ['m30', { developer: false, maintainer: true }],
  ];
  const cases = table.flatMap(([branch, who]) =>
    Object.entries(who).map(([person, allowed]) => [branch, person as Who, allowed] as const),
  );
  test.each(cases)('%s by %s is allowed: %s', async (branch, who, allowed) => {
    const tip = async () => (await as('owner', 'GET', branchAt('writes', branch))).body.commit.id;
    const before = await tip();
    const action = { action: 'create', file_path: `commit-${who}`, content: '' };
    const commit = await as(who, 'POST', code('writes', 'commits'), {
      branch,
      commit_message: 'm',
      actions: [action],
    });
    const file = await write(who, 'writes', branch, `file-${who}`);
    if (allowed) {
      expect([commit.status, file.status]).toEqual([201, 201]);
      return;
    }
    expect(told(commit)).toEqual([403, { message: `403 Forbidden - ${INTO}` }]);
    expect(told(file)).toEqual([400, { message: INTO }]);
    const json = { branch, commit_message: 'm', content: 'y' };
    expect(told(await as(who, 'PUT', code('writes', 'files/first'), json))).toEqual([400, { message: INTO }]);
    expect(told(await as(who, 'DELETE', code('writes', 'files/first'), json))).toEqual([
      400,
      { message: INTO },
    ]);
    expect(await tip()).toBe(before);
  });

  test('check the right to push before other errors, and roles before rules', async () => {
    const empty = {
      branch: 'p40',
      commit_message: ' ',
      actions: [{ action: 'create', file_path: '..', content: '' }],
    };
    expect((await as('developer', 'POST', code('writes', 'commits'), empty)).status).toBe(403);
    expect(told(await as('maintainer', 'POST', code('writes', 'commits'), empty))).toEqual([
      400,
      { message: 'You must provide a commit message' },
    ]);
    expect(told(await write('reporter', 'writes', 'p30', 'x'))).toEqual([403, { message: '403 Forbidden' }]);
  });

  test('obey a rule from the moment it is created until it is deleted', async () => {
    await write('owner', 'writes', 'later', 'x', 'main');
    expect((await write('developer', 'writes', 'later', 'one')).status).toBe(201);
    await protect('writes', { name: 'lat*' });
    expect((await write('developer', 'writes', 'later', 'two')).status).toBe(400);
    expect((await as('owner', 'DELETE', at('writes', 'lat*'))).status).toBe(204);
    expect((await write('developer', 'writes', 'later', 'two')).status).toBe(201);
  });

  test('cannot drop commits by force unless the rule allows it', async () => {
    await project('forced');
    const first = (await as('owner', 'GET', branchAt('forced', 'main'))).body.commit.id;
    await write('owner', 'forced', 'guarded', 'x', 'main');
    await write('owner', 'forced', 'open', 'x', 'main');
    await protect('forced', { name: 'guarded' });
    await protect('forced', { name: 'open', allow_force_push: true });
    const force = (branch: string, start: object, who: Who = 'owner') =>
      as(who, 'POST', code('forced', 'commits'), {
        branch,
        force: true,
        commit_message: 'forced',
        actions: [{ action: 'create', file_path: `f-${Math.random()}`, content: '' }],
        ...start,
      });
    for (const who of ['owner', 'administrator'] as const)
      expect(told(await force('guarded', { start_sha: first }, who))).toEqual([
        400,
        { message: 'You are not allowed to force push code to a protected branch on this project.' },
      ]);
    expect((await force('open', { start_sha: first })).status).toBe(201);
    // What holds all that the branch has drops nothing.
    await write('owner', 'forced', 'ahead', 'y', 'guarded');
    expect((await force('guarded', { start_branch: 'ahead' })).status).toBe(201);
    expect((await force('guarded', {})).status).toBe(201);
  });
});

describe('creating and deleting protected branches', () => {
  beforeAll(async () => {
    await project('moving');
    await write('owner', 'moving', 'loose', 'x', 'main');
    await protect('moving', { name: 'made-40-*' });
    await protect('moving', { name: 'made-30-*', push_access_level: 30 });
    await protect('moving', { name: 'made-m30-*', merge_access_level: 30 });
    await protect('moving', { name: 'made-0-*', push_access_level: 0, merge_access_level: 0 });
  });
  const CREATE = 'You are not allowed to create protected branches on this project.';
  const FROM = 'You can only use an existing protected branch ref as the basis of a new protected branch.';
  const DELETE =
    'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.';

  test.each([
    ['developer', 'made-m30-b', 'loose', FROM],
    ['developer', 'made-40-a', 'main', CREATE],
    ['maintainer', 'made-40-b', 'main', undefined],
    ['developer', 'made-30-a', 'loose', undefined],
    ['developer', 'made-m30-a', 'main', undefined],
    ['maintainer', 'made-m30-c', 'loose', undefined],
    ['maintainer', 'made-0-a', 'main', CREATE],
    ['administrator', 'made-0-b', 'main', CREATE],
  ] as const)('%s creates %s of %s', async (who, branch, ref, refusal) => {
    const answer = await as(who, 'POST', code('moving', 'branches'), { branch, ref });
    if (refusal === undefined) expect(told(answer)).toMatchObject([201, { name: branch, protected: true }]);
    else expect(told(answer)).toEqual([400, { message: refusal }]);
    const found = await as('owner', 'GET', branchAt('moving', branch));
    expect(found.status).toBe(refusal === undefined ? 200 : 404);
  });

  test('by a commit is refused to authors who may not push there', async () => {
    const refused = await write('developer', 'moving', 'made-40-c', 'c', 'main');
    expect(told(refused)).toEqual([400, { message: 'You are not allowed to push into this branch' }]);
    expect((await write('developer', 'moving', 'made-30-c', 'c', 'main')).status).toBe(201);
  });

  test('by deletion is for Maintainers, and never of the default branch', async () => {
    for (const name of ['made-40-b', 'made-30-a', 'made-m30-a']) {
      expect(told(await as('developer', 'DELETE', branchAt('moving', name)))).toEqual([
        400,
        { message: DELETE },
      ]);
      expect(told(await as('maintainer', 'DELETE', branchAt('moving', name)))).toEqual([204, null]);
    }
    expect((await as('developer', 'DELETE', branchAt('moving', 'loose'))).status).toBe(204);
    for (const who of ['developer', 'owner'] as const)
      expect(told(await as(who, 'DELETE', branchAt('moving', 'main')))).toEqual([
        400,
        { message: 'The default branch of a project cannot be deleted.' },
      ]);
    // The rule of a branch outlives it.
    expect((await as('owner', 'GET', at('moving', 'made-40-*'))).status).toBe(200);
  });

  test('is not done by the deletion of merged branches', async () => {
    await project('merged');
    for (const branch of ['plain', 'kept', 'kept-too'])
      await as('owner', 'POST', code('merged', 'branches'), { branch, ref: 'main' });
    await protect('merged', { name: 'kept*' });
    expect((await as('developer', 'DELETE', code('merged', 'merged_branches'))).status).toBe(202);
    await expect
      .poll(async () =>
        (await as('owner', 'GET', code('merged', 'branches'))).body.map(({ name }: { name: string }) => name),
      )
      .toEqual(['kept', 'kept-too', 'main']);
  });
});

describe('the first branch of an empty protected repository', () => {
  test('must come from a Maintainer', async () => {
    await project('void', false);
    const before = (await as('owner', 'GET', `/projects/${world.ids['void']}`)).body;
    expect(told(await write('developer', 'void', 'main', 'x'))).toEqual([
      400,
      { message: 'You are not allowed to push into this branch' },
    ]);
    expect((await write('developer', 'void', 'other', 'x')).status).toBe(400);
    for (const ref of ['main', 'HEAD'])
      expect((await as('developer', 'POST', code('void', 'branches'), { branch: 'b', ref })).status).toBe(
        400,
      );
    const { default_branch, empty_repo } = (await as('owner', 'GET', `/projects/${world.ids['void']}`)).body;
    expect([default_branch, empty_repo]).toEqual([before.default_branch, true]);
    expect((await as('owner', 'GET', at('void'))).body).toEqual([]);

    expect((await write('maintainer', 'void', 'trunk', 'x')).status).toBe(201);
    expect((await as('owner', 'GET', at('void'))).body).toMatchObject([{ ...DEFAULT, name: 'trunk' }]);
    expect((await write('developer', 'void', 'trunk', 'y')).status).toBe(400);
    expect((await write('developer', 'void', 'topic', 'y', 'trunk')).status).toBe(201);
  });

  test.each([
    ['main', { push_access_level: 30 }, [201, 400]],
    ['*', { push_access_level: 30 }, [201, 201]],
  ])('keeps a rule for %s that already existed', async (name, levels, [own]) => {
    const key = `first-${Math.random().toString(36).slice(2)}`;
    await project(key, false);
    const rule = await protect(key, { name, ...levels });
    expect((await write('developer', key, 'main', 'x')).status).toBe(own);
    expect((await as('owner', 'GET', at(key))).body).toEqual([rule]);
  });

  test('is created by one of many simultaneous first commits, with one rule', async () => {
    await project('crowd', false);
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, i) => write('owner', 'crowd', 'main', `f${i}`)),
    );
    expect(answers.some(({ status }) => status === 201)).toBe(true);
    expect((await as('owner', 'GET', at('crowd'))).body).toMatchObject([DEFAULT]);
    const readme = await as('owner', 'POST', '/projects', {
      name: 'with readme',
      initialize_with_readme: true,
    });
    world.ids['readme'] = readme.body.id;
    expect((await as('owner', 'GET', at('readme'))).body).toMatchObject([DEFAULT]);
  });
});

describe('the legacy endpoints to protect a branch', () => {
  const put = (who: Who, branch: string, verb: string, json?: unknown) =>
    as(who, 'PUT', `${branchAt('older', branch)}/${verb}`, json);
  const levels = async (name: string) => {
    const { body } = await as('owner', 'GET', at('older', name));
    return [body.push_access_levels?.[0].access_level, body.merge_access_levels?.[0].access_level];
  };
  beforeAll(async () => {
    await project('older');
    await write('owner', 'older', 'topic/one', 'x', 'main');
  });

  test('create a rule, change only the given levels, and delete it', async () => {
    const story: [unknown, number[]][] = [
      [undefined, [40, 40]],
      [{ developers_can_push: true }, [30, 40]],
      [{ developers_can_merge: 'true' }, [30, 30]],
      [{}, [30, 30]],
      [{ developers_can_push: false }, [40, 30]],
      [{ developers_can_push: true, developers_can_merge: false }, [30, 40]],
    ];
    const ids = new Set<number>();
    for (const [json, expected] of story) {
      const { status, body } = await put('maintainer', 'topic/one', 'protect', json);
      expectSchema('branch', body);
      expect([status, body]).toMatchObject([
        200,
        {
          name: 'topic/one',
          protected: true,
          developers_can_push: expected[0] === 30,
          developers_can_merge: expected[1] === 30,
        },
      ]);
      expect(await levels('topic/one')).toEqual(expected);
      ids.add((await as('owner', 'GET', at('older', 'topic/one'))).body.id);
    }
    expect(ids.size).toBe(1);
    for (let twice = 0; twice < 2; twice++) {
      const { status, body } = await put('maintainer', 'topic/one', 'unprotect');
      expect([status, body]).toMatchObject([200, { name: 'topic/one', protected: false, can_push: true }]);
    }
    expect((await as('owner', 'GET', at('older', 'topic/one'))).status).toBe(404);
  });

  test('leave wildcard rules alone', async () => {
    await protect('older', { name: 'topic/*' });
    expect((await put('owner', 'topic/one', 'unprotect')).body).toMatchObject({ protected: true });
    expect((await put('owner', 'main', 'unprotect')).body).toMatchObject({ name: 'main', protected: false });
    expect((await write('developer', 'older', 'main', 'y')).status).toBe(201);
  });

  test('are safe against simultaneous calls', async () => {
    await write('owner', 'older', 'busy', 'busy', 'topic/one');
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        put('owner', 'busy', i % 2 === 0 ? 'protect' : 'unprotect', { developers_can_push: true }),
      ),
    );
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect((await put('owner', 'busy', 'protect')).body.protected).toBe(true);
  });

  test('answer 404 for an absent branch', async () => {
    for (const verb of ['protect', 'unprotect']) {
      expect(told(await put('owner', 'nope', verb))).toEqual([404, { message: '404 Branch Not Found' }]);
      expect(told(await put('owner', 'a..b', verb))).toEqual([
        400,
        { message: 'The branch refname is invalid' },
      ]);
    }
    expect(told(await put('owner', 'topic/one', 'protect', { developers_can_push: 'some' }))).toEqual([
      400,
      { error: 'developers_can_push is invalid' },
    ]);
  });
});

test('protection rules are deleted with their project', async () => {
  await project('doomed');
  await protect('doomed', { name: 'x*' });
  const id = world.ids['doomed']!;
  expect((await as('owner', 'DELETE', `/projects/${id}`)).status).toBe(202);
  expect((await as('owner', 'GET', at('doomed'))).status).toBe(404);
  await expect.poll(async () => (await world.store.refRules.list(id, 'branch')).length).toBe(0);
});
