/** Public integer ids. A counter never falls behind an id in use: the id is taken before it is used. */
import { type CounterKind, counterKey } from '../row-keys/counters.ts';
import type { Table } from './table.ts';

/** Ids of a block: few enough that those a process loses when it ends are no loss. */
const BLOCK = 50;

interface Block {
  next: number;
  /** The last id of it. */
  readonly last: number;
}

export class Counters {
  readonly #table: Table;
  readonly #blocks = new Map<CounterKind, Promise<Block>>();
  constructor(table: Table) {
    this.#table = table;
  }

  /** @returns an id above every id returned before. A lost answer leaves a gap, never a double. */
  async next(kind: CounterKind): Promise<number> {
    const item = await this.#table.update({ update: counterKey(kind), add: { n: 1 } });
    return item['n'] as number;
  }

  /**
   * An id of a block that this process took for itself: one round trip for fifty of them, for what is made at a high
   * rate. Ids of several processes do not rise with time, and those that a process did not use are never used.
   * @returns an id that was never returned before
   */
  async leased(kind: CounterKind): Promise<number> {
    for (;;) {
      const taken = this.#blocks.get(kind) ?? this.#take(kind);
      const block = await taken;
      if (block.next <= block.last) return block.next++;
      // Whoever finds the block used up first takes the next one, for all who wait.
      if (this.#blocks.get(kind) === taken) this.#blocks.delete(kind);
    }
  }

  /** Has a block at hand for whoever leases one next, without waiting for it. */
  prepare(kind: CounterKind): void {
    const taken = this.#blocks.get(kind) ?? this.#take(kind);
    taken.then(
      (block) => {
        if (block.next > block.last && this.#blocks.get(kind) === taken) this.#take(kind).catch(() => {});
      },
      // Whoever leases one is told.
      () => {},
    );
  }

  #take(kind: CounterKind): Promise<Block> {
    const taken = this.#table
      .update({ update: counterKey(kind), add: { n: BLOCK } })
      .then((item) => ({ next: (item['n'] as number) - BLOCK + 1, last: item['n'] as number }));
    this.#blocks.set(kind, taken);
    taken.catch(() => {
      if (this.#blocks.get(kind) === taken) this.#blocks.delete(kind);
    });
    return taken;
  }
}
