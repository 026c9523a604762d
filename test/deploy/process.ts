import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';

/** Every process started here and still running; none outlives this one. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) signal(child, 'SIGKILL');
});

/** Starts a process in a group of its own, which the processes it starts belong to. */
export function start(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, { ...options, detached: true });
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
}

/** Sends a signal to a process and all it started. */
export function signal(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, name);
  } catch {
    // The group is gone already.
  }
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Milliseconds; the process is killed after them. */
  readonly timeout?: number;
  /** Kills it too. */
  readonly signal?: AbortSignal | undefined;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, whatever its exit code. */
export function attempt(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = start(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const timeout = options.timeout ?? 120_000;
    const kill = () => signal(child, 'SIGKILL');
    const timer = setTimeout(() => {
      stderr += `\nkilled after ${timeout / 1000} s`;
      kill();
    }, timeout);
    options.signal?.addEventListener('abort', kill, { once: true });
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once('close', (code) => {
      clearTimeout(timer);
      options.signal?.removeEventListener('abort', kill);
      resolve({ code: code ?? -1, stdout, stderr });
    });
  });
}

/** @throws Error with everything the command wrote when it does not succeed. */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const ran = await attempt(command, args, options);
  if (ran.code !== 0) {
    throw new Error(`${command} ${args.join(' ')} ended with ${ran.code}\n${ran.stdout}${ran.stderr}`.trim());
  }
  return ran;
}
