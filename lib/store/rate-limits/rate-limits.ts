/**
 * Limits how often a subject may do something. Windows are fixed, so up to twice the limit may pass around the boundary
 * of two windows: the limit bounds the total cost, not the pace.
 */
import { ConditionFailed } from '../errors.ts';
import { rateKey } from '../row-keys/rate-limits.ts';
import type { RetryPolicy } from '../table/retry.ts';
import type { Table } from '../table/table.ts';

export interface RateLimit {
  /** The limited action, such as `archive`. */
  readonly kind: string;
  /** Maximum number per window; 0: unlimited */
  readonly limit: number;
  readonly seconds: number;
}

/** Maximum number of full windows that a process remembers. */
const MAX_KNOWN = 10_000;

/** Retries for counts that must not delay a request: the caller continues without a count instead of waiting. */
export const FAIL_FAST: RetryPolicy = { attempts: 3, base: 10, cap: 50 };

export class RateLimits {
  readonly #table: Table;
  readonly #hasty: Table;
  /** Windows that are known to be full, the oldest first. */
  readonly #full = new Map<string, { readonly window: number; readonly limit: number }>();

  /** @param hasty the same table with a retry policy that gives up soon */
  constructor(table: Table, hasty: Table = table) {
    this.#table = table;
    this.#hasty = hasty;
  }

  /**
   * Counts one action, unless the limit is reached; a refused action is not counted.
   * @returns whether the action is allowed
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

  /** Returns whether this process knows that `take` would refuse. */
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
   * Counts one action without checking a limit, in one unconditional write. A write whose answer was lost may count
   * twice.
   * @returns the count of the current window
   * @throws StoreUnavailable soon, without long retries
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

/** Returns the number of the window, counted from 1970. */
export const windowOf = (seconds: number, now: Date): number => Math.floor(now.getTime() / 1000 / seconds);
