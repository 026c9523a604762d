/** Feeds of activity: filters, pages, and how long events are kept. */
import { beforeAll, expect, test } from 'vitest';
import { type EventRecord, eventWrite } from '../../../lib/store/events/events.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { feedsOf, type Told } from './feeds.ts';

const { world, as } = ownWorld();
const { done, feed } = feedsOf(world);

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

test('event feeds exclude the days named by before and after, which are whole days in UTC', async () => {
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

test('event feeds filter by action and by target type', async () => {
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

test('consecutive pages of events hold each event once', async () => {
  const paths = [`/projects/${id}/events`, '/users/former/events', '/events', '/events?scope=all'];
  for (const path of paths)
    for (const sort of ['asc', 'desc']) {
      const joint = path.includes('?') ? '&' : '?';
      const query = `${path}${joint}before=2026-02-01&sort=${sort}`;
      const whole = await feed('former', query);
      const paged: Told[] = [];
      for (let page = '1'; page !== ''; ) {
        const { body, headers } = await as('former', 'GET', `${query}&per_page=4&page=${page}`);
        expect(headers.get('x-page')).toBe(page);
        if (!path.includes('scope')) expect(headers.get('x-total')).toBe('15');
        paged.push(...body);
        page = headers.get('x-next-page')!;
      }
      expect(paged).toEqual(whole);
      expect(whole.length).toBe(15);
    }
});

test('events older than three years are not shown, deleted or not', async () => {
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
  const count = async (query: string) =>
    (await as('owner', 'GET', `/projects/${id}/events?per_page=1${query}`)).headers.get('X-Total');
  expect(await count('')).toBe(await count('&after=2000-01-01'));
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
])('the event filter %s is refused', async (query, error) => {
  for (const path of ['/events', '/users/owner/events', `/projects/${id}/events`])
    expect(await as('owner', 'GET', `${path}?${query}`)).toMatchObject({
      status: 400,
      body: { error },
    });
});
