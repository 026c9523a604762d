import { createHash, hash } from 'node:crypto';
import { typeName } from './entry.ts';
import type { EntryTable } from './entry-table.ts';
import type { SharedTree } from './tree-ends.ts';

/** Bytes left free before an object's content, for the header that is hashed with it. */
export const HEADER_ROOM = 32;

/** Receives every object with its id; `shared` is what a deltified tree has in common with its base. */
export type Observer = (entry: number, type: number, data: Buffer, shared: SharedTree | undefined) => void;

const MAX_KEPT_BUFFER = 4 * 1024 * 1024;
/** Bytes hashed between two turns of the event loop: some ten milliseconds. */
const PIECE = 8 * 1024 * 1024;

/**
 * Computes object ids. Content is written at {@link HEADER_ROOM} into a shared buffer, so that the header fits before
 * it and one call hashes both.
 */
export class ObjectHasher {
  readonly #seen: Observer;
  #buffer = Buffer.allocUnsafeSlow(64 * 1024);

  /** @param seen `data` is valid only during the call */
  constructor(seen: Observer) {
    this.#seen = seen;
  }

  /** A buffer for `size` + 1 bytes from {@link HEADER_ROOM}; reused by the next call. */
  buffer(size: number): Buffer {
    const need = HEADER_ROOM + size + 1;
    if (need > this.#buffer.length || (this.#buffer.length > MAX_KEPT_BUFFER && need <= MAX_KEPT_BUFFER)) {
      this.#buffer = Buffer.allocUnsafeSlow(
        need <= MAX_KEPT_BUFFER ? Math.min(MAX_KEPT_BUFFER, 2 * Math.max(need, 32 * 1024)) : need,
      );
    }
    return this.#buffer;
  }

  /** Computes the id of the object in `buffer`, and passes it to the observer. */
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
    this.#named(table, entry, type, name, buffer.subarray(HEADER_ROOM, HEADER_ROOM + size), shared);
  }

  /** As {@link name}; for a large object yields from time to time, while {@link buffer} must not be called. */
  *nameInTurns(
    table: EntryTable,
    entry: number,
    type: number,
    buffer: Buffer,
    size: number,
    shared?: SharedTree,
  ): Generator<void> {
    if (size <= PIECE) return this.name(table, entry, type, buffer, size, shared);
    const data = buffer.subarray(HEADER_ROOM, HEADER_ROOM + size);
    const sha = createHash('sha1').update(`${typeName(type)} ${size}\0`);
    for (let at = 0; at < size; at += PIECE) {
      yield;
      sha.update(data.subarray(at, at + PIECE));
    }
    yield;
    this.#named(table, entry, type, sha.digest(), data, shared);
  }

  #named(
    table: EntryTable,
    entry: number,
    type: number,
    name: Uint8Array,
    data: Buffer,
    shared: SharedTree | undefined,
  ): void {
    table.names.set(name, 20 * entry);
    table.types[entry] = type;
    this.#seen(entry, type, data, shared);
  }
}
