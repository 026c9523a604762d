import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Service } from './service.ts';

/** Who clones: a name and a token. */
interface Cloner {
  readonly username: string;
  readonly token: string;
}

/**
 * Runs git commands, one after the other, in a clone of a project.
 * @param fullPath of the project
 * @throws with what git writes, when one fails
 */
export async function inClone(
  { url }: Pick<Service, 'url'>,
  { username, token }: Cloner,
  fullPath: string,
  commands: readonly (readonly string[])[],
): Promise<void> {
  const remote = Object.assign(new URL(`${url}/${fullPath}.git`), { username, password: token });
  const directory = await mkdtemp(`${process.env['TMPDIR'] ?? '/tmp'}/clone-`);
  const env = {
    ...{ PATH: process.env['PATH'], HOME: directory, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' },
    ...{ GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' },
    ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' },
  };
  const git = promisify(execFile);
  try {
    await git('git', ['clone', '--quiet', remote.href, 'work'], { cwd: directory, env });
    for (const args of commands) await git('git', args, { cwd: `${directory}/work`, env });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
