/** Maintenance of repositories: what requests it, what it does, and what an interrupted run leaves. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault as DynamoFault } from '@lemnos/embedded-aws/dynamodb';
import type { Fault as S3Fault } from '@lemnos/embedded-aws/s3';
import { encodeTime, ulid } from 'ulid';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { collect, GARBAGE_MS } from '../../../lib/git/maintenance/collect.ts';
import { compact } from '../../../lib/git/maintenance/compact.ts';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { RefConflict } from '../../../lib/git/ports.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { MaintainedGitObjects } from '../../../lib/store/repository/maintained-objects.ts';
import { closeRepository } from '../../../lib/store/repository/state.ts';
import { leaseKey } from '../../../lib/store/row-keys/maintenance.ts';
import { REF_TABLES, repositoryPartition } from '../../../lib/store/row-keys/repository.ts';
import { DAY, type Ground, HOUR, openYard, type Yard } from './maintenance-fixture.ts';

let yard: Yard;
beforeAll(async () => {
  yard = await openYard();
});
afterEach(() => {
  yard.dynamo.faults.clear();
  yard.s3.faults.clear();
  yard.dynamo.onOperation = undefined;
});
afterAll(() => yard[Symbol.asyncDispose]());

const later = (ms: number) => new Date(Date.now() + ms);
const of = (ground: Ground) => (message: { body: Readonly<Record<string, unknown>> }) =>
  message.body['repositoryId'] === ground.id;

describe('maintenance is requested by', () => {
  test('a commit that finds more than eight packs, without a read of its own', async () => {
    const ground = await yard.repository();
    await ground.commits(8);
    expect((await yard.sentBy()).filter(of(ground))).toEqual([]);
    const operations: string[] = [];
    yard.dynamo.onOperation = ({ operation }) => void operations.push(operation);
    await ground.commit();
    const ninth = operations.splice(0);
    expect((await yard.sentBy()).filter(of(ground))).toEqual([
      { type: 'repository.maintain', body: { repositoryId: ground.id } },
    ]);
    await ground.maintain();
    operations.splice(0);
    await ground.commit();
    expect(ninth).toEqual(operations);
  });

  test('deletions, forced updates, and many new names', async () => {
    const ground = await yard.repository();
    const oid = await ground.commits(2);
    const { refs } = ground.open();
    await refs.compareAndSwap([{ name: 'refs/heads/x' as RefName, from: ZERO_OID, to: oid }]);
    expect((await yard.sentBy()).filter(of(ground))).toEqual([]);
    await refs.compareAndSwap([{ name: 'refs/heads/x' as RefName, from: oid, to: ZERO_OID }]);
    const collect = [{ type: 'repository.maintain', body: { repositoryId: ground.id, collect: true } }];
    expect((await yard.sentBy()).filter(of(ground))).toEqual(collect);
    const { commit } = await ground.commit();
    expect((await yard.sentBy()).filter(of(ground))).toEqual([]);
    await ground.commit('main', { reset: oid });
    expect((await yard.sentBy()).filter(of(ground))).toEqual(collect);
    for (let k = 0; k < 10; k++) {
      const names = Array.from({ length: 60 }, (_, i) => `refs/heads/many-${k}-${i}` as RefName);
      await refs.compareAndSwap(names.map((name) => ({ name, from: ZERO_OID, to: commit })));
    }
    const refsMany = { type: 'repository.maintain', body: { repositoryId: ground.id, refs: true } };
    expect((await yard.sentBy()).filter(of(ground))).toEqual(Array.from({ length: 6 }, () => refsMany));
  });

  test('the first client that asks for a bundle', async () => {
    const ground = await yard.repository();
    const { maintenanceNotes } = yard.store;
    for (let n = 0; n < 2; n++) await maintenanceNotes.askForBundle(ground.id);
    expect((await yard.sentBy()).filter(of(ground))).toEqual([
      { type: 'repository.maintain', body: { repositoryId: ground.id } },
    ]);
    expect((await maintenanceNotes.read(ground.id)).bundleAsked).toBe(true);
  });
});

describe('compaction', () => {
  test('leaves one pack with everything readable, and does nothing for the same message again', async () => {
    const ground = await yard.repository();
    await ground.commits(20);
    const all = await ground.readAll();
    const old = ground.open();
    await old.store.packs();
    await ground.maintain();
    expect(await ground.active()).toMatchObject([{ source: 'compact', objectCount: all.length }]);
    expect(await ground.superseded()).toHaveLength(20);
    expect(await ground.readAll()).toEqual(all);
    // A reader with the old list of packs can still read.
    expect(await ground.readAll(old)).toEqual(all);
    const operations: string[] = [];
    yard.dynamo.onOperation = ({ operation }) => void operations.push(operation);
    await ground.maintain();
    expect(operations.filter((name) => !/^(Get|BatchGet|Query)/.test(name))).toEqual([]);
    expect(await ground.active()).toHaveLength(1);
  });

  test('also runs for an archived project, which stays closed to writers', async () => {
    const ground = await yard.repository();
    await ground.commits(20);
    const all = await ground.readAll();
    await yard.store.repositories.setState(ground.id, 'read-only');
    await ground.maintain();
    expect(await ground.active()).toMatchObject([{ source: 'compact' }]);
    expect(await ground.superseded()).toHaveLength(20);
    await ground.maintain(later(2 * DAY), { collect: true, refs: true });
    expect(await ground.superseded()).toEqual([]);
    expect(await ground.readAll()).toEqual(all);
    await expect(ground.commit()).rejects.toThrow('read-only');
  });

  test('stores a pack that is too large for memory while it is written', async () => {
    const ground = await yard.repository();
    await ground.commits(20);
    const all = await ground.readAll();
    const lease = (await yard.store.leases.acquire(ground.id, 900))!;
    const objects = new MaintainedGitObjects(yard.store, lease, new Date());
    const options = { deadline: Date.now() + 60_000, memoryPackBytes: 1000 };
    await compact(objects, await objects.listPacks(), options);
    expect(await ground.active()).toMatchObject([{ source: 'compact', layout: 'split' }]);
    expect(await ground.readAll()).toEqual(all);
    // A pack that fails halfway is not listed.
    await ground.commits(9);
    const now = await ground.readAll();
    const { packSink } = objects;
    objects.packSink = () => {
      const sink = packSink.call(objects);
      return { ...sink, finish: () => Promise.reject(new Error('the bucket is gone')) };
    };
    await expect(compact(objects, await objects.listPacks(), options)).rejects.toThrow('the bucket is gone');
    expect(await ground.active()).toHaveLength(10);
    expect(await ground.readAll()).toEqual(now);
  });

  test('is done once by several concurrent jobs', async () => {
    const ground = await yard.repository();
    await ground.commits(12);
    await yard.sentBy();
    await Promise.all(Array.from({ length: 5 }, () => ground.maintain()));
    expect(await ground.active()).toHaveLength(1);
    expect(await ground.keys()).toHaveLength(13);
  });

  test('that finds another one running schedules a single retry at the end of its lease', async () => {
    const ground = await yard.repository();
    await ground.commits(12);
    await yard.sentBy();
    const lease = await yard.store.leases.acquire(ground.id, 900);
    expect(lease).toBeDefined();
    await ground.maintain();
    await ground.maintain();
    expect(await ground.active()).toHaveLength(12);
    expect((await yard.sentBy(later(800_000))).filter(of(ground))).toEqual([]);
    expect((await yard.sentBy(later(901_000))).filter(of(ground))).toHaveLength(1);
    await ground.maintain(later(901_000));
    expect(await ground.active()).toHaveLength(1);
    await ground.readAll();
  });

  test('does not block, fail or lose concurrent commits', async () => {
    const ground = await yard.repository();
    await ground.commits(10);
    const commits: Oid[] = [];
    let writing = true;
    const writers = Promise.all(
      Array.from({ length: 4 }, async (_, w) => {
        for (let i = 0; i < 12; i++) commits.push((await ground.commit(`branch-${w}`)).commit);
      }),
    ).finally(() => {
      writing = false;
    });
    while (writing) await ground.maintain();
    await writers;
    await ground.maintain();
    expect((await ground.active()).length).toBeLessThanOrEqual(8);
    const all = new Set(await ground.readAll());
    expect(commits.filter((oid) => !all.has(oid))).toEqual([]);
    expect(commits).toHaveLength(48);
  });

  test('of a closed repository does nothing and leaves nothing', async () => {
    const ground = await yard.repository();
    await ground.commits(12);
    await yard.store.table.transact(closeRepository(ground.id));
    await ground.maintain();
    await runsFor('never-was');
    expect(await yard.store.table.get(leaseKey(ground.id))).toBeUndefined();
    expect(await yard.store.table.get(leaseKey('never-was'))).toBeUndefined();
    expect(await ground.keys()).toHaveLength(12);
    async function runsFor(id: string) {
      await ground.maintain(new Date(), { repositoryId: id });
    }
  });
});

describe('the visit a day later', () => {
  test('removes superseded packs, and unlisted ones a week after they were stored; then no visit is scheduled', async () => {
    const ground = await yard.repository();
    await ground.commits(20);
    const unlisted = `networks/${ground.id}/packs/${ground.id}/`;
    const young = ulid();
    const old = encodeTime(Date.now() - 8 * DAY, 10) + ulid().slice(10);
    await yard.store.blobs.put(unlisted + young, Buffer.from('young'));
    await yard.store.blobs.put(`${unlisted}${old}.pack`, Buffer.from('old'));
    await yard.store.blobs.put(`${unlisted}note.txt`, Buffer.from('not ours'));
    await ground.maintain();
    await yard.sentBy();
    const all = await ground.readAll();
    const reader = ground.open();
    await reader.store.packs();

    // Too early: nothing is removed, and no second visit is scheduled.
    await ground.commits(9);
    await yard.sentBy();
    await ground.maintain(later(12 * HOUR));
    expect(await ground.keys()).toHaveLength(20 + 9 + 2 + 3);
    expect((await yard.sentBy(later(DAY + HOUR))).filter(of(ground))).toHaveLength(1);

    await ground.maintain(later(DAY + HOUR));
    const [pack] = await ground.active();
    const keys = await ground.keys();
    expect(keys).toContain(pack!.location);
    expect(keys).toContain(unlisted + young);
    expect(keys).toContain(`${unlisted}note.txt`);
    expect(keys).not.toContain(`${unlisted}${old}.pack`);
    // Packs superseded twelve hours ago still exist.
    expect(await ground.superseded()).toHaveLength(10);
    expect(keys).toHaveLength(1 + 10 + 2);
    // A reader with the list of yesterday reads it again.
    expect(await ground.readAll(reader)).toEqual(expect.arrayContaining(all));

    expect((await yard.sentBy(later(2 * DAY + 2 * HOUR))).filter(of(ground))).toHaveLength(1);
    await ground.maintain(later(2 * DAY + 2 * HOUR));
    expect(await ground.superseded()).toEqual([]);
    expect(await ground.keys()).toHaveLength(3);
    expect((await yard.sentBy(later(6 * DAY))).filter(of(ground))).toEqual([]);
    expect((await yard.sentBy(later(7 * DAY + HOUR))).filter(of(ground))).toHaveLength(1);
    await ground.maintain(later(7 * DAY + HOUR));
    expect(await ground.keys()).toHaveLength(2);
    expect((await yard.sentBy(later(300 * DAY))).filter(of(ground))).toEqual([]);
  });

  test('folds ref rows into a table and removes the rows and the table before', async () => {
    const ground = await yard.repository();
    const oid = await ground.commits(1);
    const { refs } = ground.open();
    const create = async (text: string) => {
      for (let k = 0; k < 14; k++) {
        const names = Array.from({ length: 80 }, (_, i) => `refs/heads/${text}-${k}-${i}` as RefName);
        await refs.compareAndSwap(names.map((name) => ({ name, from: ZERO_OID, to: oid })));
      }
    };
    const tables = async () =>
      (await yard.store.table.query({ partition: repositoryPartition(ground.id), prefix: REF_TABLES })).items;
    await create('a');
    const before = await ground.open().refs.all();
    await ground.maintain(new Date(), { refs: true });
    expect(await yard.store.repositories.countRefRows(ground.id, 2000)).toBe(0);
    expect(await ground.open().refs.all()).toEqual(before);
    await create('b');
    await ground.maintain(new Date(), { refs: true });
    expect(await yard.store.repositories.countRefRows(ground.id, 2000)).toBe(0);
    expect(await tables()).toHaveLength(2);
    expect((await yard.sentBy(later(DAY + HOUR))).filter(of(ground)).length).toBeGreaterThan(0);
    await ground.maintain(later(DAY + HOUR));
    expect(await tables()).toHaveLength(1);
    expect((await ground.open().refs.all()).refs).toHaveLength(1 + 2 * 14 * 80);
  });
});

describe('collection', () => {
  /** Half of the history is unreachable, and the visit that collects it is due. */
  async function withGarbage(): Promise<{ ground: Ground; kept: string[]; dropped: Oid }> {
    const ground = await yard.repository();
    await ground.commits(6);
    const kept = await ground.readAll();
    const name = 'refs/heads/dropped' as RefName;
    await ground.git.createRef(name, (await ground.git.headRef()).head!.oid);
    const dropped = await ground.commits(6, 'dropped');
    await ground.maintain();
    await ground.git.deleteRef(name, dropped);
    await ground.maintain(new Date(), { collect: true });
    await yard.sentBy();
    return { ground, kept, dropped };
  }
  const visit = later(DAY + HOUR);

  test('waits a day, and keeps garbage readable for two weeks and a day', async () => {
    const { ground, kept, dropped } = await withGarbage();
    await ground.maintain(later(12 * HOUR), { collect: true });
    expect((await ground.active()).map(({ source }) => source)).not.toContain('unreachable-garbage');
    // The note made twelve hours later is kept, but schedules no second visit that day.
    await ground.maintain(visit);
    expect((await ground.active()).map(({ source }) => source).toSorted()).toEqual([
      'gc',
      'gc',
      'unreachable-garbage',
    ]);
    expect(await ground.readAll()).toEqual(kept);
    const { store } = ground.open();
    expect(await store.has(dropped)).toBe(true);
    expect(await store.missing(Buffer.from(dropped, 'hex'), { garbage: false })).toEqual([dropped]);

    const visits: string[] = [];
    // Before the time of day of the visit, whose own next visit is due a whole day after it, however long this takes.
    const at = (day: number) => new Date(visit.getTime() + (day - 1) * DAY - HOUR / 2);
    for (let day = 2; day < 20; day++) {
      for (const _ of (await yard.sentBy(at(day))).filter(of(ground))) {
        await ground.maintain(at(day));
        visits.push(`${day}: ${(await ground.active()).length} ${(await ground.keys()).length}`);
      }
    }
    // The first is the visit of the collection. Its inputs are deleted a day later; the garbage is superseded two weeks
    // after it was written, and its bytes are deleted a day later.
    expect(visits).toEqual(['2: 3 4', '3: 3 3', '14: 2 3', '16: 2 2']);
    expect(await ground.readAll()).toEqual(kept);
    expect((await yard.sentBy(later(300 * DAY))).filter(of(ground))).toEqual([]);
    expect(GARBAGE_MS).toBe(14 * DAY);
  });

  test('a commit that began before a collection resurrects the objects it uses that are now garbage', async () => {
    const { ground } = await withGarbage();
    const ports = ground.open();
    // The collection runs between its snapshot and its swap.
    const { compareAndSwap } = ports.refs;
    let first = true;
    ports.refs.compareAndSwap = async (updates, options) => {
      if (first) {
        first = false;
        await ground.maintain(visit);
      }
      return compareAndSwap.call(ports.refs, updates, options);
    };
    await ports.store.packs();
    // The content is that of a file of the deleted branch.
    const { commit } = await ground.commit('main', { ports, content: 'content 9\n' });
    expect(first).toBe(false);
    expect((await ground.active()).map(({ source }) => source)).toContain('unreachable-garbage');
    const all = await ground.readAll();
    expect(all).toContain(commit);
    const names = Buffer.from(all.join(''), 'hex');
    expect(await ground.open().store.missing(names, { garbage: false })).toEqual([]);
  });

  test.each(['before it', 'while it runs', 'after it'])(
    'a branch created at an unreachable commit %s has all objects',
    async (when) => {
      const { ground, dropped } = await withGarbage();
      const back = 'refs/heads/back' as RefName;
      const make = () => ground.git.createRef(back, dropped);
      if (when === 'before it') await make();
      await ground.collect(visit, when === 'while it runs' ? { swap: make } : {});
      if (when === 'after it') {
        expect((await ground.active()).map(({ source }) => source)).toContain('unreachable-garbage');
        await make();
      }
      await ground.staysReadable();
      // The pack of garbage is deleted in time, and no object is missing.
      for (const days of [17, 19]) await ground.maintain(later(days * DAY));
      expect((await ground.active()).map(({ source }) => source)).not.toContain('unreachable-garbage');
      expect(await ground.readAll()).toContain(dropped);
    },
  );

  test.each(['tag', 'annotated tag', 'branch with a commit', 'pick'])(
    'is undone for objects that become reachable again by a %s',
    async (what) => {
      const { ground, dropped } = await withGarbage();
      await ground.maintain(visit);
      const { git } = ground;
      const tag = 'refs/tags/back' as RefName;
      const main = 'refs/heads/main' as RefName;
      const tagger = { name: 'A', email: 'a@example.com', seconds: 1_700_000_000, timezone: '+0000' };
      if (what === 'tag') await git.createRef(tag, dropped);
      if (what === 'annotated tag') {
        await git.createAnnotatedTag({ name: tag, target: dropped, tagger, message: 'back\n' });
      }
      if (what === 'branch with a commit') await ground.commit('back', { reset: dropped });
      if (what === 'pick') {
        const tip = (await git.ref(main))!.oid;
        const outcome = await git.cherryPick({ commit: dropped, onto: tip });
        if (outcome.kind !== 'picked') throw new Error(outcome.kind);
        await git.commitTree({
          branch: main,
          expected: tip,
          parents: [tip],
          uses: [dropped],
          tree: outcome.tree,
          objects: outcome.objects,
          author: tagger,
          committer: tagger,
          message: 'picked\n',
        });
      }
      await ground.staysReadable();
    },
  );

  test('makes writers with an older snapshot retry, unless they only delete refs', async () => {
    const { ground, dropped } = await withGarbage();
    const [creator, deleter] = [ground.open().refs, ground.open().refs];
    const main = 'refs/heads/main' as RefName;
    const tip = (await creator.get([main])).get(main)!.oid;
    await creator.compareAndSwap([{ name: 'refs/heads/gone' as RefName, from: ZERO_OID, to: tip }]);
    await Promise.all([creator.listPacks(), deleter.get(['refs/heads/gone' as RefName])]);
    await ground.maintain(visit);
    await expect(
      creator.compareAndSwap([{ name: 'refs/heads/late' as RefName, from: ZERO_OID, to: dropped }]),
    ).rejects.toEqual(new RefConflict([{ name: null, reason: 'collected' }]));
    await deleter.compareAndSwap([{ name: 'refs/heads/gone' as RefName, from: tip, to: ZERO_OID }]);
    // A ref created through the API reads the snapshot again by itself.
    const ports = ground.open();
    await ports.store.packs();
    await yard.store.repositories.raiseEpoch(ground.id);
    await ground.git.createRef('refs/heads/fine' as RefName, tip);
  });
});

describe('after repeated collections with concurrent writers', () => {
  test('all reachable objects are in packs that stay, and writers fail only for lost races', async () => {
    const ground = await yard.repository();
    await ground.commits(3);
    const { store } = yard;
    let writing = 3;
    const writer = async (w: number) => {
      const branch = `branch-${w}`;
      const name = `refs/heads/${branch}` as RefName;
      for (let i = 0; i < 12; i++) {
        // The same content again and again, in histories that become unreachable and reachable again.
        await ground.commit(branch, { content: `text ${(i + w) % 5}\n` });
        const { commit } = await ground.commit(branch, { content: `text ${(i + w + 2) % 5}\n` });
        await ground.git.deleteRef(name, commit);
        await sleep(5);
        // It may be garbage by now.
        if (i % 2 === 0) await ground.git.createRef(name, commit);
      }
      writing--;
    };
    const writers = Promise.all([0, 1, 2].map(writer));
    let [collections, found, resurrected] = [0, 0, 0];
    while (writing > 0) {
      const lease = (await store.leases.acquire(ground.id, 900))!;
      const epoch = await store.repositories.raiseEpoch(ground.id);
      const now = new Date();
      const objects = new MaintainedGitObjects(store, lease, now);
      const outcome = await collect(objects, store.repositories.open(ground.id), { epoch, now });
      collections++;
      found += outcome!.garbage;
      resurrected += outcome!.resurrected;
      await store.leases.release(lease);
      // Collections run once a day; a writer tries five times.
      await sleep(100);
    }
    await writers;
    expect(collections).toBeGreaterThan(3);
    expect(found).toBeGreaterThan(0);
    const all = await ground.readAll();
    const names = Buffer.from(all.join(''), 'hex');
    expect(
      await ground.open().store.missing(names, { garbage: false }),
      `${resurrected} resurrected`,
    ).toEqual([]);
  });
});

describe('a maintenance run', () => {
  /** Makes each request of a run in turn fail or lose its response. */
  type Kind = 'error' | 'lost';
  interface Run {
    readonly at: number;
    count: number;
  }

  function injectAt(run: Run, kind: Kind, forever: boolean): void {
    const strikes = () => (forever ? run.count++ >= run.at : run.count++ === run.at);
    yard.dynamo.faults.onRequest = (): DynamoFault | undefined => {
      if (!strikes()) return undefined;
      return kind === 'lost' && !(forever && run.count > run.at + 1)
        ? { loseAnswer: true }
        : { fail: 'unreachable' };
    };
    const take = (): S3Fault | undefined => {
      if (!strikes()) return undefined;
      return kind === 'lost' && !(forever && run.count > run.at + 1)
        ? { kind: 'lostAnswer' }
        : { kind: 'error', code: 'InternalError' };
    };
    yard.s3.faults.take = take;
  }
  let take: Yard['s3']['faults']['take'];
  beforeAll(() => {
    take = yard.s3.faults.take;
  });
  afterEach(() => {
    yard.s3.faults.take = take;
  });

  /** Packs to merge, packs to remove, refs to fold and garbage, all due at one visit. */
  async function workToDo(): Promise<{ ground: Ground; all: string[] }> {
    const ground = await yard.repository();
    await ground.commits(9);
    const name = 'refs/heads/dropped' as RefName;
    const tip = (await ground.git.headRef()).head!.oid;
    await ground.git.createRef(name, tip);
    const dropped = await ground.commits(1, 'dropped');
    await ground.maintain();
    await ground.git.deleteRef(name, dropped);
    await ground.maintain(new Date(), { collect: true });
    await ground.commits(9);
    return { ground, all: await ground.readAll() };
  }

  const KINDS = [
    ['error', false],
    ['lost', false],
    ['error', true],
    ['lost', true],
  ] as const;

  /** With `EVERY_FAULT=1` all four faults at every step; otherwise one at every seventh step, in rotation. */
  test('that fails at any request, or from any request on, loses nothing, and a later run finishes', {
    timeout: 600_000,
  }, async () => {
    const every = process.env['EVERY_FAULT'] === '1';
    for (let step = 0, ended = false; !ended; step += every ? 1 : 7) {
      ended = true;
      const kinds = every ? KINDS : [KINDS[step % KINDS.length]!];
      for (const kind of kinds) ended = (await isLast(step, kind)) && ended;
      expect(step).toBeLessThan(200);
    }
  });

  /** @returns whether the run made fewer requests than that */
  async function isLast(step: number, [kind, forever]: (typeof KINDS)[number]): Promise<boolean> {
    const { ground, all } = await workToDo();
    const run: Run = { at: step, count: 0 };
    injectAt(run, kind, forever);
    await ground.maintain(later(DAY + HOUR)).catch(() => {});
    yard.dynamo.faults.clear();
    yard.s3.faults.take = take;
    const how = `request ${step}, ${kind}, ${forever ? 'and all after it' : 'once'}`;
    expect(await ground.readAll(), how).toEqual(all);
    // A day later the lease of the crashed run has expired, and its superseded packs may be deleted.
    for (const days of [2, 4, 6, 9]) await ground.maintain(later(days * DAY + HOUR));
    expect(await ground.readAll(), how).toEqual(all);
    const packs = await ground.active();
    expect(
      packs.filter(({ source }) => source === 'unreachable-garbage'),
      how,
    ).toHaveLength(1);
    expect(packs.length, how).toBeLessThanOrEqual(4);
    expect(await ground.superseded(), how).toEqual([]);
    expect((await ground.keys()).toSorted(), how).toEqual(packs.map(({ location }) => location).toSorted());
    return run.count <= run.at;
  }
});
