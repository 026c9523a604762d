import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

const NEWLINE = 10;
/** Smaller journals are not rewritten. */
const MIN_REWRITE_BYTES = 4 * 2 ** 20;

/**
 * A log of changes: appended to one file, replayed at open. A line is eight hex digits of CRC-32, a space, and a JSON value.
 * Concurrent appends share one write and one sync.
 *
 * When the file has grown to four times the size of the state, a snapshot of the state replaces it: `snapshot` must
 * therefore contain every record that was appended, which holds if state and journal change in the same tick. A snapshot
 * also follows a failed write, whose records it may contain although they were rejected.
 */
export class Journal<R> {
  readonly #path: string;
  readonly #snapshot: () => Iterable<R>;
  #file: FileHandle;
  #size: number;
  #sizeAfterRewrite = 0;
  #lines: string[] = [];
  #waiters: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  #flushing: Promise<void> | undefined;
  /** A write has failed: where the file ends is unknown. */
  #torn = false;

  private constructor(path: string, file: FileHandle, size: number, snapshot: () => Iterable<R>) {
    this.#path = path;
    this.#file = file;
    this.#size = size;
    this.#snapshot = snapshot;
  }

  /**
   * Opens and replays a journal. A last line that a crash cut off was never acknowledged, and is removed.
   * @throws Error when a line in the middle is damaged
   */
  static async open<R>(
    dir: string,
    replay: (record: R) => void,
    snapshot: () => Iterable<R>,
  ): Promise<Journal<R>> {
    await mkdir(dir, { recursive: true });
    const path = join(dir, 'journal');
    await rm(`${path}.new`, { force: true });
    const file = await open(path, 'a', 0o600);
    try {
      const size = await replayFile(path, replay);
      await truncate(path, size);
      await syncDirectory(dir);
      return new Journal(path, file, size, snapshot);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Writes a record without a sync: for changes that may be lost if the machine fails. */
  append(record: R): void {
    this.#lines.push(encode(record));
    this.#flushing ??= this.#flush();
  }

  /** Writes and syncs a record. Resolves when it, and all before it, survive a failure of the machine. */
  commit(record: R): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
      this.append(record);
    });
  }

  async close(): Promise<void> {
    await this.#flushing;
    await this.#file.close();
  }

  async #flush(): Promise<void> {
    // One tick later, so that records appended in the same tick share a write.
    await Promise.resolve();
    while (this.#lines.length > 0) {
      const waiters = this.#waiters;
      const lines = this.#lines;
      this.#waiters = [];
      this.#lines = [];
      try {
        const long = this.#size > Math.max(MIN_REWRITE_BYTES, 4 * this.#sizeAfterRewrite);
        if (long || this.#torn) await this.#rewrite();
        else await this.#write(lines.join(''), waiters.length > 0);
        this.#torn = false;
        for (const { resolve } of waiters) resolve();
      } catch (error) {
        // Nothing may be appended behind a torn line: the next write replaces the file.
        this.#torn = true;
        for (const { reject } of waiters) reject(error);
      }
    }
    this.#flushing = undefined;
  }

  async #write(text: string, sync: boolean): Promise<void> {
    const bytes = Buffer.from(text);
    await this.#file.appendFile(bytes);
    this.#size += bytes.length;
    if (sync) await this.#file.datasync();
  }

  /** Called in the tick in which `#lines` was emptied, so the snapshot holds those records. */
  async #rewrite(): Promise<void> {
    const lines = Array.from(this.#snapshot(), encode);
    const file = await open(`${this.#path}.new`, 'w', 0o600);
    let size = 0;
    try {
      for (let i = 0; i < lines.length; i += 1000) {
        const bytes = Buffer.from(lines.slice(i, i + 1000).join(''));
        await file.appendFile(bytes);
        size += bytes.length;
      }
      await file.sync();
    } catch (error) {
      // On a full disk an unfinished copy would keep others from writing.
      await rm(`${this.#path}.new`, { force: true });
      throw error;
    } finally {
      await file.close();
    }
    await rename(`${this.#path}.new`, this.#path);
    await syncDirectory(join(this.#path, '..'));
    await this.#file.close();
    this.#file = await open(this.#path, 'a');
    this.#size = this.#sizeAfterRewrite = size;
  }
}

function encode(record: unknown): string {
  const json = JSON.stringify(record);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

/** @returns the length of the intact part, in bytes */
async function replayFile<R>(path: string, replay: (record: R) => void): Promise<number> {
  let intact = 0;
  let rest: Buffer = Buffer.alloc(0);
  let damaged = false;
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 20 }) as AsyncIterable<Buffer>) {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = data.indexOf(NEWLINE); end !== -1; end = data.indexOf(NEWLINE, start)) {
      const line = data.toString('utf8', start, end);
      const json = line.slice(9);
      const whole = line.slice(0, 8) === crc32(json).toString(16).padStart(8, '0');
      // A torn write may damage lines of the last append; an intact line after a damaged one is corruption.
      if (whole && damaged) throw new Error(`${path} is damaged at byte ${intact}`);
      if (whole) {
        replay(JSON.parse(json) as R);
        intact += end + 1 - start;
      } else damaged = true;
      start = end + 1;
    }
    rest = data.subarray(start);
  }
  return intact;
}

async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  await handle.sync().finally(() => handle.close());
}
