/**
 * Runs of ref tables in the memory of the process. A table never changes after the guards named it, so what was read
 * once stays true for as long as the guards name it; readers still read those.
 */
import { LruCache } from '../../git/lru-cache.ts';
import type { Ref } from '../../git/ports.ts';
import type { Table } from '../table/table.ts';
import { compareText } from '../table/text-order.ts';

/** Refs that follow each other in the table. */
export interface RefRun {
  /** The key of the first. */
  readonly sort: string;
  readonly refs: readonly Ref[];
  /** The key of the next run; absent in the last. */
  readonly next: string | undefined;
  /** Approximate memory. */
  readonly bytes: number;
}

/** About 250,000 refs: 64 bytes of text each, and twice that for objects and slices. */
const MAX_BYTES = 48 * 1024 * 1024;

/** Tables of which runs are held. */
const MAX_TABLES = 1000;

/** The runs of one table that were read. */
export class TableRuns {
  readonly #runs = new Map<string, RefRun>();
  /** The keys of all runs, sorted. */
  readonly #sorts: string[] = [];
  bytes = 0;
  /** The key of the table's first run, when it is known. */
  first: string | undefined;

  get(sort: string): RefRun | undefined {
    return this.#runs.get(sort);
  }

  /** The run whose range includes this key. */
  at(sort: string): RefRun | undefined {
    const run = this.#runs.get(this.#sorts[this.#after(sort) - 1] ?? '');
    return run !== undefined && (run.next === undefined || compareText(sort, run.next) < 0) ? run : undefined;
  }

  /** The first run with a key that is not smaller, or the run that includes it. */
  from(sort: string): RefRun | undefined {
    const { first } = this;
    return (
      this.at(sort) ?? (first !== undefined && compareText(sort, first) <= 0 ? this.get(first) : undefined)
    );
  }

  add(run: RefRun): void {
    if (this.#runs.has(run.sort)) return;
    this.#runs.set(run.sort, run);
    this.#sorts.splice(this.#after(run.sort), 0, run.sort);
    this.bytes += run.bytes;
  }

  /** How many keys are not greater. */
  #after(sort: string): number {
    let [low, high] = [0, this.#sorts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareText(this.#sorts[middle]!, sort) <= 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The runs of the tables that were read last. */
export class RefRunCache {
  readonly #maxBytes: number;
  readonly #tables: LruCache<TableRuns>;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
    this.#tables = new LruCache({ sizeOf: ({ bytes }) => bytes, maxSize: maxBytes, maxCount: MAX_TABLES });
  }

  get bytes(): number {
    return this.#tables.size;
  }

  /** Marks the table as used. @param partition of the table's rows */
  of(partition: string): TableRuns {
    return this.#tables.use(partition, this.#tables.get(partition) ?? new TableRuns());
  }

  /**
   * Of a table that takes more than half of the memory only the first runs read are kept: a walk would replace all of
   * them before it comes back.
   */
  add(partition: string, run: RefRun): void {
    const runs = this.of(partition);
    if (runs.bytes + run.bytes > this.#maxBytes / 2) return;
    runs.add(run);
    this.#tables.use(partition, runs);
  }
}

const caches = new WeakMap<Table, RefRunCache>();

/** One per table of the process. */
export function runCacheOf(table: Table): RefRunCache {
  const cache = caches.get(table) ?? new RefRunCache();
  caches.set(table, cache);
  return cache;
}
