/** A membership that ends: it is told and recorded once, and gives nothing from that day on. */
import { beforeAll, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { endMembership } from '../../../lib/domain/members/expiry.ts';
import { OUTBOX_SHARDS, outboxPartition } from '../../../lib/store/row-keys/outbox.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { feedsOf, names } from '../events/feeds.ts';

const { service, world, as } = ownWorld();
const { done, feed } = feedsOf(world);

const DAY = 86_400_000;
const dayIn = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10);
const later = (days: number) => ({
  ...deps(),
  now: () => new Date(Date.parse(`${dayIn(days)}T00:30:00Z`)),
});
let id: number;
let member: number;
beforeAll(async () => {
  id = (await done('owner', 'POST', '/projects', { name: 'ending' })).id;
  member = (await service.user('ending')).id;
});
const members = () => `/projects/${id}/members`;
const told = async () => names(await feed('owner', `/projects/${id}/events`));
const ends = (expiresAt: string, days: number, kind: 'project' | 'group' = 'project', of = id) =>
  endMembership(later(days), { kind, id: of, userId: member, expiresAt });
const promised = async () => {
  const found: string[] = [];
  for (let shard = 0; shard < OUTBOX_SHARDS; shard++)
    for await (const row of world.store.table.queryAll({ partition: outboxPartition(shard) })) {
      const body = row['body'] as { userId?: number; expiresAt?: string };
      if (row['type'] === 'member.expires' && body.userId === member) found.push(body.expiresAt!);
    }
  return found.sort();
};

test('an expiry job is scheduled with each expires_at that is set', async () => {
  await done('owner', 'POST', members(), { user_id: member, access_level: 30, expires_at: dayIn(1) });
  expect(await promised()).toEqual([dayIn(1)]);
  await done('owner', 'PUT', `${members()}/${member}`, { access_level: 40 });
  expect(await promised()).toEqual([dayIn(1)]);
  await done('owner', 'PUT', `${members()}/${member}`, { access_level: 40, expires_at: dayIn(3) });
  expect(await promised()).toEqual([dayIn(1), dayIn(3)]);
});

test('an expiry job does nothing when the membership has another or later expiry', async () => {
  await ends(dayIn(1), 1);
  await ends(dayIn(3), 1);
  expect(await done('owner', 'GET', `${members()}/${member}`)).toMatchObject({ access_level: 40 });
  // A message that came too early is enqueued again.
  expect(await promised()).toEqual([dayIn(1), dayIn(3), dayIn(3)]);
  expect(await told()).toEqual(['created', 'joined']);
});

test('an expiry removes the row and is shown and audited once, however often its job runs', async () => {
  await Promise.all([ends(dayIn(3), 3), ends(dayIn(3), 4)]);
  await ends(dayIn(3), 5);
  expect((await as('owner', 'GET', `${members()}/${member}`)).status).toBe(404);
  const events = await feed('owner', `/projects/${id}/events?action=expired`);
  expect(events).toMatchObject([
    {
      action_name: 'removed due to membership expiration from',
      author_username: 'ending',
      target_type: null,
    },
  ]);
  const audited = await done('owner', 'GET', `/projects/${id}/audit_events?per_page=100`);
  const removed = audited.filter(({ details }: { details: { remove?: string } }) => details.remove);
  expect(removed).toMatchObject([
    {
      author_id: -1,
      details: {
        remove: 'user_access',
        reason: expect.stringMatching(/^access expired on \d{4}-\d\d-\d\d$/),
        system_event: true,
        target_id: member,
        target_details: 'ending',
        author_name: '(System)',
      },
    },
  ]);
  const source = { kind: 'project', id } as const;
  expect(await world.store.members.getEvenExpired(source, member)).toBeUndefined();
});

test('the expiry of a group membership is audited and shown in no event feed', async () => {
  const group = await done('administrator', 'POST', '/groups', { name: 'ending', path: 'ending-group' });
  const path = `/groups/${group.id}/members`;
  await done('administrator', 'POST', path, { user_id: member, access_level: 50, expires_at: dayIn(2) });
  await done('administrator', 'PUT', `${path}/${member}`, { access_level: 30, expires_at: dayIn(4) });
  await ends(dayIn(4), 4, 'group', group.id);
  expect((await as('administrator', 'GET', `${path}/${member}`)).status).toBe(404);
  const audited = await done('administrator', 'GET', `/groups/${group.id}/audit_events`);
  expect(audited[0]).toMatchObject({
    details: { reason: `access expired on ${dayIn(4)}`, system_event: true },
  });
  expect(await told()).toContain('removed due to membership expiration from');
});

test('an expired membership gives no access, whether its job has run or not', async () => {
  const source = { kind: 'project', id } as const;
  const record = { source, userId: member, accessLevel: 30, createdAt: '', createdById: member } as const;
  await world.store.members.add({ ...record, expiresAt: dayIn(0) });
  expect((await world.store.members.getEvenExpired(source, member))?.expiresAt).toBe(dayIn(0));
  expect((await as('owner', 'GET', `${members()}/${member}`)).status).toBe(404);
});
