import { mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a directory's entries (renames, removals) durable. Concurrent callers share one sync. */
export class DirectorySync {
  readonly #enabled: boolean;
  readonly #running = new Map<string, { current: Promise<void>; next?: Promise<void> }>();

  constructor(enabled: boolean) {
    this.#enabled = enabled;
  }

  /** When it resolves, everything done in the directory before the call is durable. */
  sync(directory: string): Promise<void> {
    if (!this.#enabled) return Promise.resolve();
    const running = this.#running.get(directory);
    if (running === undefined) return this.#start(directory);
    // The sync under way may have started before the caller's change.
    running.next ??= running.current.catch(() => {}).then(() => this.#start(directory));
    return running.next;
  }

  #start(directory: string): Promise<void> {
    const current = syncDirectory(directory).finally(() => {
      if (this.#running.get(directory)?.current === current) this.#running.delete(directory);
    });
    this.#running.set(directory, { current });
    return current;
  }

  /** Creates a directory that survives a crash. */
  async makeDirectory(directory: string): Promise<void> {
    await mkdir(directory, { recursive: true });
    await this.sync(dirname(directory));
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
