/** Public integer ids. A counter is incremented before its id is used, so ids are never repeated. */
import { type CounterKind, counterKey } from '../row-keys/counters.ts';
import type { Table } from './table.ts';

/** Ids leased at once: few enough that it does not matter when a process ends and loses the rest. */
const BLOCK_SIZE = 50;

interface Block {
  next: number;
  /** The last id of the block. */
  readonly last: number;
}

export class Counters {
  readonly #table: Table;
  readonly #blocks = new Map<CounterKind, Promise<Block>>();
  constructor(table: Table) {
    this.#table = table;
  }

  /** @returns an id above every id returned before. A lost response leaves a gap, never a duplicate. */
  next(kind: CounterKind): Promise<number> {
    return this.reserve(kind, 1);
  }

  /** Allocates ids that follow each other, above every id returned before. @returns the last of them */
  async reserve(kind: CounterKind, count: number): Promise<number> {
    const item = await this.#table.update({ update: counterKey(kind), add: { n: count } });
    return item['n'] as number;
  }

  /**
   * Returns an id from a block that this process leased: one round trip per fifty ids, for rows created at a high rate.
   * Ids of different processes do not increase with time, and a process's unused ids are lost.
   * @returns an id that was never returned before
   */
  async leased(kind: CounterKind): Promise<number> {
    for (;;) {
      const taken = this.#blocks.get(kind) ?? this.#take(kind);
      const block = await taken;
      if (block.next <= block.last) return block.next++;
      // The first caller that finds the block exhausted leases the next one for all waiting callers.
      if (this.#blocks.get(kind) === taken) this.#blocks.delete(kind);
    }
  }

  /** Leases a block for the next caller of {@link leased}, without waiting for it. */
  prepare(kind: CounterKind): void {
    const taken = this.#blocks.get(kind) ?? this.#take(kind);
    taken.then(
      (block) => {
        if (block.next > block.last && this.#blocks.get(kind) === taken) this.#take(kind).catch(() => {});
      },
      // The next caller of `leased` gets the error.
      () => {},
    );
  }

  #take(kind: CounterKind): Promise<Block> {
    const taken = this.#table
      .update({ update: counterKey(kind), add: { n: BLOCK_SIZE } })
      .then((item) => ({ next: (item['n'] as number) - BLOCK_SIZE + 1, last: item['n'] as number }));
    this.#blocks.set(kind, taken);
    taken.catch(() => {
      if (this.#blocks.get(kind) === taken) this.#blocks.delete(kind);
    });
    return taken;
  }
}
