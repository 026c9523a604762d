/** What may be asked of audit events: every form of a time, a type, an id and a page, and what is none. */
import { beforeAll, describe, expect, test } from 'vitest';
import { auditEventPut } from '../../../lib/store/audit-events/audit-events.ts';
import { ownService } from '../../harness/own-service.ts';
import { storeOf } from '../../harness/world.ts';

const service = ownService({ background: false });
/** A group that nothing else is done to: an event of the first moment of each of the first days of 2020. */
const GROUP = 900_000;
const DAYS = 5;
beforeAll(async () => {
  for (let day = 1; day <= DAYS; day++)
    await storeOf().table.put(
      auditEventPut({
        id: GROUP + day,
        authorId: 1,
        entityKind: 'Group',
        entityId: GROUP,
        details: { add: 'group' },
        createdAt: new Date(Date.UTC(2020, 0, day)).toISOString(),
      }),
    );
});

const ask = (path: string) => service.call('GET', path, { token: service.rootToken });
const inGroup = (query: string) => ask(`/audit_events?entity_type=Group&entity_id=${GROUP}&${query}`);

describe('times in audit event queries, in every accepted form', () =>
  test.each([
    ['created_after=2020-01-03', [5, 4, 3]],
    ['created_after=2020-01-03T00:00:00Z', [5, 4, 3]],
    ['created_after=2020-01-03T00:00:00z', [5, 4, 3]],
    ['created_after=2020-01-03T00:00:00', [5, 4, 3]],
    ['created_after=2020-01-03T00:00', [5, 4, 3]],
    ['created_after=2020-01-03%2000:00:00', [5, 4, 3]],
    ['created_after=20200103T000000Z', [5, 4, 3]],
    ['created_after=2020-01-03T00:00:00.000Z', [5, 4, 3]],
    ['created_after=2020-01-03T00:00:00.001Z', [5, 4]],
    ['created_after=2020-01-03T01:00:00%2B01:00', [5, 4, 3]],
    ['created_after=2020-01-03T01:00:00%2B0100', [5, 4, 3]],
    ['created_after=2020-01-02T23:00:00-01:00', [5, 4, 3]],
    ['created_after=2020-01-03T00:00:00-01:00', [5, 4]],
    ['created_after=Fri,%2003%20Jan%202020%2000:00:00%20%2B0000', [5, 4, 3]],
    ['created_after=', [5, 4, 3, 2, 1]],
    ['created_before=2020-01-03', [3, 2, 1]],
    ['created_before=2020-01-02T23:59:59.999Z', [2, 1]],
    ['created_before=2020-01-03T00:59:59%2B01:00', [2, 1]],
    ['created_after=2020-01-02&created_before=2020-01-03', [3, 2]],
    ['created_after=2020-01-03&created_before=2020-01-03', [3]],
    ['created_after=2020-01-03&created_before=2020-01-02', []],
    // The last of several counts.
    ['created_after=2020-01-01&created_after=2020-01-05', [5]],
    // Orders that it does not have are none of its parameters.
    ['sort=asc', [5, 4, 3, 2, 1]],
  ])('%s', async (query, days) => {
    const { status, body, headers } = await inGroup(query);
    expect([status, body.map(({ id }: { id: number }) => id - GROUP)]).toEqual([200, days]);
    expect(headers.get('x-total')).toBe(String(days.length));
  }));

const PLAIN: readonly [query: string, error: string][] = [
  ...[
    '2020-02-30',
    '2020-13-01',
    '2020-01-01T25:00:00Z',
    '2020-01-01T00:60:00Z',
    '2020-01-01T00:00:00%2B99:00',
    '12345',
    'now',
    'yesterday',
    '-2020-01-01',
    '99999-01-01',
    '%D9%A2020-01-01',
    '1'.repeat(5_000),
  ].map((value) => [`created_after=${value}`, 'created_after is invalid'] as [string, string]),
  ['created_before[]=2020-01-01', 'created_before is invalid'],
  ['created_before[a]=2020-01-01', 'created_before is invalid'],
  ['created_after=%00', 'parameters may not contain NUL'],
  ['per_page=0', 'per_page has a value not allowed'],
  ['page=x', 'page is invalid'],
  ['pagination=nonsense', 'pagination does not have a valid value'],
];
const OF_ENTITIES: readonly [query: string, error: string][] = [
  ['entity_id=1', 'entity_type is missing'],
  ['entity_id=0', 'entity_type is missing'],
  ['entity_type=', 'entity_type does not have a valid value'],
  ['entity_type=&entity_id=1', 'entity_type does not have a valid value'],
  ['entity_type=group', 'entity_type does not have a valid value'],
  ['entity_type=Group,User', 'entity_type does not have a valid value'],
  ['entity_type[]=Group', 'entity_type is invalid'],
  ...['one', '1.0', '1e3', '%201', '9007199254740993', '99999999999999999999'].map(
    (id) => [`entity_type=Group&entity_id=${id}`, 'entity_id is invalid'] as [string, string],
  ),
  ['entity_type=Group&entity_id[]=1', 'entity_id is invalid'],
];

describe('invalid audit event queries are refused', () => {
  let places: readonly string[];
  beforeAll(async () => {
    const json = { name: 'asked', path: 'asked' };
    const { token } = await service.user('asker');
    const { body: group } = await service.call('POST', '/groups', { token, json });
    const made = { name: 'asked', namespace_id: group.id };
    const { body: project } = await service.call('POST', '/projects', { token, json: made });
    places = ['/audit_events', `/groups/${group.id}/audit_events`, `/projects/${project.id}/audit_events`];
  });
  test.each(PLAIN)('with 400 everywhere: %s', async (query, error) => {
    for (const path of places) {
      const { status, body } = await ask(`${path}?${query}`);
      expect([path, status, body]).toEqual([path, 400, { error }]);
    }
  });
  test.each(OF_ENTITIES)('with 400 on the instance list only: %s', async (query, error) => {
    const { status, body } = await ask(`/audit_events?${query}`);
    expect([status, body]).toEqual([400, { error }]);
    // Of a place, both are no parameters.
    for (const path of places.slice(1)) expect((await ask(`${path}?${query}`)).body).toHaveLength(1);
  });
  test('or corrected, for page numbers and sizes out of range', async () => {
    expect((await inGroup('page=99999999999')).status).toBe(405);
    expect((await inGroup('pagination=keyset&cursor=x')).status).toBe(400);
    for (const same of ['page=0', 'page=-1', 'per_page=-3', 'per_page=1000', 'cursor=x', 'pagination=legacy'])
      expect([same, (await inGroup(same)).body.length]).toEqual([same, DAYS]);
  });
});

test('pagination links of audit events repeat the query', async () => {
  const { headers } = await inGroup('created_after=2020-01-02&per_page=2&page=1');
  const next = /<([^>]*)>; rel="next"/.exec(headers.get('link')!)![1]!;
  expect(Object.fromEntries(new URL(next).searchParams)).toEqual({
    created_after: expect.stringMatching(/^2020-01-02/),
    entity_id: String(GROUP),
    entity_type: 'Group',
    page: '2',
    per_page: '2',
  });
  const page = await ask(next.slice(next.indexOf('/api/v4') + '/api/v4'.length));
  expect(page.body.map(({ id }: { id: number }) => id - GROUP)).toEqual([3, 2]);
});
