import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CorruptData } from '../corrupt-data.ts';

/**
 * Holds a pack while it is received: in memory, and in a scratch file above a size limit. Bytes that are not parsed yet
 * stay in memory either way, in one piece.
 */
export class Spool {
  /** Bytes from offset `start` of the pack on; `length` of them are filled. */
  window: Buffer = Buffer.allocUnsafeSlow(64 * 1024);
  start = 0;
  length = 0;
  /** Total bytes written. */
  size = 0;
  readonly #memoryLimit: number;
  readonly #directory: string;
  #path: string | undefined;
  #done = false;
  #fd = -1;
  #scratch: Buffer = Buffer.alloc(0);

  constructor(memoryLimit: number, directory: string) {
    this.#memoryLimit = memoryLimit;
    this.#directory = directory;
  }

  /** The scratch file, when there is one. */
  get path(): string | undefined {
    return this.#path;
  }

  /** @param parsed offset in the pack before which bytes are no longer needed in memory */
  append(bytes: Uint8Array, parsed: number): void {
    if (this.#fd < 0 && this.size + bytes.length > this.#memoryLimit) this.#spill();
    if (this.#fd >= 0) {
      writeAll(this.#fd, bytes, this.size);
      if (this.#done) {
        this.size += bytes.length;
        return;
      }
      if (this.length + bytes.length > this.window.length || parsed - this.start > this.window.length / 2) {
        this.window.copyWithin(0, parsed - this.start, this.length);
        this.length -= parsed - this.start;
        this.start = parsed;
      }
    }
    if (this.length + bytes.length > this.window.length) {
      let capacity = 2 * this.window.length;
      while (capacity < this.length + bytes.length) capacity *= 2;
      const larger = Buffer.allocUnsafeSlow(capacity);
      this.window.copy(larger, 0, 0, this.length);
      this.window = larger;
    }
    this.window.set(bytes, this.length);
    this.length += bytes.length;
    this.size += bytes.length;
  }

  /** Frees memory that was only needed for parsing. */
  parsed(): void {
    this.#done = this.#fd >= 0;
    if (this.#done) {
      this.window = Buffer.alloc(0);
      this.length = 0;
      this.start = this.size;
    }
  }

  /** A view that is valid until the next call of any method. */
  read(offset: number, length: number): Uint8Array {
    if (this.#fd < 0) return this.window.subarray(offset, offset + length);
    if (this.#scratch.length < length) this.#scratch = Buffer.allocUnsafeSlow(Math.max(length, 64 * 1024));
    let done = 0;
    while (done < length) {
      const got = readSync(this.#fd, this.#scratch, done, length - done, offset + done);
      if (got === 0) throw new CorruptData('pack-truncated', 'scratch file is truncated');
      done += got;
    }
    return this.#scratch.subarray(0, length);
  }
  /** Removes the end, to write something else there. */
  truncate(size: number): void {
    if (!this.#done) this.length -= this.size - size;
    this.size = size;
  }

  /** Overwrites existing bytes. */
  patch(bytes: Uint8Array, offset: number): void {
    if (this.#fd >= 0) writeAll(this.#fd, bytes, offset);
    else this.window.set(bytes, offset);
  }

  /** All bytes in pieces, in order. */
  *pieces(to: number): Generator<Uint8Array> {
    const step = 1 << 20;
    for (let at = 0; at < to; at += step) yield this.read(at, Math.min(step, to - at));
  }

  close(): void {
    if (this.#fd >= 0) closeSync(this.#fd);
    this.#fd = -1;
  }

  async discard(): Promise<void> {
    this.close();
    if (this.#path) await rm(this.#path, { force: true });
  }

  #spill(): void {
    this.#path = join(this.#directory, `incoming-${randomUUID()}.pack`);
    this.#fd = openSync(this.#path, 'wx+', 0o600);
    writeAll(this.#fd, this.window.subarray(0, this.length), this.start);
  }
}

function writeAll(fd: number, bytes: Uint8Array, offset: number): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done, offset + done);
}
