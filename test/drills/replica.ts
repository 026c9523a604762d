import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { signal, start } from '../deploy/process.ts';
import { type Answer, type CallOptions, request } from '../harness/service.ts';

const MAIN = fileURLToPath(new URL('replica-main.ts', import.meta.url));

/** One process that serves, over data that others serve too. */
export class Replica {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  /** What it wrote down: lines of JSON. */
  readonly log: string[];

  private constructor(child: ChildProcess, url: string, ended: Promise<number | null>, log: string[]) {
    this.#child = child;
    this.#ended = ended;
    this.url = url;
    this.log = log;
  }

  static async start(environment: NodeJS.ProcessEnv): Promise<Replica> {
    // Vite sets one for tests, which is no address.
    const { BASE_URL: _, ...inherited } = { ...process.env, ...environment };
    const child = start(process.execPath, [MAIN], {
      env: { ...inherited, LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const log: string[] = [];
    createInterface({ input: child.stderr! }).on('line', (line) => void log.push(line));
    const out = createInterface({ input: child.stdout! });
    const ready = new Promise<string>((resolve) => {
      out.on('line', (line) => {
        const [, url] = /^ready at (\S+)/.exec(line) ?? [];
        if (url !== undefined) resolve(url);
      });
    });
    const died = ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${log.join('\n')}`)));
    died.catch(() => {});
    return new Replica(child, await Promise.race([ready, died]), ended, log);
  }

  call(method: string, path: string, { token, json }: CallOptions = {}): Promise<Answer> {
    return request(`${this.url}/api/v4${path}`, method, {
      headers: {
        ...(token === undefined ? {} : { 'PRIVATE-TOKEN': token }),
        ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      body: json === undefined ? undefined : JSON.stringify(json),
    });
  }

  /** Processes the whole outbox. @returns the types of its jobs */
  async work(): Promise<string[]> {
    const answer = await fetch(`${this.url}/_work`, { method: 'POST' });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return JSON.parse(text) as string[];
  }

  /** Ends it as a deployment does: what is under way ends first. @throws Error when it ends otherwise */
  async stop(): Promise<void> {
    signal(this.#child, 'SIGTERM');
    const code = await this.#ended;
    if (code !== 0) throw new Error(`the replica ended with ${code}: ${this.log.slice(-20).join('\n')}`);
  }

  kill(): void {
    signal(this.#child, 'SIGKILL');
  }
}
