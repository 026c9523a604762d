/** The lease for changing the master key: one holder at a time, for as long as a function may run. */

import { endLease, takeLease } from '../maintenance/leases.ts';
import { masterKeyLease } from '../row-keys/secrets.ts';
import type { Table } from '../table/table.ts';

/** Duration in seconds; the command ends earlier. */
const SECONDS = 900;

export class MasterKeyLeases {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Acquires the lease. @returns its number; undefined while another holder has it */
  async acquire(now: Date): Promise<number | undefined> {
    const item = await takeLease(this.#table, masterKeyLease(), SECONDS, now);
    return item?.['fence'] as number | undefined;
  }

  release(fence: number): Promise<void> {
    return endLease(this.#table, masterKeyLease(), fence);
  }
}
