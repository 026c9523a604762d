/** Who reads audit events, which of them, and in what pages. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type AuditEventRecord, auditEventPut } from '../../../lib/store/audit-events/audit-events.ts';
import type { Event } from '../../harness/audit-events.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import type { Answer } from '../../harness/service.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld({ background: false });
let group: number;
let hidden: number;
/** A group that nothing else is done to, with {@link MANY} events, the last of them of one moment. */
const CROWD = 900_000;
const MANY = 45;
const at = (n: number) => new Date(Date.UTC(2020, 0, 1, 0, Math.min(n, 40))).toISOString();

beforeAll(async () => {
  const made = async (path: string, visibility: string) => {
    const { body } = await as('owner', 'POST', '/groups', { name: path, path, visibility });
    for (const [who, access_level] of Object.entries({
      guest: 10,
      reporter: 20,
      developer: 30,
      maintainer: 40,
    })) {
      const json = { user_id: world.ids[who], access_level };
      await as('owner', 'POST', `/groups/${body.id}/members`, json);
    }
    return body.id;
  };
  [group, hidden] = [await made('open-house', 'public'), await made('closed-house', 'private')];
  Object.assign(world.ids, { group, hidden });
  // What one did oneself: projects in it, shared with it.
  for (const who of ['developer', 'maintainer'] as const) {
    const { body } = await as(who, 'POST', '/projects', { name: `of ${who}` });
    await as(who, 'POST', `/projects/${body.id}/share`, { group_id: hidden, group_access: 10 });
  }
  // A place of its own, long ago, so that nothing else is in the way.
  for (let n = 1; n <= MANY; n++) await write({ id: 5_000_000 + n, createdAt: at(n) });
});

const write = (event: Pick<AuditEventRecord, 'id' | 'createdAt'> & Partial<AuditEventRecord>) =>
  world.store.table.put(
    auditEventPut({
      authorId: world.ids['developer']!,
      entityKind: 'Group',
      entityId: CROWD,
      details: { add: 'group' },
      ...event,
    }),
  );

const list = async (who: Who, path: string): Promise<Event[]> => {
  const { status, body } = await as(who, 'GET', path);
  expect(status, path).toBe(200);
  return body;
};
const asOwnersRead = (event: Event): Event => {
  const { author_email: _e, correlation_id: _c, ...details } = event.details;
  return { ...event, details };
};
const authors = (events: readonly Event[]) => [...new Set(events.map(({ author_id }) => author_id))];

const READERS = {
  anonymous: 401,
  guest: 403,
  reporter: 403,
  developer: 200,
  maintainer: 200,
  owner: 200,
} as const;

describe('permission to read audit events', () =>
  scenarios(
    () => world,
    [
      {
        request: 'GET /audit_events',
        as: { anonymous: 401, stranger: 403, owner: 403, administrator: 200, blocked: 403 },
      },
      {
        request: 'GET /groups/{group}/audit_events',
        as: { ...READERS, stranger: 403, external: 403, administrator: 200, read_api: 200, read_user: 403 },
      },
      {
        request: 'GET /groups/{hidden}/audit_events',
        as: { ...READERS, stranger: 404, external: 404, administrator: 200 },
        hides: ['closed-house'],
      },
      {
        request: 'GET /projects/{private}/audit_events',
        as: { ...READERS, stranger: 404, former: 404, administrator: 200 },
        hides: ['private-thing'],
      },
      { request: 'GET /projects/{public}/audit_events', as: { ...READERS, stranger: 403 } },
      {
        request: 'GET /projects/{private}/audit_events?created_after=yesterday',
        as: { maintainer: { status: 400, holds: { error: 'created_after is invalid' } } },
      },
      {
        request: 'GET /groups/{group}/audit_events?created_before=x&created_after=2020-13-01',
        as: {
          owner: { status: 400, holds: { error: 'created_after is invalid, created_before is invalid' } },
        },
      },
      {
        request: 'GET /audit_events?entity_id=1',
        as: { administrator: { status: 400, holds: { error: 'entity_type is missing' } }, anonymous: 401 },
      },
      {
        request: 'GET /audit_events?entity_type=Issue',
        as: { administrator: { status: 400, holds: { error: 'entity_type does not have a valid value' } } },
      },
      {
        request: 'GET /audit_events?entity_type=Group&entity_id=one',
        as: { administrator: { status: 400, holds: { error: 'entity_id is invalid' } } },
      },
      ...['/audit_events', '/groups/{group}/audit_events', '/projects/{public}/audit_events'].flatMap(
        (path) => [
          {
            request: `GET ${path}/x`,
            as: { administrator: { status: 400, holds: { error: expect.stringMatching(/id is invalid$/) } } },
          },
          ...['0', '-1', '123456', '9007199254740991'].map((id) => ({
            request: `GET ${path}/${id}`,
            as: { administrator: { status: 404, holds: { message: '404 Not found' } } },
          })),
        ],
      ),
    ],
  ));

test('audit events of an absent entity, or of a distant past or future, are an empty list', async () => {
  for (const query of [
    'entity_type=Group&entity_id=77777777',
    'entity_type=User&entity_id=-5',
    'created_before=1970-01-01',
    'created_before=0001-01-01T00:00:00Z',
    'created_after=9999-12-31T23:59:59Z',
    'created_after=2021-01-02&created_before=2021-01-01',
  ])
    expect(await list('administrator', `/audit_events?${query}`), query).toEqual([]);
});

test('group members below Owner see only their own audit events, and none of them by id', async () => {
  const all = await list('owner', `/groups/${hidden}/audit_events?per_page=100`);
  expect(authors(all).sort()).toEqual(
    ['owner', 'developer', 'maintainer'].map((who) => world.ids[who]!).sort(),
  );
  // The addresses of people, and what leads to the log, are for administrators.
  const whole = await list('administrator', `/groups/${hidden}/audit_events?per_page=100`);
  expect(whole[0]!.details['author_email']).toMatch(/@example\.com$/);
  expect(whole.map(asOwnersRead)).toEqual(all);
  expect(JSON.stringify(all)).not.toContain('@');
  for (const who of ['developer', 'maintainer'] as const) {
    const own = all.filter(({ author_id }) => author_id === world.ids[who]);
    expect(own).toHaveLength(1);
    expect(await list(who, `/groups/${hidden}/audit_events`)).toEqual(own);
    expect((await as(who, 'GET', `/groups/${hidden}/audit_events/${own[0]!.id}`)).status).toBe(403);
  }
  const [first] = all;
  const one = `/groups/${hidden}/audit_events/${first!.id}`;
  expect((await as('owner', 'GET', one)).body).toEqual(first);
  for (const path of [one, `/audit_events/${first!.id}`])
    expect((await as('administrator', 'GET', path)).body).toEqual(whole[0]);
  // Another group's, and what is of no group.
  expect((await as('owner', 'GET', `/groups/${group}/audit_events/${first!.id}`)).status).toBe(404);
  const id = world.ids['private'];
  expect((await as('owner', 'GET', `/projects/${id}/audit_events/${first!.id}`)).status).toBe(404);
});

test('Maintainers read all audit events of a project, Developers only their own', async () => {
  const id = world.ids['internal']!;
  await as('maintainer', 'PUT', `/projects/${id}`, { name: 'Renamed' });
  const all = await list('maintainer', `/projects/${id}/audit_events`);
  expect(authors(all).sort()).toEqual([world.ids['maintainer']!, world.ids['owner']!].sort());
  expect(await list('developer', `/projects/${id}/audit_events`)).toEqual([]);
  const one = `/projects/${id}/audit_events/${all[0]!.id}`;
  expect((await as('maintainer', 'GET', one)).body).toEqual(all[0]);
  expect((await as('developer', 'GET', one)).status).toBe(403);
});

describe('pages of audit events', () => {
  const crowd = `/audit_events?entity_type=Group&entity_id=${CROWD}`;
  const newestFirst = Array.from({ length: MANY }, (_, i) => 5_000_000 + MANY - i);

  const numbered = async (path: string): Promise<{ ids: number[]; first: Answer }> => {
    const ids: number[] = [];
    let first: Answer | undefined;
    for (let page = '1'; page !== ''; ) {
      const answer = await as('administrator', 'GET', `${path}&page=${page}`);
      first ??= answer;
      ids.push(...answer.body.map(({ id }: Event) => id));
      page = answer.headers.get('x-next-page') ?? '';
    }
    return { ids, first: first! };
  };
  const linked = async (path: string): Promise<number[]> => {
    const ids: number[] = [];
    for (let next: string | undefined = path; next !== undefined; ) {
      const { body, headers } = await as('administrator', 'GET', next);
      ids.push(...body.map(({ id }: Event) => id));
      next = /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
    }
    return ids;
  };

  test.each([1, 7, 20, 100])(
    'of %i rows, by offset and by keyset, are newest first and hold each event once',
    async (perPage) => {
      const { ids, first } = await numbered(`${crowd}&per_page=${perPage}`);
      expect(ids).toEqual(newestFirst);
      expect(first.headers.get('x-total')).toBe(String(MANY));
      expect(await linked(`${crowd}&per_page=${perPage}&pagination=keyset`)).toEqual(newestFirst);
    },
  );

  test('also work for the whole instance and for one entity type', async () => {
    const past = '&created_before=2020-06-01';
    for (const path of [
      `/audit_events?per_page=7${past}`,
      `/audit_events?per_page=7&entity_type=Group${past}`,
    ]) {
      const { ids, first } = await numbered(path);
      expect(ids).toEqual(newestFirst);
      expect(first.headers.get('x-total')).toBe(String(MANY));
      expect(await linked(`${path}&pagination=keyset`)).toEqual(newestFirst);
    }
    expect(await list('administrator', `/audit_events?entity_type=User${past}`)).toEqual([]);
    const all = (await numbered('/audit_events?per_page=100')).ids;
    expect(new Set(all).size).toBe(all.length);
    expect(all.slice(-MANY)).toEqual(newestFirst);
  });

  test('include both ends of a time range', async () => {
    const ids = async (query: string) =>
      (await list('administrator', `${crowd}&per_page=100&${query}`)).map(({ id }) => id - 5_000_000);
    expect(await ids(`created_after=${at(38)}&created_before=${at(39)}`)).toEqual([39, 38]);
    expect(await ids(`created_after=${at(40)}`)).toEqual([45, 44, 43, 42, 41, 40]);
    expect(await ids(`created_before=${at(2)}`)).toEqual([2, 1]);
    expect(
      await ids('created_after=2020-01-01T01:03:00%2B01:00&created_before=2020-01-01T00:04:00Z'),
    ).toEqual([4, 3]);
  });

  test('refuse a cursor of another list', async () => {
    const path = `${crowd}&pagination=keyset&per_page=2`;
    const { headers } = await as('administrator', 'GET', path);
    const cursor = /cursor=([^&>]+)/.exec(headers.get('link')!)![1]!;
    for (const other of [`${path}&cursor=${cursor}x`, `${path}&created_after=2020-01-01&cursor=${cursor}`])
      expect((await as('administrator', 'GET', other)).status).toBe(400);
    const far = await as('administrator', 'GET', `${crowd}&page=10000`);
    expect(far.status).toBe(405);
    expect(await list('administrator', `${crowd}&page=50`)).toEqual([]);
  });

  test('are not shifted by new events while a reader follows the keyset', async () => {
    const path = `${crowd}&pagination=keyset&per_page=40`;
    const { headers } = await as('administrator', 'GET', path);
    const next = /<[^>]*\/api\/v4([^>]*)>/.exec(headers.get('link')!)![1]!;
    await write({ id: 6_000_000, createdAt: new Date(Date.UTC(2020, 0, 2)).toISOString() });
    const rest = await list('administrator', next);
    expect(rest.map(({ id }) => id)).toEqual(newestFirst.slice(40));
  });
});

test('an audit event is written once and never overwritten', async () => {
  const again = write({ id: 5_000_001, createdAt: at(1), details: { add: 'something else' } });
  await expect(again).rejects.toThrow();
  expect((await as('administrator', 'GET', '/audit_events/5000001')).body.details).toEqual({
    add: 'group',
  });
});
