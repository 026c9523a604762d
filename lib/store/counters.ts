/** Public integer ids. A counter never falls behind an id in use: the id is taken before it is used. */
import { type CounterKind, counterKey } from './keys.ts';
import type { Table } from './table.ts';

export class Counters {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** @returns an id above every id returned before. A lost answer leaves a gap, never a double. */
  async next(kind: CounterKind): Promise<number> {
    const item = await this.#table.update({ update: counterKey(kind), add: { n: 1 } });
    return item['n'] as number;
  }
}
