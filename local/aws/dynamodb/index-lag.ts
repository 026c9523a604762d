import type { DynamoFaults } from './faults.ts';
import type { KeyRange, Row } from './key-range.ts';
import type { Changes, Storage } from './storage.ts';

interface PreviousValue {
  /** When it was replaced, in milliseconds since 1970. */
  replacedAt: number;
  value: string | undefined;
}

/**
 * Lets global secondary indexes lag behind the table, as in the real service (`faults.indexDelayMs`). The previous value
 * of a changed index row is kept until the delay has passed, and queries see it instead of the change.
 */
export class IndexLag {
  readonly #storage: Storage;
  readonly #faults: DynamoFaults;
  /** By row key: its values before each recent change, oldest first. */
  readonly #previous = new Map<string, PreviousValue[]>();

  constructor(storage: Storage, faults: DynamoFaults) {
    this.#storage = storage;
    this.#faults = faults;
  }

  /** Records the values that changes will replace. Call it before the changes are staged. */
  record(changes: Changes): void {
    if (this.#faults.indexDelayMs <= 0) {
      this.#previous.clear();
      return;
    }
    const replacedAt = Date.now();
    for (const key of changes.keys()) {
      if (!key.startsWith('x/')) continue;
      const values = this.#previous.get(key) ?? [];
      values.push({ replacedAt, value: this.#storage.peek(key) });
      this.#previous.set(key, values);
    }
  }

  /** The first rows of a range that a query sees now, or more of them. */
  rows(range: KeyRange, limit: number): AsyncGenerator<readonly Row[]> {
    const hidden = this.#hidden(range);
    if (!hidden.length) return this.#storage.rows(range, limit);
    return merge(this.#storage.rows(range), hidden, range.reverse === true);
  }

  /** The rows whose latest changes are not visible yet, with their previous values, in the range's order. */
  #hidden(range: KeyRange): [string, string | undefined][] {
    const visibleUntil = Date.now() - this.#faults.indexDelayMs;
    const hidden: [string, string | undefined][] = [];
    for (const [key, values] of this.#previous) {
      const recent = values.filter(({ replacedAt }) => replacedAt > visibleUntil);
      if (!recent.length) {
        this.#previous.delete(key);
        continue;
      }
      this.#previous.set(key, recent);
      if (within(key, range)) hidden.push([key, recent[0]!.value]);
    }
    return hidden.sort(([a], [b]) => (a < b === (range.reverse === true) ? 1 : -1));
  }
}

function within(key: string, { gt, gte, lt, lte }: KeyRange): boolean {
  return (
    (gt === undefined || key > gt) &&
    (gte === undefined || key >= gte) &&
    (lt === undefined || key < lt) &&
    (lte === undefined || key <= lte)
  );
}

async function* merge(
  chunks: AsyncGenerator<readonly Row[]>,
  hidden: [string, string | undefined][],
  reverse: boolean,
): AsyncGenerator<readonly Row[]> {
  let position = 0;
  for await (const chunk of chunks) {
    const merged: Row[] = [];
    for (const row of chunk) {
      while (
        position < hidden.length &&
        row[0] > hidden[position]![0] !== reverse &&
        row[0] !== hidden[position]![0]
      ) {
        const [key, value] = hidden[position++]!;
        if (value !== undefined) merged.push([key, value]);
      }
      if (position < hidden.length && row[0] === hidden[position]![0]) {
        const value = hidden[position++]![1];
        if (value !== undefined) merged.push([row[0], value]);
      } else merged.push(row);
    }
    if (merged.length) yield merged;
  }
  const rest: Row[] = [];
  for (const [key, value] of hidden.slice(position)) if (value !== undefined) rest.push([key, value]);
  if (rest.length) yield rest;
}
