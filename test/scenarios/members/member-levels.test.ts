/** However a member is added, nobody grants more than their own level, and memberships expire. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memberKey } from '../../../lib/store/row-keys/members.ts';
import { type Service, startService } from '../../harness/service.ts';
import { storeOf } from '../../harness/world.ts';

type Person = Awaited<ReturnType<Service['user']>>;

let service: Service;
let owner: Person;
let maintainer: Person;
let asker: Person;
/** A group with a maintainer, a project in it, and a project of the maintainer with another owner. */
let group: number;
let project: number;
let club: number;
beforeAll(async () => {
  service = await startService();
  const people = ['owner', 'maintainer', 'asker'] as const;
  [owner, maintainer, asker] = (await Promise.all(people.map((name) => service.user(name)))) as [
    Person,
    Person,
    Person,
  ];
  const made = async (by: Person, path: string, json: object) => {
    const answer = await as(by, 'POST', path, json);
    expect([path, answer.status]).toEqual([path, 201]);
    return answer.body.id as number;
  };
  group = await made(owner, '/groups', { name: 'G', path: 'g', visibility: 'public' });
  await made(owner, `/groups/${group}/members`, { user_id: maintainer.id, access_level: 40 });
  project = await made(owner, '/projects', { name: 'p', namespace_id: group, visibility: 'public' });
  club = await made(maintainer, '/groups', { name: 'Club', path: 'club' });
  for (const place of [`/groups/${group}`, `/projects/${project}`])
    expect((await as(asker, 'POST', `${place}/access_requests`)).status).toBe(201);
});
afterAll(() => service.stop());

const as = ({ token }: Person, method: string, path: string, json?: unknown) =>
  service.call(method, path, { token, ...(json === undefined ? {} : { json }) });

describe('a maintainer cannot make any user an owner, themselves included', () => {
  const ways: Readonly<Record<string, (place: string) => readonly [string, string, object]>> = {
    adding: (place) => ['POST', `${place}/members`, { user_id: asker.id, access_level: 50 }],
    'adding several': (place) => [
      'POST',
      `${place}/members`,
      { user_id: `${asker.id},${maintainer.id}`, access_level: 50 },
    ],
    'changing themselves': (place) => ['PUT', `${place}/members/${maintainer.id}`, { access_level: 50 }],
    'inviting by address': (place) => [
      'POST',
      `${place}/invitations`,
      { email: 'maintainer@example.com', access_level: 50 },
    ],
    'inviting by id': (place) => ['POST', `${place}/invitations`, { user_id: asker.id, access_level: 50 }],
    approving: (place) => ['PUT', `${place}/access_requests/${asker.id}/approve`, { access_level: 50 }],
    'sharing with a group of theirs': (place) => [
      'POST',
      `${place}/share`,
      { group_id: club, group_access: 50 },
    ],
  };
  test.each(Object.entries(ways))('through %s', async (_, way) => {
    for (const [place, refused] of [
      [`/groups/${group}`, 403],
      [`/projects/${project}`, 400],
    ] as const) {
      const [method, path, json] = way(place);
      const { status } = await as(maintainer, method, path, json);
      // Nobody has this level in a project by itself.
      expect([path, status]).toEqual([path, path.includes('members/') && refused === 400 ? 400 : refused]);
      const { body } = await as(owner, 'GET', `${place}/members/all`);
      const levels = body.map((one: { id: number; access_level: number }) => [one.id, one.access_level]);
      expect(levels).toEqual([
        [owner.id, 50],
        [maintainer.id, 40],
      ]);
    }
  });

  test('by importing members of a project they own', async () => {
    const own = await as(maintainer, 'POST', '/projects', { name: 'own', namespace_id: club });
    expect(own.status).toBe(201);
    const json = { user_id: asker.id, access_level: 40 };
    await as(maintainer, 'POST', `/projects/${own.body.id}/members`, json);
    const developer = await service.user('developer');
    await as(owner, 'POST', `/projects/${project}/members`, { user_id: developer.id, access_level: 30 });
    const path = `/projects/${project}/import_project_members/${own.body.id}`;
    expect((await as(developer, 'POST', path)).status).toBe(403);
    expect((await as(maintainer, 'POST', path)).status).toBe(201);
    const { body } = await as(owner, 'GET', `/projects/${project}/members/all/${asker.id}`);
    expect(body.access_level).toBe(40);
    const { body: self } = await as(owner, 'GET', `/projects/${project}/members/all/${maintainer.id}`);
    expect(self.access_level).toBe(40);
  });
});

test('the row of an expired membership is deleted after its last day, unless it was extended', async () => {
  const later = new Date(Date.now() + 10 * 86_400_000);
  const [ends, stays, longer] = await Promise.all(['ends', 'stays', 'longer'].map((n) => service.user(n)));
  for (const kind of ['group', 'project'] as const) {
    const path = `/${kind}s/${kind === 'group' ? group : project}/members`;
    for (const one of [ends, stays, longer]) {
      const json = { user_id: one!.id, access_level: 20, expires_at: day(2) };
      expect((await as(owner, 'POST', path, json)).status).toBe(201);
    }
    await as(owner, 'PUT', `${path}/${stays!.id}`, { access_level: 20, expires_at: '' });
    await as(owner, 'PUT', `${path}/${longer!.id}`, { access_level: 20, expires_at: day(20) });
  }
  await service.host.dynamo.expire(later);
  const source = { kind: 'project', id: project } as const;
  const rows = await Promise.all(
    [ends, stays, longer].map((one) => storeOf().table.get(memberKey(source, one!.id))),
  );
  expect(rows.map((row) => row !== undefined)).toEqual([false, true, true]);
  const listed = (await as(owner, 'GET', `/groups/${group}/members?per_page=100`)).body;
  const ids = listed.map(({ id }: { id: number }) => id);
  expect([ends, stays, longer].map((one) => ids.includes(one!.id))).toEqual([false, true, true]);
});

test('an expired membership does not count on the next request, and allows an access request', async () => {
  const guest = await service.user('guest');
  const hidden = await as(owner, 'POST', '/projects', { name: 'hidden', namespace_id: group });
  const path = `/projects/${hidden.body.id}`;
  await as(owner, 'POST', `${path}/members`, { user_id: guest.id, access_level: 30 });
  expect((await as(guest, 'GET', path)).status).toBe(200);
  const source = { kind: 'project', id: hidden.body.id } as const;
  await storeOf().members.change(source, guest.id, { accessLevel: 30, expiresAt: day(0) });
  expect((await as(guest, 'GET', path)).status).toBe(404);
  await as(owner, 'PUT', path, { visibility: 'public' });
  await as(owner, 'PUT', `/groups/${group}`, { request_access_enabled: true });
  expect((await as(guest, 'POST', `${path}/access_requests`)).status).toBe(201);
  const approved = await as(owner, 'PUT', `${path}/access_requests/${guest.id}/approve`);
  expect([approved.status, approved.body.expires_at]).toEqual([201, null]);
});

const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
