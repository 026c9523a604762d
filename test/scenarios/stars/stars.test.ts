import { describe, expect, test } from 'vitest';
import { removeProject, removeUser } from '../../../lib/domain/deletion/purge.ts';
import { cachedSettings } from '../../../lib/domain/settings/current.ts';
import { HistoryCache } from '../../../lib/git/history/known.ts';
import { PackCache } from '../../../lib/git/pack/pack-cache.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { BAD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { as, service, world } = ownWorld();

const hides = ['secret of'];

describe('permission to star a project', () => {
  const common = { anonymous: 401, read_api: 403, read_user: 403, ...BAD } as const;
  scenarios(
    () => world,
    [
      {
        request: 'POST /projects/{public}/star',
        as: { ...common, stranger: 201, external: 201, guest: 201 },
      },
      { request: 'POST /projects/{public}/star', as: { stranger: 304, external: 304, guest: 304 } },
      { request: 'POST /projects/{internal}/star', as: { ...common, stranger: 201, external: 404 }, hides },
      {
        request: 'POST /projects/{private}/star',
        as: { anonymous: 401, stranger: 404, external: 404, former: 404, guest: 201, administrator: 201 },
        hides,
      },
      {
        request: 'GET /projects/{public}/starrers',
        as: { anonymous: 200, stranger: 200, read_api: 200, ...BAD },
        holds: [{ user: { username: 'stranger' } }, { user: { username: 'guest' } }, { user: {} }],
      },
      {
        request: 'GET /projects/{private}/starrers',
        as: { anonymous: 404, stranger: 404, external: 404, guest: 200, read_user: 403 },
        hides,
      },
      { request: 'GET /projects/{public}/starrers?search=GUES', as: { anonymous: 200 }, look: one('guest') },
      { request: 'GET /projects/{public}/starrers?search=nobody', as: { owner: 200 }, holds: [] },
      {
        request: 'GET /projects/{public}/starrers?per_page=2&page=2',
        as: { owner: 200 },
        look: ({ headers, body }) => {
          expect([headers.get('x-total'), headers.get('x-next-page'), body.length]).toEqual(['3', '', 1]);
        },
      },
      { request: 'POST /projects/{public}/unstar', as: { ...common, external: 201, developer: 304 } },
      { request: 'POST /projects/{public}/unstar', as: { external: 304 } },
      { request: 'POST /projects/999999/star', as: { owner: 404, anonymous: 401 } },
    ],
  );
  function one(username: string) {
    return ({ body }: { body: { user: { username: string } }[] }) =>
      expect(body.map(({ user }) => user.username)).toEqual([username]);
  }
});

test('a star is counted and listed with its time', async () => {
  const shown = await as('owner', 'GET', `/projects/${world.ids['public']}`);
  expect(shown.body.star_count).toBe(2);
  await as('owner', 'POST', `/projects/${world.ids['public']}/star`);
  const { body } = await as('anonymous', 'GET', `/projects/${world.ids['public']}`);
  expect(body.star_count).toBe(3);
  const { body: starrers } = await as('anonymous', 'GET', `/projects/${world.ids['public']}/starrers`);
  expect(Object.keys(starrers[0])).toEqual(['starred_since', 'user']);
  expect(Date.now() - Date.parse(starrers[0].starred_since)).toBeLessThan(60_000);
});

const names = async (who: Who, path: string) => {
  const { status, body } = await as(who, 'GET', path);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.map((project: { path: string }) => project.path).join(' ');
};

test.each<[Who, string, string]>([
  ['guest', '/projects?starred=true', 'private-thing public-thing'],
  ['guest', '/projects?starred=true&order_by=name&sort=asc&archived=false', 'private-thing public-thing'],
  ['guest', '/projects?starred=true&visibility=private&min_access_level=10', 'private-thing'],
  ['guest', '/projects?starred=true&search=publ', 'public-thing'],
  ['guest', '/projects?starred=true&membership=true&per_page=1', 'private-thing'],
  ['guest', '/projects?starred=true&owned=true', ''],
  ['owner', '/projects?starred=true&owned=true', 'public-thing'],
  ['anonymous', '/projects?starred=true', ''],
  ['owner', '/users/{guest}/starred_projects', 'private-thing public-thing'],
  ['guest', '/users/guest/starred_projects?starred=true', 'private-thing public-thing'],
  ['owner', '/users/guest/starred_projects?starred=true', 'public-thing'],
  ['stranger', '/users/guest/starred_projects', 'public-thing'],
  ['anonymous', '/users/guest/starred_projects?simple=true', 'public-thing'],
  ['stranger', '/users/stranger/starred_projects', 'internal-thing public-thing'],
  ['external', '/users/stranger/starred_projects', 'public-thing'],
  ['anonymous', '/users/owner/projects', 'public-thing'],
  ['stranger', '/users/owner/projects?order_by=name&sort=asc', 'internal-thing public-thing'],
  ['guest', '/users/owner/projects?starred=true', 'private-thing public-thing'],
  ['stranger', '/users/owner/projects?search=private', ''],
])('for %s the list %s has: %s', async (who, path, expected) => {
  expect(await names(who, path.replace('{guest}', String(world.ids['guest'])))).toBe(expected);
});

test('the stars of an unknown user are 404', async () => {
  for (const list of ['projects', 'starred_projects'])
    expect(await as('owner', 'GET', `/users/nobody/${list}`)).toMatchObject({
      status: 404,
      body: { message: '404 User Not Found' },
    });
});

test('stars of users with private profiles are hidden', async () => {
  const hidden = await service.user('hidden', { private_profile: true });
  const call = (path: string, token?: string) =>
    service.call('GET', path, token === undefined ? {} : { token }).then(({ body }) => body.length);
  await service.call('POST', `/projects/${world.ids['internal']}/star`, { token: hidden.token });
  const lists = [
    `/projects/${world.ids['internal']}/starrers?search=hidden`,
    '/users/hidden/starred_projects',
  ];
  for (const list of lists) {
    expect(await call(list, hidden.token), list).toBe(1);
    expect(await call(list, service.rootToken), list).toBe(1);
    expect(await call(list, world.tokens.stranger), list).toBe(0);
  }
});

test('simultaneous stars of one user count once, and those of many users each', async () => {
  const { body: project } = await as('owner', 'POST', '/projects', { name: 'hot', visibility: 'public' });
  const star = (who: Who, verb = 'star') => as(who, 'POST', `/projects/${project.id}/${verb}`);
  const own = await Promise.all(Array.from({ length: 6 }, () => star('owner')));
  expect(own.map(({ status }) => status).toSorted()).toEqual([201, 304, 304, 304, 304, 304]);
  const people = ['stranger', 'guest', 'reporter', 'developer', 'maintainer', 'external'] as const;
  await Promise.all(people.map((who) => star(who)));
  const count = async () => (await as('owner', 'GET', `/projects/${project.id}`)).body.star_count;
  expect(await count()).toBe(7);
  // An edit of the record that was read before keeps the count.
  const before = (await world.store.projects.get(project.id))!;
  await Promise.all([star('guest', 'unstar'), star('guest', 'unstar'), star('external', 'unstar')]);
  await world.store.projects.update(before, { description: 'edited' });
  expect(await count()).toBe(5);
});

test('deleted users and projects leave no stars behind', async () => {
  const deps = {
    store: world.store,
    packs: new PackCache(),
    histories: new HistoryCache(),
    settings: cachedSettings(world.store.settings, world.store.environment),
    environment: world.store.environment,
    now: () => new Date(),
  };
  const leaver = await service.user('leaver');
  const made = async (name: string) =>
    (await as('owner', 'POST', '/projects', { name, visibility: 'public' })).body.id as number;
  const [stays, goes] = [await made('stays'), await made('goes')];
  const star = (id: number) => service.call('POST', `/projects/${id}/star`, { token: leaver.token });
  await Promise.all([star(stays), star(goes)]);
  const project = (await world.store.projects.get(goes))!;
  await as('owner', 'DELETE', `/projects/${goes}`);
  expect(await names('owner', '/users/leaver/starred_projects')).toBe('stays');
  // The host's own worker is at it too.
  await removeProject(deps, { projectId: goes, repositoryId: project.repositoryId }, Date.now() + 60_000);
  await settled();
  const left = async () => {
    const ids: number[] = [];
    for await (const id of world.store.stars.ofUser(leaver.id)) ids.push(id);
    return ids;
  };
  expect(await left()).toEqual([stays]);
  expect(await star(goes)).toMatchObject({ status: 404 });

  await world.store.users.remove((await world.store.users.get(leaver.id))!);
  await removeUser(deps, { userId: leaver.id, last: true }, Date.now() + 60_000);
  await settled();
  expect(await left()).toEqual([]);
  expect((await as('owner', 'GET', `/projects/${stays}`)).body.star_count).toBe(0);
  expect((await as('owner', 'GET', `/projects/${stays}/starrers`)).body).toEqual([]);
});
