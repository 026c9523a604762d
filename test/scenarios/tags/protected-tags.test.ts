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
  `/projects/${world.ids[project]}/protected_tags${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
const tags = (project: string, name?: string) =>
  `/projects/${world.ids[project]}/repository/tags${name === undefined ? '' : `/${encodeURIComponent(name)}`}`;
const told = ({ status, body }: Answer) => [status, body];

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

describe('permission on protected tags', () => {
  const others = {
    public: { anonymous: 401, stranger: 403, external: 403, former: 403, guest: 403 },
    internal: { anonymous: 401, stranger: 403, external: 404, former: 403, guest: 403 },
    private: { anonymous: 401, stranger: 404, external: 404, former: 404, guest: 403 },
  } as const;
  const bad = { blocked: 403, expired: 401, revoked: 401, unknown: 401 } as const;
  const scoped = { read_user: 403, read_repository: 403, write_repository: 403 } as const;
  const audience = (status: number, read_api: number) =>
    Object.entries(others).map(
      ([name, strangers]) =>
        [
          name,
          {
            as: {
              ...strangers,
              reporter: 403,
              developer: 403,
              maintainer: status,
              owner: status,
              administrator: status,
              ...bad,
              ...scoped,
              read_api,
            },
            hides: name === 'private' ? [SECRET] : [],
          },
        ] as const,
    );
  scenarios(
    () => world,
    [
      ...audience(200, 200).map(([name, rest]) => ({
        request: `GET /projects/{${name}}/protected_tags`,
        ...rest,
      })),
      ...audience(201, 403).map(([name, rest]) => ({
        request: `POST /projects/{${name}}/protected_tags`,
        json: (_: World, who: Who) => ({ name: `by-${who}-*` }),
        ...rest,
      })),
      ...audience(200, 200).map(([name, rest]) => ({
        request: `GET /projects/{${name}}/protected_tags/by-owner-*`,
        ...rest,
      })),
      ...audience(204, 403).map(([name, rest]) => ({
        request: (_: World, who: Who) => `DELETE /projects/{${name}}/protected_tags/by-${who}-*`,
        ...rest,
      })),
    ],
  );
});

describe('tag protection rules', () => {
  test.each([
    [{ name: 'v1.0' }, [MAINTAINERS]],
    [{ name: 'release/*', create_access_level: '30' }, [DEVELOPERS]],
    [{ name: 'none', create_access_level: 0 }, [NOBODY]],
    [{ name: 'admins', create_access_level: 60 }, [level(60, 'Instance admins')]],
    [{ name: 'ü 😀' }, [MAINTAINERS]],
  ])('can be created from %j', async (json, create_access_levels) => {
    const rule = { name: json.name, create_access_levels };
    expect(told(await as('maintainer', 'POST', at('public'), json))).toEqual([201, rule]);
    expect(told(await as('maintainer', 'GET', at('public', json.name)))).toEqual([200, rule]);
    expect((await as('maintainer', 'GET', `${at('public')}?per_page=100`)).body).toContainEqual(rule);
    expect(told(await as('maintainer', 'POST', at('public'), json))).toEqual([
      422,
      { message: ['Name has already been taken'] },
    ]);
    // Another project's are its own.
    expect((await as('maintainer', 'POST', at('internal'), json)).status).toBe(201);
  });

  test.each([
    [{}, 400, { error: 'name is missing' }],
    [{ name: '' }, 422, { message: ["Name can't be blank"] }],
    [{ name: 'x'.repeat(1025) }, 422, { message: ['Name is too long (maximum is 1024 characters)'] }],
    [
      { name: 'a', create_access_level: 10 },
      400,
      { error: 'create_access_level does not have a valid value' },
    ],
    [{ name: 'a', create_access_level: [] }, 400, { error: 'create_access_level is invalid' }],
  ])('are refused for %j', async (json, status, body) => {
    expect(told(await as('maintainer', 'POST', at('public'), json))).toEqual([status, body]);
    expect((await as('maintainer', 'GET', at('public', 'a'))).status).toBe(404);
  });

  test('are listed by name in pages, and answer 404 or 412 when absent or changed', async () => {
    for (const name of ['b', 'a*', 'c']) await as('owner', 'POST', at('private'), { name });
    const { body, headers } = await as('maintainer', 'GET', `${at('private')}?per_page=2`);
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['a*', 'b']);
    expect([headers.get('x-total'), headers.get('x-next-page')]).toEqual(['3', '2']);
    for (const method of ['GET', 'DELETE'])
      expect(told(await as('maintainer', method, at('private', 'a')))).toEqual([
        404,
        { message: '404 Not found' },
      ]);
    const token = world.tokens.maintainer!;
    const until = (time: number) => ({ 'If-Unmodified-Since': new Date(time).toUTCString() });
    const late = await service.call('DELETE', at('private', 'b'), {
      token,
      headers: until(Date.now() - 60_000),
    });
    expect(told(late)).toEqual([412, { message: '412 Precondition Failed' }]);
    const gone = await service.call('DELETE', at('private', 'b'), {
      token,
      headers: until(Date.now() + 60_000),
    });
    expect(told(gone)).toEqual([204, null]);
  });

  test('are created once by many simultaneous requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => as('maintainer', 'POST', at('public'), { name: 'race' })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422]);
  });
});

describe('protected tags', () => {
  beforeAll(async () => {
    const made = await as('owner', 'POST', '/projects', { name: 'tagged', visibility: 'public' });
    world.ids['tagged'] = made.body.id;
    for (const [who, access_level] of [
      ['reporter', 20],
      ['developer', 30],
      ['maintainer', 40],
    ] as const)
      await as('owner', 'POST', `/projects/${made.body.id}/members`, {
        user_id: world.ids[who],
        access_level,
      });
    await as('owner', 'POST', `/projects/${made.body.id}/repository/files/x`, {
      branch: 'main',
      content: 'x',
      commit_message: 'x',
    });
    for (const [name, create_access_level] of [
      ['t40-*', 40],
      ['t30-*', 30],
      ['t0-*', 0],
      ['t60-*', 60],
    ])
      await as('owner', 'POST', at('tagged'), { name, create_access_level });
  });
  const CREATE = { message: 'You are not allowed to create this tag as it is protected.' };
  const DELETE = { message: "403 Forbidden - You don't have access to delete the tag" };

  const table: readonly [string, Partial<Record<Who, boolean>>][] = [
    ['t40', { developer: false, maintainer: true, owner: true, administrator: true }],
    ['t30', { developer: true, maintainer: true, administrator: true }],
    ['t0', { developer: false, maintainer: false, owner: false, administrator: false }],
    ['t60', { developer: false, maintainer: false, owner: false, administrator: true }],
    ['free', { developer: true, maintainer: true, administrator: true }],
  ];
  const cases = table.flatMap(([rule, who]) =>
    Object.entries(who).map(([person, allowed]) => [rule, person as Who, allowed] as const),
  );
  test.each(cases)('under the rule %s can be created by %s: %s', async (rule, who, allowed) => {
    for (const [name, message] of [[`${rule}-${who}`], [`${rule}-${who}-annotated`, 'of note']] as const) {
      const answer = await as(who, 'POST', tags('tagged'), {
        tag_name: name,
        ref: 'main',
        ...(message ? { message } : {}),
      });
      if (!allowed) {
        expect(told(answer)).toEqual([400, CREATE]);
        expect((await as('owner', 'GET', tags('tagged', name))).status).toBe(404);
        continue;
      }
      expectSchema('tag', answer.body);
      expect(told(answer)).toMatchObject([201, { name, protected: rule !== 'free' }]);
      expect((await as('reporter', 'GET', tags('tagged', name))).body).toEqual(answer.body);
      expect((await as('anonymous', 'GET', `${tags('tagged')}?search=${name}$`)).body).toEqual([answer.body]);
    }
  });

  test('have name errors checked before the rule', async () => {
    const make = async (json: object) => told(await as('developer', 'POST', tags('tagged'), json));
    expect(await make({ tag_name: 't0-..', ref: 'main' })).toEqual([400, { message: 'Tag name invalid' }]);
    expect(await make({ tag_name: 't40-owner', ref: 'main' })).toEqual([
      400,
      { message: 'Tag t40-owner already exists' },
    ]);
    expect(await make({ tag_name: 't40-x', ref: 'nope' })).toEqual([
      400,
      { message: 'Target nope is invalid' },
    ]);
  });

  test('can be deleted by Maintainers who could create them', async () => {
    for (const [name, who, allowed] of [
      ['t40-owner', 'developer', false],
      ['t40-owner', 'maintainer', true],
      ['t30-developer', 'developer', false],
      ['t30-developer', 'administrator', true],
      ['t60-administrator', 'owner', false],
      ['t60-administrator', 'administrator', true],
      ['free-developer', 'developer', true],
    ] as const) {
      const answer = await as(who, 'DELETE', tags('tagged', name));
      expect([name, who, ...told(answer)]).toEqual([name, who, ...(allowed ? [204, null] : [403, DELETE])]);
      expect((await as('owner', 'GET', tags('tagged', name))).status).toBe(allowed ? 404 : 200);
    }
  });
});
