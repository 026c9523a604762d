/** Who changes the master key: one at a time, for as long as a function may run. */

import { endLease, takeLease } from '../maintenance/leases.ts';
import { masterKeyLease } from '../row-keys/secrets.ts';
import type { Table } from '../table/table.ts';

/** Seconds; the command ends before. */
const SECONDS = 900;

export class MasterKeyLeases {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** @returns its number; undefined while somebody else holds it */
  async acquire(now: Date): Promise<number | undefined> {
    const item = await takeLease(this.#table, masterKeyLease(), SECONDS, now);
    return item?.['fence'] as number | undefined;
  }

  release(fence: number): Promise<void> {
    return endLease(this.#table, masterKeyLease(), fence);
  }
}
