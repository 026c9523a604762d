/**
 * Limits how many long reads of a subject (a caller, a project) run at once. A row per subject has a numbered place for
 * each. A place is taken for a short time and renewed by the work itself, so that of a process that died it is free soon.
 */
import { randomBytes } from 'node:crypto';
import { ConditionFailed } from '../errors.ts';
import { readPlacesKey } from '../row-keys/rate-limits.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';

/** A place that is taken. */
export interface Place {
  readonly subject: string;
  /** The attribute of the row. */
  readonly name: string;
  /** Its value: when it is free again if it is not renewed, in milliseconds of 13 digits, and who took it. */
  readonly taken: string;
}

/** Milliseconds after which a place that was not renewed is free. */
export const PLACE_MS = 60_000;
/** Each failed attempt means that another read took a place at the same moment. */
const ATTEMPTS = 8;

export class ReadPlaces {
  readonly #table: Table;

  /** @param table with a retry policy that gives up soon */
  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Takes one of the first `count` places of a subject: one write while many are free.
   * @param count 1 to 999, as `readLongReads` has it: a row has room for these
   * @returns undefined if all of them are taken
   * @throws StoreUnavailable soon, without long retries
   */
  async take(subject: string, count: number, now: Date): Promise<Place | undefined> {
    let free = Array.from({ length: count }, (_, i) => `p${i}`);
    for (let attempt = 0; attempt < ATTEMPTS && free.length > 0; attempt++) {
      // Not the first one: reads that begin together would all want it.
      const name = free[Math.floor(Math.random() * free.length)]!;
      const place = { subject, name, taken: takenFrom(now) };
      try {
        await this.#write(place, `attribute_not_exists(#${name}) OR #${name} < :now`, { now: instant(now) });
        return place;
      } catch (error) {
        if (!(error instanceof ConditionFailed)) throw error;
        free = free.filter((one) => isFree(error.item, one, now));
      }
    }
    return undefined;
  }

  /** @returns the place as it is now; undefined if it was free, and another caller took it. @throws StoreUnavailable */
  async renew(place: Place, now: Date): Promise<Place | undefined> {
    const renewed = { ...place, taken: takenFrom(now) };
    return this.#write(renewed, `#${place.name} = :was`, { was: place.taken }).then(
      () => renewed,
      ifConditionFailed(undefined),
    );
  }

  /** @throws StoreUnavailable; the place is then free when it is not renewed */
  async leave({ subject, name, taken }: Place): Promise<void> {
    const update = {
      update: readPlacesKey(subject),
      remove: [name],
      if: `#${name} = :taken`,
      values: { taken },
    };
    await this.#table.update(update).then(() => {}, ifConditionFailed(undefined));
  }

  async #write({ subject, name, taken }: Place, condition: string, values: Item): Promise<void> {
    await this.#table.update({
      update: readPlacesKey(subject),
      set: { [name]: taken, ttl: Math.ceil(Number(taken.slice(0, 13)) / 1000) + TTL_SECONDS },
      if: condition,
      values,
    });
  }
}

/** A row is kept for a while after its last place was free: of busy subjects it is not written anew each time. */
const TTL_SECONDS = 3600;

/** Short: a row has one for each place. */
const takenFrom = (now: Date): string =>
  `${now.getTime() + PLACE_MS} ${randomBytes(6).toString('base64url')}`;

/** Compares with a place's value: both begin with 13 digits until the year 2286. */
const instant = (now: Date): string => String(now.getTime());

const isFree = (row: Readonly<Item> | undefined, name: string, now: Date): boolean =>
  row?.[name] === undefined || String(row[name]) < instant(now);

const ifConditionFailed =
  <T>(otherwise: T) =>
  (error: unknown): T => {
    if (error instanceof ConditionFailed) return otherwise;
    throw error;
  };
