/** Ref rows in order, and their merge with the ref table they amend. */
import type { Ref } from '../../git/ports.ts';
import { refSort } from '../row-keys/repository.ts';
import { compareText } from '../table/text-order.ts';
import type { Item } from '../table/write.ts';
import { refOfRow } from './ref-snapshot.ts';
import { isListed } from './ref-table.ts';

/** A row of the current table's amendments; rows of a replaced table are ignored. */
export interface RefRow {
  readonly sort: string;
  /** undefined: deleted. */
  readonly ref: Ref | undefined;
  /** Whether the table has a listed ref of this name. */
  readonly was: boolean;
}

/** @returns the rows with a prefix that amend the table. */
export function rowsOf(items: readonly Item[], refTable: string, prefix: string): RefRow[] {
  return items.flatMap((item) => {
    if (item['table'] !== refTable || !(item['name'] as string).startsWith(prefix)) return [];
    return [{ sort: item['sk'] as string, ref: refOfRow(item), was: item['was'] === true }];
  });
}

/** The change in the number of branches or tags by these rows. */
export const addedBy = (rows: readonly RefRow[]): number =>
  rows.reduce((sum, { ref, was }) => sum + Number(ref !== undefined && isListed(ref)) - Number(was), 0);

/**
 * Merges the refs of a table with the rows that amend it, in order.
 * @param rows sorted too, in batches
 */
export async function* amended(
  stored: AsyncIterable<readonly Ref[]>,
  rows: AsyncIterable<readonly RefRow[]>,
): AsyncGenerator<readonly Ref[], void, undefined> {
  const queue = new RowQueue(rows);
  await queue.fill();
  for await (const run of stored) {
    const last = run.at(-1);
    if (last === undefined) continue;
    if (queue.head === undefined || compareText(queue.head.sort, refSort(last.name)) > 0) {
      yield run;
      continue;
    }
    const refs: Ref[] = [];
    for (const ref of run) {
      const sort = refSort(ref.name);
      let order = 1;
      while (queue.head !== undefined && (order = compareText(queue.head.sort, sort)) < 0) {
        if (queue.head.ref !== undefined) refs.push(queue.head.ref);
        queue.shift();
        await queue.fill();
      }
      if (queue.head === undefined || order !== 0) refs.push(ref);
    }
    yield refs;
  }
  for (; queue.head !== undefined; await queue.fill()) {
    const refs = queue.rest().flatMap(({ ref }) => (ref === undefined ? [] : [ref]));
    if (refs.length > 0) yield refs;
  }
}

class RowQueue {
  readonly #source: AsyncIterator<readonly RefRow[]>;
  #rows: readonly RefRow[] = [];
  #at = 0;

  constructor(rows: AsyncIterable<readonly RefRow[]>) {
    this.#source = rows[Symbol.asyncIterator]();
  }

  get head(): RefRow | undefined {
    return this.#rows[this.#at];
  }

  shift(): void {
    this.#at++;
  }

  rest(): readonly RefRow[] {
    const rest = this.#rows.slice(this.#at);
    this.#at = this.#rows.length;
    return rest;
  }

  /** Reads the next batch if the current one is used up. */
  async fill(): Promise<void> {
    while (this.#at >= this.#rows.length) {
      const { done, value } = await this.#source.next();
      if (done === true) return;
      this.#rows = value;
      this.#at = 0;
    }
  }
}
