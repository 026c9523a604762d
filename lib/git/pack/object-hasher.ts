import { hash } from 'node:crypto';
import { typeName } from './entry.ts';
import type { EntryTable } from './entry-table.ts';
import type { SharedTree } from './tree-ends.ts';

/** Bytes left free before an object's content, for the head that is hashed with it. */
export const HEADER_ROOM = 32;

/** Gets every object once it has its id; with a tree made by a delta, what it shares with its base. */
export type Observer = (entry: number, type: number, data: Buffer, shared: SharedTree | undefined) => void;

const MAX_KEPT_BUFFER = 4 * 1024 * 1024;

/**
 * Gives objects their ids. Content is made at ROOM bytes into a buffer of its own, so that the head
 * that is hashed with it fits before it, and one call hashes both.
 */
export class ObjectHasher {
  readonly #seen: Observer;
  #buffer = Buffer.allocUnsafeSlow(64 * 1024);

  /** @param seen `data` holds only during the call */
  constructor(seen: Observer) {
    this.#seen = seen;
  }

  /** A buffer for `size` bytes from ROOM on, and one more; used again by the next call. */
  buffer(size: number): Buffer {
    const need = HEADER_ROOM + size + 1;
    if (need > this.#buffer.length || (this.#buffer.length > MAX_KEPT_BUFFER && need <= MAX_KEPT_BUFFER)) {
      this.#buffer = Buffer.allocUnsafeSlow(
        need <= MAX_KEPT_BUFFER ? Math.min(MAX_KEPT_BUFFER, 2 * Math.max(need, 32 * 1024)) : need,
      );
    }
    return this.#buffer;
  }

  /** Names the object in `buffer`, and shows it to the observer. */
  name(
    table: EntryTable,
    entry: number,
    type: number,
    buffer: Buffer,
    size: number,
    shared?: SharedTree,
  ): void {
    const head = `${typeName(type)} ${size}\0`;
    const from = HEADER_ROOM - head.length;
    buffer.write(head, from, 'latin1');
    const name = hash('sha1', buffer.subarray(from, HEADER_ROOM + size), 'buffer');
    table.names.set(name, 20 * entry);
    table.types[entry] = type;
    this.#seen(entry, type, buffer.subarray(HEADER_ROOM, HEADER_ROOM + size), shared);
  }
}
