/**
 * A page of those with access to a group costs what it costs, however many they are: with a thousand members and with
 * ten times as many. `GROWTH_SIZE=100000` makes it a hundred times as many.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deps } from '../../functions/deps.ts';
import { buildList } from '../../lib/domain/billable-members/refresh.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { makersOf } from '../harness/makers.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';

const SMALL = 1000;
const LARGE = Number(process.env['GROWTH_SIZE'] ?? 10_000);

let service: Service;
let trips: RoundTrips;
let owner: Awaited<ReturnType<Service['user']>>;
beforeAll(async () => {
  service = await startService({ background: false });
  trips = RoundTrips.of(service.host);
  owner = await service.user('owner');
});
afterAll(() => service.stop());

/** A group with a group in it that has so many members. @returns the id of the outer one */
async function crowd(name: string, members: number): Promise<number> {
  const made = async (json: object) =>
    (await service.call('POST', '/groups', { token: owner.token, json })).body.id as number;
  const outer = await made({ name, path: name });
  const inner = await made({ name: 'inner', path: 'inner', parent_id: outer });
  const { table, users } = storeOf();
  const { id: _i, namespaceId: _n, projectsCount: _p, version: _v, ...model } = (await users.get(owner.id))!;
  const client = new TableClient(awsClients().dynamodb);
  const bulk = new BulkTable(client, table.name, service.host.dynamo);
  const makers = makersOf(bulk);
  for (let i = 0; i < members; i++) {
    const username = `${name}-${i}`;
    const person = { username, name: `Person ${i * 7919} ${username}`, email: `${username}@example.com` };
    const { id } = await makers.users.create({ ...model, ...person, admin: false });
    await makers.members.add({
      source: { kind: 'group', id: inner },
      userId: id,
      accessLevel: 20,
      createdAt: new Date(1_700_000_000_000 + i).toISOString(),
      expiresAt: null,
      createdById: null,
    });
  }
  await bulk.flush();
  return outer;
}

async function costsOf(groupId: number, members: number) {
  const begun = performance.now();
  await deps().store.billableLists.getAndExtend(groupId, new Date());
  expect(await buildList(deps(), groupId, Number.MAX_VALUE)).toBe(true);
  const refreshed = Math.round(performance.now() - begun);
  const costs: Record<string, { trips: number; kilobytes: number }> = {};
  const queries = {
    first: '',
    middle: `page=${Math.ceil(Math.min(members, 50_000) / 40)}`,
    joined: 'sort=last_joined',
    level: 'sort=access_level_desc',
    search: `search=Person%20${(members - 5) * 7919}%20`,
  };
  for (const [name, query] of Object.entries(queries)) {
    forgetEverything();
    const path = `/groups/${groupId}/billable_members?per_page=20&${query}`;
    await service.call('GET', path, { token: owner.token });
    const taken = await trips.of(() => service.call('GET', path, { token: owner.token }));
    expect([name, taken.value.status]).toEqual([name, 200]);
    expect([name, taken.value.body.length]).toEqual([name, name === 'search' ? 1 : 20]);
    costs[name] = { trips: taken.trips.length, kilobytes: Math.ceil(taken.bytes.D / 1024) };
  }
  process.stdout.write(`${members} members: refreshed in ${refreshed} ms, ${JSON.stringify(costs)}\n`);
  return costs;
}

test('pages of billable members cost the same at any size, and a search reads only the list searched', {
  timeout: 600_000,
}, async () => {
  const small = await costsOf(await crowd('small', SMALL), SMALL);
  const large = await costsOf(await crowd('large', LARGE), LARGE);
  for (const name of ['first', 'middle', 'joined', 'level']) {
    expect([name, large[name]!.trips]).toEqual([name, small[name]!.trips]);
    expect(large[name]!.kilobytes).toBeLessThan(small[name]!.kilobytes + 25);
  }
  // Some 60 bytes of each, a megabyte a request.
  expect(large['search']!.kilobytes).toBeLessThan(40 + LARGE * 0.09);
});
