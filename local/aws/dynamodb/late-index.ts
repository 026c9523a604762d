import type { DynamoFaults } from './faults.ts';
import type { Changes, KeyRange, Storage } from './storage.ts';

interface Former {
  /** When the change was made, in milliseconds. */
  at: number;
  value: string | undefined;
}

/**
 * Lets queries of global indexes lag behind the table, as they do in the real service. What index rows were
 * before a change is remembered for as long as the change is not to be seen, and shown instead of it.
 */
export class LateIndexes {
  readonly #storage: Storage;
  readonly #faults: DynamoFaults;
  /** By row key: what it was before each recent change, oldest first. */
  readonly #former = new Map<string, Former[]>();

  constructor(storage: Storage, faults: DynamoFaults) {
    this.#storage = storage;
    this.#faults = faults;
  }

  /** To be called with changes before they are staged. */
  note(changes: Changes): void {
    if (this.#faults.indexDelayMs <= 0) {
      this.#former.clear();
      return;
    }
    const at = Date.now();
    for (const key of changes.keys()) {
      if (!key.startsWith('x/')) continue;
      const former = this.#former.get(key) ?? [];
      former.push({ at, value: this.#storage.peek(key) });
      this.#former.set(key, former);
    }
  }

  /** Rows of a range as a query may see them now. */
  rows(range: KeyRange, chunk: number): AsyncGenerator<[key: string, value: string][]> {
    const hidden = this.#hidden(range);
    const rows = this.#storage.rows(range, chunk);
    return hidden.length ? merge(rows, hidden, range.reverse === true) : rows;
  }

  /** Rows whose latest changes are not to be seen yet, and what they were, in the range's order. */
  #hidden(range: KeyRange): [string, string | undefined][] {
    const seenUntil = Date.now() - this.#faults.indexDelayMs;
    const hidden: [string, string | undefined][] = [];
    for (const [key, former] of this.#former) {
      const recent = former.filter(({ at }) => at > seenUntil);
      if (!recent.length) {
        this.#former.delete(key);
        continue;
      }
      this.#former.set(key, recent);
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
  chunks: AsyncGenerator<[string, string][]>,
  hidden: [string, string | undefined][],
  reverse: boolean,
): AsyncGenerator<[string, string][]> {
  let position = 0;
  for await (const chunk of chunks) {
    const merged: [string, string][] = [];
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
  const rest: [string, string][] = [];
  for (const [key, value] of hidden.slice(position)) if (value !== undefined) rest.push([key, value]);
  if (rest.length) yield rest;
}
