import { CorruptData } from '../objects.ts';
import { oidFromBytes } from '../oid.ts';
import { resized } from './entry-table.ts';
import { hashName, sameName } from './pack-index.ts';

/** Ids that objects of a pack refer to, each once, with the type that the referring object expects (0: any). */
export class LinkSet {
  count = 0;
  names = new Uint8Array(20 * 256);
  kinds = new Uint8Array(256);
  #table = new Int32Array(1024);

  /** @throws CorruptData when the id was expected to be of another type before */
  add(name: Uint8Array, at: number, kind: number): void {
    const mask = this.#table.length - 1;
    let slot = hashName(name, at) & mask;
    for (;;) {
      const number = this.#table[slot]! - 1;
      if (number < 0) break;
      if (sameName(this.names, 20 * number, name, at)) {
        const before = this.kinds[number]!;
        if (before !== kind) {
          if (before !== 0 && kind !== 0) {
            throw new CorruptData(
              'object-malformed',
              `${oidFromBytes(name, at)} is referred to as two types`,
            );
          }
          this.kinds[number] = before || kind;
        }
        return;
      }
      slot = (slot + 1) & mask;
    }
    this.#table[slot] = ++this.count;
    const number = this.count - 1;
    if (20 * this.count > this.names.length) {
      this.names = resized(this.names, 2 * this.names.length);
      this.kinds = resized(this.kinds, 2 * this.kinds.length);
    }
    for (let k = 0; k < 20; k++) this.names[20 * number + k] = name[at + k]!;
    this.kinds[number] = kind;
    if (3 * this.count > 2 * this.#table.length) this.#rehash();
  }

  #rehash(): void {
    const table = new Int32Array(2 * this.#table.length);
    const mask = table.length - 1;
    for (let number = 0; number < this.count; number++) {
      let slot = hashName(this.names, 20 * number) & mask;
      while (table[slot] !== 0) slot = (slot + 1) & mask;
      table[slot] = number + 1;
    }
    this.#table = table;
  }
}
