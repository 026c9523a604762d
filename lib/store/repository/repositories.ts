/**
 * Repositories: their refs and packs, their state, and maintenance of their rows. Deletion is in `removal.ts`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeTime } from 'ulid';
import type { Oid } from '../../git/oid.ts';
import type { DerivedFile, PackDescription } from '../../git/ports.ts';
import type { RefName } from '../../git/refname.ts';
import { ConditionFailed, Missing, Stale, TransactionRefused } from '../errors.ts';
import { fencedBy, type Lease, swappedBy } from '../maintenance/leases.ts';
import type { Outbox } from '../outbox/outbox.ts';
import {
  guardKey,
  oldPackKey,
  REF,
  refKey,
  refNamesKey,
  repositoryPartition,
} from '../row-keys/repository.ts';
import { deleteMatching } from '../table/delete-matching.ts';
import type { Table } from '../table/table.ts';
import { type DerivedRow, forgetReplaced, listDerived } from './derived-files.ts';
import { type CataloguedPack, listPack, supersededOf, supersedePacks } from './pack-list.ts';
import { RefSnapshots } from './ref-snapshot.ts';
import { refTables, removeRefTable } from './ref-table-writer.ts';
import { FREEZE_MS } from './ref-transaction.ts';
import { RepositoryRefs } from './refs-and-objects.ts';
import { changeGuards, type Guard, guardOf, type RepositoryState, randomStripe } from './state.ts';

/** What the row of a guard, and that of a ref, tells of where a ref points to. */
const TIP_FIELDS = ['refTable', 'table', 'oid'];

const MIN_ROWS = 250;
const MAX_ROWS = 2000;

/** After this time no reader uses a guard with the old table, and no writer is still writing one. */
const REPLACED_TABLE_MS = 3600_000;

export class Repositories {
  readonly #table: Table;
  readonly #outbox: Outbox;
  constructor(table: Table, outbox: Outbox) {
    this.#table = table;
    this.#outbox = outbox;
  }

  /**
   * Returns a repository's refs and packs; reads nothing yet. Use one per request.
   * @param likelyHead probable target of HEAD, which is then read together with HEAD
   */
  open(repositoryId: string, likelyHead?: RefName): RepositoryRefs {
    return new RepositoryRefs(this.#table, this.#outbox, repositoryId, likelyHead);
  }

  /**
   * What branches and tags of several repositories point to: one batch for all, of which no more than that is asked for.
   * @returns by repository, without those that are deleted, and by name, without those that do not exist
   */
  async tips(
    asked: readonly { readonly repositoryId: string; readonly names: readonly RefName[] }[],
  ): Promise<ReadonlyMap<string, ReadonlyMap<RefName, Oid>>> {
    const at = Date.now();
    const keys = asked.flatMap(({ repositoryId, names }) => [
      guardKey(repositoryId, randomStripe()),
      ...names.map((name) => refKey(repositoryId, name)),
    ]);
    const items = await this.#table.batchGet(keys, { only: TIP_FIELDS });
    const found = new Map<string, ReadonlyMap<RefName, Oid>>();
    let from = 0;
    await Promise.all(
      asked.map(async ({ repositoryId, names }) => {
        const [item, ...rows] = items.slice(from, (from += 1 + names.length));
        const guard = guardOf(item);
        if (guard === undefined) return;
        const snapshots = new RefSnapshots(this.#table, repositoryId);
        const read = await snapshots.read(names, { at, guard, rows }).catch(missingAsUndefined);
        if (read === undefined) return;
        const { states } = read;
        const tips = names.flatMap((name) => {
          const oid = states.get(name)?.ref?.oid;
          return oid === undefined ? [] : [[name, oid] as const];
        });
        found.set(repositoryId, new Map(tips));
      }),
    );
    return found;
  }

  /** Strongly consistent. @throws Missing */
  async guard(repositoryId: string): Promise<Guard> {
    const guard = guardOf(await this.#table.get(guardKey(repositoryId, randomStripe())));
    if (guard === undefined) throw new Missing('repository');
    return guard;
  }

  /** Sets the state, which also refuses concurrent writers. A deleted repository stays deleted. */
  async setState(repositoryId: string, state: RepositoryState): Promise<void> {
    await this.#change(repositoryId, () => ({ state }));
  }

  /** Starts a new epoch: pushes in progress have to check connectivity again. @returns the new epoch */
  async raiseEpoch(repositoryId: string): Promise<number> {
    await this.#unfrozen(repositoryId);
    const guard = await this.#change(repositoryId, ({ epoch }) => ({ epoch: epoch + 1 }));
    return guard.epoch;
  }

  /** Waits for a writer of a ref table: a change of the guards would invalidate its work. */
  async #unfrozen(repositoryId: string): Promise<Guard> {
    for (;;) {
      const guard = await this.guard(repositoryId);
      if (guard.frozenBy === '' || decodeTime(guard.frozenBy) + FREEZE_MS < Date.now()) return guard;
      await sleep(100);
    }
  }

  async #change(repositoryId: string, change: (guard: Guard) => Partial<Guard>): Promise<Guard> {
    for (let n = 0; n < 10; n++) {
      const guard = await this.guard(repositoryId);
      if (guard.state === 'deleted') throw new Missing('repository');
      const changed = change(guard);
      try {
        await this.#table.transact(changeGuards(repositoryId, changed, guard));
        return { ...guard, ...changed };
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
      }
    }
    throw new Stale('repository');
  }

  /**
   * Replaces packs in the list, in one transaction under the lease. A new pack is one write, a replaced one two; at most
   * 90 in total.
   * @param epoch of a garbage collection, after which the same transaction starts a new epoch
   * @throws Stale when a replaced pack is no longer active, the lease was lost, or the epoch is over
   */
  async replacePacks(
    lease: Lease,
    add: readonly PackDescription[],
    replaced: readonly PackDescription[],
    now = new Date(),
    epoch?: number,
  ): Promise<void> {
    const { repositoryId } = lease;
    const by = `lease-${lease.fence}`;
    for (let n = 0; n < 10; n++) {
      const guard = epoch === undefined ? undefined : await this.#unfrozen(repositoryId);
      if (guard !== undefined && (guard.epoch !== epoch || guard.state === 'deleted')) break;
      try {
        await this.#table.transact([
          swappedBy(lease, epoch !== undefined),
          ...(guard === undefined ? [] : changeGuards(repositoryId, { epoch: guard.epoch + 1 }, guard)),
          ...add.map((pack) => listPack(repositoryId, pack, by)),
          ...supersedePacks(repositoryId, replaced, now),
        ]);
        return;
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
        // The guards alone may change for other reasons, such as a new ref table.
        if (error.refusals.some(({ reason }) => reason !== 'guard')) break;
      }
    }
    throw new Stale('pack catalogue');
  }

  /**
   * Replaces the derived file of a kind, under the lease.
   * @throws Stale when another one was stored meanwhile, or the lease was lost
   */
  async replaceDerived(
    lease: Lease,
    file: DerivedFile,
    replaced: DerivedRow | undefined,
    now: Date,
  ): Promise<void> {
    try {
      await this.#table.transact([fencedBy(lease), listDerived(lease.repositoryId, file, replaced, now)]);
    } catch (error) {
      throw error instanceof TransactionRefused ? new Stale('derived file') : error;
    }
  }

  /** Removes entries of derived files that were replaced a day ago, after the deletion of their objects. */
  async forgetReplaced(repositoryId: string, rows: readonly DerivedRow[], now: Date): Promise<void> {
    for (const update of rows.flatMap((row) => forgetReplaced(repositoryId, row, now))) {
      await this.#table.update(update).catch((error: unknown) => {
        // Replaced again meanwhile, which removes them too.
        if (!(error instanceof ConditionFailed)) throw error;
      });
    }
  }

  /** Deletes the row of a superseded pack, after its objects. */
  async removePackRow(repositoryId: string, { id, supersededAt }: CataloguedPack): Promise<void> {
    if (supersededAt === undefined) throw new RangeError(`pack ${id} is in use`);
    await this.#table.delete({ delete: oldPackKey(repositoryId, supersededAt, id) });
  }

  /** Packs superseded until a time, oldest first. */
  superseded(
    repositoryId: string,
    options: { readonly until?: Date; readonly most?: number } = {},
  ): Promise<CataloguedPack[]> {
    return supersededOf(this.#table, repositoryId, options);
  }

  /**
   * Whether there are enough ref rows to fold them into a table. Every view reads them; the more refs the table has, the
   * more rows are tolerated.
   */
  async hasManyRefRows(repositoryId: string): Promise<boolean> {
    const names = await this.#table.get(refNamesKey(repositoryId));
    const refs = Number(names?.['heads'] ?? 0) + Number(names?.['tags'] ?? 0);
    const bound = Math.min(MAX_ROWS, Math.max(MIN_ROWS, Math.floor(refs / 100)));
    return (await this.countRefRows(repositoryId, bound)) === undefined;
  }

  /** Counts ref rows up to `cap`; undefined above it. */
  async countRefRows(repositoryId: string, cap: number): Promise<number | undefined> {
    return this.#table.count({ partition: repositoryPartition(repositoryId), prefix: REF }, cap);
  }

  /** Deletes ref rows that a newer table has replaced, and old tables. */
  async sweepRefs(repositoryId: string, now = new Date()): Promise<void> {
    const { refTable } = await this.guard(repositoryId);
    const rows = { partition: repositoryPartition(repositoryId), prefix: REF } as const;
    await deleteMatching(
      this.#table,
      this.#table.queryAll({ ...rows, only: ['pk', 'sk', 'table'] }),
      (row) =>
        // A row rewritten since then names the current table.
        row['table'] === refTable ? undefined : { if: '#table = :was', values: { was: row['table'] } },
    );
    for await (const { id, writtenAt } of refTables(this.#table, repositoryId)) {
      const age = now.getTime() - writtenAt;
      if (id !== refTable && age > REPLACED_TABLE_MS) await removeRefTable(this.#table, repositoryId, id);
    }
  }
}

/** It may be deleted while it is read. */
function missingAsUndefined(error: unknown): undefined {
  if (!(error instanceof Missing)) throw error;
}
