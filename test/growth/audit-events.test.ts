/**
 * A page of what was done to a group costs what it costs, however much that is: with a thousand events and with
 * twenty times as many. `GROWTH_SIZE=100000` makes it a hundred times as many. By number a page far behind reads the keys
 * before it, as far as that may go; by place none does.
 */
import { ulid } from 'ulid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditEventPut } from '../../lib/store/audit-events/audit-events.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { auditPosition } from '../../lib/store/row-keys/audit-events.ts';
import { encodeCursor } from '../../lib/store/table/cursor.ts';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { forgetEverything } from '../harness/aws-calls.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';

const SMALL = 1000;
const LARGE = Number(process.env['GROWTH_SIZE'] ?? 20_000);
const FIRST = Date.UTC(2020, 0, 1);
const at = (n: number) => new Date(FIRST + n * 1000).toISOString();

let service: Service;
let trips: RoundTrips;
let owner: Awaited<ReturnType<Service['user']>>;
let developer: Awaited<ReturnType<Service['user']>>;
beforeAll(async () => {
  service = await startService({ background: false });
  trips = RoundTrips.of(service.host);
  [owner, developer] = [await service.user('owner'), await service.user('developer')];
});
afterAll(() => service.stop());

let next = 10_000_000;

/** A group to which so much was done, every tenth of it by a Developer. @returns its id, and ids of the events */
async function busy(name: string, events: number): Promise<{ id: number; first: number }> {
  const json = { name, path: name };
  const { id } = (await service.call('POST', '/groups', { token: owner.token, json })).body;
  const member = { user_id: developer.id, access_level: 30 };
  await service.call('POST', `/groups/${id}/members`, { token: owner.token, json: member });
  const client = new TableClient(awsClients().dynamodb);
  const bulk = new BulkTable(client, storeOf().table.name, service.host.dynamo);
  const first = next;
  for (let n = 0; n < events; n++) {
    const author = n % 10 === 0 ? developer : owner;
    const target = { target_id: n, target_type: 'User', target_details: `Person ${n}` };
    const by = { author_name: author.username, author_class: 'User', author_email: 'somebody@example.com' };
    const details = {
      add: 'user_access',
      as: 'Developer',
      ...target,
      ...by,
      entity_path: name,
      ip_address: '10.0.0.1',
    };
    await bulk.put(
      auditEventPut({
        id: next++,
        authorId: author.id,
        entityKind: 'Group',
        entityId: id,
        details,
        createdAt: at(n),
        requestId: ulid(),
      }),
    );
  }
  await bulk.flush();
  return { id, first };
}

interface Cost {
  readonly trips: number;
  readonly kilobytes: number;
  readonly milliseconds: number;
}

async function costsOf({ id, first }: { id: number; first: number }, events: number) {
  const half = Math.floor(events / 2);
  const list = ['Group', id, undefined, undefined, undefined];
  const cursor = encodeCursor(list, { sort: auditPosition(at(half), first + half), id: first + half });
  const mine = `/groups/${id}/audit_events?per_page=20`;
  const all = '/audit_events?per_page=20';
  const window = `created_after=${at(half)}&created_before=${at(half + 500)}`;
  const requests: Readonly<Record<string, readonly [path: string, token: string]>> = {
    first: [mine, owner.token],
    'by place, first': [`${mine}&pagination=keyset`, owner.token],
    'by place, in the middle': [`${mine}&pagination=keyset&cursor=${cursor}`, owner.token],
    window: [`${mine}&${window}`, owner.token],
    "a Developer's own": [mine, developer.token],
    one: [`/groups/${id}/audit_events/${first + half}`, owner.token],
    instance: [all, service.rootToken],
    'instance, by place': [`${all}&pagination=keyset`, service.rootToken],
    'instance, one': [`/audit_events/${first + half}`, service.rootToken],
    'in the middle': [`${mine}&page=${Math.ceil(Math.min(events, 50_000) / 40)}`, owner.token],
    'far behind': [`${mine}&page=${Math.min(events, 50_000) / 20}`, owner.token],
  };
  const costs: Record<string, Cost> = {};
  for (const [name, [path, token]] of Object.entries(requests)) {
    forgetEverything();
    await service.call('GET', path, { token });
    const begun = performance.now();
    const { value, trips: taken, bytes } = await trips.of(() => service.call('GET', path, { token }));
    expect([name, value.status]).toEqual([name, 200]);
    if (Array.isArray(value.body)) expect([name, value.body.length]).toEqual([name, 20]);
    costs[name] = {
      trips: taken.length,
      kilobytes: Math.ceil(bytes.D / 1024),
      milliseconds: Math.round(performance.now() - begun),
    };
  }
  const told = Object.entries(costs).map(([name, cost]) => `  ${name}: ${JSON.stringify(cost)}`);
  process.stderr.write(`${events} events\n${told.join('\n')}\n`);
  return costs;
}

test('audit events cost the same at any size by keyset and in time ranges, and totals stop at 10,000', {
  timeout: 600_000,
}, async () => {
  const small = await costsOf(await busy('small', SMALL), SMALL);
  const large = await costsOf(await busy('large', LARGE), LARGE);
  for (const name of Object.keys(small)) {
    const [before, after] = [small[name]!, large[name]!];
    // Counting up to 10,000, and walking to a page by number, takes more requests than there are thousands of keys.
    const bounded = ['first', "a Developer's own", 'instance', 'in the middle', 'far behind'].includes(name);
    const walked = name === 'far behind' ? 50 : name === 'in the middle' ? 25 : 0;
    expect([name, after.trips]).toEqual([
      name,
      expect.toSatisfy((n) => n <= before.trips + (bounded ? 12 + walked : 0)),
    ]);
    const keys = name === 'far behind' ? 50_000 : name === 'in the middle' ? 25_000 : 0;
    expect([name, after.kilobytes]).toEqual([
      name,
      expect.toSatisfy((n) => n <= before.kilobytes + 4 + (keys * 120) / 1024),
    ]);
  }
});
