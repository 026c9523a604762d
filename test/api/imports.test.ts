import { mkdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type HttpBackend, startHttpBackend } from '../bench/http-backend.ts';
import { GitCli, withToken } from '../clients/git-cli.ts';
import { type Answer, type Service, startService } from '../harness/service.ts';

/** What other people's servers do, by the first part of the path. */
const gate = (request: IncomingMessage, response: ServerResponse): boolean => {
  const { authorization } = request.headers;
  const url = request.url ?? '';
  if (url.startsWith('/locked/')) {
    if (authorization !== `Basic ${Buffer.from('ada:s3cret-päss').toString('base64')}`) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end('no');
      return true;
    }
    request.url = url.replace('/locked/', '/');
  }
  if (url.startsWith('/v0/')) {
    request.url = url.replace('/v0/', '/');
    delete request.headers['git-protocol'];
  }
  return false;
};

let git: GitCli;
let remote: HttpBackend;
let service: Service;
let owner: { id: number; username: string; token: string };
const logged: string[] = [];

beforeAll(async () => {
  for (const method of ['error', 'warn', 'log'] as const) {
    vi.spyOn(console, method).mockImplementation((...texts) => void logged.push(texts.join(' ')));
  }
  git = new GitCli();
  mkdirSync(git.path('served'));
  remote = await startHttpBackend(git.path('served'), gate);
  process.env['OUTBOUND_ALLOW'] = new URL(remote.url).host;
  process.env['IMPORT_MAX_BYTES'] = String(2 * 1024 * 1024);
  service = await startService();
  owner = await service.user('owner');
});
afterAll(async () => {
  await service?.stop();
  await remote?.stop();
  git?.[Symbol.dispose]();
});

let count = 0;
const create = (import_url: string, more: Record<string, unknown> = {}) =>
  service.call('POST', '/projects', {
    token: owner.token,
    json: { name: `p${++count}`, import_url, ...more },
  });

/** The project when its import has ended. */
async function ended(made: Answer): Promise<Answer> {
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  for (let n = 0; n < 400; n++) {
    const now = await service.call('GET', `/projects/${made.body.id}`, { token: owner.token });
    if (/finished|failed/.test(now.body.import_status)) return now;
    await sleep(25);
  }
  throw new Error('the import does not end');
}

/** A repository of its own in the served folder, and a work tree beside it. */
async function served(name: string): Promise<{ bare: string; work: string }> {
  const [bare, work] = [git.path(`served/${name}.git`), git.path(`${name}.work`)];
  await git.ok(git.home, 'init', '-q', '--bare', '-b', 'trunk', bare);
  await git.ok(git.home, 'init', '-q', '-b', 'trunk', work);
  await git.ok(work, 'remote', 'add', 'origin', bare);
  return { bare, work };
}

async function history(name: string) {
  const { bare, work } = await served(name);
  for (let n = 0; n < 5; n++) await git.ok(work, 'commit', '-q', '--allow-empty', '-m', `commit ${n}`);
  await git.ok(work, 'branch', 'topic/ünïcode', 'HEAD~2');
  await git.ok(work, 'tag', 'light', 'HEAD~1');
  await git.ok(work, 'tag', '-a', '-m', 'annotated', 'v1', 'HEAD~3');
  await git.ok(work, 'push', '-q', 'origin', '--all');
  await git.ok(work, 'push', '-q', 'origin', '--tags');
  await git.ok(bare, 'update-ref', 'refs/pull/1/head', 'HEAD');
  return { bare, work };
}

const refsOf = (cwd: string) =>
  git.lines(cwd, 'for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags');

describe('a repository is imported', () => {
  beforeAll(async () => void (await history('plain')));

  test.each(['', 'v0/', 'locked/'])('by the protocol of %j, whole', async (way) => {
    const url = new URL(`${way}plain.git`, `${remote.url}/`);
    if (way === 'locked/') [url.username, url.password] = ['ada', encodeURIComponent('s3cret-päss')];
    const made = await create(url.href);
    expect(made.body).toMatchObject({ import_status: 'scheduled', empty_repo: true, import_error: null });
    const done = await ended(made);
    expect(done.body).toMatchObject({
      import_status: 'finished',
      import_error: null,
      default_branch: 'trunk',
      empty_repo: false,
    });
    url.username = url.password = '';
    expect(done.body).toMatchObject({ import_url: url.href, import_type: 'git' });
    const clone = await git.clone(
      withToken(service.url, done.body.path_with_namespace, owner.token),
      `c${count}`,
      '--mirror',
    );
    expect(await refsOf(clone)).toEqual(await refsOf(git.path('served/plain.git')));
    expect(await git.ok(clone, 'symbolic-ref', 'HEAD')).toBe('refs/heads/trunk');
    expect(await git.lines(clone, 'for-each-ref', 'refs/pull')).toEqual([]);
  });
});
