import { resized } from './entry-table.ts';
import { hashName, sameName } from './object-names.ts';

/** Numbers object ids in the order they are added. An open-addressed table, made for millions of lookups. */
export class NameTable {
  count = 0;
  /** 20 bytes each, by number. */
  names = new Uint8Array(20 * 256);
  #slots = new Int32Array(1024);

  /** The number of the 20 bytes at `name[at]`; a new number if they are new. */
  add(name: Uint8Array, at: number): number {
    const mask = this.#slots.length - 1;
    let slot = hashName(name, at) & mask;
    for (;;) {
      const number = this.#slots[slot]! - 1;
      if (number < 0) break;
      if (sameName(this.names, 20 * number, name, at)) return number;
      slot = (slot + 1) & mask;
    }
    const number = this.count++;
    this.#slots[slot] = number + 1;
    if (20 * this.count > this.names.length) this.names = resized(this.names, 2 * this.names.length);
    for (let k = 0; k < 20; k++) this.names[20 * number + k] = name[at + k]!;
    if (2 * this.count > this.#slots.length) this.#rehash();
    return number;
  }

  /** @returns the number, or -1. */
  find(name: Uint8Array, at: number): number {
    const mask = this.#slots.length - 1;
    let slot = hashName(name, at) & mask;
    for (;;) {
      const number = this.#slots[slot]! - 1;
      if (number < 0 || sameName(this.names, 20 * number, name, at)) return number;
      slot = (slot + 1) & mask;
    }
  }

  #rehash(): void {
    const slots = new Int32Array(2 * this.#slots.length);
    const mask = slots.length - 1;
    for (let number = 0; number < this.count; number++) {
      let slot = hashName(this.names, 20 * number) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}
