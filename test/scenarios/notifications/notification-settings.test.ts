/** Notification settings: global, and per project and group. */
import { beforeAll, describe, expect, test } from 'vitest';
import { NOTIFICATION_EVENTS } from '../../../lib/records/notifications.ts';
import { Missing } from '../../../lib/store/errors.ts';
import { memberPartition } from '../../../lib/store/row-keys/members.ts';
import { threadsOfHolder } from '../../../lib/store/row-keys/notes.ts';
import { userKey } from '../../../lib/store/row-keys/users.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { settled } from '../../harness/settled.ts';
import { ask } from '../../harness/world.ts';

const { service, world } = ownWorld();
const groups: Record<string, number> = {};
beforeAll(async () => {
  const owner = world.tokens.owner!;
  const made = await service.call('POST', '/groups', {
    token: owner,
    json: { name: 'team', path: 'team', visibility: 'private' },
  });
  groups['team'] = made.body.id;
  world.ids['team'] = made.body.id;
});

const DEFAULTS = Object.fromEntries(
  NOTIFICATION_EVENTS.map((event) => [event, /^(failed|fixed)_pipeline$/.test(event)]),
);

describe('notification settings before any choice', () => {
  scenarios(
    () => world,
    [
      {
        request: 'GET /notification_settings',
        as: {
          anonymous: 401,
          blocked: 403,
          expired: 401,
          read_user: 403,
          read_api: 200,
          guest: { status: 200, holds: { level: 'participating', notification_email: 'guest@example.com' } },
        },
      },
      {
        request: 'GET /projects/{private}/notification_settings',
        as: {
          anonymous: 401,
          stranger: 404,
          external: 404,
          former: 404,
          guest: 200,
          owner: 200,
          administrator: 200,
        },
        holds: { level: 'global' },
        look: ({ body, status }) => status === 200 && expect(Object.keys(body as object)).toEqual(['level']),
      },
      {
        request: 'GET /projects/{public}/notification_settings',
        as: { anonymous: 401, stranger: 200, read_repository: 403 },
        holds: { level: 'global' },
      },
      {
        request: 'GET /groups/{team}/notification_settings',
        as: { anonymous: 401, stranger: 404, guest: 404, owner: 200, administrator: 200 },
        holds: { level: 'global' },
      },
    ],
  );
});

describe('choosing notification settings', () => {
  scenarios(
    () => world,
    [
      {
        request: 'PUT /projects/{private}/notification_settings',
        json: { level: 'watch' },
        as: { anonymous: 401, stranger: 404, former: 404, read_api: 403, guest: 200, administrator: 200 },
        holds: { level: 'watch' },
      },
      {
        request: 'PUT /groups/{team}/notification_settings',
        json: { level: 'mention' },
        as: { anonymous: 401, stranger: 404, owner: 200 },
        holds: { level: 'mention' },
      },
      {
        request: 'PUT /notification_settings',
        json: { level: 'disabled' },
        as: { anonymous: 401, read_api: 403, stranger: 200 },
        holds: { level: 'disabled', notification_email: 'stranger@example.com' },
      },
      ...['/projects/{private}', '/groups/{team}', ''].flatMap((base) => [
        {
          request: `PUT ${base}/notification_settings`,
          json: { level: 'loud' },
          as: { owner: { status: 400, holds: { message: "'loud' is not a valid level" } } },
        },
        {
          request: `PUT ${base}/notification_settings`,
          json: { level: '' },
          as: { owner: { status: 400, holds: { message: "'' is not a valid level" } } },
        },
        {
          request: `PUT ${base}/notification_settings`,
          json: { level: 'custom', new_note: 'perhaps' },
          as: { owner: { status: 400, holds: { error: 'new_note is invalid' } } },
        },
      ]),
      {
        request: 'PUT /projects/0/notification_settings',
        json: { level: 'watch' },
        as: { owner: { status: 404, holds: { message: '404 Project Not Found' } } },
      },
    ],
  );

  test('stores each level without affecting the others', async () => {
    for (const level of ['disabled', 'participating', 'watch', 'global', 'mention']) {
      const path = `/projects/${world.ids['internal']}/notification_settings`;
      expect((await ask(world, 'developer', 'PUT', path, { level })).body).toEqual({ level });
      expect((await ask(world, 'developer', 'GET', path)).body).toEqual({ level });
    }
    expect((await ask(world, 'developer', 'GET', '/notification_settings')).body.level).toBe('participating');
    expect(
      (await ask(world, 'developer', 'GET', `/projects/${world.ids['private']}/notification_settings`)).body,
    ).toEqual({ level: 'global' });
  });

  test.each(['', '/projects/public', '/groups/team'])(
    'stores custom events for the path "%s", and shows them at the level custom',
    async (at) => {
      const base = at
        .replace('public', String(world.ids['public']))
        .replace('team', String(world.ids['team']));
      const path = `${base}/notification_settings`;
      const put = async (json: object) => (await ask(world, 'owner', 'PUT', path, json)).body;
      expect(await put({ level: 'watch' })).not.toHaveProperty('events');
      expect(await put({ new_note: true, failed_pipeline: false })).toMatchObject({ level: 'watch' });
      const custom = await put({ level: 'custom', moved_project: 'yes' });
      expect(custom).toMatchObject({
        level: 'custom',
        events: { ...DEFAULTS, new_note: true, failed_pipeline: false, moved_project: true },
      });
      expect(await put({ level: 'global' })).not.toHaveProperty('events');
      expect(await put({ level: 'custom', new_note: false })).toMatchObject({
        events: { ...DEFAULTS, failed_pipeline: false, moved_project: true },
      });
      expect((await ask(world, 'owner', 'GET', path)).body.events.moved_project).toBe(true);
      await put({ level: 'global' });
    },
  );

  test.each(['', '/projects/public', '/groups/team'])(
    'refuses invalid levels and events for the path "%s" without a change',
    async (at) => {
      const base = at
        .replace('public', String(world.ids['public']))
        .replace('team', String(world.ids['team']));
      const path = `${base}/notification_settings`;
      const token = world.tokens.owner!;
      await ask(world, 'owner', 'PUT', path, { level: 'custom', new_note: true });
      const { body: kept } = await ask(world, 'owner', 'GET', path);
      for (const json of [
        {},
        { level: null },
        { new_note: null },
        { other: 1 },
        { events: { new_note: false } },
        [1],
      ])
        expect(await ask(world, 'owner', 'PUT', path, json)).toMatchObject({ status: 200, body: kept });
      expect(await service.call('PUT', path, { token })).toMatchObject({ status: 200, body: kept });
      for (const [json, error] of [
        [{ level: ['watch'] }, 'level is invalid'],
        [{ level: { a: 1 } }, 'level is invalid'],
        [{ level: 'watch', new_note: [] }, 'new_note is invalid'],
      ] as const)
        expect(await ask(world, 'owner', 'PUT', path, json)).toMatchObject({ status: 400, body: { error } });
      for (const level of ['Watch', ' watch', 'wätch\u2028', '__proto__', 'constructor'])
        expect(await ask(world, 'owner', 'PUT', path, { level })).toMatchObject({
          status: 400,
          body: { message: `'${level}' is not a valid level` },
        });
      expect((await ask(world, 'owner', 'GET', path)).body).toEqual(kept);
      await ask(world, 'owner', 'PUT', path, {
        level: at === '' ? 'participating' : 'global',
        new_note: false,
      });
    },
  );

  test('works for an archived project, and by its path', async () => {
    const token = world.tokens.owner!;
    const json = { name: 'Grüße', path: 'resting', visibility: 'public' };
    const { id, path_with_namespace: fullPath } = (await service.call('POST', '/projects', { token, json }))
      .body;
    await service.call('POST', `/projects/${id}/archive`, { token });
    for (const ref of [id, encodeURIComponent(fullPath)]) {
      const path = `/projects/${ref}/notification_settings`;
      expect((await ask(world, 'stranger', 'PUT', path, { level: 'mention' })).body).toEqual({
        level: 'mention',
      });
      expect((await ask(world, 'stranger', 'GET', path)).body).toEqual({ level: 'mention' });
    }
  });

  test('switches each event on its own, also in a form', async () => {
    const path = `/projects/${world.ids['public']}/notification_settings`;
    for (const event of NOTIFICATION_EVENTS) {
      const { body } = await service.call('PUT', path, {
        token: world.tokens.stranger!,
        form: `level=custom&${event}=${DEFAULTS[event] ? 'false' : '1'}`,
      });
      expect(body.events[event]).toBe(!DEFAULTS[event]);
    }
  });

  test('keeps both of two simultaneous changes', async () => {
    const path = `/projects/${world.ids['public']}/notification_settings`;
    await Promise.all(
      NOTIFICATION_EVENTS.map((event) =>
        ask(world, 'maintainer', 'PUT', path, { level: 'custom', [event]: true }),
      ),
    );
    const { body } = await ask(world, 'maintainer', 'GET', path);
    expect(Object.values(body.events).every((wanted) => wanted === true)).toBe(true);
  });

  test('is reflected in the project’s answer to the caller', async () => {
    const shown = async (who: 'owner' | 'guest') =>
      (await ask(world, who, 'GET', `/projects/${world.ids['private']}`)).body.permissions;
    await ask(world, 'guest', 'PUT', `/projects/${world.ids['private']}/notification_settings`, {
      level: 'mention',
    });
    expect((await shown('guest')).project_access).toEqual({ access_level: 10, notification_level: 4 });
    expect((await shown('owner')).project_access).toEqual({ access_level: 40, notification_level: 3 });
    const inTeam = await service.call('POST', '/projects', {
      token: world.tokens.owner!,
      json: { name: 'in team', namespace_id: world.ids['team'] },
    });
    await ask(world, 'owner', 'PUT', `/groups/${world.ids['team']}/notification_settings`, {
      level: 'watch',
    });
    const { body } = await ask(world, 'owner', 'GET', `/projects/${inTeam.body.id}`);
    expect(body.permissions.group_access).toEqual({ access_level: 50, notification_level: 2 });
  });
});

describe('the notification address', () => {
  const put = (json: object) => ask(world, 'reporter', 'PUT', '/notification_settings', json);
  const REFUSED = {
    status: 400,
    body: { message: { notification_email: ['must be an email you have verified'] } },
  };

  test('must be one of the user’s confirmed addresses', async () => {
    for (const address of [
      'owner@example.com',
      'nobody@example.com',
      'reporter@example.com\r\nBcc: owner@example.com',
      'reporter@example.com\n',
      'no address',
    ])
      expect(await put({ notification_email: address, level: 'watch' })).toMatchObject(REFUSED);
    // Nothing half done.
    expect((await ask(world, 'reporter', 'GET', '/notification_settings')).body.level).toBe('participating');
    const token = world.tokens.administrator!;
    const add = (json: object) =>
      service.call('POST', `/users/${world.ids['reporter']}/emails`, { token, json });
    await add({ email: 'waiting@example.com' });
    expect(await put({ notification_email: 'waiting@example.com' })).toMatchObject(REFUSED);
    const second = await add({ email: 'Second@example.com', skip_confirmation: true });
    expect(await put({ notification_email: 'second@EXAMPLE.com' })).toMatchObject({
      status: 200,
      body: { level: 'participating', notification_email: 'second@EXAMPLE.com' },
    });
    await service.call('DELETE', `/users/${world.ids['reporter']}/emails/${second.body.id}`, { token });
    const { body } = await ask(world, 'reporter', 'GET', '/notification_settings');
    expect(body.notification_email).toBe('reporter@example.com');
  });

  test('can be reset to the primary address', async () => {
    const token = world.tokens.administrator!;
    const json = { email: 'third@example.com', skip_confirmation: true };
    await service.call('POST', `/users/${world.ids['reporter']}/emails`, { token, json });
    expect((await put({ notification_email: 'third@example.com' })).body.notification_email).toBe(
      'third@example.com',
    );
    expect((await put({ notification_email: '' })).body.notification_email).toBe('reporter@example.com');
  });
});

describe('deleted users, projects and groups', () => {
  const rowsOf = async (partition: string) => {
    const rows = [];
    for await (const { sk } of world.store.table.queryAll({ partition })) rows.push(sk as string);
    return rows.filter((sk) => sk.startsWith('NOTIFY') || sk.startsWith('commit#'));
  };

  test('leave no notification settings behind', async () => {
    const { id, token } = await service.user('leaver');
    const owner = world.tokens.owner!;
    const group = await service.call('POST', '/groups', {
      token: owner,
      json: { name: 'going', path: 'going' },
    });
    const project = await service.call('POST', '/projects', {
      token: owner,
      json: { name: 'going', namespace_id: group.body.id, visibility: 'private' },
    });
    const json = { user_id: id, access_level: 30 };
    await service.call('POST', `/groups/${group.body.id}/members`, { token: owner, json });
    const places = [`/projects/${project.body.id}`, `/groups/${group.body.id}`, ''];
    for (const at of places) {
      const { status } = await service.call('PUT', `${at}/notification_settings`, {
        token,
        json: { level: 'watch' },
      });
      expect(status).toBe(200);
      if (at === '') continue;
      await service.call('PUT', `${at}/notification_settings`, { token: owner, json: { level: 'watch' } });
    }
    const thread = {
      projectId: project.body.id as number,
      noteable: { kind: 'commit', id: 'a'.repeat(40) },
    } as const;
    await world.store.threads.subscribe(thread, id, false);
    await world.store.threads.subscribe(thread, world.ids['owner']!, false);
    const partitions = [
      memberPartition({ kind: 'project', id: project.body.id }),
      memberPartition({ kind: 'group', id: group.body.id }),
      threadsOfHolder({ kind: 'project', id: project.body.id }),
    ];
    const counts = async () => (await Promise.all(partitions.map(rowsOf))).map(({ length }) => length);
    const watching = async () => (await world.store.notificationSettings.globalSubscribers(id - 1, 1)).ids;
    expect([await counts(), await watching()]).toEqual([[2, 2, 2], [id]]);
    await service.call('DELETE', `/users/${id}`, { token: world.tokens.administrator! });
    await settled();
    expect(await counts()).toEqual([1, 1, 1]);
    expect(await watching()).not.toContain(id);
    expect(await rowsOf(userKey(id).pk)).toEqual([]);
    // Nobody can choose for whom there is no account.
    await expect(world.store.notificationSettings.change(id, undefined, { level: 'watch' })).rejects.toThrow(
      Missing,
    );
    await service.call('DELETE', `/groups/${group.body.id}`, { token: owner });
    await settled();
    expect(await counts()).toEqual([0, 0, 0]);
    await expect(
      world.store.notificationSettings.change(
        world.ids['owner']!,
        { kind: 'project', id: project.body.id },
        {
          level: 'watch',
        },
      ),
    ).rejects.toThrow(Missing);
  });
});
