/** How often a repository was fetched, by day: a row per project and day that a fetch adds to. */
import { fetchesKey } from '../row-keys/statistics.ts';
import type { Table } from '../table/table.ts';

export interface FetchesOfDay {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  readonly count: number;
}

/** Days shown, today included. */
const SHOWN_DAYS = 30;
const DAY_MS = 86_400_000;
/** A day longer than rows are shown. */
const KEPT_DAYS = SHOWN_DAYS + 1;

export class Fetches {
  readonly #table: Table;
  /** Fetches that are not written yet, by row; a write of that row is under way. */
  readonly #waiting = new Map<string, number>();

  /** @param table with a retry policy that gives up soon */
  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Counts a fetch. Those that come while another of the same project is written are written together.
   * @returns when it is written, or will be by an earlier call; a failure is neither repeated nor reported
   */
  async count(projectId: number, now: Date): Promise<void> {
    const date = dateOf(now);
    const key = fetchesKey(projectId, date);
    const row = `${key.pk} ${date}`;
    const before = this.#waiting.get(row);
    this.#waiting.set(row, (before ?? 0) + 1);
    if (before !== undefined) return;
    const ttl = Math.floor(Date.parse(date) / 1000) + KEPT_DAYS * 86_400;
    try {
      for (let count = 1; count > 0; count = this.#waiting.get(row) ?? 0) {
        this.#waiting.set(row, 0);
        await this.#table.update({ update: key, add: { count }, set: { ttl } });
      }
    } catch {
      // A count is not worth a failed fetch.
    } finally {
      this.#waiting.delete(row);
    }
  }

  /** Returns the days of the last thirty with fetches, the latest first. */
  async ofProject(projectId: number, now: Date): Promise<FetchesOfDay[]> {
    const { pk } = fetchesKey(projectId, '');
    const from = dateOf(new Date(now.getTime() - (SHOWN_DAYS - 1) * DAY_MS));
    const { items } = await this.#table.query({ partition: pk, from, reverse: true, limit: SHOWN_DAYS + 1 });
    return items.map(({ sk, count }) => ({ date: sk as string, count: count as number }));
  }
}

const dateOf = (time: Date): string => time.toISOString().slice(0, 10);
