/** From which addresses a user came lately: a row per user, while an administrator limits how many there may be. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionFailed } from '../errors.ts';
import { userAddressesKey } from '../row-keys/rate-limits.ts';
import type { Table } from '../table/table.ts';

export interface AddressLimit {
  readonly addresses: number;
  /** An address that was not seen for so long is forgotten. */
  readonly seconds: number;
}

/** So many a row has room for. */
const MOST = 1_000;
/** What this process knows of so many. */
const MAX_KNOWN = 10_000;
/** An address that is known is not written again before. */
const REFRESH_SECONDS = 60;
/** Each that fails was another address's turn, of which no more than the limit have one; waits of up to so long between. */
const ATTEMPTS = 64;
const MAX_WAIT_MS = 40;

export class UserAddresses {
  readonly #table: Table;
  /** When this process last saw a user's address in the row, in seconds; the oldest first. */
  readonly #known = new Map<string, number>();

  /** @param table one that is given up soon */
  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Whether a user may come from an address: one of those seen lately, or one more while there are fewer than the limit.
   * It is remembered then; one that is refused is not. Whoever finds no turn among very many that come at once is refused:
   * else many at once would be no fewer.
   * @throws StoreUnavailable soon
   */
  async admits(userId: number, address: string, limit: AddressLimit, now: Date): Promise<boolean> {
    const at = Math.floor(now.getTime() / 1000);
    // A quarter of the time it is kept, so that it is not forgotten while it is used.
    const fresh = at - Math.min(REFRESH_SECONDS, limit.seconds / 4);
    const name = `${userId} ${address}`;
    if ((this.#known.get(name) ?? Number.NEGATIVE_INFINITY) > fresh) return true;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await sleep(Math.random() * Math.min(MAX_WAIT_MS, 2 ** attempt));
      const row = await this.#table.get(userAddressesKey(userId));
      const seen = Object.entries((row?.['seen'] ?? {}) as Record<string, number>).filter(
        ([, last]) => last > at - limit.seconds,
      );
      const last = seen.find(([known]) => known === address)?.[1];
      if (last === undefined && seen.length >= Math.min(limit.addresses, MOST)) return false;
      if (last !== undefined && last > fresh) return this.#remember(name, last);
      try {
        await this.#table.update({
          update: userAddressesKey(userId),
          set: {
            seen: { ...Object.fromEntries(seen), [address]: at },
            version: ((row?.['version'] as number | undefined) ?? 0) + 1,
            ttl: at + limit.seconds,
          },
          ...(row === undefined
            ? { if: 'attribute_not_exists(#version)' }
            : { if: '#version = :was', values: { was: row['version'] } }),
        });
        return this.#remember(name, at);
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
      }
    }
    return false;
  }

  #remember(name: string, at: number): true {
    this.#known.delete(name);
    this.#known.set(name, at);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_KNOWN) break;
      this.#known.delete(oldest);
    }
    return true;
  }
}
