import { decodeTime } from 'ulid';
import { collect, GARBAGE_MS } from '../../git/maintenance/collect.ts';
import { compact } from '../../git/maintenance/compact.ts';
import { deriveFiles } from '../../git/maintenance/derive.ts';
import { dueKinds } from '../../git/maintenance/due.ts';
import { compactionPlan } from '../../git/maintenance/plan.ts';
import { type PackDescription, PacksChanged } from '../../git/ports.ts';
import { Missing } from '../../store/errors.ts';
import type { Notes } from '../../store/maintenance/last-runs.ts';
import type { Lease } from '../../store/maintenance/leases.ts';
import { type DerivedRow, replacedUntil, sweepDerived } from '../../store/repository/derived-files.ts';
import { MaintainedGitObjects } from '../../store/repository/maintained-objects.ts';
import { removeSuperseded, removeUnlisted, SUPERSEDED_MS } from '../../store/repository/pack-gc.ts';
import type { CataloguedPack } from '../../store/repository/pack-list.ts';
import type { Repositories } from '../../store/repository/repositories.ts';
import type { Deps } from '../deps.ts';

export interface MaintenanceOrder {
  readonly repositoryId: string;
  /** A ref let go of something: there may be garbage. */
  readonly collect: boolean;
  /** Many names were created: ref rows may be worth folding. */
  readonly refs: boolean;
}

/** As long as a worker's function may run. */
const LEASE_SECONDS = 900;
/** What is superseded by now may go by then. */
const VISITS_MS = SUPERSEDED_MS + 60_000;

/**
 * What is to be done to a repository now: merging its packs, making what is derived from them, and, on a promised
 * visit, removing what has been replaced for a day or was never listed, folding its refs, and collecting garbage. One
 * at a time per repository; what comes while another is at work is left to that one, or to a visit when its lease ends.
 * May be stopped at any step and come any number of times.
 *
 * @param deadline milliseconds since 1970; no new step begins after it
 * @returns whether all is done
 */
export async function maintainRepository(
  deps: Deps,
  order: MaintenanceOrder,
  deadline: number,
): Promise<boolean> {
  try {
    return await maintain(deps, order, deadline);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    // Deleted under this visit: then nothing is left to do.
    const guard = await deps.store.repositories.guard(order.repositoryId).catch(unlessMissing);
    if (guard !== undefined && guard.state !== 'deleted') throw error;
    return true;
  }
}

async function maintain(deps: Deps, order: MaintenanceOrder, deadline: number): Promise<boolean> {
  const { repositoryId } = order;
  const { repositories, leases, maintenanceNotes } = deps.store;
  const now = deps.now();
  const guard = await repositories.guard(repositoryId).catch(unlessMissing);
  // One that takes no writes is maintained too: what was replaced is to go.
  if (guard === undefined || guard.state === 'deleted') return true;
  const [read, packs] = await Promise.all([
    maintenanceNotes.read(repositoryId),
    packsOf(repositories, repositoryId),
  ]);
  // Also while a collection is at work, which may have read the refs before.
  if (order.collect) await maintenanceNotes.noteGarbage(repositoryId, now);
  if (!order.collect && !order.refs && !isWanted(read, packs, now)) return true;
  const lease = await leases.acquire(repositoryId, LEASE_SECONDS, now);
  if (lease === undefined) {
    await maintenanceNotes.waitForLease(repositoryId);
    return true;
  }
  try {
    return await new Visit(deps, lease, now, order, deadline).run();
  } catch (error) {
    // Somebody else has taken over, or the repository is gone.
    if (error instanceof PacksChanged) return true;
    throw error;
  } finally {
    // When this fails too, the lease ends by itself.
    await leases.release(lease).catch(() => {});
  }
}

/** Packs in use, what was made of them, and of those superseded the one that was so first. */
interface Packs {
  readonly active: readonly PackDescription[];
  readonly derived: readonly DerivedRow[];
  readonly superseded: CataloguedPack | undefined;
}

async function packsOf(repositories: Repositories, repositoryId: string): Promise<Packs> {
  const [{ packs: active, derived }, [superseded]] = await Promise.all([
    repositories.open(repositoryId).listing(),
    repositories.superseded(repositoryId, { most: 1 }),
  ]);
  return { active, derived, superseded };
}

/** Whether there is anything to do now, or anything due for which a crash has left no visit promised. */
function isWanted({ visitAt, garbage, unsettled }: Notes, packs: Packs, now: Date): boolean {
  if (unsettled) return true;
  if (compactionPlan(packs.active).length > 0) return true;
  if (dueKinds(packs.active, (kind) => packs.derived.find((file) => file.kind === kind)).length > 0)
    return true;
  const due = dueTimes(garbage, packs);
  if (visitAt <= now.getTime()) return visitAt > 0 || due.length > 0;
  return due.some((at) => at + VISITS_MS < visitAt);
}

/** When something of what the catalogue and the notes tell of may go, in milliseconds since 1970. */
function dueTimes(garbage: number, { active, derived, superseded }: Packs): number[] {
  return [
    ...(garbage > 0 ? [garbage + VISITS_MS] : []),
    ...(superseded === undefined ? [] : [Date.parse(superseded.supersededAt!) + VISITS_MS]),
    ...active.filter(isGarbage).map(keptUntil),
    ...replacedUntil(derived),
  ];
}

const isGarbage = ({ source }: PackDescription) => source === 'unreachable-garbage';
const keptUntil = ({ id }: PackDescription) => decodeTime(id) + GARBAGE_MS;

/** One job, under the lease. */
class Visit {
  readonly #deps: Deps;
  readonly #lease: Lease;
  readonly #now: Date;
  readonly #order: MaintenanceOrder;
  readonly #deadline: number;
  /** When there will be something to do, in milliseconds since 1970; what is past, as soon as may be. */
  readonly #later: number[] = [];

  constructor(deps: Deps, lease: Lease, now: Date, order: MaintenanceOrder, deadline: number) {
    this.#deps = deps;
    this.#lease = lease;
    this.#now = now;
    this.#order = order;
    this.#deadline = deadline;
  }

  async run(): Promise<boolean> {
    const { store } = this.#deps;
    const { repositoryId } = this.#lease;
    if (!(await this.#compact())) return false;
    const { visitAt, garbage, unsettled } = await store.maintenanceNotes.read(repositoryId);
    const promised = visitAt > 0 && visitAt <= this.#now.getTime();
    if (promised) {
      await removeSuperseded(store, repositoryId, this.#now);
      const young = await removeUnlisted(store, repositoryId, this.#now);
      const derived = await this.#sweepDerived();
      for (const at of [young, derived]) if (at !== undefined) this.#later.push(at);
    }
    if (promised || this.#order.refs) await this.#foldRefs();
    // A collection that ended in the middle is done again at once: until then nobody can fork.
    if (promised || unsettled) await this.#collect(garbage, unsettled);
    const derived = await this.#derive();
    await this.#promise(promised ? 0 : garbage, visitAt);
    return derived;
  }

  /** Last, when packs and refs are as they will be for a while. */
  #derive(): Promise<boolean> {
    const { store } = this.#deps;
    const objects = new MaintainedGitObjects(store, this.#lease, this.#now);
    const refs = store.repositories.open(this.#lease.repositoryId);
    return deriveFiles(objects, refs, { deadline: this.#deadline });
  }

  async #sweepDerived(): Promise<number | undefined> {
    const { blobs, repositories } = this.#deps.store;
    const { repositoryId } = this.#lease;
    const before = (await repositories.open(repositoryId).listing()).derived;
    const listed = async () => (await repositories.open(repositoryId).listing()).derived;
    const next = await sweepDerived(blobs, repositoryId, listed, this.#now);
    await repositories.forgetReplaced(repositoryId, before, this.#now);
    return next;
  }

  /** Looks again after each round: pushes go on meanwhile. */
  async #compact(): Promise<boolean> {
    const objects = new MaintainedGitObjects(this.#deps.store, this.#lease, this.#now);
    for (;;) {
      const packs = await objects.listPacks();
      if (compactionPlan(packs).length === 0) return true;
      if (!(await compact(objects, packs, { deadline: this.#deadline }))) return false;
    }
  }

  async #foldRefs(): Promise<void> {
    const { repositories } = this.#deps.store;
    const { repositoryId } = this.#lease;
    const { state } = await repositories.guard(repositoryId);
    if (state === 'open' && (await repositories.hasManyRefRows(repositoryId))) {
      await repositories.open(repositoryId).foldRefs();
      // The table that was replaced is still being read.
      this.#later.push(this.#now.getTime());
    }
    await repositories.sweepRefs(repositoryId, this.#now);
  }

  /** Once a ref has let go of something, and when a pack of garbage has been kept for long enough. */
  async #collect(garbage: number, unsettled: boolean): Promise<void> {
    const { store } = this.#deps;
    const { repositoryId } = this.#lease;
    const objects = new MaintainedGitObjects(store, this.#lease, this.#now);
    const kept = (await objects.listPacks()).filter(isGarbage);
    const over = kept.some((pack) => keptUntil(pack) <= this.#now.getTime());
    if (garbage === 0 && !unsettled && !over) return;
    const epoch = await store.repositories.raiseEpoch(repositoryId);
    const collected = await collect(objects, store.repositories.open(repositoryId), {
      epoch,
      now: this.#now,
    });
    if (collected !== undefined) await store.maintenanceNotes.clearUnsettled(this.#lease);
    await store.maintenanceNotes.clearGarbage(this.#lease, garbage);
  }

  /** One visit is promised at a time, a day apart at least: what was superseded one by one goes together. */
  async #promise(garbage: number, visitAt: number): Promise<void> {
    const { repositories, maintenanceNotes } = this.#deps.store;
    const packs = await packsOf(repositories, this.#lease.repositoryId);
    const now = this.#now.getTime();
    const later = [...this.#later, ...dueTimes(garbage, packs)];
    const next = Math.max(Math.min(...later), now + VISITS_MS);
    if (visitAt > now && visitAt <= next) return;
    if (later.length > 0) await maintenanceNotes.scheduleVisit(this.#lease, new Date(next));
    else if (visitAt > 0) await maintenanceNotes.scheduleVisit(this.#lease, undefined);
  }
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof Missing)) throw error;
}
