import { describe, expect, test, vi } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { BAD, MEMBERS } from '../../harness/refusals.ts';
import { type Scenario, scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Answer } from '../../harness/service.ts';
import { PEOPLE, type Who } from '../../harness/world.ts';

const { as, service, world } = ownWorld();

/** Tokens that do not reach projects; `read_api` reads. */
const SCOPED = { read_user: 403, read_repository: 403, write_repository: 403, read_api: 200 } as const;
const hides = ['secret of', 'thing', 'owner/'];

const basic = (answer: Answer) => {
  expectSchema('project', answer.body);
  expect(answer.body).not.toHaveProperty('permissions');
};

const reading: Scenario[] = [
  {
    request: 'GET /projects/{public}',
    as: {
      anonymous: 200,
      stranger: 200,
      external: 200,
      former: 200,
      administrator: 200,
      ...MEMBERS,
      ...BAD,
      ...SCOPED,
    },
    holds: { path_with_namespace: 'owner/public-thing', description: 'secret of public' },
    // A bad token is no visit without one: not even of what is public.
    hides,
    look: (answer, _, who) => who === 'anonymous' && basic(answer),
  },
  {
    request: 'GET /projects/{internal}',
    as: {
      anonymous: 404,
      stranger: 200,
      external: 404,
      former: 200,
      administrator: 200,
      ...MEMBERS,
      ...BAD,
      ...SCOPED,
    },
    holds: { visibility: 'internal', owner: { username: 'owner' } },
    hides,
  },
  {
    request: 'GET /projects/{private}',
    as: {
      anonymous: 404,
      stranger: 404,
      external: 404,
      former: 404,
      administrator: 200,
      ...MEMBERS,
      ...BAD,
      ...SCOPED,
    },
    holds: { visibility: 'private', path: 'private-thing' },
    hides,
  },
  {
    request: 'GET /projects/owner%2Fprivate-thing',
    as: { anonymous: 404, stranger: 404, external: 404, former: 404, administrator: 200, ...MEMBERS, ...BAD },
    hides: ['secret of'],
  },
  {
    request: 'GET /projects/OWNER%2FPrivate-Thing',
    as: { anonymous: 404, stranger: 404, guest: 200 },
  },
  {
    request: 'GET /projects/owner%2Fno-thing',
    as: { anonymous: 404, stranger: 404, owner: 404, administrator: 404 },
  },
  { request: 'GET /projects/private-thing', as: { anonymous: 404, owner: 404 } },
  {
    request: 'GET /projects/999999',
    as: { anonymous: 404, stranger: 404, administrator: 404, read_user: 403 },
  },
  {
    request: 'HEAD /projects/{private}',
    as: {
      anonymous: { status: 404, holds: null },
      stranger: { status: 404, holds: null },
      guest: { status: 200, holds: null },
    },
  },
];
describe('one project', () => scenarios(() => world, reading));

test.each(Object.entries({ guest: 10, reporter: 20, developer: 30, maintainer: 40, owner: 40 }))(
  'shows %s the access level %i',
  async (who, access_level) => {
    const { body } = await as(who as Who, 'GET', `/projects/${world.ids['private']}`);
    expect(body.permissions).toEqual({
      project_access: { access_level, notification_level: 3 },
      group_access: null,
    });
  },
);

test('shows no access level to those who are not members', async () => {
  for (const who of ['stranger', 'former', 'administrator'] as const) {
    const { body } = await as(who, 'GET', `/projects/${world.ids['public']}`);
    expect(body.permissions).toEqual({ project_access: null, group_access: null });
  }
});

test('shows administrators’ fields and links in the full form', async () => {
  const id = world.ids['private']!;
  const root = await as('administrator', 'GET', `/projects/${id}`);
  const own = await as('owner', 'GET', `/projects/${id}`);
  expect(root.body.repository_storage).toBe('default');
  expect(own.body).not.toHaveProperty('repository_storage');
  expect(own.body.pages_access_level).toBe('private');
  const open = await as('owner', 'GET', `/projects/${world.ids['public']}`);
  expect(open.body).toMatchObject({ pages_access_level: 'enabled', ci_job_token_scope_enabled: false });
  expect(own.body._links.self).toBe(`${service.url}/api/v4/projects/${id}`);
  expect(
    (await as('owner', 'GET', own.body._links.members.slice(`${service.url}/api/v4`.length))).status,
  ).toBe(200);
});

describe('project lists never reveal private projects to outsiders', () => {
  const sees: [Who, string[]][] = [
    ['anonymous', ['public']],
    ['external', ['public']],
    ['stranger', ['internal', 'public']],
    ['former', ['internal', 'public']],
    ['guest', ['private', 'internal', 'public']],
    ['maintainer', ['private', 'internal', 'public']],
    ['owner', ['private', 'internal', 'public']],
    ['administrator', ['private', 'internal', 'public']],
    ['read_api', ['private', 'internal', 'public']],
  ];
  const lists = [
    '/projects?',
    '/projects?search=thing&',
    '/projects?search=THING&order_by=name&',
    '/projects?order_by=name&',
    '/projects?order_by=path&',
    '/projects?order_by=updated_at&',
    '/projects?order_by=last_activity_at&',
    '/projects?with_issues_enabled=true&',
    '/projects?archived=false&',
    '/projects?simple=true&',
    '/projects?last_activity_after=2020-01-01&',
    '/projects?pagination=keyset&order_by=id&',
  ];
  test.each(lists)('for %s', async (path) => {
    await searchable();
    for (const [who, visibilities] of sees) {
      const expected = visibilities.map((visibility) => `${visibility}-thing`).sort();
      const all = await as(who, 'GET', `${path}sort=asc`);
      expect([who, all.status, all.body.map((p: { path: string }) => p.path).sort()]).toEqual([
        who,
        200,
        expected,
      ]);
      if (!path.includes('keyset')) {
        expect([who, all.headers.get('x-total')]).toEqual([who, String(expected.length)]);
      }
      const one = await as(who, 'GET', `${path}per_page=1&sort=asc`);
      expect(one.body).toHaveLength(1);
      const next = one.headers.get('link')?.includes('rel="next"') ?? false;
      expect([who, next]).toEqual([who, expected.length > 1]);
    }
    for (const who of ['blocked', 'expired', 'revoked', 'unknown', 'read_user'] as const) {
      expect([who, (await as(who, 'GET', path)).status]).toEqual([who, BAD[who as keyof typeof BAD] ?? 403]);
    }
  });

  test.each([
    ['membership=true', { anonymous: 0, stranger: 0, former: 0, guest: 3, owner: 3, administrator: 0 }],
    ['owned=true', { anonymous: 0, stranger: 0, guest: 0, maintainer: 0, owner: 3, administrator: 0 }],
    ['min_access_level=10', { anonymous: 0, stranger: 0, former: 0, guest: 3, owner: 3 }],
    ['min_access_level=30', { guest: 0, reporter: 0, developer: 3, maintainer: 3, owner: 3, former: 0 }],
    ['min_access_level=50', { maintainer: 0, owner: 3 }],
    [
      'visibility=private',
      { anonymous: 0, stranger: 0, former: 0, external: 0, guest: 1, owner: 1, administrator: 1 },
    ],
    ['visibility=internal', { anonymous: 0, stranger: 1, external: 0, guest: 1, administrator: 1 }],
    ['visibility=public', { anonymous: 1, external: 1, administrator: 1 }],
    ['visibility=private&membership=true', { stranger: 0, former: 0, guest: 1 }],
    ['archived=true', { anonymous: 0, owner: 0, administrator: 0 }],
    ['starred=true', { owner: 0 }],
    [
      'search=private',
      { anonymous: 0, stranger: 0, former: 0, external: 0, guest: 1, owner: 1, administrator: 1 },
    ],
    ['search=nothing-like-it', { owner: 0, administrator: 0 }],
    ['repository_checksum_failed=true', { administrator: 0 }],
    ['repository_storage=default', { owner: 3, administrator: 3 }],
    // Nobody else is told where anything lies.
    ['repository_storage=elsewhere', { owner: 3, administrator: 0 }],
    ['topic=rust', { administrator: 0 }],
    ['with_programming_language=Rust', { administrator: 0 }],
    ['with_programming_language=&topic=&search=', { owner: 3, administrator: 3 }],
  ] as [string, Partial<Record<Who, number>>][])('with ?%s', async (query, counts) => {
    await searchable();
    for (const [who, count] of Object.entries(counts)) {
      const { status, body, headers } = await as(who as Who, 'GET', `/projects?${query}`);
      expect([who, status, body.length, headers.get('x-total')]).toEqual([who, 200, count, String(count)]);
    }
  });

  test('the membership row of a removed member is counted in no list', async () => {
    for (const query of [
      'membership=true&order_by=name',
      'membership=true&sort=asc',
      'min_access_level=10&order_by=path',
    ]) {
      const { body, headers } = await as('former', 'GET', `/projects?${query}`);
      expect([query, body, headers.get('x-total')]).toEqual([query, [], '0']);
    }
  });

  test('anonymous callers always get the basic form of a project', async () => {
    const { body } = await as('anonymous', 'GET', '/projects?simple=false');
    expectSchema('projects', body);
    expect(body[0]).not.toHaveProperty('visibility');
  });
});

let indexed: Promise<void> | undefined;
/** Search rows follow the projects with a delay. */
function searchable(): Promise<void> {
  indexed ??= vi.waitFor(async () => {
    expect((await as('administrator', 'GET', '/projects?search=thing')).body).toHaveLength(3);
  }, 60_000);
  return indexed;
}

test('the table of project readers covers every kind of caller', () => {
  expect(Object.keys({ ...reading[0]!.as }).sort()).toEqual([...PEOPLE].sort());
});

test('a project shows approvals, mirrors and its label before any of them is set', async () => {
  const unset = {
    approvals_before_merge: 0,
    external_authorization_classification_label: '',
    mirror: false,
    mirror_overwrites_diverged_branches: false,
    mirror_trigger_builds: false,
    mirror_user_id: null,
    only_mirror_protected_branches: false,
  };
  const { body } = await as('owner', 'POST', '/projects', { name: 'nothing set' });
  expect((await as('owner', 'GET', `/projects/${body.id}`)).body).toMatchObject(unset);
  const listed = await as('owner', 'GET', `/projects?search=nothing%20set`);
  expect(listed.body[0]).toMatchObject(unset);
  await as('owner', 'DELETE', `/projects/${body.id}`);
});
