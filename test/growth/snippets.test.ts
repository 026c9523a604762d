/**
 * A page of snippets costs the same however many there are: of a user, of a project and of the instance, with a thousand
 * and with ten times as many. Totals are counted up to ten thousand, a megabyte of keys at a time. `GROWTH_SIZE=100000`
 * makes it a hundred times as many.
 */
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { awsClients } from '../../lib/store/clients.ts';
import { Outbox } from '../../lib/store/outbox/outbox.ts';
import { Search } from '../../lib/store/search/search.ts';
import { Snippets } from '../../lib/store/snippets/snippets.ts';
import { Counters } from '../../lib/store/table/counters.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';

const SMALL = 1000;
const LARGE = Number(process.env['GROWTH_SIZE'] ?? 10_000);
/** Queries of keys, beyond the first, that count ten thousand of a list. */
const COUNTING = 4;

let service: Service;
let trips: RoundTrips;
let reader: Awaited<ReturnType<Service['user']>>;
beforeAll(async () => {
  service = await startService({ background: false });
  trips = RoundTrips.of(service.host);
  reader = await service.user('reader');
});
afterAll(() => service.stop());

/** A user with so many public personal snippets, and a project with as many, every second of them private. */
async function shelf(name: string, count: number, firstId: number) {
  const owner = await service.user(name);
  const json = { name, visibility: 'public' };
  const project = await service.call('POST', '/projects', { token: owner.token, json });
  const { table } = storeOf();
  const client = DynamoDBDocumentClient.from(awsClients().dynamodb);
  const bulk = new BulkTable(client, table.name, service.host.dynamo);
  const snippets = new Snippets(bulk, new Counters(bulk), new Outbox(bulk), new Search(bulk));
  const at = new Date(1_700_000_000_000).toISOString();
  for (let i = 0; i < 2 * count; i++) {
    const ofProject = i % 2 === 1;
    const record = {
      id: firstId + i,
      projectId: ofProject ? project.body.id : null,
      title: `snippet ${i}`,
      description: 'words '.repeat(20),
      visibility: ofProject && i % 4 === 1 ? 'private' : 'public',
      author: { id: owner.id, username: name, name },
      branch: 'main',
      files: ['a.txt'],
      createdAt: at,
      updatedAt: at,
      version: 1,
    } as const;
    await bulk.transact(snippets.creation(record));
  }
  await bulk.flush();
  return { owner, path: `/projects/${project.body.id}/snippets` };
}

async function costsOf({ owner, path }: Awaited<ReturnType<typeof shelf>>, count: number) {
  const last = Math.floor(count / 2 / 20);
  const asked: Record<string, readonly [token: string, path: string]> = {
    'own snippets': [owner.token, '/snippets?per_page=20'],
    'own snippets, a page further': [owner.token, '/snippets?per_page=20&page=2'],
    'snippets of a project, for a member': [owner.token, `${path}?per_page=20`],
    'snippets of a project, for a stranger': [reader.token, `${path}?per_page=20`],
    'public snippets': [reader.token, '/snippets/public?per_page=20'],
  };
  const costs: Record<string, { trips: number; calls: number; kilobytes: number }> = {};
  for (const [name, [token, at]] of Object.entries(asked)) {
    forgetEverything();
    await service.call('GET', '/version', { token });
    const taken = await trips.of(() => service.call('GET', at, { token }));
    expect([name, taken.value.status, taken.value.body.length]).toEqual([name, 200, 20]);
    costs[name] = {
      trips: taken.trips.length,
      calls: taken.calls.flat().length,
      kilobytes: Math.ceil(taken.bytes.D / 1024),
    };
  }
  // The end is there, too.
  const end = await service.call('GET', `${path}?per_page=20&page=${last}`, { token: reader.token });
  expect(end.body).toHaveLength(20);
  process.stdout.write(`${count} snippets: ${JSON.stringify(costs)}\n`);
  return costs;
}

test('a page of snippets costs the same at any number of them', { timeout: 1_200_000 }, async () => {
  const small = await costsOf(await shelf('few', SMALL, 1_000_000), SMALL);
  const large = await costsOf(await shelf('many', LARGE, 2_000_000), LARGE);
  for (const name of Object.keys(small)) {
    expect([name, large[name]!.trips <= small[name]!.trips + COUNTING]).toEqual([name, true]);
    expect([name, large[name]!.kilobytes <= small[name]!.kilobytes + 10]).toEqual([name, true]);
  }
});
