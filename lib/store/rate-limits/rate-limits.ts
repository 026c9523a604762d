/**
 * How often a subject may do something. Windows are fixed, so at the turn of one twice as much may pass in a moment:
 * what is limited is the cost, not the pace.
 */
import { ConditionFailed } from '../errors.ts';
import { rateKey } from '../row-keys/rate-limits.ts';
import type { RetryPolicy } from '../table/retry.ts';
import type { Table } from '../table/table.ts';

export interface RateLimit {
  /** What is limited, such as `archive`. */
  readonly kind: string;
  /** 0: none */
  readonly limit: number;
  readonly seconds: number;
}

/** Of so many it is known that they are full. */
const MAX_KNOWN = 10_000;

/** What holds up no request: who counts goes on without a count rather than wait. */
export const FAIL_FAST: RetryPolicy = { attempts: 3, base: 10, cap: 50 };

export class RateLimits {
  readonly #table: Table;
  readonly #hasty: Table;
  /** Windows that are known to be full; the oldest first. */
  readonly #full = new Map<string, { readonly window: number; readonly limit: number }>();

  /** @param hasty the same table, given up soon */
  constructor(table: Table, hasty: Table = table) {
    this.#table = table;
    this.#hasty = hasty;
  }

  /**
   * Counts one more, unless the limit is reached: then nothing is counted.
   * @returns whether it may be done
   */
  async take({ kind, limit, seconds }: RateLimit, subject: string, now: Date): Promise<boolean> {
    if (limit === 0) return true;
    if (this.isFull({ kind, limit, seconds }, subject, now)) return false;
    const window = windowOf(seconds, now);
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
      if (!(error instanceof ConditionFailed)) throw error;
      this.#remember(`${kind} ${subject}`, { window, limit });
      return false;
    }
  }

  /** Whether this process knows that `take` would refuse. */
  isFull({ kind, limit, seconds }: RateLimit, subject: string, now: Date): boolean {
    const known = this.#full.get(`${kind} ${subject}`);
    return limit > 0 && known?.window === windowOf(seconds, now) && known.limit >= limit;
  }

  #remember(key: string, full: { readonly window: number; readonly limit: number }): void {
    this.#full.delete(key);
    this.#full.set(key, full);
    if (this.#full.size <= MAX_KNOWN) return;
    for (const oldest of this.#full.keys()) {
      this.#full.delete(oldest);
      return;
    }
  }

  /**
   * Counts one more whatever is reached, in one write without a condition; one whose answer was lost may count twice.
   * @returns how many that makes in this window
   * @throws StoreUnavailable soon
   */
  async count({ kind, seconds }: Omit<RateLimit, 'limit'>, subject: string, now: Date): Promise<number> {
    const window = windowOf(seconds, now);
    const { count } = await this.#hasty.update({
      update: rateKey(kind, subject, window),
      add: { count: 1 },
      set: { ttl: (window + 2) * seconds },
    });
    return count as number;
  }
}

/** The number of the window, counted from 1970. */
export const windowOf = (seconds: number, now: Date): number => Math.floor(now.getTime() / 1000 / seconds);
