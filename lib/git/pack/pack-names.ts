import { type Oid, oidFromBytes } from '../oid.ts';
import type { EntryTable } from './entry-table.ts';
import { hashName, sameName } from './object-names.ts';

/** Which objects a new pack holds, and their types. */
export class PackNames {
  readonly #table: EntryTable;
  readonly #slots: Int32Array;
  readonly #mask: number;

  constructor(table: EntryTable) {
    this.#table = table;
    let size = 16;
    while (size < 2 * table.count) size *= 2;
    this.#mask = size - 1;
    this.#slots = new Int32Array(size);
    for (let entry = 0; entry < table.count; entry++) {
      let slot = hashName(table.names, 20 * entry) & this.#mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & this.#mask;
      this.#slots[slot] = entry + 1;
    }
  }

  /** @returns the type code of the object with the 20 bytes at `name[at]`, or 0. */
  type(name: Uint8Array, at: number): number {
    let slot = hashName(name, at) & this.#mask;
    for (;;) {
      const entry = this.#slots[slot]! - 1;
      if (entry < 0) return 0;
      if (sameName(this.#table.names, 20 * entry, name, at)) return this.#table.types[entry]!;
      slot = (slot + 1) & this.#mask;
    }
  }

  /** In the order of the pack. */
  *oids(): Generator<Oid> {
    for (let entry = 0; entry < this.#table.count; entry++) yield oidFromBytes(this.#table.names, 20 * entry);
  }
}
