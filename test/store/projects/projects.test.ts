import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { RefConflict } from '../../../lib/git/ports.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { LimitReached, Missing, NameTaken, Stale, StoreUnavailable } from '../../../lib/store/errors.ts';
import { OUTBOX_SHARDS, outboxPartition } from '../../../lib/store/row-keys/outbox.ts';
import { projectKey } from '../../../lib/store/row-keys/projects.ts';
import { repositoryPartition } from '../../../lib/store/row-keys/repository.ts';
import { gramsOf } from '../../../lib/store/search/trigrams.ts';
import {
  createProject,
  measured,
  newProject,
  newUser,
  openTestStore,
  type TestStore,
} from '../table/store-fixture.ts';
import { listProjects } from './filters.ts';

let opened: TestStore;
let owner: UserRecord;
beforeAll(async () => {
  opened = await openTestStore();
  owner = await opened.store.users.create(newUser('Owner'));
});
afterEach(() => opened.dynamo.faults.clear());
afterAll(() => opened.close());

const count = async () => (await opened.store.users.get(owner.id))!.projectsCount;
const outbox = async () => {
  const rows = [];
  for (let shard = 0; shard < OUTBOX_SHARDS; shard++)
    for await (const row of opened.store.table.queryAll({ partition: outboxPartition(shard) }))
      rows.push(row);
  return rows as { type: string; body: Record<string, unknown> }[];
};
/** All that a creation writes; empty if nothing was written. */
async function traces(path: string) {
  const { store } = opened;
  const project = await store.projects.byPath(`${owner.username}/${path}`);
  const member = project && (await store.members.get({ kind: 'project', id: project.id }, owner.id));
  const guards =
    project && (await store.table.count({ partition: repositoryPartition(project.repositoryId) }, 50));
  return { project, member, guards };
}

describe('a project', () => {
  test('is stored as created, with its member and repository, and is counted', async () => {
    const before = await count();
    const made = await createProject(opened.store, owner, 'First', 'internal', { topics: ['a', 'b'] });
    expect(made).toMatchObject({ fullPath: 'Owner/First', version: 1, deletedAt: null });
    expect(await opened.store.projects.get(made.id)).toEqual(made);
    expect(await opened.store.projects.byPath('oWNER/fIRST')).toEqual(made);
    expect(await opened.store.members.get({ kind: 'project', id: made.id }, owner.id)).toMatchObject({
      accessLevel: 40,
    });
    expect(await count()).toBe(before + 1);
    const refs = await opened.store.repositories.open(made.repositoryId).all();
    expect(refs).toEqual({ head: 'refs/heads/main', refs: [] });
    expect((await opened.store.search.find('project', 'first')).ids).toContain(made.id);
  });

  test('is found by its path in one read', async () => {
    const made = await createProject(opened.store, owner, 'one-read');
    const { value, requests, items } = await measured(opened, () =>
      opened.store.projects.holderOfPath('owner/one-read'),
    );
    const { id, repositoryId } = made;
    const confirmed = expect.any(Boolean);
    expect(value).toEqual({ type: 'project', id, repositoryId, ancestorIds: [], current: true, confirmed });
    expect({ requests, items }).toEqual({ requests: 1, items: 1 });
  });

  test('created concurrently at one path exists once; the other creations fail and leave nothing', async () => {
    const before = await count();
    const spellings = ['Racer', 'racer', 'RACER', 'raCer', 'rAcer', 'racEr'];
    const outcomes = await Promise.allSettled(
      spellings.map((path) => createProject(opened.store, owner, path)),
    );
    const won = outcomes.flatMap((o) => (o.status === 'fulfilled' ? [o.value] : []));
    expect(won).toHaveLength(1);
    for (const lost of outcomes.filter((o) => o.status === 'rejected')) {
      expect(lost.reason).toBeInstanceOf(NameTaken);
      expect(lost.reason.names).toEqual(['path']);
    }
    expect(await count()).toBe(before + 1);
    expect((await traces('racer')).project).toEqual(won[0]);
  });

  test('above the limit of its owner is refused, also for concurrent creations', async () => {
    const limited = await opened.store.users.create(newUser('limited', { projectsLimit: 3 }));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => createProject(opened.store, limited, `p${i}`)),
    );
    expect(outcomes.filter((o) => o.status === 'fulfilled')).toHaveLength(3);
    for (const lost of outcomes.filter((o) => o.status === 'rejected')) {
      expect(lost.reason).toBeInstanceOf(LimitReached);
      expect(lost.reason.limit).toBe(3);
    }
    expect((await opened.store.users.get(limited.id))!.projectsCount).toBe(3);
    const left = await opened.store.users.create(newUser('left'));
    await opened.store.users.remove(left);
    await expect(createProject(opened.store, left, 'x')).rejects.toBeInstanceOf(Missing);
  });

  test('is updated only from the version that was read; pushes do not conflict with it', async () => {
    const made = await createProject(opened.store, owner, 'changing');
    const pushed = new Date(Date.now() + 60_000);
    await opened.store.table.update(
      opened.store.projects.activity(made.id, pushed, { defaultBranch: 'main' }),
    );
    const changed = await opened.store.projects.update(made, { description: 'new', visibility: 'public' });
    const now = await opened.store.projects.get(made.id);
    expect(now).toEqual({ ...changed, lastActivityAt: pushed.toISOString(), defaultBranch: 'main' });
    await expect(opened.store.projects.update(made, { description: 'late' })).rejects.toBeInstanceOf(Stale);
  });

  test('gets a new path; the old one redirects until another project takes it', async () => {
    const made = await createProject(opened.store, owner, 'before');
    await createProject(opened.store, owner, 'occupied');
    await expect(opened.store.projects.update(made, { path: 'Occupied' })).rejects.toBeInstanceOf(NameTaken);
    const moved = await opened.store.projects.update(made, { path: 'after', name: 'After' });
    expect(moved.fullPath).toBe('Owner/after');
    expect(await opened.store.projects.byPath('owner/before')).toEqual(moved);
    expect(await opened.store.projects.byPath('owner/after')).toEqual(moved);
    const respelled = await opened.store.projects.update(moved, { path: 'AFTER' });
    expect(await opened.store.projects.byPath('owner/after')).toEqual(respelled);
    const next = await createProject(opened.store, owner, 'before');
    expect(await opened.store.projects.byPath('owner/before')).toEqual(next);
    // Back to its own former path, which is as free as any redirect.
    const there = await opened.store.projects.update(respelled, { path: 'there' });
    await opened.store.projects.update(there, { path: 'after' });
    expect(await opened.store.projects.byPath('owner/there')).toMatchObject({ fullPath: 'Owner/after' });
  });

  test('that is deleted disappears from every list at once; its path is free and its repository closed', async () => {
    const before = await count();
    const made = await createProject(opened.store, owner, 'doomed', 'public');
    const repository = opened.store.repositories.open(made.repositoryId);
    await repository.listPacks();
    await opened.store.projects.remove(made);
    expect(await opened.store.projects.get(made.id)).toBeUndefined();
    expect(await opened.store.projects.byPath('owner/doomed')).toBeUndefined();
    expect(await count()).toBe(before);
    const listed = await listProjects(opened.store, { viewer: { kind: 'anonymous' }, page: 1, perPage: 100 });
    expect(listed.items.map(({ project }) => project.id)).not.toContain(made.id);
    const push = repository.compareAndSwap([
      { name: 'refs/heads/main' as RefName, from: ZERO_OID, to: 'a'.repeat(40) as Oid },
    ]);
    await expect(push).rejects.toBeInstanceOf(RefConflict);
    await expect(opened.store.repositories.open(made.repositoryId).all()).rejects.toBeInstanceOf(Missing);
    await expect(opened.store.projects.remove(made)).rejects.toBeInstanceOf(Missing);
    expect(await count()).toBe(before);
    expect(await opened.store.projects.getEvenDeleted(made.id)).toMatchObject({
      deletedAt: expect.any(String),
    });
    expect(await outbox()).toContainEqual(
      expect.objectContaining({
        type: 'project.delete',
        body: { projectId: made.id, repositoryId: made.repositoryId },
      }),
    );
    const again = await createProject(opened.store, owner, 'doomed');
    expect(again.id).toBeGreaterThan(made.id);
  });
});

describe('faults at every call of creation', () => {
  const faults = [
    ['an error', { fail: 'internal-error' }],
    ['a throttle', { fail: 'throttling' }],
    ['no connection', { fail: 'unreachable' }],
    ['a conflict', { fail: 'transaction-conflict' }],
    ['a lost answer', { loseAnswer: true }],
  ] as const;

  test.each(faults.flatMap(([what, fault]) => [0, 1].map((call) => [what, fault, call] as const)))(
    '%s %j at call %i: the project is created completely, once',
    async (what, fault, call) => {
      const before = await count();
      let calls = 0;
      opened.dynamo.faults.onRequest = () => (calls++ === call ? { ...fault } : undefined);
      const made = await createProject(opened.store, owner, `once ${what} ${call}`);
      opened.dynamo.faults.clear();
      expect(calls).toBe(3);
      const { project, member, guards } = await traces(made.path);
      expect(project).toEqual(made);
      expect(member).toMatchObject({ accessLevel: 40 });
      expect(guards).toBe(10);
      expect(await count()).toBe(before + 1);
    },
  );

  test.each(faults.slice(0, 4))(
    '%s at every attempt: creation fails and leaves nothing',
    async (what, fault) => {
      const before = await count();
      const promised = (await outbox()).length;
      const path = `never ${what}`;
      opened.dynamo.faults.onRequest = ({ operation }) =>
        operation === 'TransactWriteItems' ? { ...fault } : undefined;
      await expect(createProject(opened.impatient, owner, path)).rejects.toBeInstanceOf(StoreUnavailable);
      opened.dynamo.faults.clear();
      expect(await traces(path)).toEqual({});
      expect(await count()).toBe(before);
      expect(await outbox()).toHaveLength(promised);
    },
  );
});

test('creation of a project is one transaction of well below 100 items', async () => {
  opened.reset();
  await opened.store.projects.create(newProject(owner, 'counted'), { headBranch: 'main', owner });
  const transaction = opened.operations.find((o) => o.operation === 'TransactWriteItems');
  // Beside its own items it writes one for each trigram of its name.
  expect(transaction!.itemsWritten).toBeLessThanOrEqual(20 + gramsOf(['counted']).size);
  expect(opened.operations).toHaveLength(2);
  const longest = Array.from({ length: 58 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('');
  for (const name of [longest, longest.slice(0, 54), `${longest}${longest}`]) {
    const path = `many-${name.length}`;
    opened.reset();
    await opened.store.projects.create(newProject(owner, path, 'private', { name }), {
      headBranch: 'main',
      owner,
    });
    const whole = opened.operations.find((o) => o.operation === 'TransactWriteItems');
    expect(whole!.itemsWritten).toBeLessThanOrEqual(85);
  }
});

test('the item of a project stays small, including its index attributes', async () => {
  const made = await createProject(opened.store, owner, 'x'.repeat(255), 'public', {
    name: '😀'.repeat(255),
  });
  const item = await opened.store.table.get(projectKey(made.id));
  expect(Buffer.byteLength(item!['byName'] as string)).toBeLessThanOrEqual(1024);
  expect(await opened.store.projects.get(made.id)).toEqual(made);
});
