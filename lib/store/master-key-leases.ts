/** Who changes the master key: one at a time, for as long as a function may run. */
import { ConditionFailed } from './errors.ts';
import { masterKeyLease } from './keys.ts';
import type { Table } from './table.ts';

/** Seconds; the command ends before. */
const SECONDS = 900;

export class MasterKeyLeases {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** @returns its number; undefined while somebody else holds it */
  async acquire(now: Date): Promise<number | undefined> {
    const at = Math.floor(now.getTime() / 1000);
    try {
      const item = await this.#table.update({
        update: masterKeyLease(),
        set: { until: at + SECONDS },
        add: { fence: 1 },
        if: 'attribute_not_exists(#until) OR #until <= :now',
        values: { now: at },
      });
      return item['fence'] as number;
    } catch (error) {
      if (error instanceof ConditionFailed) return undefined;
      throw error;
    }
  }

  /** One that was lost is left alone. */
  async release(fence: number): Promise<void> {
    try {
      await this.#table.update({
        update: masterKeyLease(),
        set: { until: 0 },
        if: '#fence = :fence',
        values: { fence },
      });
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }
}
