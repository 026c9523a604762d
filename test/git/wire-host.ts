/** A repository in memory behind node:http, and the real git to talk to it. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { MemoryRepository } from '../../lib/git/memory.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import { type SmartHttpOptions, smartHttp } from '../../lib/git/wire/http.ts';
import type { PushOutcome } from '../../lib/git/wire/receive-pack.ts';
import type { Repository } from '../../lib/git/wire/repository.ts';

export interface Host {
  readonly url: string;
  readonly memory: MemoryRepository;
  readonly options: { -readonly [K in keyof SmartHttpOptions]: SmartHttpOptions[K] };
  readonly pushes: PushOutcome[];
  /** Internal errors; empty at the end of tests that expect none. */
  readonly errors: unknown[];
  /** `POST git-upload-pack Git-Protocol` of each request. */
  readonly requests: string[];
  /** Called before each request is answered. */
  before: ((request: string) => Promise<void>) | undefined;
  close(): Promise<void>;
}

export async function startHost(options: Partial<SmartHttpOptions> = {}): Promise<Host> {
  const scratchDir = await mkdtemp(join(tmpdir(), 'wire-scratch-'));
  const memory = new MemoryRepository();
  const cache = new PackCache();
  const server = createServer((request, response) => {
    handle(request, response).catch((cause) => {
      host.errors.push(cause);
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host: Host = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/repository.git`,
    memory,
    options: {
      limits: { maxRequestBytes: 64 * 1024 * 1024 },
      scratchDir,
      defaultBranch: 'main',
      onError: (cause) => host.errors.push(cause),
      ...options,
    },
    pushes: [],
    errors: [],
    requests: [],
    before: undefined,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(scratchDir, { recursive: true, force: true });
    },
  };
  return host;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://host');
    const path = url.pathname.replace(/^\/repository\.git\//, '');
    const line = `${request.method} ${path}`;
    host.requests.push(line);
    await host.before?.(line);
    // As in a Lambda function, caches of a repository start with the request.
    const repository: Repository = {
      objects: memory.objects,
      refs: memory.refs,
      store: new PackStore(memory.objects, { cache }),
      cache,
    };
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
    const answer = await smartHttp(
      { method: request.method ?? '', path, query: url.searchParams, headers, body: request },
      repository,
      host.options,
    );
    response.writeHead(answer.status, answer.headers);
    await pipeline(Readable.from(answer.body, { objectMode: false }), response);
    if (answer.push) host.pushes.push(await answer.push);
  }
}

/** git's own HTTP server, for comparison: serves the bare repositories of a directory. */
export async function startOracle(root: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://host');
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        ...GIT_ENVIRONMENT,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_PROTOCOL: request.headers['git-protocol']?.toString() ?? '',
        REQUEST_METHOD: request.method,
        PATH_INFO: decodeURIComponent(url.pathname),
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      },
    });
    request.pipe(child.stdin).on('error', () => {});
    const pieces: Buffer[] = [];
    child.stdout.on('data', (piece) => pieces.push(piece));
    child.on('close', () => {
      const output = Buffer.concat(pieces);
      const end = output.indexOf('\r\n\r\n');
      const headers = new Headers();
      for (const line of output.toString('latin1', 0, end).split('\r\n')) {
        const [name, value] = line.split(': ', 2);
        if (name && value) headers.set(name, value);
      }
      response.writeHead(Number(headers.get('status')?.slice(0, 3) ?? 200), Object.fromEntries(headers));
      response.end(output.subarray(end + 4));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface GitResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A directory for one test, where git runs without the machine's configuration. */
export class Workspace {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  static async create(): Promise<Workspace> {
    return new Workspace(await mkdtemp(join(tmpdir(), 'wire-git-')));
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** Runs git in a directory of the workspace. @throws when it fails */
  async git(folder: string, args: readonly string[], input?: string | Buffer): Promise<string> {
    const result = await this.tryGit(folder, args, input);
    if (result.code !== 0) throw new Error(`git ${args.join(' ')}: exit ${result.code}\n${result.stderr}`);
    return result.stdout;
  }

  async tryGit(folder: string, args: readonly string[], input?: string | Buffer): Promise<GitResult> {
    const child = spawn('git', ['-c', 'gc.auto=0', '-c', 'maintenance.auto=false', ...args], {
      cwd: join(this.root, folder),
      env: { PATH: process.env['PATH'], HOME: this.root, ...GIT_ENVIRONMENT },
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (piece) => stdout.push(piece));
    child.stderr.on('data', (piece) => stderr.push(piece));
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
    const code = await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (status) => resolve(status ?? -1));
    });
    return { code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() };
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}

const GIT_ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  LC_ALL: 'C',
};

/**
 * A stream for `git fast-import`: `count` commits on main with a side branch merged every tenth, files that change
 * by lines (so that packs hold deltas), a lightweight and an annotated tag, and a tag of that tag.
 */
export function history(count: number, seed = 'a'): string {
  let stream = '';
  let mark = 0;
  let clock = 1_700_000_000;
  const text = (content: string) => `data ${Buffer.byteLength(content)}\n${content}\n`;
  const lines = Array.from({ length: 60 }, (_, i) => `line ${i} of ${seed}`);
  let main = 0;
  for (let i = 0; i < count; i++) {
    lines[i % lines.length] = `line changed by commit ${i} of ${seed}`;
    const side = i % 10 === 9 ? main : 0;
    if (side > 0) {
      stream += `commit refs/heads/side\nmark :${++mark}\ncommitter Ada <ada@example.org> ${++clock} +0000\n`;
      stream += `${text(`side ${i}`)}from :${side}\nM 100755 inline side/${i}.sh\n${text(`echo ${i}`)}`;
    }
    const sideMark = mark;
    stream += `commit refs/heads/main\nmark :${++mark}\ncommitter Ada <ada@example.org> ${++clock} +0000\n`;
    stream += text(`commit ${i} of ${seed}\n\nWith a body.`);
    if (main > 0) stream += `from :${main}\n`;
    if (side > 0) stream += `merge :${sideMark}\nM 100755 inline side/${i}.sh\n${text(`echo ${i}`)}`;
    stream += `M 100644 inline file.txt\n${text(lines.join('\n'))}`;
    stream += `M 100644 inline dir/${seed}${i % 7}/deep.txt\n${text(`${seed} ${i}`)}`;
    main = mark;
  }
  stream += `reset refs/tags/light\nfrom :${main}\n\n`;
  stream += `tag v1\nmark :${++mark}\nfrom :${main}\ntagger Ada <ada@example.org> ${++clock} +0000\n${text('version 1')}`;
  stream += `tag v1-signed-off\nfrom :${mark}\ntagger Ada <ada@example.org> ${++clock} +0000\n${text('a tag of a tag')}`;
  return stream;
}
