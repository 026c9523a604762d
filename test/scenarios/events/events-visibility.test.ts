/** Feeds after something happened to a place or a person: each change, and who is shown what from then on. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { changeSettings } from '../../harness/settings.ts';
import type { Who } from '../../harness/world.ts';
import { feedsOf, names } from './feeds.ts';

const { service, world, as } = ownWorld();
const { done, feed } = feedsOf(world);

const user = (who: Who) => world.ids[who]!;

/** A project of the maintainer's in a group of theirs, with a push of theirs. */
interface Place {
  readonly group: number;
  readonly project: number;
}
let made = 0;
async function place(visibility: string): Promise<Place> {
  const path = `seen-${++made}`;
  const group = (await done('maintainer', 'POST', '/groups', { name: path, path, visibility })).id;
  const json = { name: path, namespace_id: group, visibility };
  const project = (await done('maintainer', 'POST', '/projects', json)).id;
  await push('maintainer', project);
  return { group, project };
}
const push = (who: Who, project: number, branch = 'main') =>
  done(who, 'POST', `/projects/${project}/repository/commits`, {
    branch,
    ...(branch === 'main' ? {} : { start_branch: 'main' }),
    commit_message: 'Seen',
    actions: [{ action: 'create', file_path: `by-${who}`, content: 'a\n' }],
  });
const join = (who: Who, at: string, access_level: number) =>
  done('maintainer', 'POST', `${at}/members`, { user_id: user(who), access_level });

/** What they are told of the project: by its author's feed, and by its own, which may be hidden (404). */
async function shown(who: Who, { project }: Place) {
  const ofAuthor = (await feed(who, '/users/maintainer/events')).filter(
    ({ project_id }) => project_id === project,
  );
  const { status, body } = await as(who, 'GET', `/projects/${project}/events`);
  const own = who === 'anonymous' ? [] : await feed(who, '/events?scope=all');
  const mine = own.filter(({ project_id }) => project_id === project);
  return { author: names(ofAuthor), project: status === 200 ? names(body) : status, mine: names(mine) };
}

const MADE = ['created'];
const PUSHED = ['created', 'pushed new'];
const JOINED = ['created', 'joined'];
const HIDDEN = { author: [], project: 404, mine: [] };
const open = (told: readonly string[], mine: readonly string[] = []) => ({
  author: told,
  project: told,
  mine,
});

interface Change {
  readonly what: string;
  readonly visibility: 'private' | 'internal' | 'public';
  readonly first?: (at: Place) => Promise<unknown>;
  readonly before: Partial<Record<Who, object>>;
  readonly change: (at: Place) => Promise<unknown>;
  readonly after: Partial<Record<Who, object>>;
  /** What is to be undone of the world. */
  readonly back?: (at: Place) => Promise<unknown>;
}

const CHANGES: readonly Change[] = [
  {
    what: 'a project that moves into a private group',
    visibility: 'public',
    before: { anonymous: open(PUSHED), stranger: open(PUSHED), maintainer: open(PUSHED, PUSHED) },
    change: async ({ project }) => {
      const path = `closed-${++made}`;
      const { id } = await done('maintainer', 'POST', '/groups', { name: path, path, visibility: 'private' });
      await done('maintainer', 'PUT', `/projects/${project}/transfer`, { namespace: id });
    },
    after: {
      anonymous: HIDDEN,
      stranger: HIDDEN,
      maintainer: open(PUSHED, PUSHED),
      administrator: open(PUSHED),
    },
  },
  {
    what: 'a group that is moved into a private one, with its projects',
    visibility: 'public',
    before: { anonymous: open(PUSHED) },
    change: async ({ group }) => {
      const path = `closed-${++made}`;
      const { id } = await done('maintainer', 'POST', '/groups', { name: path, path, visibility: 'private' });
      await done('maintainer', 'POST', `/groups/${group}/transfer`, { group_id: id });
    },
    after: { anonymous: HIDDEN, external: HIDDEN, maintainer: open(PUSHED, PUSHED) },
  },
  {
    what: 'a project that is archived: nothing is hidden by that',
    visibility: 'public',
    before: { anonymous: open(PUSHED) },
    change: ({ project }) => done('maintainer', 'POST', `/projects/${project}/archive`),
    after: { anonymous: open(PUSHED), maintainer: open(PUSHED, PUSHED) },
  },
  {
    what: 'a group that is deleted with its project',
    visibility: 'public',
    before: { anonymous: open(PUSHED) },
    change: ({ group }) => done('maintainer', 'DELETE', `/groups/${group}`),
    after: { anonymous: HIDDEN, maintainer: HIDDEN, administrator: HIDDEN },
  },
  {
    what: 'a person who becomes external, of what is internal',
    visibility: 'internal',
    before: { stranger: open(PUSHED) },
    change: () => done('administrator', 'PUT', `/users/${user('stranger')}`, { external: true }),
    after: { stranger: HIDDEN },
    back: () => done('administrator', 'PUT', `/users/${user('stranger')}`, { external: false }),
  },
  {
    what: 'a membership of the group that ends',
    visibility: 'private',
    first: ({ group }) => join('stranger', `/groups/${group}`, 30),
    before: { stranger: open(PUSHED, PUSHED), anonymous: HIDDEN },
    change: ({ group }) => done('maintainer', 'DELETE', `/groups/${group}/members/${user('stranger')}`),
    after: { stranger: HIDDEN },
  },
  {
    what: 'what they did there themselves, when their membership ends',
    visibility: 'private',
    first: async ({ project }) => {
      await join('stranger', `/projects/${project}`, 40);
      await push('stranger', project, 'theirs');
    },
    before: {
      stranger: { author: PUSHED, project: [...JOINED, 'pushed new'], mine: [...JOINED, 'pushed new'] },
    },
    change: ({ project }) => done('maintainer', 'DELETE', `/projects/${project}/members/${user('stranger')}`),
    after: { stranger: HIDDEN },
  },
  {
    what: 'a Guest, who reads no code of what is private',
    visibility: 'private',
    first: ({ project }) => join('stranger', `/projects/${project}`, 20),
    before: {
      stranger: { author: PUSHED, project: [...JOINED, 'pushed new'], mine: [...JOINED, 'pushed new'] },
    },
    change: ({ project }) =>
      done('maintainer', 'PUT', `/projects/${project}/members/${user('stranger')}`, { access_level: 10 }),
    after: { stranger: { author: MADE, project: JOINED, mine: JOINED } },
  },
  {
    what: 'a group that is let in, and is not any more',
    visibility: 'private',
    first: async ({ project }) => {
      const path = `guests-${++made}`;
      const { id } = await done('stranger', 'POST', '/groups', { name: path, path });
      await done('stranger', 'POST', `/groups/${id}/members`, {
        user_id: user('maintainer'),
        access_level: 50,
      });
      world.ids['guests'] = id;
      await done('maintainer', 'POST', `/projects/${project}/share`, { group_id: id, group_access: 20 });
    },
    before: { stranger: open(PUSHED, PUSHED) },
    change: ({ project }) =>
      done('maintainer', 'DELETE', `/projects/${project}/share/${world.ids['guests']}`),
    after: { stranger: HIDDEN },
  },
  {
    what: 'code for members only',
    visibility: 'internal',
    before: { stranger: open(PUSHED), external: HIDDEN },
    change: ({ project }) =>
      done('maintainer', 'PUT', `/projects/${project}`, { repository_access_level: 'private' }),
    after: { stranger: open(MADE), administrator: open(PUSHED), maintainer: open(PUSHED, PUSHED) },
  },
  {
    what: 'code for nobody',
    visibility: 'public',
    before: { anonymous: open(PUSHED) },
    change: ({ project }) =>
      done('maintainer', 'PUT', `/projects/${project}`, { repository_access_level: 'disabled' }),
    after: { anonymous: open(MADE), administrator: open(MADE), maintainer: open(MADE, MADE) },
  },
  {
    what: 'a public project that becomes internal',
    visibility: 'public',
    before: { anonymous: open(PUSHED) },
    change: ({ project }) => done('maintainer', 'PUT', `/projects/${project}`, { visibility: 'internal' }),
    after: { anonymous: HIDDEN, external: HIDDEN, stranger: open(PUSHED) },
  },
];

describe('event feeds show the right events after', () =>
  test.each(CHANGES)('$what', async ({ visibility, first, before, change, after, back }) => {
    const at = await place(visibility);
    await first?.(at);
    for (const [who, told] of Object.entries(before) as [Who, object][])
      expect({ who, ...(await shown(who, at)) }).toEqual({ who, ...told });
    await change(at);
    // Moves of groups reach what is inside by a worker.
    for (const [who, told] of Object.entries(after) as [Who, object][])
      await expect.poll(async () => ({ who, ...(await shown(who, at)) })).toEqual({ who, ...told });
    await back?.(at);
  }));

describe('event feeds of users who are', () => {
  let at: Place;
  beforeAll(async () => {
    at = await place('public');
  });
  type Step = () => Promise<unknown>;
  const path = () => `/users/${user('maintainer')}`;
  const asRoot =
    (method: string, tail: string, json?: object): Step =>
    () =>
      done('administrator', method, `${path()}${tail}`, json);
  const STATES: readonly [state: string, make: Step, back: Step, isShown: boolean][] = [
    ['blocked', asRoot('POST', '/block'), asRoot('POST', '/unblock'), false],
    ['banned', asRoot('POST', '/ban'), asRoot('POST', '/unban'), false],
    [
      'deactivated',
      // A user with recent activity cannot be, by any endpoint.
      async () => {
        const { users } = world.store;
        await users.update((await users.get(user('maintainer')))!, { state: 'deactivated' });
      },
      asRoot('POST', '/activate'),
      true,
    ],
    [
      'private',
      asRoot('PUT', '', { private_profile: true }),
      asRoot('PUT', '', { private_profile: false }),
      false,
    ],
  ];
  test.each(STATES)('%s', async (_, make, back, isShown) => {
    await make();
    for (const who of ['anonymous', 'stranger', 'owner'] as const) {
      const { author, project } = await shown(who, at);
      expect([who, author, project]).toEqual([who, isShown ? PUSHED : [], PUSHED]);
      const { headers } = await as(who, 'GET', '/users/maintainer/events');
      expect(headers.get('x-total') === '0').toBe(!isShown);
    }
    expect((await shown('administrator', at)).author).toEqual(PUSHED);
    await back();
    expect((await shown('anonymous', at)).author).toEqual(PUSHED);
  });

  test('not confirmed appear in project feeds only', async () => {
    const json = {
      username: 'unsure',
      name: 'unsure',
      email: 'unsure@example.com',
      password: 'long enough 1',
    };
    const { id } = await done('administrator', 'POST', '/users', json);
    await done('maintainer', 'POST', `/projects/${at.project}/members`, { user_id: id, access_level: 10 });
    expect(await feed('stranger', '/users/unsure/events')).toEqual([]);
    expect(names(await feed('administrator', '/users/unsure/events'))).toEqual(['joined']);
    const here = await feed('stranger', `/projects/${at.project}/events`);
    expect(here.map(({ author_username }) => author_username)).toContain('unsure');
    await done('administrator', 'PUT', `/users/${id}`, {
      email: 'unsure@example.com',
      skip_confirmation: true,
    });
    expect(names(await feed('stranger', '/users/unsure/events'))).toEqual(['joined']);
  });

  test('bots appear only to those who can see their project', async () => {
    const token = { name: 'bot', scopes: ['api'], access_level: 40 };
    const hidden = await place('private');
    for (const [{ project }, names_] of [
      [at, ['joined']],
      [hidden, []],
    ] as const) {
      await done('maintainer', 'POST', `/projects/${project}/access_tokens`, token);
      const bot = `/users/project_${project}_bot/events`;
      expect(names(await feed('anonymous', bot))).toEqual(names_);
      expect(names(await feed('maintainer', bot))).toEqual(['joined']);
    }
  });

  test('renamed are found by their new name and by their id', async () => {
    const { id } = await service.user('before');
    await done('maintainer', 'POST', `/projects/${at.project}/members`, { user_id: id, access_level: 10 });
    await done('administrator', 'PUT', `/users/${id}`, { username: 'after', name: 'After' });
    expect((await as('anonymous', 'GET', '/users/before/events')).status).toBe(404);
    for (const name of ['after', id])
      expect(await feed('anonymous', `/users/${name}/events`)).toMatchObject([
        { action_name: 'joined', author_username: 'after', author: { name: 'After' } },
      ]);
  });
});

test('events of a project scheduled for deletion are shown to those who still see it', async () => {
  await changeSettings(service, { delayed_project_deletion: true });
  const at = await place('public');
  await done('maintainer', 'DELETE', `/projects/${at.project}`);
  const { status } = await as('anonymous', 'GET', `/projects/${at.project}`);
  const seen = await shown('anonymous', at);
  expect(seen).toEqual(status === 404 ? HIDDEN : open(PUSHED));
  await done('maintainer', 'POST', `/projects/${at.project}/restore`);
  expect(await shown('anonymous', at)).toEqual(open(PUSHED));
  await changeSettings(service, { delayed_project_deletion: false });
});
