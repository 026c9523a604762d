/**
 * What an identity provider asks of a group costs what it costs, however many people it has: a thousand, and ten times
 * as many. Pages far in cost reading what comes before, short rows by the megabyte. `GROWTH_SIZE=100000` makes it a
 * hundred times as many.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { awsClients } from '../../lib/store/clients.ts';
import { ScimIdentities } from '../../lib/store/scim/identities.ts';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { makersOf } from '../harness/makers.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { patchOf, person, type ScimGroup, scimGroup } from '../harness/scim.ts';
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

/** A group whose provider has let in so many. */
async function crowd(name: string, people: number): Promise<ScimGroup> {
  const group = await scimGroup(service, owner.token, name);
  const { table, users } = storeOf();
  const { id: _i, namespaceId: _n, projectsCount: _p, version: _v, ...model } = (await users.get(owner.id))!;
  const client = new TableClient(awsClients().dynamodb);
  const bulk = new BulkTable(client, table.name, service.host.dynamo);
  const makers = makersOf(bulk);
  const identities = new ScimIdentities(bulk, makers.users);
  const at = new Date(1_700_000_000_000).toISOString();
  for (let i = 0; i < people; i++) {
    const username = `${name}-${i}`;
    const email = `${username}@corp.example`;
    const identity = { groupId: group.id, externUid: `ext-${username}`, userName: username, email };
    const rest = {
      givenName: null,
      familyName: null,
      active: true,
      createdAt: at,
      updatedAt: at,
      version: 1,
    };
    const user = await makers.users.create(
      { ...model, username, name: username, email, admin: false },
      { about: (userId) => identities.create({ ...identity, ...rest, userId }) },
    );
    const source = { kind: 'group', id: group.id } as const;
    const member = { source, accessLevel: 10, createdAt: at, expiresAt: null, createdById: null } as const;
    await makers.members.add({ ...member, userId: user.id });
  }
  await bulk.flush();
  return group;
}

async function costsOf(group: ScimGroup, people: number) {
  const last = `${group.path}-${people - 1}`;
  const by = (attribute: string, value: string) =>
    `/Users?filter=${encodeURIComponent(`${attribute} eq "${value}"`)}`;
  const asked: Record<string, readonly [method: string, path: string, json?: unknown]> = {
    first: ['GET', '/Users?count=100'],
    last: ['GET', `/Users?startIndex=${people - 99}&count=100`],
    beyond: ['GET', `/Users?startIndex=${people * 2}&count=100`],
    id: ['GET', `/Users/ext-${last}`],
    externalId: ['GET', by('externalId', `ext-${last}`)],
    userName: ['GET', by('userName', last)],
    email: ['GET', by('emails[type eq "work"].value', `${last}@corp.example`)],
    added: ['POST', '/Users', person(`another-${group.path}`)],
    changed: [
      'PATCH',
      `/Users/ext-${last}`,
      patchOf({ op: 'replace', path: 'userName', value: `${last}-x` }),
    ],
    'let go': ['PATCH', `/Users/ext-${last}`, patchOf({ op: 'replace', path: 'active', value: false })],
    deleted: ['DELETE', `/Users/ext-${group.path}-0`],
  };
  const costs: Record<string, { trips: number; calls: number; kilobytes: number; ms: number }> = {};
  for (const [name, [method, path, json]] of Object.entries(asked)) {
    forgetEverything();
    await group.agent('GET', '/ServiceProviderConfig');
    const begun = performance.now();
    const taken = await trips.of(() => group.agent(method, path, json));
    expect([name, taken.value.status]).toEqual([
      name,
      method === 'POST' ? 201 : method === 'GET' ? 200 : 204,
    ]);
    const found = { first: 100, last: 100, beyond: 0, externalId: 1, userName: 1, email: 1 }[name];
    if (found !== undefined) {
      expect([name, taken.value.body.itemsPerPage]).toEqual([name, found]);
      expect([name, taken.value.body.totalResults]).toEqual([name, found === 1 ? 1 : people]);
    }
    costs[name] = {
      trips: taken.trips.length,
      calls: taken.calls.flat().length,
      kilobytes: Math.ceil(taken.bytes.D / 1024),
      ms: Math.round(performance.now() - begun),
    };
  }
  process.stdout.write(`${people} people: ${JSON.stringify(costs)}\n`);
  return costs;
}

test('a SCIM request costs the same at any number of users', { timeout: 1_200_000 }, async () => {
  const small = await costsOf(await crowd('small', SMALL), SMALL);
  const large = await costsOf(await crowd('large', LARGE), LARGE);
  for (const name of Object.keys(small)) {
    // 10,000 short rows are less than the megabyte of one call.
    const further = name === 'last' ? Math.ceil(LARGE / 5000) : 0;
    expect([name, large[name]!.trips <= small[name]!.trips + further]).toEqual([name, true]);
    expect([name, large[name]!.kilobytes <= small[name]!.kilobytes + 10]).toEqual([name, true]);
  }
});
