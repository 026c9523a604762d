import { Gitlab } from '@gitbeaker/rest';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { NO_RECORD } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';

const { service, world, as, root } = ownWorld();
beforeAll(async () => {
  const made = await as('owner', 'POST', '/groups', { name: 'Open', path: 'open', visibility: 'public' });
  world.ids['open'] = made.body.id;
  const { id } = await service.user('asker');
  world.ids['asker'] = id;
});

let n = 0;
const person = async () => {
  const made = await service.user(`person-${++n}`);
  const call = (method: string, path: string, json?: unknown) =>
    service.call(method, path, { token: made.token, ...(json === undefined ? {} : { json }) });
  return { ...made, call };
};
/** A user who requests access. */
const asker = async (path: string) => {
  const made = await person();
  expect((await made.call('POST', `${path}/access_requests`)).status).toBe(201);
  return made;
};
const REFUSED = { anonymous: 401, stranger: 403, guest: 403, reporter: 403, developer: 403 } as const;

describe('permission to use access requests', () => {
  scenarios(
    () => world,
    [
      {
        request: 'GET /projects/{public}/access_requests',
        as: { ...REFUSED, maintainer: 200, owner: 200, administrator: 200, read_api: 200, read_user: 403 },
      },
      {
        request: 'GET /projects/{private}/access_requests',
        as: { anonymous: 401, stranger: 404, external: 404, former: 404, guest: 403, maintainer: 200 },
        hides: ['private thing'],
      },
      { request: 'GET /groups/{open}/access_requests', as: { ...REFUSED, owner: 200, administrator: 200 } },
      {
        request: 'POST /projects/{public}/access_requests',
        as: { anonymous: 401, guest: 403, maintainer: 403, owner: 403, administrator: 403, read_api: 403 },
      },
      {
        request: 'POST /projects/{public}/access_requests',
        as: { stranger: 201, external: 201, former: 201 },
        look: ({ body }, _, who) => expect(body).toMatchObject({ username: who, state: 'active' }),
      },
      { request: 'POST /projects/{internal}/access_requests', as: { external: 404 } },
      { request: 'POST /projects/{private}/access_requests', as: { stranger: 404, former: 404 } },
      {
        request: 'PUT /projects/{public}/access_requests/{asker}/approve',
        as: { ...REFUSED, maintainer: NO_RECORD, owner: NO_RECORD, administrator: NO_RECORD },
      },
      {
        request: 'DELETE /projects/{public}/access_requests/{asker}',
        as: { ...REFUSED, maintainer: NO_RECORD, owner: NO_RECORD },
      },
      {
        // A member requests nothing.
        request: 'DELETE /projects/{public}/access_requests/{developer}',
        as: { maintainer: NO_RECORD, developer: NO_RECORD },
      },
    ],
  );
});

describe.each(['projects', 'groups'])('access requests to %s', (kind) => {
  const place = () => `/${kind}/${world.ids[kind === 'projects' ? 'public' : 'open']}`;

  test('a requester is no member until a decider, who is notified, approves', async () => {
    const who = await asker(place());
    const again = await who.call('POST', `${place()}/access_requests`);
    expect([again.status, again.body]).toEqual([400, { message: { user_id: ['already exists in source'] } }]);
    for (const path of ['members', 'members/all']) {
      const { body } = await as('owner', 'GET', `${place()}/${path}`);
      expect(body.map(({ id }: { id: number }) => id)).not.toContain(who.id);
      expect((await as('owner', 'GET', `${place()}/${path}/${who.id}`)).status).toBe(404);
    }
    expect((await as('owner', 'DELETE', `${place()}/members/${who.id}`)).status).toBe(404);
    expect(
      (await service.call('GET', `/users/${who.id}/memberships`, { token: service.rootToken })).body,
    ).toEqual([]);
    const listed = (await as('owner', 'GET', `${place()}/access_requests`)).body;
    expect(listed.filter(({ id }: { id: number }) => id === who.id)).toMatchObject([
      { username: who.username, requested_at: expect.any(String) },
    ]);
    const path = `${place()}/access_requests/${who.id}/approve`;
    const approved = await as('owner', 'PUT', path);
    expect([approved.status, approved.body]).toMatchObject([201, { id: who.id, access_level: 30 }]);
    expect((await as('owner', 'GET', `${place()}/members/${who.id}`)).body.access_level).toBe(30);
    expect((await as('owner', 'PUT', path)).status).toBe(404);
    expect((await who.call('POST', `${place()}/access_requests`)).status).toBe(403);
  });

  test('nobody can approve above their own level or at a level that does not exist', async () => {
    const who = await asker(place());
    const path = `${place()}/access_requests/${who.id}/approve`;
    const bad = await as('owner', 'PUT', path, { access_level: 45 });
    expect([bad.status, bad.body]).toEqual([
      400,
      { message: { access_level: ['is not included in the list'] } },
    ]);
    expect((await who.call('PUT', path, { access_level: 50 })).status).toBe(403);
    if (kind === 'projects')
      expect((await as('maintainer', 'PUT', path, { access_level: 50 })).status).toBe(400);
    expect((await as('owner', 'PUT', path, { access_level: 40 })).body.access_level).toBe(40);
  });

  test('only one of two simultaneous approvals succeeds; a request can be denied or withdrawn once', async () => {
    const who = await asker(place());
    const one = `${place()}/access_requests/${who.id}`;
    const answers = await Promise.all([
      as('owner', 'PUT', `${one}/approve`, { access_level: 10 }),
      as('administrator', 'PUT', `${one}/approve`, { access_level: 20 }),
      as('owner', 'DELETE', one),
    ]);
    expect(answers.filter(({ status }) => status < 300).length).toBe(1);
    expect(answers.filter(({ status }) => status >= 300).map(({ status }) => status)).toEqual([404, 404]);
    const [refused, sorry] = [await asker(place()), await asker(place())];
    expect((await as('owner', 'DELETE', `${place()}/access_requests/${refused.id}`)).status).toBe(204);
    const mine = `${place()}/access_requests/${sorry.id}`;
    expect((await sorry.call('DELETE', mine)).status).toBe(204);
    expect((await sorry.call('DELETE', mine)).status).toBe(404);
    const left = (await as('owner', 'GET', `${place()}/access_requests?per_page=100`)).body;
    const ids = left.map(({ id }: { id: number }) => id);
    for (const { id } of [refused, sorry, who]) expect(ids).not.toContain(id);
  });

  test('a requester who is added as a member no longer has a pending request', async () => {
    const who = await asker(place());
    const json = { user_id: who.id, access_level: 20 };
    expect((await as('owner', 'POST', `${place()}/members`, json)).status).toBe(201);
    expect((await as('owner', 'PUT', `${place()}/access_requests/${who.id}/approve`)).status).toBe(404);
    const listed = (await as('owner', 'GET', `${place()}/access_requests?per_page=100`)).body;
    expect(listed.map(({ id }: { id: number }) => id)).not.toContain(who.id);
  });

  test('requests are refused where they are disabled', async () => {
    await as('owner', 'PUT', place(), { request_access_enabled: false });
    expect((await (await person()).call('POST', `${place()}/access_requests`)).status).toBe(403);
    await as('owner', 'PUT', place(), { request_access_enabled: true });
  });
});

test('an access request is deleted with its requester and with its project or group', async () => {
  const place = async (kind: 'project' | 'group') => {
    const json = { name: `short ${kind}`, path: `short-${kind}`, visibility: 'public' };
    const { id } = (await as('owner', 'POST', `/${kind}s`, json)).body;
    return { kind, id } as const;
  };
  const [gone, left] = [await place('project'), await place('group')];
  const [who, other] = [await person(), await person()];
  for (const { kind, id } of [gone, left]) {
    await who.call('POST', `/${kind}s/${id}/access_requests`);
    await other.call('POST', `/${kind}s/${id}/access_requests`);
  }
  const { accessRequests } = world.store;
  await as('owner', 'DELETE', `/projects/${gone.id}`);
  await service.call('DELETE', `/users/${who.id}`, { token: service.rootToken });
  const rows = async () =>
    (
      await Promise.all(
        [gone, left].flatMap((source) => [who, other].map(({ id }) => accessRequests.get(source, id))),
      )
    ).map((row) => row !== undefined);
  await expect.poll(rows).toEqual([false, false, false, true]);
});

test('access requests are mailed to those who decide on them and to nobody else', async () => {
  const { body } = await as('owner', 'POST', '/projects', { name: 'told', visibility: 'public' });
  const deputy = await person();
  await as('owner', 'POST', `/projects/${body.id}/members`, { user_id: deputy.id, access_level: 40 });
  const who = await asker(`/projects/${body.id}`);
  // The first may be that they are a member.
  const mails = await service.mailTo(`${deputy.username}@example.com`, 2);
  const mail = mails.find(({ subject }) => subject === `${who.username} requests access to owner/told`);
  expect(mail?.text).toContain(`/projects/${body.id}/access_requests/${who.id}/approve`);
});

test('a group that locks membership lets nobody be added to its projects in any way', async () => {
  const top = await as('owner', 'POST', '/groups', { name: 'Lock', path: 'lock', visibility: 'public' });
  const sub = await as('owner', 'POST', '/groups', {
    name: 'In',
    path: 'in',
    parent_id: top.body.id,
    visibility: 'public',
  });
  const json = { name: 'locked', namespace_id: sub.body.id, visibility: 'public' };
  const project = `/projects/${(await as('owner', 'POST', '/projects', json)).body.id}`;
  const who = await asker(project);
  const other = await person();
  const early = { email: 'early@example.com', access_level: 10 };
  expect((await as('owner', 'POST', `${project}/invitations`, early)).body).toEqual({ status: 'success' });
  await as('owner', 'PUT', `/groups/${top.body.id}`, { membership_lock: true });
  await root('POST', `/users/${other.id}/emails`, { email: early.email, skip_confirmation: true });
  const tries: [string, string, object?][] = [
    ['POST', `${project}/members`, { user_id: other.id, access_level: 10 }],
    ['POST', `${project}/invitations`, { email: 'locked@example.com', access_level: 10 }],
    ['PUT', `${project}/access_requests/${who.id}/approve`],
    ['POST', `${project}/import_project_members/${world.ids['public']}`],
  ];
  for (const [method, path, body] of tries) {
    const answer = await as('owner', method, path, body);
    expect([path, answer.status, answer.body]).toEqual([path, 405, { message: '405 Method Not Allowed' }]);
  }
  const [mail] = await service.mailTo(early.email);
  const body = new URLSearchParams({
    invitation_token: /invitation_token=([\w-]+)/.exec(mail!.text!)![1]!,
    answer: 'accept',
  });
  const accept = () => fetch(`${service.url}/users/invitation`, { method: 'POST', body });
  expect((await accept()).status).toBe(400);
  expect((await as('owner', 'GET', `${project}/members/${other.id}`)).status).toBe(404);
  await as('owner', 'PUT', `/groups/${top.body.id}`, { membership_lock: false });
  expect((await accept()).status).toBe(200);
  expect((await as('owner', 'GET', `${project}/members/${other.id}`)).status).toBe(200);
  await as('owner', 'PUT', `/groups/${top.body.id}`, { membership_lock: true });
  // Groups inside take members as before.
  const add = { user_id: other.id, access_level: 10 };
  expect((await as('owner', 'POST', `/groups/${sub.body.id}/members`, add)).status).toBe(201);
});

describe('importing members of another project', () => {
  test('adds them at their level there, capped at the importer’s own level', async () => {
    const { body: to } = await as('owner', 'POST', '/projects', { name: 'to', visibility: 'public' });
    const helper = await person();
    const path = `/projects/${to.id}/import_project_members/${world.ids['public']}`;
    await as('owner', 'POST', `/projects/${to.id}/members`, { user_id: helper.id, access_level: 40 });
    await as('owner', 'POST', `/projects/${to.id}/members`, {
      user_id: world.ids['guest'],
      access_level: 30,
    });
    const done = await helper.call('POST', path);
    expect([done.status, done.body]).toEqual([201, { status: 'success', message: 'Successfully imported' }]);
    const levelOf = async (name: string) =>
      (await as('owner', 'GET', `/projects/${to.id}/members/${world.ids[name]}`)).body.access_level;
    expect(await levelOf('developer')).toBe(30);
    expect(await levelOf('maintainer')).toBe(40);
    // Who is one already stays what they are; who was one there is none here.
    expect(await levelOf('guest')).toBe(30);
    expect(await levelOf('former')).toBeUndefined();
    expect((await helper.call('POST', path)).status).toBe(201);
    const hidden = `/projects/${to.id}/import_project_members/${world.ids['private']}`;
    const answer = await helper.call('POST', hidden);
    expect([answer.status, answer.body]).toEqual([404, { message: '404 Project Not Found' }]);
    expect((await as('developer', 'POST', path)).status).toBe(403);
    expect((await as('owner', 'POST', `/projects/${to.id}/import_project_members/x`)).status).toBe(400);
  });
});

test('@gitbeaker/rest requests, approves and denies access, and imports members', async () => {
  const api = new Gitlab({ host: service.url, token: world.tokens.owner! });
  const [one, other] = [await person(), await person()];
  const project = world.ids['public']!;
  await new Gitlab({ host: service.url, token: one.token }).ProjectAccessRequests.request(project);
  await new Gitlab({ host: service.url, token: other.token }).ProjectAccessRequests.request(project);
  const all = await api.ProjectAccessRequests.all(project);
  expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining([one.id, other.id]));
  expect(await api.ProjectAccessRequests.approve(project, one.id, { accessLevel: 20 })).toMatchObject({
    access_level: 20,
  });
  await api.ProjectAccessRequests.deny(project, other.id);
  expect((await api.ProjectAccessRequests.all(project)).map(({ id }) => id)).not.toContain(other.id);
});
