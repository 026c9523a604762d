import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '../..');
/** The words of `npm start`: variables, the program, its options and its script. */
const START = (
  JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: { start: string } }
).scripts.start.split(' ');
const VARIABLES = Object.fromEntries(
  START.filter((word) => /^\w+=/.test(word)).map((word) => word.split('=')),
);
const OPTIONS = START.filter((word) => word.startsWith('--'));
const TOKEN = 'root-token-of-the-benchmark';
/** After the name of the folder of the data. */
const LOOP_DELAY = '-loop-delay';
/** The repository storage beside `default`. */
export const OTHER_STORAGE = 'cold';
/** CPU time that an idle host takes, in milliseconds, and how often it is looked for. */
const IDLE = { during: 2000, most: 100, attempts: 120 };
/** What the system counts CPU time in: a hundredth of a second. */
const MILLISECONDS_OF_TICK = 10;

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
    const flags = [...OPTIONS, '--import', './test/bench/loop-delay.ts'];
    if (profile !== undefined) flags.push('--cpu-prof', `--cpu-prof-dir=${profile}`);
    const child = spawn(process.execPath, [...flags, 'local/main.ts'], {
      cwd: ROOT,
      env: {
        ...VARIABLES,
        ...process.env,
        DATA_DIR: dataDir,
        PORT: '0',
        HOST: '127.0.0.1',
        ROOT_TOKEN: TOKEN,
        REPOSITORY_STORAGES: OTHER_STORAGE,
        LOOP_DELAY_FILE: dataDir + LOOP_DELAY,
      },
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

  /** From now on, `peakMemory` is that since now, where the system allows it. */
  forgetPeakMemory(): void {
    try {
      writeFileSync(`/proc/${this.#child.pid}/clear_refs`, '5');
    } catch {
      // Then it is that of the whole process.
    }
  }

  /** The longest time since `since` for which the event loop did not turn, in ms. */
  loopDelay(since: number): number {
    const file = this.#dataDir + LOOP_DELAY;
    if (!existsSync(file)) return 0;
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    const delays = lines.map((line) => line.split(' ').map(Number));
    return Math.max(0, ...delays.flatMap(([at, ms]) => (at! >= since ? [ms!] : [])));
  }

  /** Peak memory of the process in MB; undefined if the system does not report it. */
  peakMemory(): number | undefined {
    return this.#memory('VmHWM');
  }

  /** Memory of the process now, in MB; undefined if the system does not report it. */
  memory(): number | undefined {
    return this.#memory('VmRSS');
  }

  /** How many files and connections the process has open; undefined if the system does not report it. */
  openFiles(): number | undefined {
    try {
      return readdirSync(`/proc/${this.#child.pid}/fd`).length;
    } catch {
      return undefined;
    }
  }

  #memory(name: string): number | undefined {
    try {
      const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
      return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
    } catch {
      return undefined;
    }
  }

  /** CPU time that the process has taken, in ms; undefined if the system does not report it. */
  cpuTime(): number | undefined {
    try {
      // The name of the program, in parentheses, may contain spaces.
      const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
      return (Number(fields[11]) + Number(fields[12])) * MILLISECONDS_OF_TICK;
    } catch {
      return undefined;
    }
  }

  /** Waits until the host has nothing more to do, such as maintenance after a push, or has had minutes for it. */
  async untilIdle(): Promise<void> {
    for (let i = 0; i < IDLE.attempts; i++) {
      const before = this.cpuTime();
      await setTimeout(IDLE.during);
      const after = this.cpuTime();
      if (before === undefined || after === undefined || after - before <= IDLE.most) break;
    }
    // Meanwhile the host may have closed the connection, which only a GET tries again.
    await this.call('GET', '/version');
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
    rmSync(this.#dataDir + LOOP_DELAY, { force: true });
  }
}
