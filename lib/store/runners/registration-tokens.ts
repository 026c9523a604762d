/**
 * Registration tokens of runners: secrets that administrators of the instance, a group or a project can show
 * repeatedly. Each is in a row that no list reads, and is found by its digest.
 */
import type { RunnerPlace } from '../../records/runners.ts';
import { Stale, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import { digestOf } from '../row-keys/key.ts';
import { runnersTokenHashKey, runnersTokenKey } from '../row-keys/runners.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Write } from '../table/write.ts';

export class RunnersTokens {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  async of(place: RunnerPlace): Promise<string | undefined> {
    const row = await this.#table.get(runnersTokenKey(place));
    const token = row?.['token'] as string | undefined;
    // Those of groups that an earlier release gave were found by nothing.
    if (token !== undefined && row?.['found'] !== true) await this.#makeFound(place, token);
    return token;
  }

  /**
   * Stores a token unless the place has one.
   * @returns the stored token, which is the first of two given concurrently; undefined when the place is gone
   */
  async give(place: RunnerPlace, token: string): Promise<string | undefined> {
    try {
      await this.#table.transact([
        ...existence(place),
        { put: { ...runnersTokenKey(place), token, found: true }, if: ABSENT },
        found(place, token),
      ]);
      return token;
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      return this.of(place);
    }
  }

  /**
   * Replaces the token.
   * @param previous the token as read; undefined: there was none
   * @throws Stale when it was replaced since it was read, or the place is gone
   */
  async replace(
    place: RunnerPlace,
    previous: string | undefined,
    token: string,
    alongside: readonly Write[],
  ): Promise<void> {
    try {
      await this.#table.transact([
        ...existence(place),
        {
          put: { ...runnersTokenKey(place), token, found: true },
          ...(previous === undefined ? { if: ABSENT } : { if: '#token = :previous', values: { previous } }),
          reason: 'token',
        },
        found(place, token),
        ...(previous === undefined ? [] : [{ delete: runnersTokenHashKey(digestOf(previous)) }]),
        ...alongside,
      ]);
    } catch (error) {
      throw error instanceof TransactionRefused ? new Stale('registration token') : error;
    }
  }

  /** One strongly consistent read. */
  async placeOf(token: string): Promise<RunnerPlace | undefined> {
    const row = await this.#table.get(runnersTokenHashKey(digestOf(token)));
    return row?.['place'] as RunnerPlace | undefined;
  }

  async remove(place: RunnerPlace): Promise<void> {
    const row = await this.#table.get(runnersTokenKey(place));
    if (row === undefined) return;
    const hash = digestOf(row['token'] as string);
    await this.#table.transact([{ delete: runnersTokenHashKey(hash) }, { delete: runnersTokenKey(place) }]);
  }

  async #makeFound(place: RunnerPlace, token: string): Promise<void> {
    try {
      await this.#table.transact([
        {
          update: runnersTokenKey(place),
          set: { found: true },
          if: '#token = :token',
          values: { token },
          reason: 'token',
        },
        found(place, token),
      ]);
    } catch (error) {
      // It was replaced meanwhile.
      if (!(error instanceof TransactionRefused)) throw error;
    }
  }
}

const found = (place: RunnerPlace, token: string): Write => ({
  put: { ...runnersTokenHashKey(digestOf(token)), place },
});

const existence = (place: RunnerPlace): Write[] =>
  place.kind === 'instance' ? [] : [checkSourceExists(place)];
