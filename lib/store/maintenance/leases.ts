/**
 * One maintenance job per repository at a time. A lease ends by itself; its fencing number rises with every
 * holder, and every change made under it checks that number, so a holder that slept too long changes nothing.
 */
import { ConditionFailed } from '../errors.ts';
import type { Key } from '../row-keys/key.ts';
import { leaseKey } from '../row-keys/maintenance.ts';
import type { Table } from '../table/table.ts';
import type { Check, Item, Update } from '../table/write.ts';

export interface Lease {
  readonly repositoryId: string;
  /** The fork network whose prefix its packs lie under. */
  readonly networkId: string;
  readonly fence: number;
}

export class Leases {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** @param seconds until somebody else may take it @returns undefined while somebody else holds it */
  async acquire(repositoryId: string, seconds: number, now = new Date()): Promise<Lease | undefined> {
    const item = await takeLease(this.#table, leaseKey(repositoryId), seconds, now);
    if (item === undefined) return undefined;
    return { repositoryId, networkId: networkOf(repositoryId, item), fence: item['fence'] as number };
  }

  /** Whether somebody holds it, as far as one read can tell. */
  async isTaken(repositoryId: string, now = new Date()): Promise<boolean> {
    const row = await this.#table.get(leaseKey(repositoryId));
    return Number(row?.['until'] ?? 0) > Math.floor(now.getTime() / 1000);
  }

  /** Lets the next one in at once. A lease that was lost is left alone. */
  release({ repositoryId, fence }: Lease): Promise<void> {
    return endLease(this.#table, leaseKey(repositoryId), fence);
  }
}

/**
 * A row that one at a time may hold, for so many seconds.
 * @returns the row, with the holder's `fence`; undefined while somebody else holds it
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

/** One that was lost is left alone. */
export async function endLease(table: Table, key: Key, fence: number): Promise<void> {
  try {
    await table.update({ update: key, set: { until: 0 }, if: '#fence = :fence', values: { fence } });
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
  }
}

/** For the transaction of whatever is done under the lease; refused as `lease`. */
export function fencedBy({ repositoryId, fence }: Lease): Check {
  return { check: leaseKey(repositoryId), if: '#fence = :fence', values: { fence }, reason: 'lease' };
}

/** The fork network, as the row of the lease tells it. */
export const networkOf = (repositoryId: string, row: Item | undefined): string =>
  (row?.['network'] as string | undefined) ?? repositoryId;

/**
 * The same for one that takes packs off the list: whoever copies the list knows by `swaps` that it was whole.
 * @param unsettled a collection's: what was made reachable meanwhile may lie in garbage until {@link settled}
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

/** What a reader of the whole list of packs has to find unchanged. */
export interface Swaps {
  readonly count: number;
  /** A collection has not resurrected everything yet, or died before it could. */
  readonly unsettled: boolean;
}

export const swapsOf = (row: Item | undefined): Swaps => ({
  count: (row?.['swaps'] as number | undefined) ?? 0,
  unsettled: row?.['unsettled'] === true,
});

/** Nothing was taken off the list since then. Refused as `swaps`. */
export function unswapped(repositoryId: string, { count }: Swaps): Check {
  return {
    check: leaseKey(repositoryId),
    if: count === 0 ? 'attribute_not_exists(#swaps)' : '#swaps = :count',
    ...(count === 0 ? {} : { values: { count } }),
    reason: 'swaps',
  };
}
