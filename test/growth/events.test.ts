/**
 * A page of a feed costs what it costs, however much was done: with a thousand events and with ten times as many.
 * `GROWTH_SIZE=100000` makes it a hundred times as many.
 */
import type { OperationRecord } from '@lemnos/embedded-aws/dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { awsClients } from '../../lib/store/clients.ts';
import { type EventRecord, eventWrite } from '../../lib/store/events/events.ts';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';

const SMALL = 1000;
const LARGE = Number(process.env['GROWTH_SIZE'] ?? 10_000);
/** Projects that they are spread over, half of them private. */
const PROJECTS = 100;

interface Cost {
  readonly trips: number;
  readonly requests: number;
  readonly units: number;
  readonly rows: number;
  readonly total: string | null;
}
type Person = Awaited<ReturnType<Service['user']>>;

let service: Service;
let trips: RoundTrips;
let owner: Person;
let stranger: Person;
let busy: number;
let hidden: Person;
const small = new Map<string, Cost>();
const large = new Map<string, Cost>();

/** What a page may cost at any size: keys up to it, those counted for the total, and the page. */
const PAGE = { trips: 8, units: 260 };
/** Of keys alone that are judged as they come. */
const JUDGED = { trips: 11, units: 290 };
/** A page of a hundred projects, and what was done last in each. */
const SPREAD = { trips: 16, units: 430 };
const paths: Readonly<
  Record<string, { who: () => Person | undefined; path: () => string; rows?: number; most: typeof PAGE }>
> = (() => {
  const own = () => owner;
  const project = (query: string) => () => `/projects/${busy}/events?per_page=20&${query}`;
  const user = (query: string) => () => `/users/${owner.username}/events?per_page=20&${query}`;
  const mine = (query: string) => () => `/events?per_page=20&${query}`;
  return {
    'of a project, page 1': { who: own, path: project(''), most: PAGE },
    'of a project, page 50': { who: own, path: project('page=50'), rows: 20, most: PAGE },
    'of a project, oldest first': { who: own, path: project('sort=asc'), most: PAGE },
    'of a project, joined': { who: own, path: project('action=joined'), rows: 10, most: PAGE },
    'of a project, one day': {
      who: own,
      path: project('action=pushed&after=2026-01-01&before=2026-01-03'),
      most: PAGE,
    },
    'of a user, page 1': { who: own, path: user(''), most: JUDGED },
    'of a user, page 50': { who: own, path: user('page=50'), rows: 20, most: JUDGED },
    'of a user, joined': { who: own, path: user('action=joined'), rows: 10, most: JUDGED },
    'of a user, to a stranger': { who: () => stranger, path: user(''), most: JUDGED },
    'of a user, page 10, to nobody': { who: () => undefined, path: user('page=10'), most: JUDGED },
    'of a user whose projects are all hidden': {
      who: () => stranger,
      path: () => `/users/${hidden.username}/events?per_page=20`,
      rows: 0,
      most: { trips: 11, units: 130 },
    },
    'own, page 1': { who: own, path: mine(''), most: JUDGED },
    'own, of a kind': { who: own, path: mine('action=pushed&before=2026-01-03'), most: JUDGED },
    'own and others’, page 1': { who: own, path: mine('scope=all'), most: SPREAD },
    'own and others’, page 10': { who: own, path: mine('scope=all&page=10'), most: SPREAD },
    'own and others’, joined': { who: own, path: mine('scope=all&action=joined'), rows: 10, most: SPREAD },
  };
})();

beforeAll(async () => {
  service = await startService({ background: false });
  trips = RoundTrips.of(service.host);
  [owner, stranger, hidden] = [
    await service.user('owner'),
    await service.user('stranger'),
    await service.user('hidden'),
  ];
  await service.call('PUT', `/users/${owner.id}`, {
    token: service.rootToken,
    json: { projects_limit: 1000 },
  });
  const create = async (token: string, name: string, visibility: string) => {
    const { status, body } = await service.call('POST', '/projects', { token, json: { name, visibility } });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.id as number;
  };
  busy = await create(owner.token, 'busy', 'public');
  const others: number[] = [];
  for (let n = 0; n < PROJECTS; n++)
    others.push(await create(owner.token, `p${n}`, n % 2 === 0 ? 'public' : 'private'));
  const secret = await create(hidden.token, 'secret', 'private');
  const client = new TableClient(awsClients().dynamodb);
  const bulk = new BulkTable(client, storeOf().table.name, service.host.dynamo);
  let made = 0;
  const add = async (projectId: number, authorId: number, more: Partial<EventRecord> = {}) => {
    const at = Date.parse('2026-01-01T12:00:00Z') + made * 60_000;
    const event: EventRecord = {
      id: 1_000_000 + made,
      projectId,
      authorId,
      action: 'pushed',
      target: null,
      push: {
        action: 'pushed',
        refType: 'branch',
        commitCount: made,
        from: '1'.repeat(40),
        to: '2'.repeat(40),
        ref: 'main',
        commitTitle: `Title ${made} of as many characters as titles of commits have`,
        refCount: null,
      },
      createdAt: new Date(at).toISOString(),
      ...more,
    };
    made++;
    await bulk.put(eventWrite(event));
  };
  for (const [costs, size] of [
    [small, SMALL],
    [large, LARGE],
  ] as const) {
    const begun = performance.now();
    const before = made;
    // Most in one project, some over all, and enough where nobody sees them.
    for (let n = before === 0 ? 0 : SMALL; n < size; n++) {
      await add(busy, owner.id);
      if (n % 10 === 0) await add(others[(n / 10) % PROJECTS]!, n % 40 === 0 ? stranger.id : owner.id);
      if (n < 7_000) await add(secret, hidden.id);
    }
    if (before === 0)
      for (let n = 0; n < 10; n++) await add(busy, owner.id, { action: 'joined', push: null });
    await bulk.flush();
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    process.stderr.write(`${made} events in ${seconds} s\n`);
    for (const [name, { who, path }] of Object.entries(paths)) costs.set(name, await costOf(who(), path()));
  }
  process.stderr.write(`${shown()}\n`);
}, 7_200_000);
afterAll(() => service.stop());

describe('at any size the cost is bounded of', () => {
  test.each(Object.entries(paths))('%s', (name, { rows = 20, most }) => {
    for (const cost of [small.get(name)!, large.get(name)!]) {
      expect(cost.rows, 'rows').toBe(rows);
      expect(cost.trips, 'round trips').toBeLessThanOrEqual(most.trips);
      expect(cost.units, 'read units').toBeLessThanOrEqual(most.units);
    }
  });
});

async function costOf(who: Person | undefined, path: string): Promise<Cost> {
  const operations: OperationRecord[] = [];
  forgetEverything();
  service.host.dynamo.onOperation = (record) => void operations.push(record);
  const { trips: taken, value } = await trips.of(() =>
    service.call('GET', path, who === undefined ? {} : { token: who.token }),
  );
  service.host.dynamo.onOperation = undefined;
  if (value.status !== 200) throw new Error(`${path}: ${value.status} ${JSON.stringify(value.body)}`);
  return {
    trips: taken.length,
    requests: operations.length,
    units: operations.reduce((n, { readUnits }) => n + readUnits, 0),
    rows: value.body.length,
    total: value.headers.get('x-total'),
  };
}

/** As the tables in docs/performance.md. */
function shown(): string {
  const told = ({ trips: n, requests, units, total }: Cost) =>
    `${n} trips, ${requests} requests, ${units} RU${total === null ? '' : `, of ${total}`}`;
  return Object.keys(paths)
    .map((name) => `| ${name} | ${told(small.get(name)!)} | ${told(large.get(name)!)} |`)
    .join('\n');
}
