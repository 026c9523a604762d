/**
 * What a page of snippets costs does not depend on how many there are: with a thousand of a user and of a project, and with
 * ten times as many of both. `GROWTH_SNIPPETS=1000000` makes a million of each.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SnippetRecord } from '../../lib/records/snippets.ts';
import { VISIBILITIES } from '../../lib/records/visibility.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { Outbox } from '../../lib/store/outbox/outbox.ts';
import { Search } from '../../lib/store/search/search.ts';
import { Snippets } from '../../lib/store/snippets/snippets.ts';
import { Counters } from '../../lib/store/table/counters.ts';
import { encodeCursor } from '../../lib/store/table/cursor.ts';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';
import { type Cost, costOf, shownCosts } from './page-cost.ts';

const SMALL = 1000;
const LARGE = Number(process.env['GROWTH_SNIPPETS'] ?? 10_000);

type Person = Awaited<ReturnType<Service['user']>>;

let service: Service;
let trips: RoundTrips;
let owner: Person;
let reader: Person;
let project: number;
let size = 0;

/** Of those of the project. */
const isPrivate = (n: number) => n % 2 === 0;

const OWN = '/snippets?per_page=20';
const PUBLIC = '/snippets/public?per_page=20';
const ofProject = () => `/projects/${project}/snippets?per_page=20`;

const idOfPersonal = (n: number) => 2 * n;
const idOfProject = (n: number) => 2 * n + 1;

/** The keyset page behind one of them. */
const behind = (list: string, which: readonly unknown[], id: number) =>
  `${list}&pagination=keyset&cursor=${encodeCursor(['snippets', ...which], { sort: '', id })}`;
const half = (n: number) => Math.ceil(n / 2);
const inProject = () => ({ kind: 'project', id: project });

interface Pattern {
  /** Among so many. */
  readonly path: (n: number) => string;
  readonly who: () => Person;
  /** The total among so many; up to 10,000 it is told. Absent: a keyset page, which has none. */
  readonly total?: (n: number) => number;
}
const PATTERNS: Readonly<Record<string, Pattern>> = {
  "one's own": { path: () => OWN, who: () => owner, total: (n) => n },
  "one's own, page 30": { path: () => `${OWN}&page=30`, who: () => owner, total: (n) => n },
  'a project, a member': { path: ofProject, who: () => owner, total: (n) => n },
  'a project, a stranger': { path: ofProject, who: () => reader, total: (n) => n / 2 },
  'a project, a stranger, page 20': {
    path: () => `${ofProject()}&page=20`,
    who: () => reader,
    total: (n) => n / 2,
  },
  'public ones': { path: () => PUBLIC, who: () => reader, total: (n) => n },
  'public ones, page 30': { path: () => `${PUBLIC}&page=30`, who: () => reader, total: (n) => n },
  "one's own, by keyset": { path: () => `${OWN}&pagination=keyset`, who: () => owner },
  "one's own, by keyset, in the middle": {
    path: (n) => behind(OWN, [{ kind: 'user', id: owner.id }], idOfPersonal(half(n))),
    who: () => owner,
  },
  'a project, by keyset, a member, in the middle': {
    path: (n) => behind(ofProject(), [inProject(), VISIBILITIES], idOfProject(half(n))),
    who: () => owner,
  },
  'a project, by keyset, a stranger, in the middle': {
    path: (n) => behind(ofProject(), [inProject(), ['internal', 'public']], idOfProject(half(n))),
    who: () => reader,
  },
  'public ones, by keyset': { path: () => `${PUBLIC}&pagination=keyset`, who: () => reader },
  'public ones, by keyset, in the middle': {
    path: (n) => behind(PUBLIC, ['public'], idOfPersonal(half(n))),
    who: () => reader,
  },
};
/** Requests in sequence that count up to 10,000 of a list, beyond the first. */
const COUNTING = 2;
/** Keys in front of a page lie in more partitions of a list, or fewer, as it happens. */
const SPREAD_KILOBYTES = 20;
const SPREAD_UNITS = 2;

const small = new Map<string, Cost>();
const large = new Map<string, Cost>();

beforeAll(async () => {
  service = await startService({ background: false });
  trips = RoundTrips.of(service.host);
  [owner, reader] = [await service.user('owner'), await service.user('reader')];
  const json = { name: 'shelf', visibility: 'public' };
  project = (await service.call('POST', '/projects', { token: owner.token, json })).body.id;
  for (const [costs, all] of [
    [small, SMALL],
    [large, LARGE],
  ] as const) {
    const rows = await grow(all);
    process.stderr.write(`${rows} rows to ${all} snippets of each\n`);
    for (const [name, { path, who }] of Object.entries(PATTERNS))
      costs.set(name, await costOf(service, trips, path(all), who().token));
  }
  process.stderr.write(`${shownCosts(small, large)}\n`);
}, 7_200_000);
afterAll(() => service.stop());

describe('a page costs the same at any number of', () => {
  test.each(Object.entries(PATTERNS))('%s', (name, { total }) => {
    const [few, many] = [small.get(name)!, large.get(name)!];
    for (const [cost, all] of [
      [few, SMALL],
      [many, LARGE],
    ] as const) {
      expect(cost.rows).toBe(20);
      const told = total?.(all) ?? Number.POSITIVE_INFINITY;
      expect(cost.total).toBe(told > 10_000 ? null : String(told));
    }
    expect(many.trips, 'round trips').toBeLessThanOrEqual(few.trips + (total ? COUNTING : 0));
    expect(many.kilobytes, 'KB').toBeLessThanOrEqual(few.kilobytes + SPREAD_KILOBYTES);
    if (total === undefined) expect(many.units, 'RU').toBeLessThanOrEqual(few.units + SPREAD_UNITS);
  });
});

/** Public personal snippets of the owner, and as many of the project. @returns the rows that were written */
async function grow(all: number): Promise<number> {
  const { table } = storeOf();
  const client = new TableClient(awsClients().dynamodb);
  const bulk = new BulkTable(client, table.name, service.host.dynamo);
  const snippets = new Snippets(bulk, new Counters(bulk), new Outbox(bulk), new Search(bulk));
  for (let n = size + 1; n <= all; n++) {
    await bulk.transact(snippets.creation(recordOf(idOfPersonal(n), null, 'public')));
    await bulk.transact(
      snippets.creation(recordOf(idOfProject(n), project, isPrivate(n) ? 'private' : 'public')),
    );
  }
  await bulk.flush();
  size = all;
  return bulk.written;
}

function recordOf(
  id: number,
  projectId: number | null,
  visibility: SnippetRecord['visibility'],
): SnippetRecord {
  const at = new Date(Date.UTC(2026, 0, 1) + id * 1000).toISOString();
  return {
    ...{ id, projectId, visibility, title: `snippet ${id}`, description: 'words '.repeat(20) },
    author: { id: owner.id, username: 'owner', name: 'owner' },
    ...{ branch: 'main', files: ['a.txt'], createdAt: at, updatedAt: at, version: 1 },
  };
}
