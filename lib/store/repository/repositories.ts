/**
 * Repositories: their refs and packs, their state, and what maintenance does to their rows. A deleted one is taken
 * away by `repository-removal.ts`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeTime } from 'ulid';
import type { DerivedFile, PackDescription } from '../../git/ports.ts';
import type { RefName } from '../../git/refname.ts';
import { ConditionFailed, Missing, Stale, TransactionRefused } from '../errors.ts';
import { fencedBy, type Lease, swappedBy } from '../maintenance/leases.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { guardKey, oldPackKey, REF, refNamesKey, repositoryPartition } from '../row-keys/repository.ts';
import { deleteMatching } from '../table/delete-matching.ts';
import type { Table } from '../table/table.ts';
import { type DerivedRow, forgetReplaced, listDerived } from './derived-files.ts';
import { type CataloguedPack, listPack, supersededOf, supersedePacks } from './pack-list.ts';
import { refTables, removeRefTable } from './ref-table-writer.ts';
import { FREEZE_MS } from './ref-transaction.ts';
import { RepositoryRefs } from './refs-and-objects.ts';
import { changeGuards, type Guard, guardOf, type RepositoryState, randomStripe } from './state.ts';

const MIN_ROWS = 250;
const MAX_ROWS = 2000;

/** Readers with an old guard in hand have long finished, and writers of a table have given up. */
const REPLACED_TABLE_MS = 3600_000;

export class Repositories {
  readonly #table: Table;
  readonly #outbox: Outbox;
  constructor(table: Table, outbox: Outbox) {
    this.#table = table;
    this.#outbox = outbox;
  }

  /**
   * Nothing is read before the first call; use one per request.
   * @param likelyHead what HEAD most likely points to: then both are read together
   */
  open(repositoryId: string, likelyHead?: RefName): RepositoryRefs {
    return new RepositoryRefs(this.#table, this.#outbox, repositoryId, likelyHead);
  }

  /** Strongly consistent. @throws Missing */
  async guard(repositoryId: string): Promise<Guard> {
    const guard = guardOf(await this.#table.get(guardKey(repositoryId, randomStripe())));
    if (guard === undefined) throw new Missing('repository');
    return guard;
  }

  /** Every writer of the moment is refused from then on, or let in again. A deleted one stays deleted. */
  async setState(repositoryId: string, state: RepositoryState): Promise<void> {
    await this.#change(repositoryId, () => ({ state }));
  }

  /** A push that began before is told to check connectivity again. @returns the new epoch */
  async raiseEpoch(repositoryId: string): Promise<number> {
    await this.#unfrozen(repositoryId);
    const guard = await this.#change(repositoryId, ({ epoch }) => ({ epoch: epoch + 1 }));
    return guard.epoch;
  }

  /** Waits for whoever writes a ref table: the work would be void if the guards changed under it. */
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
   * Lists packs in place of others, in one transaction under the lease. A new pack is one write, a replaced one two:
   * 90 in all.
   * @param epoch of the collection that does it: the guards are raised beyond it with the same transaction
   * @throws Stale when one of the replaced is not active any more, the lease was lost, or the epoch has passed
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
   * Lists a derived file in place of the one of its kind, under the lease.
   * @throws Stale when another stands there, or the lease was lost
   */
  async replaceDerived(
    lease: Lease,
    file: DerivedFile,
    was: DerivedRow | undefined,
    now: Date,
  ): Promise<void> {
    try {
      await this.#table.transact([fencedBy(lease), listDerived(lease.repositoryId, file, was, now)]);
    } catch (error) {
      throw error instanceof TransactionRefused ? new Stale('derived file') : error;
    }
  }

  /** Notes that the bytes of derived files that were replaced a day ago are gone. */
  async forgetReplaced(repositoryId: string, rows: readonly DerivedRow[], now: Date): Promise<void> {
    for (const update of rows.flatMap((row) => forgetReplaced(repositoryId, row, now))) {
      await this.#table.update(update).catch((error: unknown) => {
        // Replaced again meanwhile, which forgets as well.
        if (!(error instanceof ConditionFailed)) throw error;
      });
    }
  }

  /** Takes the row of a superseded pack away, after its bytes. */
  async removePackRow(repositoryId: string, { id, supersededAt }: CataloguedPack): Promise<void> {
    if (supersededAt === undefined) throw new RangeError(`pack ${id} is in use`);
    await this.#table.delete({ delete: oldPackKey(repositoryId, supersededAt, id) });
  }

  /** Packs superseded by then, those first that were so first. */
  superseded(
    repositoryId: string,
    options: { readonly until?: Date; readonly most?: number } = {},
  ): Promise<CataloguedPack[]> {
    return supersededOf(this.#table, repositoryId, options);
  }

  /**
   * Whether ref rows are worth folding: they are read with every view and by pages further on. A table of many refs is
   * written seldom.
   */
  async hasManyRefRows(repositoryId: string): Promise<boolean> {
    const names = await this.#table.get(refNamesKey(repositoryId));
    const refs = Number(names?.['heads'] ?? 0) + Number(names?.['tags'] ?? 0);
    const bound = Math.min(MAX_ROWS, Math.max(MIN_ROWS, Math.floor(refs / 100)));
    return (await this.countRefRows(repositoryId, bound)) === undefined;
  }

  /** Up to a cap; undefined above it. */
  async countRefRows(repositoryId: string, cap: number): Promise<number | undefined> {
    return this.#table.count({ partition: repositoryPartition(repositoryId), prefix: REF }, cap);
  }

  /** Takes away ref rows that a newer table has replaced, and tables that are no longer in force. */
  async sweepRefs(repositoryId: string, now = new Date()): Promise<void> {
    const { refTable } = await this.guard(repositoryId);
    const rows = { partition: repositoryPartition(repositoryId), prefix: REF } as const;
    await deleteMatching(
      this.#table,
      this.#table.queryAll({ ...rows, only: ['pk', 'sk', 'table'] }),
      (row) =>
        // A name written again since then carries the table in force.
        row['table'] === refTable ? undefined : { if: '#table = :was', values: { was: row['table'] } },
    );
    for await (const { id, writtenAt } of refTables(this.#table, repositoryId)) {
      const age = now.getTime() - writtenAt;
      if (id !== refTable && age > REPLACED_TABLE_MS) await removeRefTable(this.#table, repositoryId, id);
    }
  }
}
