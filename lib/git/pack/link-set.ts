import { CorruptData } from '../corrupt-data.ts';
import { oidFromBytes } from '../oid.ts';
import { resized } from './entry-table.ts';
import { NameTable } from './name-table.ts';

/** The distinct ids that objects of a pack refer to, with the type that the referring object expects (0: any). */
export class LinkSet {
  readonly #table = new NameTable();
  kinds = new Uint8Array(256);

  get count(): number {
    return this.#table.count;
  }

  /** 20 bytes each. */
  get names(): Uint8Array {
    return this.#table.names;
  }

  /** @throws CorruptData when the id was expected to be of another type before */
  add(name: Uint8Array, at: number, kind: number): void {
    const number = this.#table.add(name, at);
    if (number >= this.kinds.length) this.kinds = resized(this.kinds, 2 * this.kinds.length);
    const before = this.kinds[number]!;
    if (before === kind) return;
    if (before !== 0 && kind !== 0) {
      throw new CorruptData('object-malformed', `${oidFromBytes(name, at)} is referred to as two types`);
    }
    this.kinds[number] = before || kind;
  }
}
