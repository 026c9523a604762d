/**
 * Finding who is to hear of a comment costs what those cost who hear of it, however many are members of the project and
 * however many watch other things: with a thousand and with ten times as many. `GROWTH_SIZE=100000` makes it a hundred
 * times as many.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deps } from '../../functions/deps.ts';
import type { Notification } from '../../lib/domain/notifications/enqueue.ts';
import { sendNotification } from '../../lib/domain/notifications/send.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { NotificationSettings } from '../../lib/store/notifications/settings.ts';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { makersOf } from '../harness/makers.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';
import { type Pushed, pushedProject } from '../scenarios/repository/pushed-project.ts';

const SMALL = 1000;
/** Members of a group that is called. */
const CALLED = Number(process.env['GROWTH_CALLED'] ?? 250);
const LARGE = Number(process.env['GROWTH_SIZE'] ?? 10_000);

let service: Service;
let trips: RoundTrips;
let owner: Awaited<ReturnType<Service['user']>>;
const pushed: Pushed[] = [];
beforeAll(async () => {
  service = await startService({ background: false });
  trips = RoundTrips.of(service.host);
  owner = await service.user('owner');
});
afterAll(async () => {
  for (const { git } of pushed) git[Symbol.dispose]();
  await service.stop();
});

const groupOf = async (name: string): Promise<number> =>
  (await service.call('POST', '/groups', { token: owner.token, json: { name, path: name } })).body.id;

/** People, who are members of a group, or watch whatever they are members of, or both. */
async function people(
  name: string,
  many: number,
  { group, watch }: { group?: number; watch?: boolean },
): Promise<void> {
  const { table, users } = storeOf();
  const { id: _i, namespaceId: _n, projectsCount: _p, version: _v, ...model } = (await users.get(owner.id))!;
  const client = new TableClient(awsClients().dynamodb);
  const bulk = new BulkTable(client, table.name, service.host.dynamo);
  const makers = makersOf(bulk);
  const settings = new NotificationSettings(bulk);
  for (let i = 0; i < many; i++) {
    const username = `${name}-${i}`;
    const person = { username, name: username, email: `${username}@example.com`, admin: false };
    const { id: userId } = await makers.users.create({ ...model, ...person });
    if (group !== undefined)
      await makers.members.add({
        source: { kind: 'group', id: group },
        userId,
        accessLevel: 20,
        createdAt: new Date(1_700_000_000_000 + i).toISOString(),
        expiresAt: null,
        createdById: null,
      });
    if (watch === true) await settings.change(userId, undefined, { level: 'watch' });
  }
  await bulk.flush();
}

/** A comment on a commit of a project in the group, or in another that may be seen. */
async function comment(name: string, group: number | undefined, note = 'heard'): Promise<Notification> {
  const project = await pushedProject(
    service,
    owner,
    name,
    (git) =>
      git.feed(
        'commit refs/heads/main\ncommitter C <c@example.org> 1600000000 +0000\ndata 1\nx\nM 100644 inline a\ndata 1\na\n',
        'fast-import',
        '--quiet',
      ),
    group === undefined ? { visibility: 'public' } : { namespace_id: group },
  );
  pushed.push(project);
  const commit = project.git.oid('main');
  const path = `${project.repository}/commits/${commit}/comments`;
  await service.call('POST', path, { token: owner.token, json: { note } });
  const page = { page: 1, perPage: 1, count: false };
  const { items } = await storeOf().notes.list(project.id, { kind: 'commit', id: commit }, page);
  const happening = { kind: 'note', projectId: project.id, commit, noteId: items[0]!.id } as const;
  return { actorId: owner.id, baseUrl: service.url, happening };
}

async function costOf(id: string, notification: Notification, readers: number): Promise<number> {
  // What the process keeps is there already.
  await sendNotification(deps(), `${id} before`, notification, Number.MAX_VALUE);
  const taken = await trips.of(() => sendNotification(deps(), id, notification, Number.MAX_VALUE));
  const { ids } = await storeOf().notificationSettings.globalSubscribers(0, 100_000);
  const done = await storeOf().processed.filterHandled(
    'notification',
    ids.map((userId) => `${id}#${userId}`),
  );
  expect(done.size).toBe(readers);
  return taken.trips.length;
}

test('a comment in a project with many members, few of whom watch it, costs the same', {
  timeout: 600_000,
}, async () => {
  const costs: number[] = [];
  for (const many of [SMALL, LARGE]) {
    const name = `crowd-${many}`;
    const group = await groupOf(name);
    await people(`${name}-a`, 5, { group, watch: true });
    await people(`${name}-b`, many, { group });
    await people(`${name}-c`, 5, { group, watch: true });
    costs.push(await costOf(name, await comment(name, group), 10));
  }
  process.stderr.write(
    `few watchers among ${SMALL} and ${LARGE} members: ${costs.join(' and ')} round trips\n`,
  );
  expect(costs[1]).toBeLessThanOrEqual(costs[0]! + 2);
});

test('a comment in a project with few members, all of whom watch it, costs the same beside many other watchers', {
  timeout: 600_000,
}, async () => {
  const costs: number[] = [];
  for (const many of [SMALL, LARGE]) {
    const name = `quiet-${many}`;
    const group = await groupOf(name);
    await people(`${name}-a`, 5, { group, watch: true });
    await people(`${name}-b`, many, { watch: true });
    await people(`${name}-c`, 5, { group, watch: true });
    costs.push(await costOf(name, await comment(name, group), 10));
  }
  process.stderr.write(
    `few members among ${SMALL} and ${LARGE} watchers: ${costs.join(' and ')} round trips\n`,
  );
  expect(costs[1]).toBeLessThanOrEqual(costs[0]! + 2);
});

test('a mention of a group notifies each member once, at a constant cost, in as many jobs as needed', {
  timeout: 600_000,
}, async () => {
  const costs: number[] = [];
  for (const many of [CALLED, CALLED * 4]) {
    const name = `called-${many}`;
    const group = await groupOf(name);
    await people(name, many, { group });
    const notification = await comment(name, undefined, `@${name} @${name}-1 @all`);
    let jobs = 0;
    const taken = await trips.of(async () => {
      // Each ends after a page, as where time is short.
      for (let left: Notification | undefined = notification; left !== undefined; jobs++)
        left = await sendNotification(deps(), name, left, 0);
    });
    const { ids } = await storeOf().members.idsAfter({ kind: 'group', id: group }, 0, 100_000);
    const done = await storeOf().processed.filterHandled(
      'notification',
      ids.map((userId) => `${name}#${userId}`),
    );
    // Without the author.
    expect([ids.length, done.size]).toEqual([many + 1, many]);
    expect(jobs).toBeGreaterThanOrEqual(many / 100);
    costs.push(taken.trips.length / many);
  }
  const told = costs.map((cost) => cost.toFixed(2)).join(' and ');
  process.stderr.write(`each of ${CALLED} and ${CALLED * 4} who are called: ${told} round trips\n`);
  expect(costs[1]).toBeLessThanOrEqual(costs[0]! * 1.1);
});
