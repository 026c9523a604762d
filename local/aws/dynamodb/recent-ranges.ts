import type { KeyRange, Row } from './key-range.ts';

/** Characters of the rows of a range; what holds more is read each time. */
const MAX_RANGE = 32 * 1024;
/** Characters of what was kept since all was forgotten; beyond them it is again. */
const MAX_ALL = 8 * 1024 * 1024;
/** About what a range takes besides its rows and its name. */
const OF_A_RANGE = 512;

/**
 * What ranges of partitions held when they were read, until something of their partition is written: an iterator of LevelDB
 * works in another thread, and takes longer than all else that a query of a few rows does.
 */
export class RecentRanges {
  /** By partition, then by range. */
  readonly #partitions = new Map<string, Map<string, readonly Row[]>>();
  /** Partitions of which changes become visible now, at a moment that nobody knows. */
  #changing: ReadonlySet<string> = new Set();
  #characters = 0;

  /** @returns undefined where it is not known */
  get(range: KeyRange, limit: number): readonly Row[] | undefined {
    const partition = partitionOf(range);
    return partition === undefined ? undefined : this.#partitions.get(partition)?.get(nameOf(range, limit));
  }

  /** To be called before a range is read. @returns what takes its rows, where they may be kept */
  begin(range: KeyRange, limit: number): ((rows: readonly Row[]) => void) | undefined {
    const name = partitionOf(range);
    if (name === undefined || this.#changing.has(name)) return undefined;
    if (this.#characters > MAX_ALL) this.clear();
    // The name of the partition is in that of the range.
    this.#characters += OF_A_RANGE + 2 * nameOf(range, limit).length;
    const ranges = this.#partitions.get(name) ?? new Map<string, readonly Row[]>();
    this.#partitions.set(name, ranges);
    return (rows) => {
      const characters = rows.reduce((sum, [key, value]) => sum + key.length + value.length, 0);
      // It was written since, or all was forgotten.
      if (characters > MAX_RANGE || this.#partitions.get(name) !== ranges) return;
      this.#characters += characters;
      ranges.set(nameOf(range, limit), rows);
    };
  }

  /** Forgets what these keys are part of, and knows nothing of it until {@link changed}. */
  change(keys: Iterable<string>): void {
    const changing = new Set<string>();
    for (const key of keys) {
      const name = partitionIn(key);
      if (name !== undefined) changing.add(name);
    }
    this.#changing = changing;
    for (const name of changing) this.#partitions.delete(name);
  }

  changed(): void {
    this.#changing = new Set();
  }

  clear(): void {
    this.#partitions.clear();
    this.#characters = 0;
  }
}

/** The part of a storage key that all of its partition begin with: kind, table or index, hash and value. */
function partitionIn(key: string): string | undefined {
  if (!key.startsWith('i/') && !key.startsWith('x/')) return undefined;
  let end = -1;
  for (let i = 0; i < 4; i++) {
    end = key.indexOf('/', end + 1);
    if (end < 0) return undefined;
  }
  return key.slice(0, end + 1);
}

/** The partition that a range is in; undefined where it has no bounds in one. */
function partitionOf({ gte, lt }: KeyRange): string | undefined {
  const partition = gte === undefined ? undefined : partitionIn(gte);
  return partition !== undefined && lt?.startsWith(partition) ? partition : undefined;
}

const nameOf = ({ gte, lt, reverse }: KeyRange, limit: number): string =>
  `${reverse === true ? '<' : '>'}${limit} ${gte} ${lt}`;
