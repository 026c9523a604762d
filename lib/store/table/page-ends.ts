/** Where the page ended that a caller read last of a list: a row for both, which expires soon. */
import { pageEndKey } from '../row-keys/page-ends.ts';
import type { Table } from './table.ts';

/** Longer than clients take for what is on a page. */
const KEPT_SECONDS = 900;

export class PageEnds {
  readonly #table: Table;

  /** @param table with a retry policy that gives up soon */
  constructor(table: Table) {
    this.#table = table;
  }

  /** @param list a digest of the list and its caller */
  async last(list: string, now: Date): Promise<string | undefined> {
    // The caller may ask for the next page right after this one.
    const row = await this.#table.get(pageEndKey(list), { consistent: true });
    return row !== undefined && (row['ttl'] as number) > now.getTime() / 1000
      ? (row['end'] as string)
      : undefined;
  }

  async keep(list: string, end: string, now: Date): Promise<void> {
    const ttl = Math.ceil(now.getTime() / 1000) + KEPT_SECONDS;
    await this.#table.put({ put: { ...pageEndKey(list), end, ttl } });
  }
}
