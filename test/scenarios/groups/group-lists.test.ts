import { Gitlab } from '@gitbeaker/rest';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { ask, type Who } from '../../harness/world.ts';

const { service, world } = ownWorld();
/**
 * Per visibility a group `g<visibility>` with a subgroup `s<visibility>` and a project in each. `developer` is a member
 * of the private group, `guest` only of the group inside; `reporter` only of the project in that.
 */
beforeAll(async () => {
  for (const visibility of ['public', 'internal', 'private'] as const) {
    const group = await as('owner', 'POST', '/groups', {
      name: `Group ${visibility}`,
      path: `g${visibility}`,
      visibility,
    });
    const sub = await as('owner', 'POST', '/groups', {
      name: `Sub ${visibility}`,
      path: `s${visibility}`,
      parent_id: group.body.id,
      visibility,
    });
    world.ids[`g${visibility}`] = group.body.id;
    world.ids[`s${visibility}`] = sub.body.id;
    for (const [name, namespace_id] of [
      [`in-g${visibility}`, group.body.id],
      [`in-s${visibility}`, sub.body.id],
    ] as const) {
      const made = await as('owner', 'POST', '/projects', { name, namespace_id, visibility });
      expect([made.status, made.body.message]).toEqual([201, undefined]);
      world.ids[name] = made.body.id;
    }
  }
  const join = (path: string, who: Who, access_level: number) =>
    as('owner', 'POST', `${path}/members`, { user_id: world.ids[who], access_level });
  await join('/groups/gprivate', 'developer', 30);
  await join(`/groups/${world.ids['sprivate']}`, 'guest', 10);
  await join(`/projects/${world.ids['in-sprivate']}`, 'reporter', 20);
});

function as(who: Who, method: string, path: string, json?: unknown) {
  return ask(world, who, method, path, json);
}
/** The paths of what a list holds, with its total. */
async function paths(who: Who, path: string): Promise<string> {
  const { status, body, headers } = await as(who, 'GET', path);
  expect([path, status, body.message]).toEqual([path, 200, undefined]);
  const names = body.map((each: { path: string }) => each.path);
  expect(headers.get('x-total')).toBe(String(names.length));
  return names.join(' ');
}

const SEEN = {
  anonymous: 200,
  stranger: 200,
  external: 200,
  guest: 200,
  developer: 200,
  owner: 200,
} as const;
const BAD = {
  blocked: 403,
  expired: 401,
  revoked: 401,
  unknown: 401,
  read_api: 200,
  read_user: 403,
} as const;
const hides = ['gprivate', 'sprivate', 'Group private', 'Sub'];

describe('permission to list groups', () =>
  scenarios(
    () => world,
    [
      { request: 'GET /groups', as: { ...SEEN, ...BAD } },
      ...['subgroups', 'descendant_groups', 'projects'].flatMap((list) => [
        { request: `GET /groups/{gpublic}/${list}`, as: { ...SEEN, ...BAD }, hides },
        {
          request: `GET /groups/{ginternal}/${list}`,
          as: { anonymous: 404, external: 404, stranger: 200 },
          hides,
        } as const,
        {
          request: `GET /groups/gprivate/${list}`,
          as: {
            anonymous: 404,
            external: 404,
            stranger: 404,
            reporter: { status: 200, holds: expect.any(Array) },
            developer: 200,
            owner: 200,
            administrator: 200,
          },
          hides,
        } as const,
      ]),
      { request: 'GET /namespaces', as: { ...SEEN, anonymous: 401, ...BAD }, hides },
      {
        request: 'GET /namespaces/gprivate',
        as: { anonymous: 401, stranger: noNamespace(), developer: 200 },
        hides,
      },
      {
        request: 'GET /namespaces/{sprivate}',
        as: { anonymous: 401, stranger: noNamespace(), guest: 200, administrator: 200 },
        holds: { path: 'sprivate', full_path: 'gprivate/sprivate', kind: 'group' },
        hides,
      },
      { request: 'GET /namespaces/owner', as: { stranger: noNamespace(), owner: 200, administrator: 200 } },
    ],
  ));

function noNamespace() {
  return { status: 404, holds: { message: '404 Namespace Not Found' } };
}

describe('group lists', () => {
  test.each<[Who, string, string]>([
    ['anonymous', '', 'gpublic spublic'],
    ['stranger', '', ''],
    ['stranger', 'all_available=true', 'ginternal gpublic sinternal spublic'],
    ['external', 'all_available=true', 'gpublic spublic'],
    ['developer', '', 'gprivate sprivate'],
    ['developer', 'all_available=true', 'ginternal gprivate gpublic sinternal sprivate spublic'],
    // The groups above are seen, above a project too.
    ['guest', '', 'gprivate sprivate'],
    ['reporter', '', 'gprivate sprivate'],
    ['owner', '', 'ginternal gprivate gpublic sinternal sprivate spublic'],
    ['administrator', '', 'ginternal gprivate gpublic sinternal sprivate spublic'],
    ['administrator', 'all_available=false', ''],
    ['anonymous', 'owned=true', ''],
    ['anonymous', 'min_access_level=10', ''],
    ['developer', 'owned=true', ''],
    ['owner', 'owned=true&sort=desc', 'spublic sprivate sinternal gpublic gprivate ginternal'],
    ['developer', 'min_access_level=30', 'gprivate sprivate'],
    ['developer', 'min_access_level=40', ''],
    ['owner', 'top_level_only=true&order_by=id', 'gpublic ginternal gprivate'],
    ['owner', 'order_by=path&search=sub', 'sinternal sprivate spublic'],
    // By the last segment, wherever the group is.
    ['owner', 'order_by=path', 'ginternal gprivate gpublic sinternal sprivate spublic'],
    ['owner', 'order_by=path&sort=desc', 'spublic sprivate sinternal gpublic gprivate ginternal'],
    ['stranger', 'all_available=true&search=private', ''],
    ['developer', 'search=PRIVATE&order_by=similarity', 'gprivate sprivate'],
    ['administrator', 'custom_attributes[a]=b', ''],
  ])('for %s with %s', async (who, query, expected) => {
    await expect.poll(() => paths(who, `/groups?${query}`)).toBe(expected);
  });

  test('leave out the groups in skip_groups', async () => {
    const skip = `skip_groups[]=${world.ids['gpublic']}&skip_groups[]=${world.ids['sprivate']}`;
    expect(await paths('owner', `/groups?${skip}`)).toBe('ginternal gprivate sinternal spublic');
    expect(await paths('owner', `/groups?skip_groups=${world.ids['gpublic']},1`)).not.toContain('gpublic');
  });

  test.each<[Who, string, string]>([
    ['anonymous', 'gpublic/subgroups', 'spublic'],
    ['stranger', 'gpublic/subgroups', ''],
    ['stranger', 'gpublic/subgroups?all_available=true', 'spublic'],
    ['developer', 'gprivate/subgroups', 'sprivate'],
    // By the short path alone: its name is `Sub`.
    ['developer', 'gprivate/descendant_groups?search=spri', 'sprivate'],
    ['developer', 'gprivate/descendant_groups?search=sub', ''],
    ['developer', 'gprivate/descendant_groups?search=gpri', ''],
    ['administrator', 'gprivate/descendant_groups', 'sprivate'],
    ['owner', 'gprivate/subgroups?owned=true', 'sprivate'],
    ['developer', 'gprivate/subgroups?owned=true', ''],
    ['anonymous', 'gpublic/projects', 'in-gpublic'],
    ['anonymous', 'gpublic/projects?include_subgroups=true', 'in-spublic in-gpublic'],
    ['developer', 'gprivate/projects?include_subgroups=true&sort=asc', 'in-gprivate in-sprivate'],
    [
      'developer',
      'gprivate/projects?include_subgroups=true&order_by=path&sort=asc',
      'in-gprivate in-sprivate',
    ],
    ['developer', 'gprivate/projects?include_subgroups=true&search=spri', 'in-sprivate'],
    ['developer', 'gprivate/projects?visibility=public', ''],
    ['developer', 'gprivate/projects?archived=false&with_shared=false', 'in-gprivate'],
    ['developer', 'gprivate/projects?archived=true', ''],
    ['developer', 'gprivate/projects?min_access_level=40', ''],
    ['developer', 'gprivate/projects?starred=true', ''],
    ['owner', 'gprivate/projects?owned=true&with_issues_enabled=true', 'in-gprivate'],
    ['stranger', 'gpublic/projects?owned=true', ''],
  ])('for %s of /groups/%s', async (who, path, expected) => {
    await expect.poll(() => paths(who, `/groups/${path}`)).toBe(expected);
  });

  test('have the projects of a group in their short form', async () => {
    const { body } = await as('developer', 'GET', '/groups/gprivate/projects?simple=true');
    expectSchema('projects', body);
    expect(body[0]).not.toHaveProperty('visibility');
    expect(body[0].namespace).toMatchObject({ kind: 'group', full_path: 'gprivate' });
  });

  test.each([
    ['/groups?order_by=size', { error: 'order_by does not have a valid value' }],
    ['/groups?min_access_level=5', { error: 'min_access_level does not have a valid value' }],
    ['/groups?skip_groups[]=x', { error: 'skip_groups is invalid' }],
    ['/groups?all_available=perhaps', { error: 'all_available is invalid' }],
    ['/groups/gpublic/subgroups?order_by=similarity', { error: 'order_by does not have a valid value' }],
    ['/groups/gpublic/projects?visibility=hidden', { error: 'visibility does not have a valid value' }],
    ['/groups?pagination=keyset&cursor=abc', { message: '400 Bad request' }],
  ])('refuse %s', async (path, body) => {
    const answer = await as('anonymous', 'GET', path);
    expect([answer.status, answer.body]).toEqual([400, body]);
  });

  test('have keyset pages linked from one to the next', async () => {
    const seen: string[] = [];
    let url: string | undefined = '/groups?pagination=keyset&order_by=name&per_page=1';
    while (url !== undefined) {
      const { status, body, headers } = await as('anonymous', 'GET', url);
      expect(status).toBe(200);
      expect(headers.get('x-total')).toBeNull();
      seen.push(...body.map((group: { path: string }) => group.path));
      url = /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual(['gpublic', 'spublic']);
    const other = await as('anonymous', 'GET', '/groups?pagination=keyset&order_by=id');
    expect([other.status, other.body]).toEqual([
      405,
      { error: 'Keyset pagination is not yet available for this type of request' },
    ]);
  });
});

test('projects in groups are listed for those whose memberships give access, and for no others', async () => {
  const all = async (who: Who, query = '') =>
    (await paths(who, `/projects?per_page=100${query}`)).split(' ').filter(Boolean);
  const privates = ['in-sprivate', 'in-gprivate'];
  expect(await all('developer', '&visibility=private')).toEqual([...privates, 'private-thing']);
  expect(await all('guest', '&visibility=private')).toEqual(['in-sprivate', 'private-thing']);
  expect(await all('reporter', '&visibility=private&order_by=name&sort=asc')).toEqual([
    'in-sprivate',
    'private-thing',
  ]);
  expect(await all('developer', '&membership=true&search=in-')).toEqual(privates);
  expect(await all('owner', '&owned=true&search=private')).toEqual([...privates, 'private-thing']);
  // The one is called so, the other stands in a group that is.
  const named = '&search=gprivate&search_namespaces=true';
  expect(await all('developer', named)).toEqual(privates);
  expect(await all('developer', `${named}&order_by=similarity`)).toEqual(privates.toReversed());
  expect(await all('reporter', named)).toEqual(['in-sprivate']);
  expect(await all('stranger', named)).toEqual([]);
  for (const who of ['anonymous', 'stranger', 'external', 'former'] as const) {
    const { body, headers } = await as(who, 'GET', '/projects?per_page=100');
    expect(JSON.stringify(body)).not.toMatch(/[gs]private|private-thing/);
    expect(headers.get('x-total')).toBe(String(body.length));
    expect(await all(who, '&search=private')).toEqual([]);
  }
});

describe('namespace lists', () => {
  test.each<[Who, string, string]>([
    ['stranger', '', 'stranger'],
    ['guest', '', 'guest sprivate'],
    ['developer', '', 'developer gprivate'],
    ['developer', 'owned_only=true', 'developer'],
    ['owner', 'owned_only=true&search=private', 'gprivate sprivate'],
    ['owner', '', 'owner gpublic spublic ginternal sinternal gprivate sprivate'],
    ['stranger', 'search=private', ''],
    ['administrator', 'search=gp', 'gpublic gprivate'],
    ['administrator', 'search=guest', 'guest'],
    // A person and groups, each kind in the order of its own ids.
    ['administrator', 'search=intern', 'ginternal sinternal'],
    ['administrator', 'search=intern&top_level_only=true', 'ginternal'],
    ['owner', 'top_level_only=true', 'owner gpublic ginternal gprivate'],
  ])('for %s with %s', async (who, query, expected) => {
    await expect.poll(() => paths(who, `/namespaces?${query}`)).toBe(expected);
    const names: string[] = [];
    for (let page = 1; page < 9; page++) {
      const { body } = await as(who, 'GET', `/namespaces?${query}&per_page=2&page=${page}`);
      names.push(...body.map((each: { path: string }) => each.path));
    }
    expect(names.join(' ')).toBe(expected);
  });

  test('hold every namespace for administrators, with member counts for owners', async () => {
    const { body, headers } = await as('administrator', 'GET', '/namespaces?per_page=100');
    const kinds = Map.groupBy(body as { kind: string; path: string }[], ({ kind }) => kind);
    const paths = (kind: string) => kinds.get(kind)!.map(({ path }) => path);
    expect(paths('user')).toEqual(expect.arrayContaining(['owner', 'guest', 'stranger']));
    expect(paths('group').join(' ')).toContain('gpublic spublic ginternal sinternal gprivate sprivate');
    expect(headers.get('x-total')).toBe(String(body.length));
    const counted = async (who: Who, path: string) =>
      (await as(who, 'GET', `/namespaces/${path}`)).body.members_count_with_descendants;
    const { ids } = world;
    const people = new Set<number>();
    for (const group of ['gprivate', 'sprivate']) {
      const members = await as('owner', 'GET', `/groups/${ids[group]}/members?per_page=100`);
      for (const { id } of members.body) people.add(id);
    }
    expect(people.size).toBeGreaterThan(2);
    expect(await counted('owner', 'gprivate')).toBe(people.size);
    expect(await counted('administrator', 'gprivate')).toBe(people.size);
    expect(await counted('developer', 'gprivate')).toBeUndefined();
    expect(await counted('owner', 'owner')).toBeUndefined();
  });

  test('find a namespace by id and path, and tell whether a path is taken', async () => {
    const own = await as('owner', 'GET', '/namespaces/OWNER');
    expect(own.body).toMatchObject({ path: 'owner', kind: 'user', parent_id: null });
    expect((await as('owner', 'GET', `/namespaces/${own.body.id}`)).body).toEqual(own.body);
    expect((await as('guest', 'GET', '/namespaces/gprivate%2Fsprivate')).body.parent_id).toBe(
      world.ids['gprivate'],
    );
    const exists = async (who: Who, path: string) => (await as(who, 'GET', `/namespaces/${path}`)).body;
    expect(await exists('stranger', 'gpublic/exists')).toEqual({ exists: true, suggests: ['gpublic1'] });
    expect(await exists('stranger', 'nobody/exists')).toEqual({ exists: false, suggests: [] });
    const inside = `sprivate/exists?parent_id=${world.ids['gprivate']}`;
    expect(await exists('developer', inside)).toEqual({ exists: true, suggests: ['sprivate1'] });
    // What stands in a group that is hidden is hidden too.
    expect(await exists('stranger', inside)).toEqual({ exists: false, suggests: [] });
    expect((await as('anonymous', 'GET', '/namespaces/gpublic/exists')).status).toBe(401);
  });
});

test('groups that a group was invited to are listed for its members while the share lasts', async () => {
  const { id, token } = await service.user('invited');
  const call = (path: string) => service.call('GET', path, { token });
  const list = async (path: string) => {
    const { body, headers } = await call(path);
    const names = body.map((each: { path: string }) => each.path).join(' ');
    return [names, headers.get('x-total')];
  };
  const guests = await as('owner', 'POST', '/groups', {
    name: 'Guests',
    path: 'guests',
    visibility: 'private',
  });
  await as('owner', 'POST', '/groups/guests/members', { user_id: id, access_level: 40 });
  expect(await list('/groups')).toEqual(['guests', '1']);
  const share = { group_id: guests.body.id, group_access: 20 };
  expect((await as('owner', 'POST', '/groups/gprivate/share', share)).status).toBe(201);
  expect(await list('/groups')).toEqual(['gprivate guests sprivate', '3']);
  expect(await list('/groups?min_access_level=30')).toEqual(['guests', '1']);
  expect(await list('/projects?visibility=private')).toEqual(['in-sprivate in-gprivate', '2']);
  expect(await list('/projects?membership=true&per_page=1&page=2')).toEqual(['in-gprivate', '2']);
  expect(await list('/groups/gprivate/projects?include_subgroups=true')).toEqual([
    'in-sprivate in-gprivate',
    '2',
  ]);
  expect((await call(`/groups/gprivate/members/all/${id}`)).status).toBe(404);
  await as('owner', 'DELETE', `/groups/gprivate/share/${guests.body.id}`);
  expect(await list('/groups')).toEqual(['guests', '1']);
  expect(await list('/projects?visibility=private')).toEqual(['', '0']);
});

test('@gitbeaker/rest lists groups, subgroups, projects and namespaces', async () => {
  const api = new Gitlab({ host: service.url, token: world.tokens.developer! });
  const pathsOf = (found: { path: string }[]) => found.map(({ path }) => path);
  expect(pathsOf(await api.Groups.all({ perPage: 1 }))).toEqual(['gprivate', 'sprivate']);
  expect(pathsOf(await api.Groups.allSubgroups('gprivate'))).toEqual(['sprivate']);
  expect(pathsOf(await api.Groups.allDescendantGroups('gprivate', {}))).toEqual(['sprivate']);
  expect(pathsOf(await api.Groups.allProjects('gprivate', { includeSubgroups: true }))).toEqual([
    'in-sprivate',
    'in-gprivate',
  ]);
  expect(pathsOf(await api.Namespaces.all())).toEqual(['developer', 'gprivate']);
  expect(await api.Namespaces.show('gprivate')).toMatchObject({ kind: 'group', id: world.ids['gprivate'] });
  expect(await api.Namespaces.exists('gprivate', {})).toMatchObject({ exists: true });
});
