/**
 * Allows one maintenance job per repository at a time. A lease expires by itself. Its fencing number increases with
 * every holder, and every change made under the lease checks that number, so a holder that was suspended for too long
 * changes nothing.
 */
import { ConditionFailed } from '../errors.ts';
import type { Key } from '../row-keys/key.ts';
import { leaseKey } from '../row-keys/maintenance.ts';
import type { Table } from '../table/table.ts';
import type { Check, Item, Update } from '../table/write.ts';

export interface Lease {
  readonly repositoryId: string;
  /** The fork network under whose prefix the packs are stored. */
  readonly networkId: string;
  /** What the keys of its packs begin with. */
  readonly storagePrefix?: string;
  readonly fence: number;
}

export class Leases {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** @param seconds until the lease expires @returns undefined while another holder has it */
  async acquire(repositoryId: string, seconds: number, now = new Date()): Promise<Lease | undefined> {
    const item = await takeLease(this.#table, leaseKey(repositoryId), seconds, now);
    if (item === undefined) return undefined;
    return { ...memberOf(repositoryId, item), fence: item['fence'] as number };
  }

  /** Returns whether the lease is held, as far as a single read can tell. */
  async isTaken(repositoryId: string, now = new Date()): Promise<boolean> {
    const row = await this.#table.get(leaseKey(repositoryId));
    return Number(row?.['until'] ?? 0) > Math.floor(now.getTime() / 1000);
  }

  /** Ends the lease before it expires. No effect if it was lost. */
  release({ repositoryId, fence }: Lease): Promise<void> {
    return endLease(this.#table, leaseKey(repositoryId), fence);
  }
}

/**
 * Acquires a row that has one holder at a time, for `seconds`.
 * @returns the row, with the new holder's `fence`; undefined while another holder has it
 */
export async function takeLease(
  table: Table,
  key: Key,
  seconds: number,
  now: Date,
): Promise<Item | undefined> {
  const at = Math.floor(now.getTime() / 1000);
  try {
    return await table.update({
      update: key,
      set: { until: at + seconds },
      add: { fence: 1 },
      if: 'attribute_not_exists(#until) OR #until <= :now',
      values: { now: at },
    });
  } catch (error) {
    if (error instanceof ConditionFailed) return undefined;
    throw error;
  }
}

/** Ends a lease. No effect if it was lost. */
export async function endLease(table: Table, key: Key, fence: number): Promise<void> {
  try {
    await table.update({ update: key, set: { until: 0 }, if: '#fence = :fence', values: { fence } });
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

/** The check for every transaction made under the lease; refused as `lease`. */
export function fencedBy({ repositoryId, fence }: Lease): Check {
  return { check: leaseKey(repositoryId), if: '#fence = :fence', values: { fence }, reason: 'lease' };
}

/** Where a repository's packs are, by the lease's row: the fork network, and the storage. */
export function memberOf(
  repositoryId: string,
  row: Item | undefined,
): { readonly repositoryId: string; readonly networkId: string; readonly storagePrefix?: string } {
  const { network = repositoryId, storagePrefix } = (row ?? {}) as {
    readonly network?: string;
    readonly storagePrefix?: string;
  };
  return { repositoryId, networkId: network, ...(storagePrefix ? { storagePrefix } : {}) };
}

/**
 * Like {@link fencedBy}, for a transaction that removes packs from the list: a reader that copies the list learns from
 * `swaps` whether it was complete.
 * @param unsettled true for a garbage collection: objects that became reachable meanwhile may be in garbage packs until
 *   `MaintenanceNotes.clearUnsettled`
 */
export function swappedBy({ repositoryId, fence }: Lease, unsettled: boolean): Update {
  return {
    update: leaseKey(repositoryId),
    add: { swaps: 1 },
    ...(unsettled ? { set: { unsettled } } : {}),
    if: '#fence = :fence',
    values: { fence },
    reason: 'lease',
  };
}

/** What has to be unchanged for a reader of the complete pack list. */
export interface Swaps {
  readonly count: number;
  /** A garbage collection has not resurrected everything yet, or died before it could. */
  readonly unsettled: boolean;
}

export const swapsOf = (row: Item | undefined): Swaps => ({
  count: (row?.['swaps'] as number | undefined) ?? 0,
  unsettled: row?.['unsettled'] === true,
});

/** Checks that no pack was removed from the list since then; refused as `swaps`. */
export function unswapped(repositoryId: string, { count }: Swaps): Check {
  return {
    check: leaseKey(repositoryId),
    if: count === 0 ? 'attribute_not_exists(#swaps)' : '#swaps = :count',
    ...(count === 0 ? {} : { values: { count } }),
    reason: 'swaps',
  };
}
