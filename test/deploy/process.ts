import { spawn } from 'node:child_process';

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Milliseconds; the process is killed after them. */
  readonly timeout?: number;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command to its end, whatever its exit code. */
export function attempt(command: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      timeout: options.timeout ?? 120_000,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      resolve({
        code: code ?? -1,
        stdout,
        stderr: signal === null ? stderr : `${stderr}\nkilled by ${signal}`,
      });
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
