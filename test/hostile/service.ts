import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MALLOC } from '../../lib/store/malloc.ts';

/** What a request, and the jobs of those before it, did to the process that answered it. */
export interface Measured {
  /** Longest time for which the event loop did nothing else. */
  readonly pauseMs: number;
  /** The most CPU time that the thread of the event loop spent without looking up: a pause that no other process makes. */
  readonly busyMs: number;
  /** The same without collections of garbage. */
  readonly workMs: number;
  /** Resident memory. */
  readonly peakBytes: number;
}

export interface Answered extends Measured {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: number;
  /** The first characters of the body. */
  readonly start: string;
  readonly ms: number;
}

const TOKEN = 'root-token-of-the-hostile-suite';
/** Of an answer, no more is read: what is larger is a stream, and the reader went away. */
const MAX_READ = 64 * 2 ** 20;

/** An embedded service in a process of its own. */
export class HostileService {
  readonly #child: ChildProcess;
  readonly #dataDir: string;
  readonly url: string;

  private constructor(child: ChildProcess, dataDir: string, url: string) {
    this.#child = child;
    this.#dataDir = dataDir;
    this.url = url;
  }

  static async start(): Promise<HostileService> {
    const dataDir = mkdtempSync(join(tmpdir(), 'lemnos-hostile-'));
    const child = fork(join(import.meta.dirname, 'service-process.ts'), [dataDir, TOKEN], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: ['--expose-gc'],
      env: { ...process.env, ...MALLOC },
    });
    const died = once(child, 'exit').then(([code]) => {
      throw new Error(`the service ended with ${code}`);
    });
    died.catch(() => {});
    const [{ url }] = (await Promise.race([once(child, 'message'), died])) as [{ url: string }];
    return new HostileService(child, dataDir, url);
  }

  async stop(): Promise<void> {
    // One that has died is asked for nothing: the next part has another.
    if (this.#child.connected) {
      const ended = once(this.#child, 'exit');
      this.#child.send('stop');
      await ended;
    }
    rmSync(this.#dataDir, { recursive: true, force: true });
  }

  /** As the administrator. @param path below `/api/v4` */
  async call(method: string, path: string, json?: unknown): Promise<Answered> {
    return this.sendJson(method, path, json === undefined ? undefined : JSON.stringify(json));
  }

  /** The same with a body that is JSON already. */
  async sendJson(method: string, path: string, body: string | undefined): Promise<Answered> {
    return this.ask(method, `/api/v4${path}`, {
      headers: {
        'PRIVATE-TOKEN': TOKEN,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
    });
  }

  /** Posts a body of any type. */
  sendBody(path: string, type: string, body: string): Promise<Answered> {
    return this.ask('POST', `/api/v4${path}`, {
      headers: { 'PRIVATE-TOKEN': TOKEN, 'Content-Type': type },
      body,
    });
  }

  /** Pushes refs with a pack, as the administrator. */
  push(project: string, refs: Readonly<Record<string, string>>, pack: Uint8Array): Promise<Answered> {
    const zero = '0'.repeat(40);
    const lines = Object.entries(refs).map(([name, oid], i) =>
      pkt(`${zero} ${oid} ${name}${i === 0 ? '\0report-status' : ''}`),
    );
    return this.ask('POST', `/root/${project}.git/git-receive-pack`, {
      headers: {
        'Content-Type': 'application/x-git-receive-pack-request',
        Authorization: `Basic ${Buffer.from(`root:${TOKEN}`).toString('base64')}`,
      },
      body: new Uint8Array(Buffer.concat([...lines, Buffer.from('0000'), pack])),
    });
  }

  /** Fetches a commit with everything it reaches, as an anonymous clone does. */
  fetch(project: string, want: string): Promise<Answered> {
    const lines = [pkt('command=fetch'), Buffer.from('0001'), pkt(`want ${want}\n`), pkt('done\n')];
    return this.ask('POST', `/root/${project}.git/git-upload-pack`, {
      headers: { 'Content-Type': 'application/x-git-upload-pack-request', 'Git-Protocol': 'version=2' },
      body: new Uint8Array(Buffer.concat([...lines, Buffer.from('0000')])),
    });
  }

  /** Sends a request, anonymous unless its headers say otherwise, and measures the service meanwhile. */
  async ask(method: string, path: string, options: RequestInit = {}): Promise<Answered> {
    const began = performance.now();
    const response = await fetch(this.url + path, { method, redirect: 'manual', ...options });
    let bytes = 0;
    let start = '';
    if (response.body !== null) {
      for await (const piece of response.body) {
        if (start.length < 400) start += Buffer.from(piece).toString('latin1').slice(0, 400);
        bytes += piece.length;
        if (bytes > MAX_READ) break;
      }
    }
    const ms = performance.now() - began;
    const { status, headers } = response;
    return { status, headers, bytes, start, ms, ...(await this.#measured()) };
  }

  /** Since it was last asked. */
  async #measured(): Promise<Measured> {
    const answer = once(this.#child, 'message');
    this.#child.send('measure');
    return ((await answer) as [Measured])[0];
  }
}

const pkt = (text: string) => Buffer.from((text.length + 4).toString(16).padStart(4, '0') + text, 'latin1');
