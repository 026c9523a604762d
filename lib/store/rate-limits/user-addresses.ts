/**
 * The IP addresses that a user has recently used: a row per user, written while an administrator limits the number of
 * addresses per user.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionFailed } from '../errors.ts';
import { userAddressesKey } from '../row-keys/rate-limits.ts';
import type { Table } from '../table/table.ts';

export interface AddressLimit {
  readonly addresses: number;
  /** An address that was not seen for this time is forgotten. */
  readonly seconds: number;
}

/** Maximum number of addresses in a row, given by the size of a row. */
const MOST = 1_000;
/** Maximum number of addresses that a process remembers. */
const MAX_KNOWN = 10_000;
/** The time of a known address is written again at most this often. */
const REFRESH_SECONDS = 60;
/**
 * Each failed attempt means that another address was written, which happens at most as often as the limit allows.
 * The waits between attempts are random, up to {@link MAX_WAIT_MS}.
 */
const ATTEMPTS = 64;
const MAX_WAIT_MS = 40;

export class UserAddresses {
  readonly #table: Table;
  /** Unix time in seconds of each address in the row, as this process last saw it; the oldest first. */
  readonly #known = new Map<string, number>();

  /** @param table with a retry policy that gives up soon */
  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Returns whether a user may come from an address: it was seen recently, or fewer addresses than the limit were. An
   * admitted address is stored, a refused one is not. If all attempts to write fail because very many requests come at
   * once, the address is refused: otherwise many simultaneous requests could exceed the limit.
   * @throws StoreUnavailable soon, without long retries
   */
  async admits(userId: number, address: string, limit: AddressLimit, now: Date): Promise<boolean> {
    const at = Math.floor(now.getTime() / 1000);
    // Refresh after at most a quarter of the retention time, so that an address in use is not forgotten.
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
