import { open, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { log } from '../lib/telemetry/log.ts';

/** Why writes are refused for now. */
export interface DiskProblem {
  readonly status: 503 | 507;
  readonly message: string;
}

/** What the system says of a write for which there is no room: no space, a quota, a limit of the size of files. */
const FULL = /ENOSPC|EDQUOT|EFBIG|No space left on device|Disk quota exceeded|File too large/;
/** How much must be free before writes are accepted again: more than the database writes as it is opened. */
const ROOM_BYTES = 16 * 2 ** 20;
const RETRY_MS = 1000;
/** Causes of errors that are logged once; the first so many. */
const MAX_LOGGED = 100;

/**
 * Whether the data directory can be written. When a write fails, the host refuses writes and says so once, until a trial
 * write succeeds and `recover` has made the services accept writes again.
 */
export class Disk {
  readonly #dir: string;
  readonly #recover: () => Promise<void>;
  readonly #signal: AbortSignal;
  readonly #logged = new Set<string>();
  #problem: DiskProblem | undefined;
  #recovered: Promise<void> | undefined;

  constructor(dir: string, recover: () => Promise<void>, signal: AbortSignal) {
    this.#dir = dir;
    this.#recover = recover;
    this.#signal = signal;
  }

  get problem(): DiskProblem | undefined {
    return this.#problem;
  }

  /** Resolves when the directory can be written, or the host stops. */
  async writable(): Promise<void> {
    await this.#recovered;
  }

  /** Takes note of an error of a service that stores data. */
  note(service: string, error: unknown): void {
    const cause = causesOf(error);
    const full = FULL.test(cause);
    if (!full && (error as Error).name !== 'WriteFailed') {
      if (this.#logged.has(cause) || this.#logged.size >= MAX_LOGGED) return;
      this.#logged.add(cause);
      log('error', service, { error: cause });
      return;
    }
    if (this.#problem !== undefined || this.#signal.aborted) return;
    this.#problem = full
      ? { status: 507, message: '507 Insufficient Storage: the disk of this instance is full' }
      : { status: 503, message: '503 Service Unavailable: this instance cannot write to its disk' };
    const refused = `${full ? 'the disk is full' : 'the disk cannot be written'}: writes are refused for now`;
    log('error', refused, { directory: this.#dir, error: cause });
    this.#recovered = this.#untilWritable();
  }

  async #untilWritable(): Promise<void> {
    while (!this.#signal.aborted) {
      await sleep(RETRY_MS, undefined, { signal: this.#signal }).catch(() => {});
      try {
        await this.#try();
        await this.#recover();
        this.#problem = undefined;
        log('warn', 'the disk can be written again', { directory: this.#dir });
        return;
      } catch (error) {
        const cause = causesOf(error);
        if (!FULL.test(cause)) this.note('disk', new Error(cause));
      }
    }
  }

  /** @throws Error while there is no room */
  async #try(): Promise<void> {
    const { bavail, bsize } = await statfs(this.#dir);
    if (bavail * bsize < ROOM_BYTES) throw new Error('ENOSPC');
    const path = join(this.#dir, 'trial');
    const file = await open(path, 'w', 0o600);
    try {
      // What is free may be less than what this user, or one file, may have.
      await file.writeFile(Buffer.alloc(ROOM_BYTES));
      await file.sync();
    } finally {
      await file.close();
      await rm(path, { force: true });
    }
  }
}

/** The messages of an error and of what caused it. */
function causesOf(error: unknown): string {
  const texts: string[] = [];
  for (let each = error; each instanceof Error && texts.length < 5; each = each.cause)
    texts.push(`${(each as NodeJS.ErrnoException).code ?? each.name}: ${each.message}`);
  return texts.join(', because of ') || String(error);
}
