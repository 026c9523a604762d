import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { run, signal, start } from '../deploy/process.ts';

const root = join(import.meta.dirname, '../..');
export const ROOT_TOKEN = 'root-token-of-the-crash-suite';

const MAIN = 'local/main.ts';

/** `node local/main.ts` on a data directory, as a user starts it; or another script that starts a host. */
export class Host {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #gone = new AbortController();
  #output = '';
  #url = '';
  #alive = true;

  private constructor(dataDir: string, script: string) {
    this.#child = start(process.execPath, [join(root, script)], {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        TMPDIR: process.env['TMPDIR'],
        DATA_DIR: dataDir,
        PORT: '0',
        ROOT_TOKEN,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', () => {
        this.#alive = false;
        this.#gone.abort();
        resolve();
      });
    });
  }

  /** @throws Error with what it printed when it ends before it is ready, or is not ready within 30 s */
  static async start(dataDir: string, script = MAIN): Promise<Host> {
    const host = Host.launch(dataDir, script);
    await host.ready();
    return host;
  }

  /** Without waiting until it is ready. */
  static launch(dataDir: string, script = MAIN): Host {
    return new Host(dataDir, script);
  }

  async ready(): Promise<void> {
    const timeout = Promise.withResolvers<never>();
    const timer = setTimeout(() => timeout.reject(new Error(`no host after 30 s\n${this.#output}`)), 30_000);
    const line = new Promise<string>((resolve) => {
      for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          this.#output = (this.#output + text).slice(-100_000);
          const [, url] = /^Lemnos is ready at (\S+)/m.exec(this.#output) ?? [];
          if (url !== undefined) resolve(url);
        });
      }
    });
    const died = this.#ended.then(() => Promise.reject(new Error(`the host did not start\n${this.#output}`)));
    died.catch(() => {});
    try {
      this.#url = await Promise.race([line, died, timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  get url(): string {
    return this.#url;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Aborted when it has ended: for clients that would go on trying. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** What it printed that is no greeting: errors of requests and workers. */
  errors(): string[] {
    return this.#output.split('\n').filter((line) => line.startsWith('{'));
  }

  /** The last it printed: what a host that ended by itself died of. */
  get lastWords(): string {
    return this.#output.slice(-2000);
  }

  /** `kill -9`. */
  async kill(): Promise<void> {
    this.#alive = false;
    signal(this.#child, 'SIGKILL');
    await this.#ended;
  }

  /** As Ctrl-C does. @returns its exit code; null where it had to be killed after 15 s */
  async stop(): Promise<number | null> {
    this.#alive = false;
    signal(this.#child, 'SIGTERM');
    const timer = setTimeout(() => signal(this.#child, 'SIGKILL'), 15_000);
    await this.#ended;
    clearTimeout(timer);
    return this.#child.exitCode;
  }
}

/**
 * Runs a host until its workers have processed the whole outbox.
 * @throws Error when they do not within 180 s: a mail whose worker was killed waits a minute until another may send it
 */
export async function settle(dataDir: string): Promise<void> {
  await run(process.execPath, [join(import.meta.dirname, 'settle.ts'), dataDir], { timeout: 180_000 });
}
