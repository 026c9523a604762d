/**
 * One maintenance job per repository at a time. A lease ends by itself; its fencing number rises with every
 * holder, and every change made under it checks that number, so a holder that slept too long changes nothing.
 */
import { ConditionFailed } from './errors.ts';
import { leaseKey } from './keys.ts';
import type { Table } from './table.ts';
import type { Check } from './write.ts';

export interface Lease {
  readonly repositoryId: string;
  readonly fence: number;
}

export class Leases {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** @param seconds until somebody else may take it @returns undefined while somebody else holds it */
  async acquire(repositoryId: string, seconds: number, now = new Date()): Promise<Lease | undefined> {
    const at = Math.floor(now.getTime() / 1000);
    try {
      const item = await this.#table.update({
        update: leaseKey(repositoryId),
        set: { until: at + seconds },
        add: { fence: 1 },
        if: 'attribute_not_exists(#until) OR #until <= :now',
        values: { now: at },
      });
      return { repositoryId, fence: item['fence'] as number };
    } catch (error) {
      if (error instanceof ConditionFailed) return undefined;
      throw error;
    }
  }

  /** Lets the next one in at once. A lease that was lost is left alone. */
  async release({ repositoryId, fence }: Lease): Promise<void> {
    try {
      await this.#table.update({
        update: leaseKey(repositoryId),
        set: { until: 0 },
        if: '#fence = :fence',
        values: { fence },
      });
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
}

/** For the transaction of whatever is done under the lease; refused as `lease`. */
export function fencedBy({ repositoryId, fence }: Lease): Check {
  return { check: leaseKey(repositoryId), if: '#fence = :fence', values: { fence }, reason: 'lease' };
}
