/**
 * How often a subject may do something. Windows are fixed, so at the turn of one twice as much may pass in a moment:
 * what is limited is the cost, not the pace.
 */
import { ConditionFailed } from './errors.ts';
import { rateKey } from './keys.ts';
import type { Table } from './table.ts';

export interface RateLimit {
  /** What is limited, such as `archive`. */
  readonly kind: string;
  /** 0: none */
  readonly limit: number;
  readonly seconds: number;
}

export class RateLimits {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Counts one more, unless the limit is reached: then nothing is counted.
   * @returns whether it may be done
   */
  async take({ kind, limit, seconds }: RateLimit, subject: string, now: Date): Promise<boolean> {
    if (limit === 0) return true;
    const at = Math.floor(now.getTime() / 1000);
    const window = Math.floor(at / seconds);
    try {
      await this.#table.update({
        update: rateKey(kind, subject, window),
        add: { count: 1 },
        set: { ttl: (window + 2) * seconds },
        if: 'attribute_not_exists(#count) OR #count < :limit',
        values: { limit },
      });
      return true;
    } catch (error) {
      if (error instanceof ConditionFailed) return false;
      throw error;
    }
  }
}
