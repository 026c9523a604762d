import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const TOKEN = 'root-token-of-the-benchmark';

/** The embedded host as run by `npm start`, in a separate process, so that its memory can be measured. */
export class HostProcess {
  readonly url: string;
  readonly token = TOKEN;
  /** From the start of the process to its line "is ready", in milliseconds. */
  readonly readyAfter: number;
  readonly #child: ChildProcess;
  readonly #dataDir: string;

  private constructor(child: ChildProcess, dataDir: string, url: string, readyAfter: number) {
    this.#child = child;
    this.#dataDir = dataDir;
    this.url = url;
    this.readyAfter = readyAfter;
  }

  /** @param dataDir of an earlier host; a new one when absent */
  static async start(dataDir: string = mkdtempSync(join(tmpdir(), 'lemnos-bench-'))): Promise<HostProcess> {
    const begun = performance.now();
    const profile = process.env['BENCH_PROFILE'];
    const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
    const child = spawn(process.execPath, [...flags, 'local/main.ts'], {
      cwd: ROOT,
      env: { ...process.env, DATA_DIR: dataDir, PORT: '0', HOST: '127.0.0.1', ROOT_TOKEN: TOKEN },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        const match = /is ready at (\S+)/.exec(said);
        if (match !== null) resolve(match[1]!);
      });
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`the host ended with ${code}: ${said}`)));
    });
    return new HostProcess(child, dataDir, url, performance.now() - begun);
  }

  /** Peak memory of the process in MB; undefined if the system does not report it. */
  peakMemory(): number | undefined {
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
      return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
    } catch {
      return undefined;
    }
  }

  /** A URL for git, including credentials. */
  remote(project: string): string {
    return this.url.replace('://', `://root:${TOKEN}@`).concat(`/root/${project}.git`);
  }

  /** @throws unless the response is successful */
  async call(method: string, path: string, json?: unknown): Promise<Response> {
    const send = () =>
      fetch(`${this.url}/api/v4${path}`, {
        method,
        headers: {
          'PRIVATE-TOKEN': TOKEN,
          ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
    // While this process waited for git, the host may have closed a connection that was idle for a minute.
    const response = await (method === 'GET' ? send().catch(send) : send());
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  /** Starts another process over the same data, with empty caches. */
  async again(): Promise<HostProcess> {
    await this.#end();
    return HostProcess.start(this.#dataDir);
  }

  async #end(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await ended;
  }

  async stop(): Promise<void> {
    await this.#end();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }
}
