import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface GitRun {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitOptions {
  readonly cwd?: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * The installed git with a home of its own, free of the machine's settings. Runs beside the test, because the
 * service it talks to runs in the test's process.
 */
export class GitCli {
  readonly home = mkdtempSync(join(tmpdir(), 'lemnos-git-'));

  path(name: string): string {
    return join(this.home, name);
  }

  run(args: readonly string[], { cwd = this.home, input, env = {} }: GitOptions = {}): Promise<GitRun> {
    return new Promise((resolve, reject) => {
      const child = spawn('git', args, {
        cwd,
        stdio: ['pipe', 'pipe', 'pipe'],
        env: {
          PATH: process.env['PATH'],
          HOME: this.home,
          LC_ALL: 'C.UTF-8',
          GIT_CONFIG_NOSYSTEM: '1',
          GIT_TERMINAL_PROMPT: '0',
          GIT_AUTHOR_NAME: 'A U Thor',
          GIT_AUTHOR_EMAIL: 'author@example.com',
          GIT_COMMITTER_NAME: 'C O Mitter',
          GIT_COMMITTER_EMAIL: 'committer@example.com',
          ...env,
        },
      });
      const out: Buffer[] = [];
      const errors: Buffer[] = [];
      child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
      child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
      child.on('error', reject);
      child.on('close', (code) =>
        resolve({ code: code ?? -1, stdout: Buffer.concat(out), stderr: Buffer.concat(errors).toString() }),
      );
      child.stdin.on('error', () => {});
      child.stdin.end(input ?? '');
    });
  }

  /** What it prints, without the last newline. @throws when git fails */
  async ok(cwd: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, { cwd });
    if (code !== 0) throw new Error(`git ${args.join(' ')}: exit ${code}\n${stderr}`);
    return stdout.toString().replace(/\n$/, '');
  }

  /** What it complains of. @throws when git succeeds */
  async fails(cwd: string, ...args: string[]): Promise<string> {
    const { code, stderr } = await this.run(args, { cwd });
    if (code === 0) throw new Error(`git ${args.join(' ')}: succeeded\n${stderr}`);
    return stderr;
  }

  async lines(cwd: string, ...args: string[]): Promise<string[]> {
    const text = await this.ok(cwd, ...args);
    return text === '' ? [] : text.split('\n');
  }

  /** A clone, found sound by `git fsck --strict`. @returns its directory */
  async clone(url: string, name: string, ...options: string[]): Promise<string> {
    await this.ok(this.home, 'clone', '--quiet', ...options, url, name);
    await this.sound(this.path(name));
    return this.path(name);
  }

  /** @throws when `git fsck --strict` finds anything but what is unreachable */
  async sound(cwd: string): Promise<void> {
    const { code, stdout, stderr } = await this.run(['fsck', '--strict', '--full', '--no-progress'], { cwd });
    const told = `${stdout}${stderr}`
      .split('\n')
      .filter((line) => line !== '' && !/^(dangling|notice)/.test(line));
    if (code !== 0 || told.length > 0) throw new Error(`git fsck: exit ${code}\n${told.join('\n')}`);
  }

  [Symbol.dispose](): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

/** The address of a repository with a token as its password. */
export function withToken(url: string, fullPath: string, token?: string): string {
  const address = new URL(`/${fullPath}.git`, url);
  if (token !== undefined) {
    address.username = 'oauth2';
    address.password = token;
  }
  return address.href;
}
