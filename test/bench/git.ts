import { spawn, spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';

/** The environment of git: without system and user configuration, and without prompts. */
export const GIT_ENVIRONMENT = {
  PATH: process.env['PATH'],
  HOME: tmpdir(),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
};

/** Runs git and returns its output. @throws when it fails */
export function git(directory: string, ...args: string[]): Buffer {
  const run = spawnSync('git', args, {
    cwd: directory,
    env: GIT_ENVIRONMENT,
    maxBuffer: 1 << 30,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (run.status !== 0) throw new Error(`git ${args.join(' ')}: ${run.stderr}${run.error ?? ''}`);
  return run.stdout;
}

/** The output of git as lines. */
export function lines(directory: string, ...args: string[]): string[] {
  const text = git(directory, ...args).toString('latin1');
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** Runs git asynchronously, for commands that talk to a server in this process. @throws when it fails */
export async function gitBeside(directory: string, ...args: string[]): Promise<void> {
  const child = spawn('git', args, {
    cwd: directory,
    env: GIT_ENVIRONMENT,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${said}`);
}
