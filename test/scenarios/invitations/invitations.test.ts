import { Gitlab } from '@gitbeaker/rest';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { request } from '../../harness/service.ts';

const { service, world, as, root } = ownWorld();
beforeAll(async () => {
  const made = await as('owner', 'POST', '/groups', { name: 'Crew', path: 'crew' });
  world.ids['crew'] = made.body.id;
});

let n = 0;
const fresh = () => `invited-${++n}`;
const SUCCESS = { status: 'success' };
const member = async (place: string, id: number) =>
  (await as('owner', 'GET', `${place}/members/${id}`)).body.access_level as number | undefined;
const waiting = async (place: string) =>
  (await as('owner', 'GET', `${place}/invitations?per_page=100`)).body.map(
    (each: { invite_email: string }) => each.invite_email,
  ) as string[];

describe('permission on invitations', () => {
  const OTHERS = { anonymous: 401, stranger: 403, guest: 403, developer: 403, read_user: 403 } as const;
  scenarios(
    () => world,
    [
      {
        request: 'POST /projects/{public}/invitations',
        json: () => ({ email: `${fresh()}@example.com`, access_level: 10 }),
        as: { ...OTHERS, blocked: 403, maintainer: 201, owner: 201, administrator: 201, read_api: 403 },
        holds: SUCCESS,
      },
      {
        request: 'POST /projects/{private}/invitations',
        json: { email: 'x@example.com', access_level: 10 },
        as: { anonymous: 401, stranger: 404, external: 404, former: 404, guest: 403 },
        hides: ['private thing'],
      },
      { request: 'GET /projects/{public}/invitations', as: { ...OTHERS, maintainer: 200, read_api: 200 } },
      { request: 'PUT /projects/{public}/invitations/x@example.com', as: { ...OTHERS, maintainer: 404 } },
      { request: 'DELETE /projects/{public}/invitations/x@example.com', as: { ...OTHERS, maintainer: 404 } },
      { request: 'GET /groups/{crew}/invitations', as: { anonymous: 401, stranger: 404, owner: 200 } },
    ].map((each) => ({
      ...each,
      as: Object.fromEntries(
        Object.entries(each.as).map(([who, status]) => [
          who,
          status === 404 && who === 'maintainer' ? { status, holds: { message: '404 Not found' } } : status,
        ]),
      ),
    })),
  );
});

describe.each(['projects', 'groups'])('invitations to %s', (kind) => {
  const place = () => `/${kind}/${world.ids[kind === 'projects' ? 'private' : 'crew']}`;
  const invite = (email: unknown, more: object = {}) =>
    as('owner', 'POST', `${place()}/invitations`, { email, access_level: 30, ...more });

  test('make a user who registers with the address, in any case, a member', async () => {
    const name = fresh();
    expect((await invite(`${name}@Example.COM`, { expires_at: '2099-01-01' })).body).toEqual(SUCCESS);
    const [listed] = (await as('owner', 'GET', `${place()}/invitations?query=${name.toUpperCase()}`)).body;
    expect(listed).toEqual({
      id: expect.any(Number),
      invite_email: `${name}@Example.COM`,
      created_at: expect.any(String),
      access_level: 30,
      expires_at: '2099-01-01',
      created_by_name: 'owner',
    });
    const again = await invite(`${name.toUpperCase()}@example.com`);
    const taken = { status: 'error', message: expect.objectContaining({}) };
    expect([again.status, again.body]).toEqual([201, taken]);
    expect(Object.values(again.body.message)).toEqual(['Invite email has already been taken']);
    const { id } = await service.user(name);
    await expect.poll(() => member(place(), id)).toBe(30);
    expect(await waiting(place())).not.toContain(`${name}@Example.COM`);
    expect((await as('owner', 'GET', `${place()}/members/${id}`)).body.expires_at).toBe('2099-01-01');
  });

  test('take effect only once the address is confirmed', async () => {
    const name = fresh();
    const claimed = { username: name, name, email: `${name}@example.com`, force_random_password: true };
    const { id } = (await root('POST', '/users', claimed)).body;
    expect((await invite(`${name}@example.com`)).body).toEqual(SUCCESS);
    expect(await member(place(), id)).toBeUndefined();
    await root('PUT', `/users/${id}`, { skip_confirmation: true });
    await expect.poll(() => member(place(), id)).toBe(30);
    // One beside the first, added and confirmed later.
    const second = fresh();
    await invite(`${second}@example.com`);
    const other = await service.user(fresh());
    await root('POST', `/users/${other.id}/emails`, {
      email: `${second}@example.com`,
      skip_confirmation: true,
    });
    await expect.poll(() => member(place(), other.id)).toBe(30);
  });

  test('for several addresses are independent, and add existing users at once', async () => {
    const [there, is, none] = [await service.user(fresh()), await service.user(fresh()), fresh()];
    await as('owner', 'POST', `${place()}/members`, { user_id: is.id, access_level: 10 });
    const emails = [`${there.username}@example.com`, `${is.username}@EXAMPLE.com`, 'no address', '__proto__'];
    const answer = await invite([...emails, `${none}@example.com`, `${none.toUpperCase()}@example.com`]);
    expect(answer.status).toBe(201);
    expect(Object.entries(answer.body.message)).toEqual([
      [`${is.username}@EXAMPLE.com`, 'User already exists in source'],
      ['no address', 'Invite email is invalid'],
      ['__proto__', 'Invite email is invalid'],
    ]);
    expect(await member(place(), there.id)).toBe(30);
    expect(await member(place(), is.id)).toBe(10);
    expect((await waiting(place())).filter((email) => email.toLowerCase().startsWith(none)).length).toBe(1);
    const byText = await invite(`${fresh()}@example.com, ${fresh()}@example.com`);
    expect(byText.body).toEqual(SUCCESS);
    const third = await service.user(fresh());
    const byId = await as('owner', 'POST', `${place()}/invitations`, {
      user_id: third.id,
      access_level: 20,
    });
    expect(byId.body).toEqual(SUCCESS);
    expect(await member(place(), third.id)).toBe(20);
  });

  test.each([
    [
      { access_level: 30 },
      400,
      { error: 'email, user_id are missing, at least one parameter must be provided' },
    ],
    [{ email: 'a@example.com' }, 400, { error: 'access_level is missing' }],
    [
      { email: 'a@example.com', access_level: 45 },
      400,
      { message: { access_level: ['is not included in the list'] } },
    ],
    [
      { email: 'a@example.com', access_level: 10, expires_at: '2020-01-01' },
      400,
      { message: { expires_at: ['cannot be a date in the past'] } },
    ],
    [
      { email: Array.from({ length: 101 }, (_, i) => `many-${i}@example.com`), access_level: 10 },
      201,
      { status: 'error', message: 'Too many users specified (limit is 100)' },
    ],
    [
      { email: Array.from({ length: 100_000 }, () => 'a@b.c'), access_level: 10 },
      400,
      { error: 'too many parameters' },
    ],
  ])('are refused: case %#', async (json, status, body) => {
    const answer = await as('owner', 'POST', `${place()}/invitations`, json);
    expect([answer.status, answer.body]).toEqual([status, body]);
  });

  test('can be changed and deleted', async () => {
    const email = `${fresh()}+tag@example.com`;
    await invite(email);
    const path = `${place()}/invitations/${encodeURIComponent(email.toUpperCase())}`;
    const changed = await as('owner', 'PUT', path, { access_level: 40 });
    expect([changed.status, changed.body]).toMatchObject([200, { access_level: 40, expires_at: null }]);
    const dated = await as('owner', 'PUT', path, { expires_at: '2099-02-03' });
    expect(dated.body).toMatchObject({ access_level: 40, expires_at: '2099-02-03' });
    expect((await as('owner', 'PUT', path, { access_level: 0 })).status).toBe(400);
    expect((await as('owner', 'DELETE', path)).status).toBe(204);
    expect((await as('owner', 'DELETE', path)).status).toBe(404);
    expect(await waiting(place())).not.toContain(email);
  });

  test('are accepted by the mailed link once', async () => {
    const answer = (token: string, answer: string) =>
      request(`${service.url}/users/invitation`, 'POST', {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ invitation_token: token, answer }),
      });
    const tokenOf = async (email: string) => {
      const [mail] = await service.mailTo(email);
      return /invitation_token=([\w-]+)/.exec(mail!.text!)![1]!;
    };
    const name = fresh();
    const email = `${name}@example.com`;
    await invite(email);
    const token = await tokenOf(email);
    const page = await request(`${service.url}/users/invitation?invitation_token=${token}`, 'GET');
    expect([page.status, page.body]).toEqual([200, expect.stringContaining(token)]);
    expect(await waiting(place())).toContain(email);
    expect((await answer(token, 'accept')).body).toContain('No account has confirmed this email address yet');
    expect((await answer(token, 'decline')).status).toBe(200);
    expect(await waiting(place())).not.toContain(email);
    expect((await answer(token, 'decline')).status).toBe(400);
    expect((await answer('nothing', 'accept')).status).toBe(400);
    const { id } = await service.user(name);
    expect(await member(place(), id)).toBeUndefined();
  });
});

test('nobody can invite above their own level or change an invitation above it', async () => {
  const top = await as('owner', 'POST', '/groups', { name: 'Tops', path: 'tops' });
  const group = `/groups/${top.body.id}`;
  await as('owner', 'POST', `${group}/members`, { user_id: world.ids['maintainer'], access_level: 40 });
  const json = { email: 'boss@example.com', access_level: 50 };
  expect((await as('maintainer', 'POST', `${group}/invitations`, json)).status).toBe(403);
  expect((await as('owner', 'POST', `${group}/invitations`, json)).body).toEqual(SUCCESS);
  expect((await as('maintainer', 'PUT', `${group}/invitations/boss@example.com`, {})).status).toBe(403);
  expect((await as('maintainer', 'DELETE', `${group}/invitations/boss@example.com`)).status).toBe(403);
  const project = `/projects/${world.ids['private']}/invitations`;
  expect((await as('maintainer', 'POST', project, { ...json, access_level: 50 })).status).toBe(400);
});

test('an invitation is deleted with its group or project, and has no effect after it expires', async () => {
  const { body } = await as('owner', 'POST', '/projects', { name: 'short' });
  const names = [fresh(), fresh()];
  for (const name of names)
    await as('owner', 'POST', `/projects/${body.id}/invitations`, {
      email: `${name}@example.com`,
      access_level: 10,
    });
  const source = { kind: 'project', id: body.id } as const;
  await world.store.invitations.change(source, `${names[0]}@example.com`, { expiresAt: '2020-01-01' });
  const { id } = await service.user(names[0]!);
  await expect.poll(() => waiting(`/projects/${body.id}`)).toEqual([`${names[1]}@example.com`]);
  expect(await member(`/projects/${body.id}`, id)).toBeUndefined();
  await as('owner', 'DELETE', `/projects/${body.id}`);
  const left = async () => {
    const found = [];
    for await (const each of world.store.invitations.of(`${names[1]}@example.com`)) found.push(each);
    return found;
  };
  await expect.poll(left).toEqual([]);
});

test('an invitation accepted twice at once gives one membership', async () => {
  const name = fresh();
  const email = `${name}@example.com`;
  const place = `/projects/${world.ids['public']}`;
  await as('owner', 'POST', `${place}/invitations`, { email, access_level: 20 });
  const source = { kind: 'project', id: world.ids['public']! } as const;
  const invitation = (await world.store.invitations.get(source, email))!;
  const { id } = await service.user(fresh());
  const record = {
    source,
    userId: id,
    accessLevel: 20,
    createdAt: new Date().toISOString(),
    expiresAt: null,
    createdById: null,
  } as const;
  const tries = await Promise.allSettled(
    [1, 2, 3].map(() => world.store.invitations.accept(invitation, record)),
  );
  expect(tries.filter(({ status }) => status === 'fulfilled').length).toBe(1);
  expect(await member(place, id)).toBe(20);
  expect(await waiting(place)).not.toContain(email);
});

test('@gitbeaker/rest creates, changes and deletes invitations', async () => {
  const api = new Gitlab({ host: service.url, token: world.tokens.owner! });
  const email = `${fresh()}@example.com`;
  const group = world.ids['crew']!;
  expect(await api.GroupInvitations.add(group, 30, { email })).toEqual(SUCCESS);
  const [found] = await api.GroupInvitations.all(group, { query: email });
  expect(found).toMatchObject({ invite_email: email, access_level: 30 });
  expect(await api.GroupInvitations.edit(group, email, { accessLevel: 20 })).toMatchObject({
    access_level: 20,
  });
  await api.GroupInvitations.remove(group, email);
  expect(await api.GroupInvitations.all(group, { query: email })).toEqual([]);
});
