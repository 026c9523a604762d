/**
 * Files that maintenance derives from packs, read through the block cache. They are an optimization only: a file that
 * is missing, truncated or damaged is ignored with one warning.
 */
import { crc32 } from 'node:zlib';
import { CorruptData } from './corrupt-data.ts';
import { LruCache } from './lru-cache.ts';
import { isRefused } from './maintenance/due.ts';
import { BLOCK_SIZE, type BlockCache, BlockMiss, type CachedFile } from './pack/block-cache.ts';
import type { DerivedContent, DerivedFile, DerivedFiles, DerivedKind, ObjectDatabase } from './ports.ts';
import { warn } from './warnings.ts';

/** After a storage error, as opposed to wrong content, a file is tried again after this time. */
const RETRY_AFTER_MS = 60_000;
/** Files that a process keeps open. */
const MAX_FILES = 1024;

/** Content in memory with its checksums: a CRC-32, big-endian, for each block of 256 KB. */
export function sealDerived(content: Uint8Array): DerivedContent {
  const table = checksums(content);
  return {
    kind: 'bytes',
    bytes: Buffer.concat([content, table]),
    size: content.length,
    checksumsCrc: crc32(table),
  };
}

/** The table of checksums that is stored after the content. */
function checksums(content: Uint8Array): Uint8Array {
  const table = Buffer.alloc(tableBytes(content.length));
  for (let block = 0; 4 * block < table.length; block++) {
    table.writeUInt32BE(crc32(content.subarray(block * BLOCK_SIZE, (block + 1) * BLOCK_SIZE)), 4 * block);
  }
  return table;
}

const tableBytes = (size: number): number => 4 * Math.ceil(size / BLOCK_SIZE);

/** Thrown by readers of a derived file when its bytes cannot be read or fail their checksum. */
export class DerivedUnusable extends Error {
  readonly file: OpenDerived;
  constructor(file: OpenDerived, cause: unknown) {
    super(`${file.description.kind} ${file.description.id} cannot be used: ${cause}`, { cause });
    this.name = 'DerivedUnusable';
    this.file = file;
  }
}

/** An open derived file, shared by all repositories of the process that list it. */
export class OpenDerived {
  readonly description: DerivedFile;
  readonly #blocks: BlockCache;
  #source: DerivedFiles;
  #checksums: Promise<Uint8Array> | undefined;
  #parsed: unknown;
  #warned = false;
  /** Milliseconds since 1970: not used before then. */
  #unusableUntil = 0;

  constructor(description: DerivedFile, source: DerivedFiles, blocks: BlockCache) {
    this.description = description;
    this.#source = source;
    this.#blocks = blocks;
  }

  /** Replaces the way to read the bytes by that of the newest user, since older credentials may expire. */
  reopen(source: DerivedFiles): this {
    this.#source = source;
    return this;
  }

  get usable(): boolean {
    return this.#unusableUntil === 0 || Date.now() > this.#unusableUntil;
  }

  /** Its content; what reads it throws BlockMiss, and fetching throws {@link DerivedUnusable}. */
  get file(): CachedFile {
    const { kind, id, size, location } = this.description;
    return this.#blocks.file(`${kind} ${id} ${location}`, size, () => ({
      size,
      read: (offset, length) => this.#read(offset, length),
    }));
  }

  /** What `make` parsed from the file, once per process. `make` may throw BlockMiss. */
  parsed<T>(make: (file: CachedFile) => T): T {
    return (this.#parsed ??= make(this.file)) as T;
  }

  /**
   * Runs `read`; marks the file unusable when its content turns out to be wrong.
   * @returns undefined when the file is unusable
   */
  attempt<T>(read: () => T): T | undefined {
    // Reading an unusable file would throw the same BlockMiss forever.
    if (!this.usable) return undefined;
    try {
      return read();
    } catch (error) {
      if (error instanceof BlockMiss || !(error instanceof CorruptData)) throw error;
      this.markUnusable(error);
      return undefined;
    }
  }

  /** Stops using the file: permanently when its content is wrong, else for {@link RETRY_AFTER_MS}. */
  markUnusable(cause: unknown): void {
    this.#unusableUntil =
      cause instanceof CorruptData ? Number.POSITIVE_INFINITY : Date.now() + RETRY_AFTER_MS;
    this.#parsed = undefined;
    this.#checksums = undefined;
    if (this.#warned) return;
    this.#warned = true;
    const { kind, id } = this.description;
    warn('derived file ignored', { kind, id, cause: String(cause) });
  }

  /** Whole blocks, each compared with its checksum. */
  async #read(offset: number, length: number): Promise<Uint8Array> {
    try {
      const { size, checksumsCrc } = this.description;
      const all = this.#source.open(this.description);
      const wanted = Math.min(length, size - offset);
      const [bytes, table] = await Promise.all([
        all.read(offset, wanted),
        checksumsCrc === undefined ? undefined : this.#table(checksumsCrc),
      ]);
      if (bytes.length !== wanted) throw damaged('it is truncated');
      if (table !== undefined) check(bytes, offset / BLOCK_SIZE, table);
      return bytes;
    } catch (error) {
      throw new DerivedUnusable(this, error);
    }
  }

  #table(crc: number): Promise<Uint8Array> {
    this.#checksums ??= this.#readTable(crc).catch((error) => {
      this.#checksums = undefined;
      throw error;
    });
    return this.#checksums;
  }

  async #readTable(crc: number): Promise<Uint8Array> {
    const { size } = this.description;
    const table = await this.#source.open(this.description).read(size, tableBytes(size));
    if (table.length !== tableBytes(size) || crc32(table) !== crc) throw damaged('its checksums are wrong');
    return table;
  }
}

function check(bytes: Uint8Array, first: number, table: Uint8Array): void {
  const view = new DataView(table.buffer, table.byteOffset, table.length);
  for (let at = 0; at < bytes.length; at += BLOCK_SIZE) {
    const block = first + at / BLOCK_SIZE;
    if (crc32(bytes.subarray(at, at + BLOCK_SIZE)) !== view.getUint32(4 * block)) {
      throw damaged(`block ${block} differs from its checksum`);
    }
  }
}

const damaged = (message: string) => new CorruptData('derived-file', message);

/** The derived files that a process has opened. */
export class DerivedCache {
  readonly #blocks: BlockCache;
  readonly #open = new LruCache<OpenDerived>({ maxCount: MAX_FILES });

  constructor(blocks: BlockCache) {
    this.#blocks = blocks;
  }

  /** The file of that kind that the database lists, unless it is unusable or says that there can be none. */
  of(database: ObjectDatabase, kind: DerivedKind): OpenDerived | undefined {
    const source = database.derived;
    const description = source?.current(kind);
    if (source === undefined || description === undefined || isRefused(description)) return undefined;
    const key = `${description.id} ${description.location}`;
    const open = this.#open.get(key)?.reopen(source) ?? new OpenDerived(description, source, this.#blocks);
    const file = this.#open.use(key, open);
    return file.usable ? file : undefined;
  }
}
