/**
 * Random concurrent operations on a network of forks: each repository that exists is complete, and
 * when none exists, nothing is stored. 2 histories, or `FORK_RUNS`.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { forkProject } from '../../../lib/domain/forks/forks.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { runForkJob } from '../../../lib/domain/worker/dispatch-forks.ts';
import { ObjectMissing } from '../../../lib/git/objects.ts';
import { RefConflict } from '../../../lib/git/ports.ts';
import type { ProjectRecord } from '../../../lib/records/projects.ts';
import type { UserRecord } from '../../../lib/records/users.ts';
import { Missing, Stale } from '../../../lib/store/errors.ts';
import { DAY, Ground, HOUR, openYard, type Yard } from '../maintenance/maintenance-fixture.ts';
import { createProject, newUser, signedInAs } from '../table/store-fixture.ts';

const RUNS = Number(process.env['FORK_RUNS'] ?? 2);

const ops = ['commit', 'commits', 'reset', 'fork', 'fork', 'remove', 'maintain', 'collect'] as const;
type Op = (typeof ops)[number];
interface Step {
  readonly at: number;
  readonly op: Op;
}

const step = fc.record({ at: fc.nat(7), op: fc.constantFrom(...ops) });
/** Concurrent operations, and whether a day passes after them. */
const round = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 3 }), day: fc.boolean() });

class Network {
  readonly #yard: Yard;
  readonly #owner: UserRecord;
  readonly members: { readonly project: ProjectRecord; readonly ground: Ground }[] = [];
  readonly prefix: string;
  #now = Date.now();
  #names = 0;

  constructor(yard: Yard, owner: UserRecord, root: ProjectRecord) {
    this.#yard = yard;
    this.#owner = owner;
    this.prefix = `networks/${root.repositoryId}/`;
    this.#add(root);
  }

  #add(project: ProjectRecord) {
    const ground = new Ground(this.#yard, project.repositoryId, project.networkId);
    this.members.push({ project, ground });
  }

  get #deps() {
    return this.#yard.deps(new Date(this.#now));
  }

  /** @throws only errors that no race explains: faults of our own */
  async run({ at, op }: Step): Promise<void> {
    const member = this.members[at % Math.max(1, this.members.length)];
    if (member === undefined) return;
    try {
      await this.#apply(op, member);
    } catch (error) {
      const lost = error instanceof RefConflict || error instanceof Missing || error instanceof Stale;
      const gone = error instanceof ObjectMissing && !this.members.includes(member);
      if (!lost && !gone && (error as { code?: string }).code !== 'not-found') throw error;
    }
  }

  async #apply(op: Op, member: Network['members'][number]): Promise<void> {
    const { project, ground } = member;
    switch (op) {
      case 'commit':
        await ground.commit();
        return;
      case 'commits':
        await ground.commits(10);
        return;
      case 'reset': {
        const tip = (await ground.open().refs.all()).refs[0]?.oid;
        const parent = tip && (await ground.git.commit(tip)).parents[0];
        if (parent !== undefined) await ground.commit('main', { reset: parent });
        return;
      }
      case 'fork': {
        if (this.members.length >= 6) return;
        const actor = signedInAs(this.#owner);
        const current = await this.#yard.store.projects.get(project.id);
        if (current === undefined) return;
        const name = `f-${this.#owner.id}-${++this.#names}`;
        const input = { path: name, name, namespaces: [] };
        const fork = await forkProject(this.#deps, actor, { project: current, level: 50 }, input);
        const body = { projectId: fork.id, sourceId: current.id };
        await runForkJob(this.#deps, { id: 'f', type: 'fork.fill', body });
        this.#add(fork);
        return;
      }
      case 'remove': {
        const index = this.members.indexOf(member);
        const current = await this.#yard.store.projects.get(project.id);
        if (current === undefined || index < 0) return;
        this.members.splice(index, 1);
        const { id, repositoryId, networkId } = current;
        await this.#yard.store.projects.remove(current);
        const body = { projectId: id, repositoryId, ...(networkId === undefined ? {} : { networkId }) };
        await runJob(this.#deps, { id: 'd', type: 'project.delete', body });
        return;
      }
      case 'maintain':
        return ground.maintain(new Date(this.#now));
      case 'collect':
        return ground.maintain(new Date(this.#now), { collect: true });
    }
  }

  /** Handles the messages that are due by tomorrow. */
  async day(): Promise<void> {
    this.#now += DAY + HOUR;
    for (const { type, body } of await this.#yard.sentBy(new Date(this.#now))) {
      if (type.startsWith('fork.')) await runForkJob(this.#deps, { id: 'm', type, body });
      else await runJob(this.#deps, { id: 'm', type, body });
    }
  }

  async check(): Promise<void> {
    for (const { project, ground } of this.members) {
      const { importStatus } = (await this.#yard.store.projects.get(project.id))!;
      if (importStatus === 'scheduled' || importStatus === 'started') continue;
      await ground.readAll();
      await ground.staysReadable();
    }
  }

  async left(): Promise<readonly string[]> {
    const { store } = this.#yard;
    const rows = await store.table.query({
      partition: this.prefix.slice(0, -1).replace('networks/', 'NETWORK#'),
    });
    const { keys } = await store.blobs.list(this.prefix);
    return [...keys, ...rows.items.map(({ sk }) => sk as string)];
  }
}

test(`in ${RUNS} random histories of a fork network no bytes are lost or left over`, {
  timeout: 300_000 + RUNS * 10_000,
}, async () => {
  await using yard = await openYard(14);
  let owners = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 3, maxLength: 6 }), async (rounds) => {
      const owner = await yard.store.users.create(newUser(`owner${++owners}`));
      const network = new Network(yard, owner, await createProject(yard.store, owner, 'root', 'public'));
      await network.run({ at: 0, op: 'commits' });
      for (const { steps, day } of rounds) {
        await Promise.all(steps.map((step) => network.run(step)));
        await network.check();
        if (day) {
          await network.day();
          await network.check();
        }
      }
      while (network.members.length > 0) await network.run({ at: 0, op: 'remove' });
      for (let n = 0; n < 4; n++) await network.day();
      expect(await network.left()).toEqual([]);
    }),
    { numRuns: RUNS, endOnFailure: RUNS > 20 },
  );
});
