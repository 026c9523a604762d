import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { copyFile, type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Checksums } from './checksum.ts';

/**
 * One object is one file:
 *
 *     data | JSON of ObjectMeta, UTF-8 | length of the JSON, u32 big-endian | "LMS3"
 *
 * The data comes first, so that a range of the object is the same range of the file; what is known only after the data
 * (size, checksums) comes last. The file is written under a temporary name, synced and renamed: the rename commits data
 * and metadata together.
 */
export interface ObjectMeta {
  key: string;
  /** Bytes of data, without the footer. */
  size: number;
  /** With its double quotes, as in the header. */
  etag: string;
  /** Milliseconds since the epoch. */
  lastModified: number;
  /** System-defined metadata: Content-Type, Cache-Control and others; names in lower case. */
  headers: Record<string, string>;
  /** User metadata, names without `x-amz-meta-`. */
  metadata: Record<string, string>;
  checksums: Checksums;
  /** The number of parts, for a multipart upload: its checksums are checksums of the parts' checksums. */
  parts?: number;
}

const MAGIC = Buffer.from('LMS3');
const TRAILER_BYTES = 4 + MAGIC.length;
/** The first read of a footer: only objects with long metadata need a second one. */
const FIRST_READ_BYTES = 4096;

function footer(meta: ObjectMeta): Buffer {
  const json = Buffer.from(JSON.stringify(meta));
  const trailer = Buffer.alloc(TRAILER_BYTES);
  trailer.writeUInt32BE(json.length);
  MAGIC.copy(trailer, 4);
  return Buffer.concat([json, trailer]);
}

/** An object opened for reading: it stays readable when it is overwritten or deleted meanwhile. */
export interface OpenObject {
  meta: ObjectMeta;
  /** The caller closes it. */
  fd: number;
}

/**
 * Opens an object file. Synchronous, because for a small read three system calls are cheaper than three trips through the
 * thread pool.
 * @returns undefined when there is no such file
 * @throws Error when it is not an object file
 */
export function openObject(path: string): OpenObject | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return { meta: readFooter(fd, path), fd };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** The metadata alone. */
export function readMeta(path: string): ObjectMeta | undefined {
  const object = openObject(path);
  if (object === undefined) return undefined;
  closeSync(object.fd);
  return object.meta;
}

function readFooter(fd: number, path: string): ObjectMeta {
  const { size } = fstatSync(fd);
  let tail = readTail(fd, size, FIRST_READ_BYTES);
  if (tail.length < TRAILER_BYTES || !tail.subarray(-MAGIC.length).equals(MAGIC)) {
    throw new Error(`not an object file: ${path}`);
  }
  const length = tail.readUInt32BE(tail.length - TRAILER_BYTES);
  if (length + TRAILER_BYTES > tail.length) tail = readTail(fd, size, length + TRAILER_BYTES);
  const json = tail.subarray(tail.length - TRAILER_BYTES - length, tail.length - TRAILER_BYTES);
  return JSON.parse(json.toString('utf8')) as ObjectMeta;
}

function readTail(fd: number, size: number, bytes: number): Buffer {
  const tail = Buffer.allocUnsafe(Math.min(size, bytes));
  const read = readSync(fd, tail, 0, tail.length, size - tail.length);
  return tail.subarray(0, read);
}

/** A file being written under a temporary name. */
export class Draft {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #durable: boolean;
  #size = 0;

  private constructor(path: string, file: FileHandle, durable: boolean) {
    this.path = path;
    this.#file = file;
    this.#durable = durable;
  }

  /** @param durable false omits the sync, for data that ends with the process anyway */
  static async create(tmpDir: string, durable: boolean): Promise<Draft> {
    const path = join(tmpDir, randomUUID());
    return new Draft(path, await open(path, 'wx', 0o600), durable);
  }

  /** Starts with the data of another object, copied by the kernel. */
  static async copyOf(
    source: { path: string; size: number },
    tmpDir: string,
    durable: boolean,
  ): Promise<Draft> {
    const path = join(tmpDir, randomUUID());
    try {
      await copyFile(source.path, path);
      const file = await open(path, 'r+');
      await file.truncate(source.size);
      const draft = new Draft(path, file, durable);
      draft.#size = source.size;
      return draft;
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  get size(): number {
    return this.#size;
  }

  async write(chunk: Uint8Array): Promise<void> {
    let done = 0;
    while (done < chunk.length) {
      const { bytesWritten } = await this.#file.write(chunk, done, chunk.length - done, this.#size + done);
      done += bytesWritten;
    }
    this.#size += chunk.length;
  }

  /** Adds the footer and syncs. The file is then complete, but still has its temporary name. */
  async seal(meta: Omit<ObjectMeta, 'size'>): Promise<ObjectMeta> {
    const complete: ObjectMeta = { ...meta, size: this.#size };
    const bytes = footer(complete);
    await this.#file.write(bytes, 0, bytes.length, this.#size);
    if (this.#durable) await this.#file.sync();
    await this.#file.close();
    return complete;
  }

  /** Deletes the file. Has no effect after the rename. */
  async discard(): Promise<void> {
    await this.#file.close().catch(() => {});
    await rm(this.path, { force: true });
  }
}
