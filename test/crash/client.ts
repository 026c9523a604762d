import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { attempt, type Ran, type RunOptions } from '../deploy/process.ts';
import { type Answer, request } from '../harness/service.ts';

/**
 * How an attempt to write ended. `refused` comes with the service's own words; `unclear`: no answer, or one that does
 * not say whether it was done.
 */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unclear'; readonly reason: string };

/** Tries, at most, of a client that a busy host tells to come later: how busy it is depends on the machine. */
const BUSY_TRIES = 10;

/** One call of the API below `/api/v4`. A broken connection is an outcome here. */
export async function call(
  url: string,
  token: string,
  method: string,
  path: string,
  json?: unknown,
): Promise<Outcome<Answer['body']>> {
  for (let tries = 1; ; tries++) {
    let answer: Answer;
    try {
      answer = await request(`${url}/api/v4${path}`, method, {
        headers: {
          'PRIVATE-TOKEN': token,
          ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        body: json === undefined ? undefined : JSON.stringify(json),
      });
    } catch (error) {
      return { kind: 'unclear', reason: String((error as Error).cause ?? error) };
    }
    const { status, body, headers } = answer;
    if (status < 300) return { kind: 'done', value: body };
    const later = status === 503 ? Number(headers.get('Retry-After')) : 0;
    if (later > 0 && tries < BUSY_TRIES) {
      await sleep(later * 1000);
      continue;
    }
    const reason = `${status} ${JSON.stringify(body)}`;
    return status < 500 ? { kind: 'refused', reason } : { kind: 'unclear', reason };
  }
}

/** @throws Error with the reason unless it was done */
export function done<T>(outcome: Outcome<T>): T {
  if (outcome.kind === 'done') return outcome.value;
  throw new Error(`${outcome.kind}: ${outcome.reason}`);
}

/** A commit of one new file. @returns its object id */
export async function commitFile(
  url: string,
  token: string,
  project: { readonly id: number },
  branch: string,
  path: string,
): Promise<Outcome<string>> {
  const outcome = await call(url, token, 'POST', `/projects/${project.id}/repository/commits`, {
    branch,
    commit_message: `Add ${path}`,
    actions: [{ action: 'create', file_path: path, content: `${path}\n` }],
  });
  return outcome.kind === 'done' ? { kind: 'done', value: outcome.value.id } : outcome;
}

/** git without a user's configuration, which never prompts. */
const GIT: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'A U Thor',
  GIT_AUTHOR_EMAIL: 'author@example.com',
  GIT_COMMITTER_NAME: 'C O Mitter',
  GIT_COMMITTER_EMAIL: 'committer@example.com',
};

/** git that tries again when the host is too busy, as its users do: it has done nothing then. */
async function runGit(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  for (let tries = 1; ; tries++) {
    const ran = await attempt('git', args, { env: GIT, ...options });
    // Of a push it prints the status alone.
    const busy = ran.code !== 0 && /The server is busy|HTTP 503/.test(ran.stderr);
    if (!busy || tries >= BUSY_TRIES || options.signal?.aborted) return ran;
    await sleep(1000 + 4000 * Math.random());
  }
}

/** Puts the instance's `git-remote-lemnos` where every later git finds it. */
export async function installLargePush(url: string, folder: string): Promise<void> {
  const { body } = await request(`${url}/git-remote-lemnos`, 'GET');
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/git-remote-lemnos'), body, { mode: 0o755 });
  GIT['PATH'] = `${join(folder, 'bin')}:${GIT['PATH']}`;
}

export interface Remote {
  readonly url: string;
  readonly token: string;
  readonly fullPath: string;
  /** Ends pushes by upload, which go on trying for a while when nobody answers. */
  readonly gone?: AbortSignal;
}

/** A work tree of one person, who pushes to wherever the service is at the moment. */
export class WorkTree {
  readonly #folder: string;
  #files = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async clone(folder: string, remote: Remote): Promise<WorkTree> {
    const tree = new WorkTree(folder);
    const cloned = await runGit(['clone', '--quiet', '--template=', address(remote), folder]);
    if (cloned.code !== 0) throw new Error(`clone: ${cloned.stderr}`);
    return tree;
  }

  /** @returns what git printed. @throws Error with all it printed when it failed */
  async git(...args: string[]): Promise<string> {
    const ran = await runGit(['-C', this.#folder, ...args]);
    if (ran.code !== 0) throw new Error(`git ${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
    return ran.stdout.trim();
  }

  /** A commit of one new file on what is checked out. */
  async commit(name: string): Promise<{ commit: string; path: string }> {
    const path = `${name}/${this.#files++}.txt`;
    return { commit: await this.commitFile(path, `${path}\n`), path };
  }

  /** @returns the commit */
  async commitFile(path: string, text: string): Promise<string> {
    mkdirSync(join(this.#folder, dirname(path)), { recursive: true });
    writeFileSync(join(this.#folder, path), text);
    await this.git('add', path);
    await this.git('commit', '--quiet', '-m', `Add ${path}`);
    return this.git('rev-parse', 'HEAD');
  }

  /** All of the refspecs or none. */
  async push(remote: Remote, ...refspecs: string[]): Promise<Outcome<void>> {
    return this.#push(['push', '--porcelain', '--atomic', address(remote), ...refspecs]);
  }

  /** The same by way of an upload, however small it is; {@link installLargePush} comes first. */
  async pushLarge({ url, token, fullPath, gone }: Remote, ...refspecs: string[]): Promise<Outcome<void>> {
    const credentials = `http.extraHeader=Authorization: Basic ${btoa(`git:${token}`)}`;
    const settings = ['-c', credentials, '-c', 'lemnos.threshold=0'];
    const to = `lemnos::${url}/${fullPath}.git`;
    return this.#push([...settings, 'push', '--porcelain', '--atomic', to, ...refspecs], gone);
  }

  async #push(command: readonly string[], signal?: AbortSignal): Promise<Outcome<void>> {
    const args = ['-C', this.#folder, ...command];
    const { code, stdout, stderr } = await runGit(args, { timeout: 60_000, signal });
    if (code === 0) return { kind: 'done', value: undefined };
    const reason = `${stdout}${stderr}`.trim();
    const told = /\[(remote )?rejected\]|remote ref does not exist|HTTP 40[134]|not found|^remote: /m;
    // An error of the service, or an answer that was cut off behind its report, says nothing of what was done. `git` also
    // calls it a failed RPC when the push itself is answered with 404, which says all.
    const failed =
      /returned error: 5\d\d|HTTP 5\d\d|\(internal error\)|RPC failed|unexpected disconnect|hung up/;
    if (/RPC failed; HTTP 40[134] /.test(reason)) return { kind: 'refused', reason };
    return { kind: told.test(reason) && !failed.test(reason) ? 'refused' : 'unclear', reason };
  }

  /** Puts one's own commits on top of a branch of the remote. */
  async rebase(remote: Remote, branch: string): Promise<void> {
    await this.git('fetch', '--quiet', address(remote), branch);
    await this.git('rebase', '--quiet', 'FETCH_HEAD');
  }
}

function address({ url, token, fullPath }: Remote): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//git:${token}@${host}/${fullPath}.git`;
}
