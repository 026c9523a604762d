import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ClassicLevel } from 'classic-level';
import type { KeyRange, Row } from './key-range.ts';
import { RecentRanges } from './recent-ranges.ts';

/** Changes by storage key: the new value, or null to delete. One map is written atomically. */
export type Changes = Map<string, string | null>;

/** Rows that are read at once. */
const CHUNK = 256;

/** The changes that one batch writes. */
interface Group {
  changes: Changes;
  done: PromiseWithResolvers<void>;
}

/** A write to the disk failed: no further write is accepted until {@link Storage.reopen}. */
export class WriteFailed extends Error {
  override readonly name = 'WriteFailed';
}

/** What is stored is not what was written. */
export class DamagedRow extends Error {
  override readonly name = 'DamagedRow';
  constructor(key: string) {
    super(`The row ${JSON.stringify(key)} of the database is damaged`);
  }
}

/**
 * LevelDB with three guarantees: acknowledged changes are on disk, changes that are staged together become visible
 * together, and a damaged value is an error. LevelDB verifies its own checksums only where a reader asks for it, which its
 * binding cannot, so each value is stored behind one of key and value.
 *
 * Writers decide and stage in one turn of the event loop, without an await in between: that is the write mutex. They
 * see everything staged before them (`peek`), even if it is not on disk yet; readers (`get`, `rows`) see only what is.
 * Changes staged while a batch is being synced form the next batch (group commit), and no request is answered before
 * `flushed()`: LevelDB makes a batch visible after its log is synced, and replays it completely or not at all.
 */
export class Storage {
  readonly #level: ClassicLevel;
  readonly #path: string | undefined;
  #next = newGroup();
  #syncing: Group | undefined;
  #running: Promise<void> | undefined;
  readonly #recent = new RecentRanges();
  #failure: Error | undefined;
  #closed = false;

  private constructor(level: ClassicLevel, path: string | undefined) {
    this.#level = level;
    this.#path = path;
  }

  /**
   * @param path a directory, created if absent; without it everything is kept in memory
   * @throws Error when another process has it open. The operating system's lock ends with its process, even a killed one;
   * that a file LOCK exists means nothing.
   */
  static async open(path: string | undefined): Promise<Storage> {
    if (path !== undefined) mkdirSync(path, { recursive: true });
    const level = path === undefined ? await inMemory() : await onDisk(path);
    await opening(level, path);
    if (path !== undefined) {
      const dropped = droppedFromLog(path);
      if (dropped !== undefined) {
        await level.close();
        throw new Error(
          `The database in ${path} is damaged: ${dropped} of its latest changes could not be read, and are lost. ` +
            'Restore a copy, or start again to go on without them',
        );
      }
    }
    return new Storage(level, path);
  }

  /** The committed value. @throws DamagedRow */
  get(key: string): string | undefined {
    return opened(key, this.#level.getSync(key));
  }

  /** The committed values of several keys, from one snapshot. */
  getMany(keys: readonly string[]): (string | undefined)[] {
    const snapshot = this.#level.snapshot();
    try {
      return keys.map((key) => opened(key, this.#level.getSync(key, { snapshot })));
    } finally {
      void snapshot.close();
    }
  }

  /** The value that the next write finds: staged, or else committed. */
  peek(key: string): string | undefined {
    for (const changes of [this.#next.changes, this.#syncing?.changes]) {
      const value = changes?.get(key);
      if (value !== undefined) return value ?? undefined;
    }
    return this.get(key);
  }

  /** Adds changes to the next batch. They must have been decided in the same turn of the event loop. */
  stage(changes: Changes): void {
    if (this.#failure) throw this.#failure;
    for (const [key, value] of changes) this.#next.changes.set(key, value);
    this.#running ??= this.#run();
  }

  /** Resolves when everything staged so far is on disk. Rejects when it could not be written. */
  async flushed(): Promise<void> {
    if (this.#failure) throw this.#failure;
    if (this.#next.changes.size) await this.#next.done.promise;
    else await this.#syncing?.done.promise;
  }

  /** The first committed rows of a range, in chunks, from a snapshot taken at the first read. */
  async *rows(range: KeyRange, limit = Number.POSITIVE_INFINITY): AsyncGenerator<readonly Row[]> {
    const known = this.#recent.get(range, limit);
    if (known) {
      if (known.length) yield known;
      return;
    }
    const keep = this.#recent.begin(range, limit);
    const iterator = this.#level.iterator({ ...range, highWaterMarkBytes: 256 * 1024 });
    try {
      /** All that came, as long as it is one chunk. */
      let whole: readonly Row[] | undefined = [];
      for (let left = limit; left > 0; ) {
        const found = await iterator.nextv(Math.min(left, CHUNK));
        const rows = found.map(([key, stored]): Row => [key, opened(key, stored)]);
        left -= rows.length;
        if (rows.length) whole = whole?.length === 0 ? rows : undefined;
        if (whole && (left === 0 || !rows.length)) keep?.(whole);
        if (!rows.length) return;
        yield rows;
      }
    } finally {
      await iterator.close();
    }
  }

  /**
   * Reads every row once.
   * @throws Error where LevelDB itself finds that it cannot go on
   */
  async *damaged(): AsyncGenerator<string> {
    for await (const [key, stored] of this.#level.iterator({ fillCache: false })) {
      try {
        opened(key, stored);
      } catch (error) {
        yield (error as Error).message;
      }
    }
  }

  /**
   * After a failed write: has LevelDB read again what is on disk, which the failed write may have reached or not, and accepts
   * writes again. Without a failure it does nothing. Reads that meet it fail.
   * @throws Error as {@link open} does: the lock is free for a moment
   */
  async reopen(): Promise<void> {
    if (this.#closed || this.#failure === undefined) return;
    await this.#level.close();
    this.#recent.clear();
    await opening(this.#level, this.#path);
    this.#failure = undefined;
  }

  /** Deletes a range that nothing refers to any more. Not atomic. */
  async clear(range: KeyRange): Promise<void> {
    await this.flushed();
    await this.#level.clear(range);
    this.#recent.clear();
  }

  async close(): Promise<void> {
    await this.#running;
    this.#closed = true;
    this.#failure ??= new Error('The database is closed');
    await this.#level.close();
  }

  async #run(): Promise<void> {
    while (this.#next.changes.size) {
      // Requests that arrive in the same turn share a sync.
      await new Promise((resolve) => setImmediate(resolve));
      const group = this.#next;
      this.#syncing = group;
      this.#next = newGroup();
      this.#recent.change(group.changes.keys());
      try {
        await this.#level.batch(operationsOf(group.changes), { sync: true });
        group.done.resolve();
      } catch (error) {
        // Later groups were decided on top of this one: after a failed write nothing may be acknowledged.
        this.#failure = new WriteFailed('The database could not write', { cause: error });
        group.done.reject(this.#failure);
        this.#next.done.reject(this.#failure);
        this.#next = newGroup();
      }
      this.#recent.changed();
      this.#syncing = undefined;
    }
    this.#running = undefined;
  }
}

/** @throws Error when it cannot be opened: its cause has the code `LEVEL_LOCKED` when another process has it open */
async function opening(level: ClassicLevel, path: string | undefined): Promise<void> {
  try {
    await level.open();
  } catch (error) {
    const { cause = error } = error as Error;
    const locked = (cause as { code?: string }).code === 'LEVEL_LOCKED';
    const why = locked ? 'is in use by another process' : 'could not be opened';
    throw new Error(`The database in ${path} ${why}`, { cause });
  }
}

const ENCODINGS = { keyEncoding: 'utf8', valueEncoding: 'utf8' } as const;

/** The options that only a disk has (`sync`, `highWaterMarkBytes`) are accepted by the one in memory without effect. */
async function inMemory(): Promise<ClassicLevel> {
  const { MemoryLevel } = await import('memory-level');
  return new MemoryLevel({ ...ENCODINGS, storeEncoding: 'utf8' }) as unknown as ClassicLevel;
}

async function onDisk(path: string): Promise<ClassicLevel> {
  const { ClassicLevel } = await import('classic-level');
  return new ClassicLevel(path, ENCODINGS);
}

function newGroup(): Group {
  const done = Promise.withResolvers<void>();
  // A rejection that nobody awaits must not crash the process.
  done.promise.catch(() => {});
  return { changes: new Map(), done };
}

function operationsOf(changes: Changes) {
  return Array.from(changes, ([key, value]) =>
    value === null ? { type: 'del' as const, key } : { type: 'put' as const, key, value: sealed(key, value) },
  );
}

/** Begins a value with a checksum. One without is of a release before, and gets its checksum with the next write. */
const MARK = '#';
const PREFIX_LENGTH = MARK.length + 8;

const checksum = (key: string, value: string) => crc32(value, crc32(key)).toString(16).padStart(8, '0');

const sealed = (key: string, value: string) => `${MARK}${checksum(key, value)}${value}`;

/** @throws DamagedRow */
function opened<T extends string | undefined>(key: string, stored: T): T | string {
  if (stored === undefined || !stored.startsWith(MARK)) return stored;
  const value = stored.slice(PREFIX_LENGTH);
  if (stored.slice(MARK.length, PREFIX_LENGTH) !== checksum(key, value)) throw new DamagedRow(key);
  return value;
}

/**
 * How much of its log LevelDB left out as it opened the directory: it goes on without records whose checksums are wrong,
 * and says so only in its file LOG. The incomplete record at the end that a crash leaves is none of them.
 */
function droppedFromLog(path: string): string | undefined {
  const [, bytes] = /: dropping (\d+ bytes);/.exec(readFileSync(join(path, 'LOG'), 'utf8')) ?? [];
  return bytes;
}
