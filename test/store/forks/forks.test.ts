/** What forks share in storage: each interleaving that could lose bytes or leave them behind. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Deps } from '../../../lib/domain/deps.ts';
import { forkProject } from '../../../lib/domain/forks/forks.ts';
import { codeWithAlternate } from '../../../lib/domain/forks/network.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { runForkJob } from '../../../lib/domain/worker/dispatch-forks.ts';
import { collect } from '../../../lib/git/maintenance/collect.ts';
import { ObjectMissing } from '../../../lib/git/objects.ts';
import { ZERO_OID } from '../../../lib/git/oid.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { readInheritance } from '../../../lib/store/forks/content.ts';
import { MaintainedGitObjects } from '../../../lib/store/repository/maintained-objects.ts';
import type { Store } from '../../../lib/store/store.ts';
import { DAY, Ground, HOUR, openYard, type Yard } from '../maintenance/maintenance-fixture.ts';
import { createProject, newUser, signedInAs } from '../table/store-fixture.ts';

let yard: Yard;
let owner: UserRecord;
beforeAll(async () => {
  yard = await openYard();
  owner = await yard.store.users.create(newUser('owner'));
});
afterAll(() => yard[Symbol.asyncDispose]());

interface Forked {
  readonly project: ProjectRecord;
  readonly ground: Ground;
}

let named = 0;
const groundOf = ({ repositoryId, networkId }: ProjectRecord) => new Ground(yard, repositoryId, networkId);

/** A project with some commits, each in a pack of its own. */
async function source(commits = 12): Promise<Forked> {
  const project = await createProject(yard.store, owner, `source-${++named}`, 'public');
  const ground = groundOf(project);
  if (commits > 0) await ground.commits(commits);
  return { project, ground };
}

const read = async ({ project }: Forked) => (await yard.store.projects.getEvenDeleted(project.id))!;

/** What the request does. */
async function order(of: Forked): Promise<Forked> {
  const deps = yard.deps();
  const actor = signedInAs(owner);
  const access = { project: await read(of), level: 50 } as const;
  const name = `fork-${++named}`;
  const input = { path: name, name, namespaces: [] };
  const project = await forkProject(deps, actor, access, input);
  return { project, ground: groundOf(project) };
}

const job = ({ project }: Forked, of: Forked) => ({
  id: 'fork',
  type: 'fork.fill',
  body: { projectId: project.id, sourceId: of.project.id },
});

async function forked(of: Forked): Promise<Forked> {
  const fork = await order(of);
  await runForkJob(yard.deps(), job(fork, of));
  const project = await read(fork);
  expect(project.importStatus).toBe('finished');
  return { ...fork, project };
}

/** Dependencies of the worker that run something right before its `n`th transaction. */
function interrupted(n: number, happens: () => Promise<unknown>): Deps {
  const deps = yard.deps();
  let count = 0;
  const table = new Proxy(yard.store.table, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'transact') return value.bind(target);
      return async (...args: unknown[]) => {
        if (++count === n) await happens();
        return value.apply(target, args);
      };
    },
  });
  return { ...deps, store: { ...yard.store, table } as Store };
}

const later = (time: number) => new Date(Date.now() + time);
const delivered = new Set<string>();

/** Removes a project, and handles the messages that the request enqueued. */
async function removed(of: Forked): Promise<void> {
  const project = await read(of);
  await yard.store.projects.remove(project);
  const { id, repositoryId, networkId } = project;
  const body = { projectId: id, repositoryId, ...(networkId === undefined ? {} : { networkId }) };
  await runJob(yard.deps(), { id: 'd', type: 'project.delete', body });
}

/** Handles the messages that are due by then: marks and sweeps. */
async function days(n: number): Promise<void> {
  const now = later(n * DAY + HOUR);
  for (const { type, body } of await yard.sentBy(now)) {
    delivered.add(type);
    if (type === 'packs.gc' || type === 'repository.sweep')
      await runJob(yard.deps(now), { id: 'l', type, body });
  }
}

/** Everything stored for a network. */
const stored = async ({ project }: Forked) =>
  (await yard.store.blobs.list(`networks/${project.networkId ?? project.repositoryId}/`)).keys;

test('a fork copies no bytes, needs one write for each ref and pack, and is a repository of its own', async () => {
  const root = await source();
  const all = await root.ground.readAll();
  const bytes = await stored(root);
  const fork = await forked(root);
  expect(await stored(fork)).toEqual(bytes);
  expect(await fork.ground.readAll()).toEqual(all);
  expect(fork.project.defaultBranch).toBe('main');
  expect((await fork.ground.active()).every(({ inherited }) => inherited)).toBe(true);

  await fork.ground.commit();
  await root.ground.commit();
  expect(await root.ground.readAll()).toHaveLength(all.length + 4);
  expect((await fork.ground.readAll()).filter((oid) => all.includes(oid))).toEqual(all);
  expect((await fork.ground.active()).filter(({ inherited }) => !inherited)).toHaveLength(1);
});

test('more than a few refs are copied as a table; refs that are not branches or tags are not copied', async () => {
  const root = await source(2);
  const { refs } = root.ground.open();
  const { oid } = (await refs.all()).refs[0]!;
  const make = (name: string) => ({ name: name as RefName, from: ZERO_OID, to: oid });
  await refs.compareAndSwap(Array.from({ length: 200 }, (_, i) => make(`refs/heads/b-${i}`)));
  await refs.compareAndSwap([make('refs/merge-requests/1/head'), make('refs/tags/v1')]);
  const all = await root.ground.open().refs.all();
  const fork = await forked(root);
  const given = await fork.ground.open().refs.all();
  expect(given.refs).toEqual(all.refs.filter(({ name }) => !name.startsWith('refs/merge-requests/')));
  expect(given.refs).toHaveLength(202);
  await fork.ground.commit('b-7');
  await fork.ground.commit('new');
  expect((await fork.ground.open().refs.all()).refs).toHaveLength(203);
});

describe('when, during a fork, the source', () => {
  test('is compacted, the fork reads it again', async () => {
    const root = await source();
    const all = await root.ground.readAll();
    const fork = await order(root);
    await runForkJob(
      interrupted(1, () => root.ground.maintain()),
      job(fork, root),
    );
    expect((await read(fork)).importStatus).toBe('finished');
    expect(await fork.ground.active()).toHaveLength(1);
    expect((await fork.ground.active())[0]!.id).toBe((await root.ground.active())[0]!.id);
    expect(await fork.ground.readAll()).toEqual(all);
  });

  test('is garbage-collected, the fork has all that its refs reach, before and after the swap', async () => {
    const root = await source(3);
    const first = (await root.ground.open().refs.all()).refs[0]!.oid;
    await root.ground.commits(3);
    await root.ground.commit('main', { reset: first });
    const early = await order(root);
    const crossed = await order(root);
    let fills: Promise<unknown> = Promise.resolve();
    let swapped: (() => void) | undefined;
    const swap = new Promise<void>((resolve) => {
      swapped = resolve;
    });
    const outcome = await root.ground.collect(new Date(), {
      swap: async () => {
        await runForkJob(yard.deps(), job(early, root));
        // Read before the swap, written after it.
        const read = new Promise<void>((resolve) => {
          fills = runForkJob(
            interrupted(1, async () => {
              resolve();
              await swap;
            }),
            job(crossed, root),
          );
        });
        await read;
      },
    });
    swapped!();
    await fills;
    expect(outcome.garbage).toBeGreaterThan(0);
    expect((await read(early)).importStatus).toBe('finished');
    await early.ground.staysReadable();
    // The collection of this test records no end: as long as it may be running, forks wait.
    expect((await read(crossed)).importStatus).toBe('started');
    await settled(root);
    await runForkJob(yard.deps(), job(crossed, root));
    expect((await read(crossed)).importStatus).toBe('finished');
    await crossed.ground.staysReadable();
    expect((await crossed.ground.active()).some(({ source }) => source === 'unreachable-garbage')).toBe(
      false,
    );
  });

  test('had a collection that crashed before resurrecting objects, forks wait for the next collection', async () => {
    const root = await source(3);
    const base = (await root.ground.open().refs.all()).refs[0]!.oid;
    const lost = (await root.ground.commit()).commit;
    await root.ground.commit('main', { reset: base });
    const { store } = yard;
    const lease = (await store.leases.acquire(root.ground.id, 900))!;
    const epoch = await store.repositories.raiseEpoch(root.ground.id);
    const objects = new MaintainedGitObjects(store, lease, new Date());
    const { commitPacks } = objects;
    objects.commitPacks = async (...packs) => {
      // Reachable again, by a writer whose snapshot is older than the swap; then the collection crashes.
      const { refs } = root.ground.open();
      await refs.compareAndSwap([{ name: 'refs/heads/again' as RefName, from: ZERO_OID, to: lost }]);
      await commitPacks.apply(objects, packs);
      throw new Error('died');
    };
    const dies = collect(objects, store.repositories.open(root.ground.id), { epoch, now: new Date() });
    await expect(dies).rejects.toThrow('died');
    await store.leases.release(lease);
    await expect(root.ground.staysReadable()).rejects.toThrow('only garbage');

    const fork = await order(root);
    await runForkJob(yard.deps(), job(fork, root));
    expect((await read(fork)).importStatus).toBe('started');
    const asked = await yard.sentBy(later(60_000));
    const maintain = asked.find(
      ({ type, body }) => type === 'repository.maintain' && body['repositoryId'] === root.ground.id,
    );
    const again = asked.find(
      ({ type, body }) => type === 'fork.fill' && body['projectId'] === fork.project.id,
    );
    await runJob(yard.deps(), { id: 'm', ...maintain! });
    await root.ground.staysReadable();
    await runForkJob(yard.deps(), { id: 'f', ...again! });
    expect((await read(fork)).importStatus).toBe('finished');
    await fork.ground.staysReadable();
  });

  test('is deleted, the fork fails with a message and is an empty project', async () => {
    const root = await source();
    const fork = await order(root);
    await runForkJob(
      interrupted(1, () => removed(root)),
      job(fork, root),
    );
    expect(await read(fork)).toMatchObject({
      importStatus: 'failed',
      importError: 'The project to be forked is gone',
    });
    expect(await fork.ground.active()).toEqual([]);
    expect(await stored(root)).toEqual([]);
    await fork.ground.commit();
    await fork.ground.staysReadable();
  });

  test('is hidden from some users who may see the fork, the fork fails', async () => {
    const root = await source(1);
    const fork = await order(root);
    await yard.store.projects.update(await read(root), { visibility: 'private' });
    await runForkJob(yard.deps(), job(fork, root));
    expect(await read(fork)).toMatchObject({
      importStatus: 'failed',
      importError: expect.stringContaining('fewer people'),
    });
    expect(await fork.ground.active()).toEqual([]);
  });

  test('is itself a fork that is not filled yet, the fork waits for it', async () => {
    const root = await source(1);
    const middle = await order(root);
    const leaf = await order(middle);
    await runForkJob(yard.deps(), job(leaf, middle));
    expect((await read(leaf)).importStatus).toBe('started');
    await runForkJob(yard.deps(), job(middle, root));
    const { body } = job(leaf, middle);
    expect(await yard.sentBy(later(60_000))).toContainEqual({ type: 'fork.fill', body });
    await runForkJob(yard.deps(), job(leaf, middle));
    expect((await read(leaf)).importStatus).toBe('finished');
    expect(await leaf.ground.readAll()).toEqual(await root.ground.readAll());
  });

  test('is pushed to, the fork is a consistent snapshot of it', async () => {
    const root = await source(2);
    const all = await root.ground.readAll();
    const fork = await order(root);
    await runForkJob(
      interrupted(1, () => root.ground.commit()),
      job(fork, root),
    );
    expect(await fork.ground.readAll()).toEqual(all);
  });

  async function settled({ ground }: Forked) {
    const lease = (await yard.store.leases.acquire(ground.id, 900))!;
    await yard.store.maintenanceNotes.clearUnsettled(lease);
    await yard.store.leases.release(lease);
  }
});

describe('when the message of a fork', () => {
  test('arrives twice at once, and again later, the fork is filled once', async () => {
    const root = await source();
    const fork = await order(root);
    await Promise.all([1, 2, 3].map(() => runForkJob(yard.deps(), job(fork, root))));
    await fork.ground.commit();
    const all = await fork.ground.readAll();
    await root.ground.commits(3);
    await root.ground.maintain();
    await runForkJob(yard.deps(), job(fork, root));
    expect(await fork.ground.readAll()).toEqual(all);
    expect(await fork.ground.active()).toHaveLength(13);
  });

  test('arrives after the fork was deleted, or the fork is deleted meanwhile, nothing is left', async () => {
    const root = await source();
    const [gone, going] = [await order(root), await order(root)];
    await removed(gone);
    await runForkJob(yard.deps(), job(gone, root));
    await runForkJob(
      interrupted(1, () => removed(going)),
      job(going, root),
    );
    for (const fork of [gone, going]) {
      expect(await yard.store.projects.getEvenDeleted(fork.project.id)).toBeUndefined();
      const { items } = await yard.store.table.query({ partition: `REPO#${fork.project.repositoryId}` });
      expect(items).toEqual([]);
    }
    expect(await yard.store.networks.inherited(await root.ground.active())).toEqual(new Set());
  });

  test('is never handled, the fork has failed three hours later', async () => {
    const root = await source(1);
    const fork = await order(root);
    expect(await yard.sentBy(later(2 * HOUR))).not.toContainEqual({
      type: 'fork.ends',
      body: job(fork, root).body,
    });
    const due = await yard.sentBy(later(3 * HOUR + 60_000));
    expect(due).toContainEqual({ type: 'fork.ends', body: job(fork, root).body });
    await runForkJob(yard.deps(), { ...job(fork, root), type: 'fork.ends' });
    expect(await read(fork)).toMatchObject({
      importStatus: 'failed',
      importError: expect.stringContaining('in time'),
    });
    await runForkJob(yard.deps(), job(fork, root));
    expect(await fork.ground.active()).toEqual([]);
  });

  test('covers more packs than one transaction lists, and they are merged meanwhile, the fork is complete', async () => {
    const root = await source(50);
    const all = await root.ground.readAll();
    const fork = await order(root);
    const halfway = interrupted(2, () => root.ground.maintain());
    await runForkJob(halfway, job(fork, root));
    expect((await read(fork)).importStatus).toBe('finished');
    expect(await fork.ground.readAll()).toEqual(all);
    const ids = (packs: readonly { readonly id: string }[]) => packs.map(({ id }) => id).sort();
    expect(ids(await fork.ground.active())).toEqual(ids(await root.ground.active()));
    // Packs that the first attempt listed and the second did not use have no owner.
    expect(await yard.store.networks.inherited(await root.ground.superseded())).toEqual(new Set());
    const whole = await forked(await source(50));
    expect(await whole.ground.active()).toHaveLength(50);
  });
});

describe('bytes', () => {
  test('that the source has replaced stay while a fork lists them, and are deleted after two sweep passes', async () => {
    const root = await source();
    const fork = await forked(root);
    const all = await fork.ground.readAll();
    await root.ground.maintain();
    await yard.sentBy();
    for (const n of [1, 2, 3, 9]) {
      await root.ground.maintain(later(n * DAY + n * HOUR));
      await days(n);
    }
    expect(await root.ground.superseded()).toEqual([]);
    expect(await stored(root)).toHaveLength(13);
    expect(await fork.ground.readAll()).toEqual(all);

    await removed(fork);
    expect(await stored(root)).toHaveLength(13);
    await days(0.5);
    expect(await stored(root)).toHaveLength(13);
    await days(1);
    expect(await stored(root)).toHaveLength(1);
    expect(await root.ground.readAll()).toEqual(all);
  });

  test('of a deleted source stay for its forks, and are deleted with the last of them', async () => {
    const root = await source();
    const [one, two] = [await forked(root), await forked(root)];
    await root.ground.commit();
    const all = await one.ground.readAll();
    await removed(root);
    await days(1);
    // The commit made after the forks is in none of them.
    expect(await stored(root)).toHaveLength(12);
    for (const { ground } of [one, two]) expect(await ground.readAll()).toEqual(all);
    expect((await read(one)).forkedFromId).toBeUndefined();

    await one.ground.commit();
    await removed(one);
    await days(2);
    expect(await stored(root)).toHaveLength(12);
    expect(await two.ground.readAll()).toEqual(all);
    await two.ground.commit();
    await removed(two);
    expect(await stored(root)).toHaveLength(12);
    await days(3);
    await days(4);
    expect(await stored(root)).toEqual([]);
    const left = await yard.store.table.query({ partition: `NETWORK#${root.project.repositoryId}` });
    expect(left.items).toEqual([]);
    await days(300);
    expect(delivered).toContain('packs.gc');
  });

  test('of a deleted fork are deleted, and the source is unchanged', async () => {
    const root = await source();
    const all = await root.ground.readAll();
    const fork = await forked(root);
    await fork.ground.commits(3);
    await removed(fork);
    await days(1);
    expect(await stored(root)).toHaveLength(12);
    expect(await root.ground.readAll()).toEqual(all);
    // Nothing is shared any more: the source is maintained like a project that was never forked.
    await root.ground.maintain();
    await root.ground.maintain(later(DAY + HOUR));
    expect(await stored(root)).toHaveLength(1);
  });

  test('of a fork of a fork stay when both its ancestors are deleted', async () => {
    const root = await source(5);
    const middle = await forked(root);
    await middle.ground.commits(5);
    const leaf = await forked(middle);
    expect(leaf.project.networkId).toBe(root.project.repositoryId);
    const all = await leaf.ground.readAll();
    await leaf.ground.commits(2);
    await Promise.all([removed(middle), removed(root)]);
    for (const n of [1, 2, 3]) await days(n);
    expect(await stored(root)).toHaveLength(12);
    expect((await leaf.ground.readAll()).filter((oid) => all.includes(oid))).toEqual(all);
    const last = await forked(leaf);
    await removed(leaf);
    for (const n of [4, 5]) await days(n);
    // Four objects a commit.
    expect(await last.ground.readAll()).toHaveLength(all.length + 8);
    await removed(last);
    for (const n of [6, 7, 8]) await days(n);
    expect(await stored(root)).toEqual([]);
  });

  test('of three projects deleted at once are all deleted', async () => {
    const root = await source(5);
    const forks = [await forked(root), await forked(root)];
    for (const { ground } of forks) await ground.commit();
    await Promise.all([root, ...forks].map(removed));
    for (const n of [1, 2]) await days(n);
    expect(await stored(root)).toEqual([]);
  });

  test('that were never listed are swept in a network too, after a week and two sweep passes', async () => {
    const root = await source(2);
    const fork = await forked(root);
    const content = { kind: 'bytes', pack: Buffer.from('p'), index: Buffer.from('i') } as const;
    await fork.ground.open().objects.newPack(content, { source: 'receive', objectCount: 1 });
    await fork.ground.commits(12);
    await fork.ground.maintain();
    const stays = await stored(root);
    for (const n of [1, 3, 7]) {
      await fork.ground.maintain(later(n * DAY + HOUR));
      await days(n);
    }
    expect((await stored(root)).length).toBeLessThan(stays.length);
    await fork.ground.maintain(later(8 * DAY + 2 * HOUR));
    await days(9.5);
    expect(await stored(root)).toHaveLength(3);
    await fork.ground.readAll();
  });
});

describe('a fork', () => {
  test('merges and collects its own packs, and leaves those it inherited', async () => {
    const root = await source(10);
    const fork = await forked(root);
    const inherited = (await fork.ground.active()).map(({ id }) => id).sort();
    const base = (await fork.ground.open().refs.all()).refs[0]!.oid;
    await fork.ground.commits(12);
    await fork.ground.maintain();
    expect(await fork.ground.active()).toHaveLength(11);
    // From here on, neither its own commits nor an inherited one is reachable.
    const older = (await fork.ground.git.commit(base)).parents[0]!;
    await fork.ground.commit('main', { reset: older });
    const all = await fork.ground.readAll();
    const outcome = await fork.ground.collect();
    expect(outcome.garbage).toBe(4 * 12);
    const active = await fork.ground.active();
    expect(
      active
        .filter((pack) => pack.inherited)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(inherited);
    expect(active.filter((pack) => !pack.inherited).map(({ source }) => source)).toContain(
      'unreachable-garbage',
    );
    expect(await fork.ground.readAll()).toEqual(all);
    await fork.ground.staysReadable();
    expect(await fork.ground.git.commit(base)).toMatchObject({ oid: base });
    await root.ground.staysReadable();
    await fork.ground.collect(later(15 * DAY));
    expect((await fork.ground.active()).some(({ source }) => source === 'unreachable-garbage')).toBe(false);
    expect(await fork.ground.readAll()).toEqual(all);
  });

  test('that was unlinked from its source keeps its bytes', async () => {
    const root = await source();
    const fork = await forked(root);
    const all = await fork.ground.readAll();
    await yard.store.forks.unrelate(fork.project);
    await removed(root);
    for (const n of [1, 2]) await days(n);
    expect(await fork.ground.readAll()).toEqual(all);
    const again = await forked({ ...fork, project: await read(fork) });
    expect(await again.ground.readAll()).toEqual(all);
  });

  test('reads nothing that was pushed to its source afterwards, nor does the source read what was pushed to the fork', async () => {
    const root = await source(2);
    const fork = await forked(root);
    const mine = (await fork.ground.commit()).commit;
    const theirs = (await root.ground.commit()).commit;
    expect(await root.ground.open().store.has(mine)).toBe(false);
    expect(await fork.ground.open().store.has(theirs)).toBe(false);
    const view = await readInheritance(yard.store, {
      repositoryId: fork.ground.id,
      networkId: root.ground.id,
    });
    expect(view.packs).toHaveLength(3);
  });

  test('copies objects from a project it shares no storage with, up to a limit', async () => {
    const [own, other] = [await source(1), await source(12)];
    const accessOf = ({ project }: Forked) => ({ project, level: 50 }) as const;
    const { oid } = (await other.ground.open().refs.all()).refs[0]!;
    const person = { name: 'A', email: 'a@example.com', seconds: 1, timezone: '+0000' };
    const commit = (most?: number) =>
      codeWithAlternate(yard.deps(), accessOf(own), accessOf(other), undefined, {
        maxResurrected: most,
      }).commitChanges({
        branch: 'refs/heads/other' as RefName,
        expected: ZERO_OID,
        parent: oid,
        actions: [{ action: 'create', path: 'x', content: Buffer.from('x') }],
        author: person,
        committer: person,
        message: 'x',
      });
    const bytes = await stored(own);
    await expect(commit(20)).rejects.toThrow(ObjectMissing);
    expect(await stored(own)).toEqual(bytes);
    expect((await own.ground.open().refs.all()).refs).toHaveLength(1);
    await commit();
    await removed(other);
    expect(await stored(other)).toEqual([]);
    await own.ground.staysReadable();
    expect(await own.ground.git.log({ tips: [oid], limit: 20 })).toHaveLength(12);
  });
});
