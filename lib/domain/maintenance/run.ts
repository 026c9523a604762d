import { decodeTime } from 'ulid';
import { collect, GARBAGE_MS } from '../../git/maintenance/collect.ts';
import { compact } from '../../git/maintenance/compact.ts';
import { deriveFiles } from '../../git/maintenance/derive.ts';
import { dueKinds } from '../../git/maintenance/due.ts';
import { compactionPlan } from '../../git/maintenance/plan.ts';
import { type DerivedKind, type PackDescription, PacksChanged } from '../../git/ports.ts';
import { keepFirstClone } from '../../git/wire/first-clone.ts';
import { Missing } from '../../store/errors.ts';
import type { Notes } from '../../store/maintenance/last-runs.ts';
import type { Lease } from '../../store/maintenance/leases.ts';
import { type DerivedRow, replacedUntil, sweepDerived } from '../../store/repository/derived-files.ts';
import { MaintainedGitObjects } from '../../store/repository/maintained-objects.ts';
import { removeSuperseded, removeUnlisted, SUPERSEDED_MS } from '../../store/repository/pack-gc.ts';
import type { CataloguedPack } from '../../store/repository/pack-list.ts';
import type { Repositories } from '../../store/repository/repositories.ts';
import type { Deps } from '../deps.ts';
import type { JobContext, Progress } from '../job.ts';

export interface MaintenanceOrder {
  readonly repositoryId: string;
  /** A ref was deleted or moved: there may be garbage. */
  readonly collect: boolean;
  /** Many refs were created: their rows may be worth folding. */
  readonly refs: boolean;
}

/** The timeout of the worker's function. */
const LEASE_SECONDS = 900;
/** What is left of the worker's time and of the lease when a derived file is given up, to leave in order. */
const LEAVING_MS = 30_000;
/** Interval between scheduled visits: what is superseded now may be deleted then. */
const VISITS_MS = SUPERSEDED_MS + 60_000;

/**
 * Maintains a repository: merges its packs and creates derived files; on a scheduled visit it also deletes what was
 * replaced a day ago or was never listed, folds refs and collects garbage. A lease allows one run at a time per
 * repository; an order that arrives meanwhile is left to that run, or to a visit when its lease ends. May be
 * interrupted at any step; idempotent.
 *
 * @param time no new step starts after `deadline`; a derived file that was begun, and the pack of a first clone, may take
 *   until `stopsAt`
 * @returns 'blocked' while somebody else waits for the lease
 */
export async function maintainRepository(deps: Deps, order: MaintenanceOrder, time: Time): Promise<Progress> {
  try {
    return await maintain(deps, order, time);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    // Deleted during this run: nothing is left to do.
    const guard = await deps.store.repositories.guard(order.repositoryId).catch(unlessMissing);
    if (guard !== undefined && guard.state !== 'deleted') throw error;
    return 'done';
  }
}

async function maintain(deps: Deps, order: MaintenanceOrder, time: Time): Promise<Progress> {
  const { repositoryId } = order;
  const { repositories, leases, maintenanceNotes } = deps.store;
  const now = deps.now();
  const guard = await repositories.guard(repositoryId).catch(unlessMissing);
  // A read-only repository is maintained too: superseded packs must be deleted.
  if (guard === undefined || guard.state === 'deleted') return 'done';
  const [read, packs] = await Promise.all([
    maintenanceNotes.read(repositoryId),
    packsOf(repositories, repositoryId),
  ]);
  // Also while a collection runs: it may have read the refs earlier.
  if (order.collect) await maintenanceNotes.noteGarbage(repositoryId, now);
  if (!order.collect && !order.refs && !isDue(read, packs, now)) return 'done';
  if (read.wantedUntil > now.getTime()) return 'blocked';
  const leaseEnds = Date.now() + LEASE_SECONDS * 1000;
  const lease = await leases.acquire(repositoryId, LEASE_SECONDS, now);
  if (lease === undefined) {
    await maintenanceNotes.waitForLease(repositoryId);
    return 'done';
  }
  try {
    const within = { ...time, stopsAt: Math.min(time.stopsAt, leaseEnds) - LEAVING_MS };
    return (await new Visit(deps, lease, now, order, within).run()) ? 'done' : 'more';
  } catch (error) {
    // Another worker has taken over, or the repository was deleted.
    if (error instanceof PacksChanged) return 'done';
    throw error;
  } finally {
    // If this fails, the lease expires.
    await leases.release(lease).catch(() => {});
  }
}

type Time = Pick<JobContext, 'deadline' | 'stopsAt'>;

/** Active packs, their derived files, and the pack that was superseded first. */
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

/** Whether there is work to do now, or work due later for which a crash has left no visit scheduled. */
function isDue(notes: Notes, packs: Packs, now: Date): boolean {
  const { visitAt, garbage, unsettled } = notes;
  if (unsettled) return true;
  if (compactionPlan(packs.active).length > 0) return true;
  const derived = (kind: DerivedKind) => packs.derived.find((file) => file.kind === kind);
  if (dueKinds(packs.active, derived, askedKinds(notes)).length > 0) return true;
  const due = dueTimes(garbage, packs);
  if (visitAt <= now.getTime()) return visitAt > 0 || due.length > 0;
  return due.some((at) => at + VISITS_MS < visitAt);
}

/** Times from which something may be deleted, in milliseconds since 1970. */
function dueTimes(garbage: number, { active, derived, superseded }: Packs): number[] {
  return [
    ...(garbage > 0 ? [garbage + VISITS_MS] : []),
    ...(superseded === undefined ? [] : [Date.parse(superseded.supersededAt!) + VISITS_MS]),
    ...active.filter(isGarbage).map(retainedUntil),
    ...replacedUntil(derived),
  ];
}

const askedKinds = ({ bundleAsked }: Notes): DerivedKind[] => (bundleAsked ? ['bundle'] : []);

const isGarbage = ({ source }: PackDescription) => source === 'unreachable-garbage';
const retainedUntil = ({ id }: PackDescription) => decodeTime(id) + GARBAGE_MS;

/** One maintenance run, under the lease. */
class Visit {
  readonly #deps: Deps;
  readonly #lease: Lease;
  readonly #now: Date;
  readonly #order: MaintenanceOrder;
  readonly #time: Time;
  /** Times of future work, in milliseconds since 1970; a past time means as soon as possible. */
  readonly #dueTimes: number[] = [];

  constructor(deps: Deps, lease: Lease, now: Date, order: MaintenanceOrder, time: Time) {
    this.#deps = deps;
    this.#lease = lease;
    this.#now = now;
    this.#order = order;
    this.#time = time;
  }

  async run(): Promise<boolean> {
    const { store } = this.#deps;
    const { repositoryId } = this.#lease;
    if (!(await this.#compact())) return false;
    const notes = await store.maintenanceNotes.read(repositoryId);
    const { visitAt, garbage, unsettled } = notes;
    const scheduled = visitAt > 0 && visitAt <= this.#now.getTime();
    if (scheduled) {
      await removeSuperseded(store, repositoryId, this.#now);
      const unlisted = await removeUnlisted(store, repositoryId, this.#now);
      const derived = await this.#sweepDerived();
      for (const at of [unlisted, derived]) if (at !== undefined) this.#dueTimes.push(at);
    }
    if (scheduled || this.#order.refs) await this.#foldRefs();
    // An aborted collection is repeated at once: until then the repository cannot be forked.
    if (scheduled || unsettled) await this.#collect(garbage, unsettled);
    const derived = await this.#derive(askedKinds(notes));
    await this.#schedule(scheduled ? 0 : garbage, visitAt);
    return derived;
  }

  /** The last step, as packs and refs have just settled. */
  async #derive(asked: readonly DerivedKind[]): Promise<boolean> {
    const { store } = this.#deps;
    const { repositoryId } = this.#lease;
    const objects = new MaintainedGitObjects(store, this.#lease, this.#now);
    const refs = store.repositories.open(repositoryId);
    const made = new Set<DerivedKind>();
    const done = await deriveFiles(objects, refs, { ...this.#time, asked, onMade: (kind) => made.add(kind) });
    // As often as the listing of the tip is made: so much has been pushed since.
    if (done && made.has('tip')) {
      const signal = AbortSignal.timeout(Math.max(1, this.#time.stopsAt - Date.now()));
      await keepFirstClone(objects, refs, (name) => store.keptPacks.of(repositoryId, name), signal);
    }
    return done;
  }

  async #sweepDerived(): Promise<number | undefined> {
    const { blobs, repositories } = this.#deps.store;
    const { repositoryId } = this.#lease;
    const before = (await repositories.open(repositoryId).listing()).derived;
    const listed = async () => (await repositories.open(repositoryId).listing()).derived;
    const next = await sweepDerived(blobs, this.#lease, listed, this.#now);
    await repositories.forgetReplaced(repositoryId, before, this.#now);
    return next;
  }

  /** Repeats until there is nothing to merge: pushes continue meanwhile. */
  async #compact(): Promise<boolean> {
    const objects = new MaintainedGitObjects(this.#deps.store, this.#lease, this.#now);
    for (;;) {
      const packs = await objects.listPacks();
      if (compactionPlan(packs).length === 0) return true;
      if (!(await compact(objects, packs, { deadline: this.#time.deadline }))) return false;
    }
  }

  async #foldRefs(): Promise<void> {
    const { repositories } = this.#deps.store;
    const { repositoryId } = this.#lease;
    const { state } = await repositories.guard(repositoryId);
    if (state === 'open' && (await repositories.hasManyRefRows(repositoryId))) {
      await repositories.open(repositoryId).foldRefs();
      // The replaced ref table may still be in use by readers.
      this.#dueTimes.push(this.#now.getTime());
    }
    await repositories.sweepRefs(repositoryId, this.#now);
  }

  /** Collects if refs were deleted or moved, or if the retention of a garbage pack has ended. */
  async #collect(garbage: number, unsettled: boolean): Promise<void> {
    const { store } = this.#deps;
    const { repositoryId } = this.#lease;
    const objects = new MaintainedGitObjects(store, this.#lease, this.#now);
    const garbagePacks = (await objects.listPacks()).filter(isGarbage);
    const expired = garbagePacks.some((pack) => retainedUntil(pack) <= this.#now.getTime());
    if (garbage === 0 && !unsettled && !expired) return;
    const epoch = await store.repositories.raiseEpoch(repositoryId);
    const collected = await collect(objects, store.repositories.open(repositoryId), {
      epoch,
      now: this.#now,
    });
    if (collected !== undefined) await store.maintenanceNotes.clearUnsettled(this.#lease);
    await store.maintenanceNotes.clearGarbage(this.#lease, garbage);
  }

  /** Schedules the next visit, at least a day later, so that superseded packs are deleted in batches. One at a time. */
  async #schedule(garbage: number, visitAt: number): Promise<void> {
    const { repositories, maintenanceNotes } = this.#deps.store;
    const packs = await packsOf(repositories, this.#lease.repositoryId);
    const now = this.#now.getTime();
    const times = [...this.#dueTimes, ...dueTimes(garbage, packs)];
    const next = Math.max(Math.min(...times), now + VISITS_MS);
    if (visitAt > now && visitAt <= next) return;
    if (times.length > 0) await maintenanceNotes.scheduleVisit(this.#lease, new Date(next));
    else if (visitAt > 0) await maintenanceNotes.scheduleVisit(this.#lease, undefined);
  }
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof Missing)) throw error;
}
