/** Feeds of activity: what is told of each act, who is shown what, now and after things changed, filters and pages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../functions/deps.ts';
import { endMembership } from '../../lib/domain/member-expiry.ts';
import { type EventRecord, eventWrite } from '../../lib/store/events.ts';
import { OUTBOX_SHARDS, outboxPartition } from '../../lib/store/keys.ts';
import { type Scenario, scenarios } from '../harness/scenarios.ts';
import { type Service, startService } from '../harness/service.ts';
import { ask, makeWorld, type Who, type World } from '../harness/world.ts';

let service: Service;
let world: World;
const VISIBILITIES = ['public', 'internal', 'private'] as const;
const SECRET = 'Open sesame';

beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
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
afterAll(() => service.stop());

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function done(who: Who, method: string, path: string, json?: unknown): Promise<any> {
  const { status, body } = await ask(world, who, method, path, json);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

interface Told {
  readonly id: number;
  readonly project_id: number;
  readonly action_name: string;
  readonly author_username: string;
  readonly created_at: string;
}
const feed = (who: Who, path: string): Promise<Told[]> =>
  done(who, 'GET', `${path}${path.includes('?') ? '&' : '?'}per_page=100`);
const names = (events: readonly Told[]) => [...new Set(events.map((event) => event.action_name))].sort();

const OPEN = ['created', 'joined'];
const ALL = ['commented on', 'created', 'joined', 'pushed new'];

describe('who is shown what', () => {
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

  describe('of a project', () =>
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

  describe('of a user', () => {
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
    ])('as %s', async (who, ofOwner, ofReporter) => {
      expect(await places(who, 'owner')).toEqual(ofOwner);
      const joined = ofReporter.map((line) => line.replace('commented on', 'joined'));
      const private_ = who === 'guest' ? ['private joined'] : [];
      expect(await places(who, String(world.ids['reporter']))).toEqual(
        [...ofReporter, ...joined, ...private_].sort(),
      );
    });

    test.each(['', '?action=pushed', '?target_type=note', '?before=2999-01-01', '?sort=asc&per_page=1'])(
      'nothing that is hidden, nor how much it is: %s',
      async (query) => {
        for (const author of ['owner', 'reporter']) {
          const { body, headers } = await ask(world, 'anonymous', 'GET', `/users/${author}/events${query}`);
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

  test('of oneself, and of others in one’s projects', async () => {
    expect((await ask(world, 'anonymous', 'GET', '/events')).status).toBe(401);
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
    expect((await ask(world, 'read_repository', 'GET', '/events')).status).toBe(403);
    expect((await ask(world, 'read_user', 'GET', '/events')).status).toBe(200);
  });
});

describe('after things changed', () => {
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

  test('of a project that becomes private, strangers and those who left see nothing, members what they may', async () => {
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

  test('of a repository that is for members only, or for nobody', async () => {
    await done('maintainer', 'PUT', project(), { visibility: 'public', repository_access_level: 'private' });
    expect(await inFeed('anonymous')).toEqual(CREATED);
    expect(names(await feed('anonymous', `${project()}/events`))).not.toContain('pushed new');
    expect(await inFeed('maintainer')).toEqual(BOTH);
    await done('maintainer', 'PUT', project(), { repository_access_level: 'disabled' });
    expect(await inFeed('maintainer')).toEqual(CREATED);
    await done('maintainer', 'PUT', project(), { repository_access_level: 'enabled' });
    expect(await inFeed('anonymous')).toEqual(BOTH);
  });

  test('of somebody who keeps their profile to themselves, or is locked out', async () => {
    const path = `/users/${world.ids['maintainer']}`;
    const shown = (who: Who) => feed(who, '/users/maintainer/events').then(({ length }) => length > 0);
    await done('administrator', 'PUT', path, { private_profile: true });
    expect([await shown('anonymous'), await shown('owner')]).toEqual([false, false]);
    expect([await shown('maintainer'), await shown('administrator')]).toEqual([true, true]);
    // Projects tell of them all the same.
    expect(names(await feed('anonymous', `${project()}/events`))).toContain('pushed new');
    await done('administrator', 'PUT', path, { private_profile: false });
    await done('administrator', 'POST', `${path}/block`);
    expect([await shown('anonymous'), await shown('administrator')]).toEqual([false, true]);
    await done('administrator', 'POST', `${path}/unblock`);
    expect(await shown('anonymous')).toBe(true);
  });

  test('of a project that is gone, at once; its rows go with it', async () => {
    await done('maintainer', 'DELETE', project());
    for (const who of ['anonymous', 'maintainer', 'administrator'] as const)
      expect(await inFeed(who)).toEqual([]);
    expect((await ask(world, 'maintainer', 'GET', `${project()}/events`)).status).toBe(404);
    const rows = () =>
      world.store.table.count({ partition: `EVENTS#PROJECT#${String(id).padStart(12, '0')}` }, 100);
    await expect.poll(rows, { timeout: 20_000 }).toBe(0);
  });

  test('of a user who is gone', async () => {
    const gone = await service.user('gone');
    const ids = { user_id: gone.id, access_level: 40 };
    await done('owner', 'POST', `/projects/${world.ids['public']}/members`, ids);
    const here = () => feed('anonymous', `/projects/${world.ids['public']}/events`);
    expect((await here()).map(({ author_username }) => author_username)).toContain('gone');
    await done('administrator', 'DELETE', `/users/${gone.id}`);
    expect((await here()).map(({ author_username }) => author_username)).not.toContain('gone');
    const path = `EVENTS#USER#${String(gone.id).padStart(12, '0')}`;
    const rows = () => world.store.table.count({ index: 'byUpdated', partition: path }, 100);
    await expect.poll(rows, { timeout: 20_000 }).toBe(0);
  });
});

describe('what acts tell', () => {
  const last = async (path: string) => (await feed('owner', path))[0]!;
  const plain = {
    title: null,
    data: null,
    target_id: null,
    target_iid: null,
    target_type: null,
    target_title: null,
  };

  test('a project that is made, forked or brought from elsewhere', async () => {
    const made = await done('owner', 'POST', '/projects', { name: 'made' });
    const author = { author_id: world.ids['owner'], author_username: 'owner' };
    const event = await last(`/projects/${made.id}/events`);
    expect(event).toMatchObject({ ...plain, ...author, project_id: made.id, action_name: 'created' });
    expect(event).toMatchObject({ author: { id: author.author_id, username: 'owner', state: 'active' } });
    expect(Object.keys(event)).not.toContain('push_data');
    const fork = await done('owner', 'POST', `/projects/${world.ids['public']}/fork`, { path: 'forked' });
    expect(await last(`/projects/${fork.id}/events`)).toMatchObject({
      ...plain,
      ...author,
      action_name: 'created',
    });
    const imported = await ask(world, 'owner', 'POST', '/projects', {
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

  test('a comment, with the note, and on a line', async () => {
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

  test('who joins and leaves a project, however they do; a group tells nothing', async () => {
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
    expect((await ask(world, 'guest', 'POST', members, { user_id: 1, access_level: 30 })).status).toBe(403);
    const again = { user_id: world.ids['reporter'], access_level: 30 };
    expect((await ask(world, 'owner', 'POST', members, again)).status).toBe(409);
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
    await expect.poll(left, { timeout: 10_000 }).toEqual(['created', 'joined', 'left']);
  });
});

describe('a membership that ends', () => {
  const DAY = 86_400_000;
  const dayIn = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);
  const later = (days: number) => ({
    ...deps(),
    now: () => new Date(Date.parse(`${dayIn(days)}T00:30:00Z`)),
  });
  let id: number;
  let member: number;
  beforeAll(async () => {
    id = (await done('owner', 'POST', '/projects', { name: 'ending' })).id;
    member = (await service.user('ending')).id;
  });
  const members = () => `/projects/${id}/members`;
  const told = async () => names(await feed('owner', `/projects/${id}/events`));
  const ends = (expiresAt: string, days: number, kind: 'project' | 'group' = 'project', of = id) =>
    endMembership(later(days), { kind, id: of, userId: member, expiresAt });
  const promised = async () => {
    const found: string[] = [];
    for (let shard = 0; shard < OUTBOX_SHARDS; shard++)
      for await (const row of world.store.table.queryAll({ partition: outboxPartition(shard) })) {
        const body = row['body'] as { userId?: number; expiresAt?: string };
        if (row['type'] === 'member.expires' && body.userId === member) found.push(body.expiresAt!);
      }
    return found.sort();
  };

  test('is promised with it, and with another end', async () => {
    await done('owner', 'POST', members(), { user_id: member, access_level: 30, expires_at: dayIn(1) });
    expect(await promised()).toEqual([dayIn(1)]);
    await done('owner', 'PUT', `${members()}/${member}`, { access_level: 40 });
    expect(await promised()).toEqual([dayIn(1)]);
    await done('owner', 'PUT', `${members()}/${member}`, { access_level: 40, expires_at: dayIn(3) });
    expect(await promised()).toEqual([dayIn(1), dayIn(3)]);
  });

  test('does nothing where the end is another, or has not come', async () => {
    await ends(dayIn(1), 1);
    await ends(dayIn(3), 1);
    expect(await done('owner', 'GET', `${members()}/${member}`)).toMatchObject({ access_level: 40 });
    // One that came too early is promised again.
    expect(await promised()).toEqual([dayIn(1), dayIn(3), dayIn(3)]);
    expect(await told()).toEqual(['created', 'joined']);
  });

  test('is told and recorded once, however often it comes, and the row is gone', async () => {
    await Promise.all([ends(dayIn(3), 3), ends(dayIn(3), 4)]);
    await ends(dayIn(3), 5);
    expect((await ask(world, 'owner', 'GET', `${members()}/${member}`)).status).toBe(404);
    const events = await feed('owner', `/projects/${id}/events?action=expired`);
    expect(events).toMatchObject([
      {
        action_name: 'removed due to membership expiration from',
        author_username: 'ending',
        target_type: null,
      },
    ]);
    const audited = await done('owner', 'GET', `/projects/${id}/audit_events?per_page=100`);
    const removed = audited.filter(({ details }: { details: { remove?: string } }) => details.remove);
    expect(removed).toMatchObject([
      { details: { remove: 'user_access', custom_message: 'removed due to expiry', target_id: member } },
    ]);
    const source = { kind: 'project', id } as const;
    expect(await world.store.members.getEvenExpired(source, member)).toBeUndefined();
  });

  test('of a group is recorded, and told nowhere', async () => {
    const group = await done('administrator', 'POST', '/groups', { name: 'ending', path: 'ending-group' });
    const path = `/groups/${group.id}/members`;
    await done('administrator', 'POST', path, { user_id: member, access_level: 50, expires_at: dayIn(2) });
    await done('administrator', 'PUT', `${path}/${member}`, { access_level: 30, expires_at: dayIn(4) });
    await ends(dayIn(4), 4, 'group', group.id);
    expect((await ask(world, 'administrator', 'GET', `${path}/${member}`)).status).toBe(404);
    const audited = await done('administrator', 'GET', `/groups/${group.id}/audit_events`);
    expect(audited[0]).toMatchObject({ details: { custom_message: 'removed due to expiry' } });
    expect(await told()).toContain('removed due to membership expiration from');
  });

  test('gives nothing from then on, whether a worker came by or not', async () => {
    const source = { kind: 'project', id } as const;
    const record = { source, userId: member, accessLevel: 30, createdAt: '', createdById: member } as const;
    await world.store.members.add({ ...record, expiresAt: dayIn(0) });
    expect((await world.store.members.getEvenExpired(source, member))?.expiresAt).toBe(dayIn(0));
    expect((await ask(world, 'owner', 'GET', `${members()}/${member}`)).status).toBe(404);
  });
});

describe('filters and pages', () => {
  let id: number;
  let number = 1_000_000;
  const at = (createdAt: string, more: Partial<EventRecord> = {}): EventRecord => ({
    id: number++,
    projectId: id,
    authorId: world.ids['former']!,
    action: 'joined',
    target: null,
    push: null,
    createdAt,
    ...more,
  });
  const pushed = {
    action: 'pushed',
    push: {
      action: 'pushed',
      refType: 'branch',
      commitCount: 1,
      from: '1'.repeat(40),
      to: '2'.repeat(40),
      ref: 'main',
      commitTitle: 'x',
      refCount: null,
    },
  } as const;
  const days = ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04', '2026-01-05'];
  beforeAll(async () => {
    id = (await done('owner', 'POST', '/projects', { name: 'long ago', visibility: 'public' })).id;
    const events = days.flatMap((day) => [
      at(`${day}T00:00:00.000Z`),
      at(`${day}T12:00:00.000Z`, pushed),
      at(`${day}T23:59:59.999Z`, { action: 'left' }),
    ]);
    for (const event of events) await world.store.table.put(eventWrite(event));
  });
  const when = (events: readonly Told[]) => events.map(({ created_at }) => created_at.slice(8, 13));
  const both = (query: string) =>
    Promise.all([feed('anonymous', `/projects/${id}/events?${query}`), feed('former', `/events?${query}`)]);

  test('days are whole and left out themselves', async () => {
    const after = 'after=2025-12-31';
    const times = ['00', '12', '23'];
    const of = (...which: string[]) => which.flatMap((day) => times.map((time) => `${day}T${time}`));
    for (const [query, expected] of [
      [`before=2026-01-03&sort=asc`, of('01', '02')],
      [`before=2026-01-03T18:00:00Z&sort=asc`, of('01', '02')],
      ['after=2026-01-03&before=2026-02-01&sort=asc', of('04', '05')],
      ['after=2026-01-03T00:00:00%2B02:00&before=2026-02-01&sort=asc', of('04', '05')],
      [`${after}&before=2026-01-02`, of('01').reverse()],
      ['after=2026-01-02&before=2026-01-03', []],
      ['after=2026-01-05&before=2026-01-01', []],
      ['before=2026-01-04&after=2026-01-02&action=pushed', ['03T12']],
      ['before=2026-01-04&after=2026-01-01&action=left&sort=asc', ['02T23', '03T23']],
    ] as const)
      for (const events of await both(query)) expect([query, when(events)]).toEqual([query, expected]);
  });

  test('what was done, and to what', async () => {
    const before = 'before=2026-02-01';
    for (const [query, count] of [
      ['action=pushed', 5],
      ['action=joined', 5],
      ['action=left', 5],
      ['action=created', 0],
      ['action=commented', 0],
      ['action=commented%20on', 0],
      ['action=approved', 0],
      ['target_type=note', 0],
      ['target_type=issue', 0],
      ['target_type=project', 0],
      ['action=joined&target_type=user', 0],
      ['after=', 15],
      ['', 15],
    ] as const)
      for (const events of await both(`${before}&${query}`))
        expect([query, events.length]).toEqual([query, count]);
  });

  test('pages, one after the other, hold each event once', async () => {
    const paths = [`/projects/${id}/events`, '/users/former/events', '/events', '/events?scope=all'];
    for (const path of paths)
      for (const sort of ['asc', 'desc']) {
        const joint = path.includes('?') ? '&' : '?';
        const query = `${path}${joint}before=2026-02-01&sort=${sort}`;
        const whole = await feed('former', query);
        const paged: Told[] = [];
        for (let page = '1'; page !== ''; ) {
          const { body, headers } = await ask(world, 'former', 'GET', `${query}&per_page=4&page=${page}`);
          expect(headers.get('x-page')).toBe(page);
          if (!path.includes('scope')) expect(headers.get('x-total')).toBe('15');
          paged.push(...body);
          page = headers.get('x-next-page')!;
        }
        expect(paged).toEqual(whole);
        expect(whole.length).toBe(15);
      }
  });

  test('events of more than three years ago are not shown, whether they were taken away or not', async () => {
    const now = new Date();
    const years = (n: number, ms = 0) => {
      const then = new Date(now);
      then.setUTCFullYear(then.getUTCFullYear() - n);
      return new Date(then.getTime() + ms).toISOString();
    };
    const author = { authorId: world.ids['external']! };
    const old = eventWrite(at(years(3, -60_000), author));
    expect(old.put['ttl']).toBeLessThanOrEqual(Math.ceil(now.getTime() / 1000));
    const young = eventWrite(at(years(3, 3_600_000), author));
    expect(young.put['ttl']).toBeGreaterThan(now.getTime() / 1000);
    for (const event of [old, young]) await world.store.table.put(event);
    for (const query of ['', '?action=joined', '?after=2000-01-01'])
      expect([query, (await feed('external', `/events${query}`)).length]).toEqual([query, 1]);
    const here = await feed('external', `/projects/${id}/events?sort=asc`);
    expect(here.filter(({ author_username }) => author_username === 'external').length).toBe(1);
  });

  test.each([
    ['action=dance', 'action does not have a valid value'],
    ['action=pushed%20to', 'action does not have a valid value'],
    ['target_type=Note', 'target_type does not have a valid value'],
    ['target_type=epicc', 'target_type does not have a valid value'],
    ['before=yesterday', 'before is invalid'],
    ['before=2026-02-30', 'before is invalid'],
    ['after=2026-13-01', 'after is invalid'],
    ['after=%00', 'parameters may not contain NUL'],
    ['after[]=2026-01-01', 'after is invalid'],
    ['sort=up', 'sort does not have a valid value'],
    ['per_page=0', 'per_page has a value not allowed'],
    ['page=x', 'page is invalid'],
  ])('%s is refused', async (query, error) => {
    for (const path of ['/events', '/users/owner/events', `/projects/${id}/events`])
      expect(await ask(world, 'owner', 'GET', `${path}?${query}`)).toMatchObject({
        status: 400,
        body: { error },
      });
  });
});
