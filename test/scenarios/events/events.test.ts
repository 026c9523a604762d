/** Event feeds: what is recorded of each action, and who sees it, also after access has changed. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { type Scenario, scenarios } from '../../harness/scenarios.ts';
import type { Who } from '../../harness/world.ts';
import { feedsOf, names, type Told } from './feeds.ts';

const { service, world, as } = ownWorld();
const { done, feed } = feedsOf(world);
const VISIBILITIES = ['public', 'internal', 'private'] as const;
const SECRET = 'Open sesame';

beforeAll(async () => {
  for (const visibility of VISIBILITIES) {
    const id = world.ids[visibility]!;
    const commit = await done('owner', 'POST', `/projects/${id}/repository/commits`, {
      branch: 'main',
      commit_message: SECRET,
      actions: [{ action: 'create', file_path: 'a', content: 'a\n' }],
    });
    await done('reporter', 'POST', `/projects/${id}/repository/commits/${commit.id}/comments`, {
      note: SECRET,
    });
  }
});

const OPEN = ['created', 'joined'];
const ALL = ['commented on', 'created', 'joined', 'pushed new'];

describe('the visibility of events', () => {
  const held = (expected: readonly string[]): Pick<Scenario, 'look'> => ({
    look: ({ status, body, headers }) => {
      if (status !== 200) return;
      expect(names(body)).toEqual(expected);
      if (!expected.includes('pushed new')) expect(JSON.stringify(body)).not.toContain(SECRET);
      expect(headers.get('x-total')).toBe(String(body.length));
    },
  });
  const bad = { blocked: 403, expired: 401, revoked: 401, unknown: 401 } as const;
  const scopes = { read_user: 200, read_api: 200, read_repository: 403, write_repository: 403 } as const;
  const insiders = {
    reporter: 200,
    developer: 200,
    maintainer: 200,
    owner: 200,
    administrator: 200,
  } as const;
  const outsiders = { stranger: 200, former: 200 } as const;

  describe('in a project’s feed', () =>
    scenarios(
      () => world,
      [
        {
          request: 'GET /projects/{public}/events',
          as: { anonymous: 200, ...outsiders, external: 200, guest: 200, ...insiders, ...bad, ...scopes },
          ...held(ALL),
        },
        {
          request: 'GET /projects/{internal}/events',
          as: { anonymous: 404, ...outsiders, external: 404, guest: 200, ...insiders, ...bad, ...scopes },
          hides: [SECRET],
          ...held(ALL),
        },
        {
          request: 'GET /projects/{private}/events',
          as: { anonymous: 404, stranger: 404, former: 404, external: 404, ...insiders, ...bad, ...scopes },
          hides: [SECRET],
          ...held(ALL),
        },
        { request: 'GET /projects/{private}/events', as: { guest: 200 }, ...held(OPEN) },
        { request: 'GET /projects/{private}/events?action=pushed', as: { guest: 200 }, ...held([]) },
        { request: 'GET /projects/{private}/events?target_type=note', as: { guest: 200 }, ...held([]) },
        { request: 'GET /projects/999999/events', as: { anonymous: 404, administrator: 404 } },
        { request: 'GET /projects/private%20thing/events', as: { anonymous: 404, administrator: 404 } },
      ],
    ));

  describe('in a user’s feed', () => {
    const places = (who: Who, author: string) =>
      feed(who, `/users/${author}/events`).then((events) =>
        [
          ...new Set(events.map(({ project_id, action_name }) => `${placeOf(project_id)} ${action_name}`)),
        ].sort(),
      );
    const placeOf = (id: number) => VISIBILITIES.find((visibility) => world.ids[visibility] === id);
    const acts = (act: string, ...where: readonly string[]) => where.map((place) => `${place} ${act}`);
    const each = (...where: readonly string[]) => [
      ...where.flatMap((place) => [`${place} created`, `${place} pushed new`]),
    ];

    test.each<[Who, readonly string[], readonly string[]]>([
      ['anonymous', each('public'), acts('commented on', 'public')],
      ['external', each('public'), acts('commented on', 'public')],
      ['stranger', each('internal', 'public'), acts('commented on', 'internal', 'public')],
      ['former', each('internal', 'public'), acts('commented on', 'internal', 'public')],
      [
        'guest',
        [...each('internal'), 'private created', ...each('public')],
        acts('commented on', 'internal', 'public'),
      ],
      [
        'reporter',
        each('internal', 'private', 'public'),
        acts('commented on', 'internal', 'private', 'public'),
      ],
      ['owner', each('internal', 'private', 'public'), acts('commented on', 'internal', 'private', 'public')],
      [
        'administrator',
        each('internal', 'private', 'public'),
        acts('commented on', 'internal', 'private', 'public'),
      ],
    ])('as seen by %s', async (who, ofOwner, ofReporter) => {
      expect(await places(who, 'owner')).toEqual(ofOwner);
      const joined = ofReporter.map((line) => line.replace('commented on', 'joined'));
      const private_ = who === 'guest' ? ['private joined'] : [];
      expect(await places(who, String(world.ids['reporter']))).toEqual(
        [...ofReporter, ...joined, ...private_].sort(),
      );
    });

    test.each(['', '?action=pushed', '?target_type=note', '?before=2999-01-01', '?sort=asc&per_page=1'])(
      'never reveals hidden events or their count: %s',
      async (query) => {
        for (const author of ['owner', 'reporter']) {
          const { body, headers } = await as('anonymous', 'GET', `/users/${author}/events${query}`);
          for (const { project_id } of body) expect(project_id).toBe(world.ids['public']);
          const total = Number(headers.get('x-total'));
          const all = await feed('anonymous', `/users/${author}/events${query.replace('&per_page=1', '')}`);
          expect(total).toBe(all.length);
        }
      },
    );

    const nobody = { status: 404, holds: { message: '404 User Not Found' } };
    scenarios(
      () => world,
      [
        {
          request: 'GET /users/nobody/events',
          as: { anonymous: nobody, owner: nobody, administrator: nobody },
        },
        { request: 'GET /users/99999/events', as: { anonymous: nobody } },
        { request: 'GET /users/OWNER/events', as: { anonymous: 200 } },
        { request: 'GET /users/owner/events', as: { read_user: 200, read_repository: 403, blocked: 403 } },
      ],
    );
  });

  test('covers one’s own feed and the feed of one’s projects', async () => {
    expect((await as('anonymous', 'GET', '/events')).status).toBe(401);
    const own = await feed('reporter', '/events');
    expect(new Set(own.map(({ author_username }) => author_username))).toEqual(new Set(['reporter']));
    expect(own.length).toBe(6);
    for (const scope of ['all', 'ALL', 'anything']) {
      const all = await feed('reporter', `/events?scope=${scope}`);
      expect(names(all)).toEqual(ALL);
      // Three projects with an event for each of five members, a creation, a push and a comment.
      expect(all.length).toBe(24);
      expect(all).toEqual(all.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)));
    }
    expect((await feed('reporter', '/events?scope=')).length).toBe(6);
    expect(await feed('stranger', '/events?scope=all')).toEqual([]);
    const guest = await feed('guest', '/events?scope=all');
    const inPrivate = guest.filter(({ project_id }) => project_id === world.ids['private']);
    expect(names(inPrivate)).toEqual(OPEN);
    expect((await as('read_repository', 'GET', '/events')).status).toBe(403);
    expect((await as('read_user', 'GET', '/events')).status).toBe(200);
  });
});

describe('events follow changes of access', () => {
  let id: number;
  const project = () => `/projects/${id}`;
  beforeAll(async () => {
    id = (await done('maintainer', 'POST', '/projects', { name: 'changing', visibility: 'public' })).id;
    await done('maintainer', 'POST', `${project()}/repository/commits`, {
      branch: 'main',
      commit_message: 'Changing',
      actions: [{ action: 'create', file_path: 'a', content: 'a\n' }],
    });
  });
  const inFeed = async (who: Who) =>
    names((await feed(who, '/users/maintainer/events')).filter(({ project_id }) => project_id === id));
  const CREATED = ['created'];
  const BOTH = ['created', 'pushed new'];

  test('after a project becomes private: outsiders and former members see nothing, members what they may', async () => {
    for (const who of ['anonymous', 'stranger'] as const) expect(await inFeed(who)).toEqual(BOTH);
    await done('maintainer', 'PUT', project(), { visibility: 'private' });
    for (const who of ['anonymous', 'stranger', 'external'] as const) expect(await inFeed(who)).toEqual([]);
    await done('maintainer', 'POST', `${project()}/members`, {
      user_id: world.ids['stranger'],
      access_level: 10,
    });
    expect(await inFeed('stranger')).toEqual(CREATED);
    await done('maintainer', 'PUT', `${project()}/members/${world.ids['stranger']}`, { access_level: 20 });
    expect(await inFeed('stranger')).toEqual(BOTH);
    expect(names(await feed('stranger', '/events'))).toEqual(['joined']);
    await done('stranger', 'DELETE', `${project()}/members/${world.ids['stranger']}`);
    expect(await inFeed('stranger')).toEqual([]);
    // Nor what they did there themselves.
    expect(await feed('stranger', '/events')).toEqual([]);
    expect(await feed('stranger', '/events?scope=all')).toEqual([]);
    expect(names(await feed('maintainer', `${project()}/events`))).toEqual([
      'created',
      'joined',
      'left',
      'pushed new',
    ]);
  });

  test('after a repository is restricted to members or disabled', async () => {
    await done('maintainer', 'PUT', project(), { visibility: 'public', repository_access_level: 'private' });
    expect(await inFeed('anonymous')).toEqual(CREATED);
    expect(names(await feed('anonymous', `${project()}/events`))).not.toContain('pushed new');
    expect(await inFeed('maintainer')).toEqual(BOTH);
    await done('maintainer', 'PUT', project(), { repository_access_level: 'disabled' });
    expect(await inFeed('maintainer')).toEqual(CREATED);
    await done('maintainer', 'PUT', project(), { repository_access_level: 'enabled' });
    expect(await inFeed('anonymous')).toEqual(BOTH);
  });

  test('after a user’s profile becomes private or the user is blocked', async () => {
    const path = `/users/${world.ids['maintainer']}`;
    const shown = (who: Who) => feed(who, '/users/maintainer/events').then(({ length }) => length > 0);
    await done('administrator', 'PUT', path, { private_profile: true });
    expect([await shown('anonymous'), await shown('owner')]).toEqual([false, false]);
    expect([await shown('maintainer'), await shown('administrator')]).toEqual([true, true]);
    // Project feeds still show their events.
    expect(names(await feed('anonymous', `${project()}/events`))).toContain('pushed new');
    await done('administrator', 'PUT', path, { private_profile: false });
    await done('administrator', 'POST', `${path}/block`);
    expect([await shown('anonymous'), await shown('administrator')]).toEqual([false, true]);
    await done('administrator', 'POST', `${path}/unblock`);
    expect(await shown('anonymous')).toBe(true);
  });

  test('after a project is deleted: at once for readers, and its rows are deleted', async () => {
    await done('maintainer', 'DELETE', project());
    for (const who of ['anonymous', 'maintainer', 'administrator'] as const)
      expect(await inFeed(who)).toEqual([]);
    expect((await as('maintainer', 'GET', `${project()}/events`)).status).toBe(404);
    const rows = () =>
      world.store.table.count({ partition: `EVENTS#PROJECT#${String(id).padStart(12, '0')}` }, 100);
    await expect.poll(rows).toBe(0);
  });

  test('after a user is deleted', async () => {
    const gone = await service.user('gone');
    const ids = { user_id: gone.id, access_level: 40 };
    await done('owner', 'POST', `/projects/${world.ids['public']}/members`, ids);
    const here = () => feed('anonymous', `/projects/${world.ids['public']}/events`);
    expect((await here()).map(({ author_username }) => author_username)).toContain('gone');
    await done('administrator', 'DELETE', `/users/${gone.id}`);
    expect((await here()).map(({ author_username }) => author_username)).not.toContain('gone');
    const path = `EVENTS#USER#${String(gone.id).padStart(12, '0')}`;
    const rows = () => world.store.table.count({ index: 'byUpdated', partition: path }, 100);
    await expect.poll(rows).toBe(0);
  });
});

describe('actions are recorded as events', () => {
  const last = async (path: string) => (await feed('owner', path))[0]!;
  const plain = {
    title: null,
    data: null,
    target_id: null,
    target_iid: null,
    target_type: null,
    target_title: null,
  };

  test('when a project is created, forked or imported', async () => {
    const made = await done('owner', 'POST', '/projects', { name: 'made' });
    const author = { author_id: world.ids['owner'], author_username: 'owner' };
    const event = await last(`/projects/${made.id}/events`);
    expect(event).toMatchObject({ ...plain, ...author, project_id: made.id, action_name: 'created' });
    expect(event).toMatchObject({ author: { id: author.author_id, username: 'owner', state: 'active' } });
    expect(Object.keys(event)).not.toContain('push_data');
    const fork = await done('owner', 'POST', `/projects/${world.ids['public']}/fork`, {
      name: 'forked',
      path: 'forked',
    });
    expect(await last(`/projects/${fork.id}/events`)).toMatchObject({
      ...plain,
      ...author,
      action_name: 'created',
    });
    const imported = await as('owner', 'POST', '/projects', {
      name: 'imported',
      import_url: 'https://git.example.com/some.git',
    });
    expect(imported.status).toBe(201);
    expect(await last(`/projects/${imported.body.id}/events`)).toMatchObject({
      ...author,
      action_name: 'imported',
    });
    expect((await feed('owner', `/projects/${imported.body.id}/events?action=created`)).length).toBe(1);
    const forUser = await done('administrator', 'POST', `/projects/user/${world.ids['owner']}`, {
      name: 'for owner',
    });
    expect(await last(`/projects/${forUser.id}/events`)).toMatchObject(author);
  });

  test('when a commit is commented on, also on a line, with the note', async () => {
    const { public: id } = world.ids;
    const [event] = (await feed('anonymous', `/projects/${id}/events?action=commented`)) as [Told];
    const sha = (await done('owner', 'GET', `/projects/${id}/repository/commits/main`)).id;
    expect(event).toMatchObject({
      action_name: 'commented on',
      target_type: 'Note',
      target_title: SECRET,
      author_username: 'reporter',
      note: {
        body: SECRET,
        type: null,
        system: false,
        attachment: null,
        noteable_type: 'Commit',
        noteable_id: null,
        noteable_iid: null,
        commit_id: sha,
        author: { username: 'reporter' },
      },
    });
    const told = event as unknown as { target_id: number; target_iid: number; note: { id: number } };
    expect([told.target_iid, told.note.id]).toEqual([told.target_id, told.target_id]);
    await done('developer', 'POST', `/projects/${id}/repository/commits/${sha}/comments`, {
      note: 'on a line',
      path: 'a',
      line: 1,
    });
    expect(await last(`/projects/${id}/events?target_type=note`)).toMatchObject({
      target_type: 'DiffNote',
      note: { type: 'DiffNote', body: 'on a line' },
    });
  });

  test('when a user joins or leaves a project in any way, but not for groups', async () => {
    const { id } = await done('owner', 'POST', '/projects', { name: 'joined', visibility: 'public' });
    const told = async () =>
      (await feed('owner', `/projects/${id}/events?sort=asc`)).map(
        (e) => `${e.author_username} ${e.action_name}`,
      );
    const members = `/projects/${id}/members`;
    await done('owner', 'POST', members, { user_id: world.ids['guest'], access_level: 30 });
    await done('owner', 'PUT', `${members}/${world.ids['guest']}`, { access_level: 40 });
    await done('owner', 'DELETE', `${members}/${world.ids['guest']}`);
    await done('stranger', 'POST', `/projects/${id}/access_requests`);
    await done('owner', 'PUT', `/projects/${id}/access_requests/${world.ids['stranger']}/approve`);
    await done('stranger', 'DELETE', `${members}/${world.ids['stranger']}`);
    await done('owner', 'POST', `/projects/${id}/invitations`, {
      email: 'reporter@example.com',
      access_level: 30,
    });
    await done('owner', 'POST', `/projects/${id}/access_tokens`, {
      name: 'bot',
      scopes: ['api'],
      access_level: 30,
    });
    expect(await told()).toEqual([
      'owner created',
      'guest joined',
      'guest left',
      'stranger joined',
      'stranger left',
      'reporter joined',
      `project_${id}_bot joined`,
    ]);
    // Refused acts tell nothing.
    expect((await as('guest', 'POST', members, { user_id: 1, access_level: 30 })).status).toBe(403);
    const again = { user_id: world.ids['reporter'], access_level: 30 };
    expect((await as('owner', 'POST', members, again)).status).toBe(409);
    expect((await told()).length).toBe(7);
    const other = await done('owner', 'POST', '/projects', { name: 'importing' });
    await done('owner', 'POST', `/projects/${other.id}/import_project_members/${id}`);
    expect(names(await feed('owner', `/projects/${other.id}/events?action=joined`))).toEqual(['joined']);

    const group = await done('administrator', 'POST', '/groups', { name: 'told', path: 'told' });
    await done('administrator', 'POST', `/groups/${group.id}/members`, {
      user_id: world.ids['former'],
      access_level: 30,
    });
    const below = await done('administrator', 'POST', '/projects', { name: 'below', namespace_id: group.id });
    await done('administrator', 'POST', `/projects/${below.id}/members`, {
      user_id: world.ids['former'],
      access_level: 40,
    });
    await done('administrator', 'DELETE', `/groups/${group.id}/members/${world.ids['former']}`);
    const left = async () => names(await feed('administrator', `/projects/${below.id}/events`));
    await expect.poll(left).toEqual(['created', 'joined', 'left']);
  });
});
