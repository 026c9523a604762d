/**
 * What a list or a look-up costs does not depend on how much there is: with a thousand projects and users and a hundred
 * groups, and with ten times as many. `GROWTH_SIZE=100000` makes it a hundred times as many.
 */

import type { OperationRecord } from '@lemnos/embedded-aws/dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetEverything } from '../harness/aws-calls.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { grow, newPopulation, type Population, word } from './population.ts';

const SMALL = 1000;
const LARGE = Number(process.env['GROWTH_SIZE'] ?? 10_000);

interface Cost {
  /** Items looked at, round trips one after the other, read units, requests of the table. */
  readonly items: number;
  readonly trips: number;
  readonly units: number;
  readonly requests: number;
  /** Of the answer. */
  readonly rows: number;
  readonly total: string | null;
}

type Who = 'anonymous' | 'viewer' | 'insider' | 'stranger' | 'admin';

interface Pattern {
  readonly who: Who;
  readonly path: (of: Population) => string;
  /** What it may cost at any size, where that is not what it costs with a thousand. */
  readonly most?: Pick<Cost, 'items' | 'trips' | 'units'>;
  /** How many rows the answer has, however large; 20 when it is not said. */
  readonly rows?: number;
}

const KEYSET = 'pagination=keyset&order_by=id';
const TWENTY = 'per_page=20';
const pattern = (
  who: Who,
  path: string | Pattern['path'],
  more: Omit<Pattern, 'who' | 'path'> = {},
): Pattern => ({
  who,
  path: typeof path === 'string' ? () => path : path,
  ...more,
});
/**
 * With a page: keys of one list, counted up to ten thousand, and those that are read up to the page. What is behind the page's
 * first read is counted after it.
 */
const TOTAL = { items: 14_000, trips: 14, units: 500 };
/** The same of what a caller's groups give, row by row; then no more than the page of it is loaded. */
const ROWS = { items: 21_000, trips: 25, units: 1200 };
/** Rows that have no such order: ten thousand records are read for it. */
const SORTED = { items: 32_000, trips: 60, units: 13_000 };
/** Records that are judged one by one: five thousand, with what stands above each. */
const JUDGED = { items: 12_000, trips: 60, units: 12_000 };
/** Groups above each of twenty rows, up to nineteen of them. */
const CHAINS = { items: 11_500, trips: 13, units: 900 };
/** What as many match that they are not all found: the page is walked to. */
const DENSE = { items: 5000, trips: 20, units: 2600 };
/** Rows of up to six parts of a word, 250 of each, and the page. */
const NAMED = { items: 1600, trips: 8, units: 100 };
/** A thousand members, to see that there are more, then those who are found by name. */
const LOOKED_UP = { items: 2500, trips: 10, units: 200 };
/** Members, read with their levels in pieces of 1 MB until there are ten thousand. */
const MEMBERS = { items: 13_500, trips: 8, units: 700 };

const PATTERNS: Readonly<Record<string, Pattern>> = {
  'projects, first keyset page, anonymous': pattern('anonymous', `/projects?${KEYSET}&${TWENTY}`),
  'projects, first keyset page, signed in': pattern('viewer', `/projects?${KEYSET}&${TWENTY}`),
  'projects, first keyset page, member of a large group': pattern('insider', `/projects?${KEYSET}&${TWENTY}`),
  'projects, first keyset page, administrator': pattern('admin', `/projects?${KEYSET}&${TWENTY}`),
  'projects, keyset page in the middle, signed in': pattern(
    'viewer',
    ({ middle }) => `/projects?${KEYSET}&${TWENTY}&id_before=${middle.project}`,
  ),
  'projects, keyset page in the middle, member of a large group': pattern(
    'insider',
    ({ middle }) => `/projects?${KEYSET}&${TWENTY}&id_before=${middle.project}`,
  ),
  'projects, last keyset page, signed in': pattern('viewer', `/projects?${KEYSET}&${TWENTY}&id_before=22`),
  'projects one is a member of': pattern('viewer', `/projects?${KEYSET}&${TWENTY}&membership=true`),
  'projects one owns': pattern('viewer', `/projects?${KEYSET}&${TWENTY}&owned=true`),
  'projects of a large group one is a member of': pattern(
    'insider',
    `/projects?${KEYSET}&${TWENTY}&membership=true`,
  ),
  'projects one has starred': pattern('viewer', `/projects?${TWENTY}&starred=true`),
  'projects by last activity, anonymous': pattern(
    'anonymous',
    `/projects?${TWENTY}&order_by=last_activity_at`,
    { most: TOTAL },
  ),
  'projects, page 20 and total, anonymous': pattern('anonymous', `/projects?${TWENTY}&page=20`, {
    most: TOTAL,
  }),
  'projects by name, signed in': pattern('viewer', `/projects?${TWENTY}&order_by=name`, { most: TOTAL }),
  'projects, page 1 and total, anonymous': pattern('anonymous', `/projects?${TWENTY}`, { most: TOTAL }),
  'projects, page 1 and total, signed in': pattern('viewer', `/projects?${TWENTY}`, { most: TOTAL }),
  'projects, page 30 and total, signed in': pattern('viewer', `/projects?${TWENTY}&page=30`, { most: TOTAL }),
  'projects of a large group by name, a member': pattern(
    'insider',
    `/projects?${TWENTY}&membership=true&order_by=name`,
    { most: SORTED },
  ),
  'projects with a word, rare': pattern('viewer', () => `/projects?${TWENTY}&search=${word(61)}`, {
    rows: 1,
    most: NAMED,
  }),
  'projects with a word that all have': pattern('viewer', `/projects?${TWENTY}&search=work`, { most: DENSE }),
  'a project by its path, deep down': pattern(
    'insider',
    ({ inDeepest }) => `/projects/${encodeURIComponent(inDeepest!.fullPath)}`,
    { rows: 1 },
  ),
  'projects in a large group, a member': pattern(
    'insider',
    ({ top }) => `/groups/${top.id}/projects?${TWENTY}&include_subgroups=true`,
    { most: ROWS },
  ),
  'projects in a large group, a stranger': pattern(
    'stranger',
    ({ top }) => `/groups/${top.id}/projects?${TWENTY}&include_subgroups=true`,
    { most: JUDGED },
  ),
  'projects in a large group by activity, a member': pattern(
    'insider',
    ({ top }) => `/groups/${top.id}/projects?${TWENTY}&include_subgroups=true&order_by=last_activity_at`,
    { most: SORTED },
  ),
  'projects of a group below': pattern(
    'insider',
    ({ deepest }) => `/groups/${deepest!.id}/projects?${TWENTY}`,
    { rows: 5 },
  ),
  'projects of a user': pattern('stranger', ({ viewer }) => `/users/${viewer.id}/projects?${TWENTY}`, {
    rows: 19,
  }),
  'groups, first page by name, stranger': pattern('stranger', `/groups?${TWENTY}&all_available=true`, {
    most: CHAINS,
  }),
  'groups, first keyset page by name, stranger': pattern(
    'stranger',
    `/groups?${TWENTY}&all_available=true&pagination=keyset&order_by=name`,
    { most: CHAINS },
  ),
  "groups of one's own": pattern('viewer', `/groups?${TWENTY}`, { rows: 3 }),
  "groups of one's own, member of a large one": pattern('insider', `/groups?${TWENTY}`, { most: ROWS }),
  'groups one owns': pattern('viewer', `/groups?${TWENTY}&owned=true`, { rows: 3 }),
  'groups with a word, rare': pattern(
    'viewer',
    () => `/groups?${TWENTY}&all_available=true&search=${word(70)}`,
    { rows: 1, most: NAMED },
  ),
  'descendants of a large group': pattern(
    'insider',
    ({ top }) => `/groups/${top.id}/descendant_groups?${TWENTY}`,
    { most: ROWS },
  ),
  'descendants of a large group by id': pattern(
    'insider',
    ({ top }) => `/groups/${top.id}/descendant_groups?${TWENTY}&order_by=id`,
    { most: ROWS },
  ),
  'descendants of a large group, a stranger': pattern(
    'stranger',
    ({ top }) => `/groups/${top.id}/descendant_groups?${TWENTY}&all_available=true`,
    { most: JUDGED },
  ),
  'subgroups of a large group': pattern('insider', ({ top }) => `/groups/${top.id}/subgroups?per_page=3`, {
    rows: 3,
    most: ROWS,
  }),
  'a group by its path, deep down': pattern(
    'insider',
    ({ deepest }) => `/groups/${encodeURIComponent(deepest!.fullPath)}?with_projects=false`,
    {
      rows: 1,
    },
  ),
  'members of a large group, page 1 and total': pattern(
    'viewer',
    ({ crowd }) => `/groups/${crowd.id}/members?${TWENTY}`,
    { most: MEMBERS },
  ),
  'members of a large group, page 40': pattern(
    'viewer',
    ({ crowd }) => `/groups/${crowd.id}/members?${TWENTY}&page=40`,
    { most: MEMBERS },
  ),
  'all members of a large group': pattern(
    'viewer',
    ({ crowd }) => `/groups/${crowd.id}/members/all?${TWENTY}`,
    { most: MEMBERS },
  ),
  'all members of a project in a large group': pattern(
    'viewer',
    ({ crowdProject }) => `/projects/${crowdProject.id}/members/all?${TWENTY}`,
    { most: MEMBERS },
  ),
  'members of a large group with a word': pattern(
    'viewer',
    ({ crowd }) => `/groups/${crowd.id}/members?${TWENTY}&query=${word(61)}`,
    { rows: 1, most: LOOKED_UP },
  ),
  'a member of a large group': pattern(
    'viewer',
    ({ crowd, middle }) => `/groups/${crowd.id}/members/${middle.user}`,
    { rows: 1 },
  ),
  'users, page 1 and total': pattern('stranger', `/users?${TWENTY}`, { most: TOTAL }),
  'users with a part of a name': pattern('stranger', () => `/users?${TWENTY}&search=${word(61)}`, {
    rows: 1,
    most: NAMED,
  }),
  'users with a word that all have': pattern('stranger', `/users?${TWENTY}&search=person`, { most: DENSE }),
  'users by email': pattern('admin', `/users?${TWENTY}&search=user77%40example.com`, {
    rows: 1,
    most: TOTAL,
  }),
  'users by username': pattern('stranger', `/users?username=user77`, { rows: 1 }),
  namespaces: pattern('viewer', `/namespaces?${TWENTY}`, { rows: 4 }),
  'namespaces, administrator': pattern('admin', `/namespaces?${TWENTY}`, { most: TOTAL }),
  'search over projects, a rare word': pattern('viewer', () => `/search?scope=projects&search=${word(61)}`, {
    rows: 1,
    most: NAMED,
  }),
  'search over users in a large group': pattern(
    'viewer',
    ({ crowd }) => `/groups/${crowd.id}/search?scope=users&search=${word(61)}`,
    { rows: 1, most: LOOKED_UP },
  ),
  'search over projects in a large group': pattern(
    'insider',
    ({ top }) => `/groups/${top.id}/search?scope=projects&search=${word(41)}`,
    { rows: 1, most: NAMED },
  ),
};

let service: Service;
let trips: RoundTrips;
let population: Population;
const small = new Map<string, Cost>();
const large = new Map<string, Cost>();

beforeAll(async () => {
  service = await startService({ background: false });
  population = await newPopulation(service);
  trips = RoundTrips.of(service.host);
  for (const [costs, size] of [
    [small, SMALL],
    [large, LARGE],
  ] as const) {
    const begun = performance.now();
    const rows = await grow(service, population, size);
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    process.stderr.write(`${rows} rows to ${size} projects and users in ${seconds} s\n`);
    for (const [name, each] of Object.entries(PATTERNS)) costs.set(name, await costOf(each));
  }
  process.stderr.write(`${shown()}\n`);
}, 7_200_000);
afterAll(() => service.stop());

describe('the cost is the same at any size of', () => {
  test.each(Object.entries(PATTERNS))('%s', (name, { most, rows = 20 }) => {
    const [before, after] = [small.get(name)!, large.get(name)!];
    expect([before.rows, after.rows]).toEqual([rows, rows]);
    // First reads of partitions that held less than they were asked for, and groups that differ from row to row.
    const bound = most ?? {
      items: before.items * 1.3 + 10,
      trips: before.trips,
      units: before.units * 1.35 + 2,
    };
    expect(after.items, 'items').toBeLessThanOrEqual(bound.items);
    expect(after.trips, 'round trips').toBeLessThanOrEqual(bound.trips);
    expect(after.units, 'read units').toBeLessThanOrEqual(bound.units);
  });
});

test('totals of lists are given up to ten thousand, and pages continue beyond', async () => {
  const told = (n: number) => (n > 10_000 ? null : String(n));
  for (const [costs, size] of [
    [small, SMALL],
    [large, LARGE],
  ] as const) {
    // Half of the projects are public, and thirty of those that do not grow.
    expect(costs.get('projects, page 1 and total, anonymous')!.total).toBe(told(size / 2 + 30));
    expect(costs.get('users, page 1 and total')!.total).toBe(told(size + 5));
    expect(costs.get('members of a large group, page 1 and total')!.total).toBe(told(size + 1));
  }
  const { token } = population.viewer;
  const path = `/groups/${population.crowd.id}/members?per_page=100&page=101`;
  const beyond = await service.call('GET', path, { token });
  expect(beyond.body).toHaveLength(Math.min(100, Math.max(0, LARGE + 1 - 10_000)));
});

async function costOf({ who, path }: Pattern): Promise<Cost> {
  const token = tokenOf(who);
  const operations: OperationRecord[] = [];
  forgetEverything();
  service.host.dynamo.onOperation = (record) => void operations.push(record);
  const { trips: taken, value } = await trips.of(() =>
    service.call('GET', path(population), token === undefined ? {} : { token }),
  );
  service.host.dynamo.onOperation = undefined;
  if (value.status !== 200)
    throw new Error(`${path(population)}: ${value.status} ${JSON.stringify(value.body)}`);
  const sum = (of: (record: OperationRecord) => number) =>
    operations.reduce((n, record) => n + of(record), 0);
  return {
    items: sum((record) => record.itemsRead),
    trips: taken.length,
    units: sum((record) => record.readUnits),
    requests: operations.length,
    rows: Array.isArray(value.body) ? value.body.length : 1,
    total: value.headers.get('x-total'),
  };
}

function tokenOf(who: Who): string | undefined {
  if (who === 'anonymous') return undefined;
  return who === 'admin' ? service.rootToken : population[who].token;
}

/** As the tables in docs/performance.md. */
function shown(): string {
  const told = ({ trips: n, items, units, requests, total }: Cost) =>
    `${n} trips, ${requests} requests, ${items} items, ${units} RU${total === null ? '' : `, of ${total}`}`;
  return Object.keys(PATTERNS)
    .map((name) => `| ${name} | ${told(small.get(name)!)} | ${told(large.get(name)!)} |`)
    .join('\n');
}
