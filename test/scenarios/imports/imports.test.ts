import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { STAGED_REFS } from '../../../lib/domain/imports/plan.ts';
import { openRepository } from '../../../lib/domain/repository/open.ts';
import { type Oid, ZERO_OID } from '../../../lib/git/oid.ts';
import { RefConflict } from '../../../lib/git/ports.ts';
import type { RefName } from '../../../lib/git/refname.ts';
import { parseAllowList } from '../../../lib/outbound/allow-list.ts';
import { stageRepository } from '../../../lib/outbound/stage-repository.ts';
import { awsClients } from '../../../lib/store/clients.ts';
import { type HttpBackend, startHttpBackend } from '../../bench/http-backend.ts';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';
import { storeOf } from '../../harness/world.ts';

const PASSWORD = 's3cret-päss';

/** Requests held at `/slow/` until the test releases them. */
const waiting: (() => void)[] = [];
const asked: string[] = [];

/** What other people's servers do, by the first part of the path. */
const gate = (request: IncomingMessage, response: ServerResponse): boolean => {
  const { authorization } = request.headers;
  const url = request.url ?? '';
  asked.push(`${request.method} ${url}`);
  if (url.startsWith('/locked/')) {
    if (authorization !== `Basic ${Buffer.from(`ada:${PASSWORD}`).toString('base64')}`) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="x"' }).end('no');
      return true;
    }
    request.url = url.replace('/locked/', '/');
  }
  if (url.startsWith('/v0/')) {
    request.url = url.replace('/v0/', '/');
    delete request.headers['git-protocol'];
  }
  if (url.startsWith('/slow/')) {
    request.url = url.replace('/slow/', '/');
    waiting.push(() => remote.answer(request, response));
    return true;
  }
  if (url.startsWith('/into/')) {
    response.writeHead(302, { Location: `http://127.0.0.2${url.slice('/into'.length)}` }).end();
    return true;
  }
  return false;
};

let git: GitCli;
let remote: HttpBackend;
let service: Service;
let owner: { id: number; username: string; token: string };
const logged: string[] = [];
let dataDir: string;

beforeAll(async () => {
  for (const method of ['error', 'warn', 'log'] as const) {
    vi.spyOn(console, method).mockImplementation((...texts) => void logged.push(texts.join(' ')));
  }
  git = new GitCli();
  mkdirSync(git.path('served'));
  remote = await startHttpBackend(git.path('served'), gate);
  process.env['OUTBOUND_ALLOW'] = new URL(remote.url).host;
  process.env['IMPORT_MAX_BYTES'] = String(2 * 1024 * 1024);
  dataDir = mkdtempSync(join(tmpdir(), 'lemnos-imports-'));
  service = await startService({ dataDir });
  owner = await service.user('owner');
  await changeSettings(service, { project_import_limit: 0 });
  await history('plain');
});
afterAll(async () => {
  await service?.stop();
  await remote?.stop();
  git?.[Symbol.dispose]();
  rmSync(dataDir, { recursive: true, force: true });
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
  return vi.waitUntil(
    async () => {
      const now = await service.call('GET', `/projects/${made.body.id}`, { token: owner.token });
      return /finished|failed/.test(now.body.import_status) && now;
    },
    { timeout: 60_000, interval: 25 },
  );
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

/** The text of the answer to a creation that is refused. */
async function refused(import_url: string): Promise<string> {
  const { status, body } = await create(import_url);
  expect(status, import_url).toBe(400);
  return body.message.import_url[0];
}

const cloneOf = ({ body }: Answer, ...options: string[]) =>
  git.clone(withToken(service.url, body.path_with_namespace, owner.token), `c${++count}`, ...options);

const invoke = (name: string, type: string, body: Record<string, unknown>, receives = 1) =>
  service.host.invoke(name, {
    Records: [
      {
        messageId: 'm',
        body: JSON.stringify({ id: 'x', type, body }),
        attributes: { ApproximateReceiveCount: String(receives) },
      },
    ],
  });
const done = { batchItemFailures: [] };

describe('importing a repository', () => {
  test.each(['', 'v0/', 'locked/'])('by the protocol of %j copies all of it', async (way) => {
    const url = new URL(`${way}plain.git`, `${remote.url}/`);
    if (way === 'locked/') [url.username, url.password] = ['ada', encodeURIComponent(PASSWORD)];
    const made = await create(url.href);
    expect(made.body).toMatchObject({ import_status: 'scheduled', empty_repo: true, import_error: null });
    const now = await ended(made);
    expect(now.body).toMatchObject({ import_status: 'finished', default_branch: 'trunk', empty_repo: false });
    url.username = url.password = '';
    expect(now.body).toMatchObject({ import_url: url.href, import_type: 'git', import_error: null });
    // The user who asked for it has not pushed it.
    const told = await service.call('GET', `/projects/${now.body.id}/events`, { token: owner.token });
    expect(told.body).toMatchObject([{ action_name: 'imported' }]);
    const clone = await cloneOf(now, '--mirror');
    expect(await refsOf(clone)).toEqual(await refsOf(git.path('served/plain.git')));
    expect(await git.ok(clone, 'symbolic-ref', 'HEAD')).toBe('refs/heads/trunk');
    expect(await git.lines(clone, 'for-each-ref', 'refs/pull')).toEqual([]);
  });

  test('by an administrator for another user protects its default branch', async () => {
    const made = await service.call('POST', `/projects/user/${owner.id}`, {
      token: service.rootToken,
      json: { name: 'for owner', import_url: `${remote.url}/plain.git` },
    });
    const now = await ended(made);
    expect(now.body).toMatchObject({ import_status: 'finished', owner: { username: 'owner' } });
    const rules = await service.call('GET', `/projects/${now.body.id}/protected_branches`, {
      token: owner.token,
    });
    expect(rules.body.map(({ name }: { name: string }) => name)).toEqual(['trunk']);
  });

  test('that is empty succeeds', async () => {
    await served('empty');
    const now = await ended(await create(`${remote.url}/empty.git`));
    expect(now.body).toMatchObject({ import_status: 'finished', empty_repo: true, default_branch: null });
    const v0 = await ended(await create(`${remote.url}/v0/empty.git`));
    expect(v0.body).toMatchObject({ import_status: 'finished', empty_repo: true });
  });

  test('skips invalid ref names, and works with a detached HEAD and with many refs', async () => {
    const { bare } = await history('odd');
    const [head] = await git.lines(bare, 'rev-parse', 'trunk');
    await git.run(['update-ref', '--stdin'], {
      cwd: bare,
      input: Buffer.from(`create refs/heads/caf\xe9 ${head}\n`, 'latin1'),
    });
    const many = Array.from({ length: 120 }, (_, n) => `create refs/tags/n${n} ${head}\n`).join('');
    await git.run(['update-ref', '--stdin'], { cwd: bare, input: many });
    writeFileSync(join(bare, 'HEAD'), `${head}\n`);
    const kept = (
      await git.run(['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags'], {
        cwd: bare,
      })
    ).stdout
      .toString('latin1')
      .split('\n')
      .filter((line) => line !== '' && !line.includes('\xe9 '));
    expect(kept).toHaveLength(124);
    for (const way of ['', 'v0/']) {
      const now = await ended(await create(`${remote.url}/${way}odd.git`));
      expect(now.body).toMatchObject({ import_status: 'finished', default_branch: 'trunk' });
      const clone = await cloneOf(now, '--mirror');
      expect((await refsOf(clone)).map((line) => Buffer.from(line).toString('latin1'))).toEqual(kept);
    }
  });

  test('shows its progress to those who can see the project', async () => {
    const client = new Gitlab({ host: service.url, token: owner.token });
    const made = await client.Projects.create({
      name: 'told',
      importUrl: `${remote.url}/slow/plain.git`,
      visibility: 'public',
    });
    expect(made.import_status).toBe('scheduled');
    await expect
      .poll(() => client.ProjectImportExports.showImportStatus(made.id))
      .toEqual({
        id: made.id,
        description: null,
        name: 'told',
        name_with_namespace: 'owner / told',
        path: 'told',
        path_with_namespace: 'owner/told',
        created_at: made.created_at,
        import_status: 'started',
        import_type: 'git',
        correlation_id: null,
        failed_relations: [],
        import_error: null,
        stats: null,
      });
    // Meanwhile it is empty, and nobody puts anything there.
    await git
      .ok(git.path('plain.work'), 'push', withToken(service.url, 'owner/told', owner.token), 'trunk')
      .then(
        () => expect.fail('pushed'),
        (error: Error) => expect(error.message).toContain('being imported'),
      );
    expect(
      (await service.call('GET', `/projects/${made.id}/repository/branches`, { token: owner.token })).body,
    ).toEqual([]);
    const stranger = await service.user('stranger');
    const seen = await service.call('GET', `/projects/${made.id}/import`, { token: stranger.token });
    expect([seen.status, seen.body.import_status]).toEqual([200, 'started']);
    expect((await service.call('GET', `/projects/${made.id}/import`)).status).toBe(401);
    const hidden = await create(`${remote.url}/nothing.git`);
    const status = (token: string) => service.call('GET', `/projects/${hidden.body.id}/import`, { token });
    expect((await status(stranger.token)).status).toBe(404);
    while (
      waiting.length > 0 ||
      (await client.ProjectImportExports.showImportStatus(made.id)).import_status === 'started'
    ) {
      waiting.shift()?.();
      await sleep(20);
    }
    expect((await client.ProjectImportExports.showImportStatus(made.id)).import_status).toBe('finished');
  });
});

describe('a failed import gives the reason', () => {
  test.each([
    ['no repository there', 'nothing.git', 'There is no repository at this URL'],
    ['no credentials', 'locked/plain.git', 'The server refuses these credentials, or asks for some'],
    [
      'a redirect into the local network',
      'into/plain.git',
      'The host of the URL cannot be resolved, or is not on the public internet',
    ],
  ])('for %s', async (_, path, error) => {
    const now = await ended(await create(`${remote.url}/${path}`));
    expect(now.body).toMatchObject({ import_status: 'failed', import_error: error, empty_repo: true });
  });

  test('for a wrong password', async () => {
    const now = await ended(
      await create(remote.url.replace('//', '//ada:wr0ng-pass@').concat('/locked/plain.git')),
    );
    expect(now.body).toMatchObject({
      import_status: 'failed',
      import_error: expect.stringContaining('credentials'),
    });
    expect(now.body.import_url).toBe(`${remote.url}/locked/plain.git`);
  });

  test('for an unknown host, in the same words as for a local one', async () => {
    const now = await ended(await create('http://no-such-host.invalid:8080/x.git'));
    expect(now.body.import_error).toBe(
      'The host of the URL cannot be resolved, or is not on the public internet',
    );
  });

  test('for a pack over the limit', async () => {
    const { work } = await served('huge');
    const noise = Buffer.alloc(3 * 1024 * 1024);
    for (let at = 0, x = 1; at < noise.length; at += 4) {
      x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
      noise.writeUInt32LE((x ^ (x >>> 13)) >>> 0, at);
    }
    writeFileSync(join(work, 'noise'), noise);
    await git.ok(work, 'add', '.');
    await git.ok(work, 'commit', '-q', '-m', 'noise');
    await git.ok(work, 'push', '-q', 'origin', 'trunk');
    const now = await ended(await create(`${remote.url}/huge.git`));
    expect(now.body).toMatchObject({ import_status: 'failed', import_error: 'The repository is too large' });
  });

  test('for objects that no push may contain', async () => {
    const { bare, work } = await history('bad');
    const blob = await git.ok(work, 'hash-object', '-w', '--stdin');
    const entry = Buffer.concat([Buffer.from('100644 ..\0'), Buffer.from(blob, 'hex')]);
    const tree = (
      await git.run(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
        cwd: work,
        input: entry,
      })
    ).stdout
      .toString()
      .trim();
    const commit = await git.ok(work, 'commit-tree', '-m', 'bad', tree);
    await git.ok(work, 'push', '-q', 'origin', `${commit}:refs/heads/evil`);
    const now = await ended(await create(`${remote.url}/bad.git`));
    expect(now.body.import_status).toBe('failed');
    expect(now.body.import_error).toMatch(/^The repository was refused: .*hasDotdot/);
    expect(
      (await service.call('GET', `/projects/${now.body.id}/repository/branches`, { token: owner.token }))
        .body,
    ).toEqual([]);
    // A history with a hole.
    const holed = git.path('served/holed.git');
    cpSync(bare, holed, { recursive: true });
    await git.ok(holed, 'update-ref', '-d', 'refs/heads/evil');
    await git.ok(holed, 'config', 'uploadpack.allowFilter', 'true');
    writeFileSync(join(holed, 'shallow'), `${await git.ok(holed, 'rev-parse', 'v1^{commit}')}\n`);
    const hole = await ended(await create(`${remote.url}/holed.git`));
    expect(hole.body).toMatchObject({
      import_status: 'failed',
      import_error: expect.stringContaining('missing necessary objects'),
    });
  });
});

describe('an import is refused without a connection', () => {
  test.each([
    ['http://127.0.0.1/x.git', 'is blocked: Requests to the local network are not allowed'],
    ['http://0x7f000001/x.git', 'is blocked: Requests to the local network are not allowed'],
    ['http://[::ffff:10.0.0.1]/x.git', 'is blocked: Requests to the local network are not allowed'],
    ['http://169.254.169.254/latest/meta-data', 'is blocked: Requests to the local network are not allowed'],
    ['http://localhost:8080/x.git', 'is blocked: Requests to the local network are not allowed'],
    ['https://example.com:22/x.git', 'is blocked: Only allowed ports are 80, 443, and any over 1024'],
    ['file:///etc/passwd', 'is blocked: Only allowed schemes are http, https'],
    ['git@example.com:a/b.git', 'is blocked: URI is invalid'],
    ['https://example.com/x.git?private_token=abc', 'is blocked: URI is invalid'],
    ['https://%00:x@example.com/%', 'is blocked: URI is invalid'],
    [`https://example.com/${'x'.repeat(3000)}`, 'is blocked: URI is invalid'],
    ['x', 'is blocked: URI is invalid'],
  ])('for %s', async (url, problem) => {
    if (url.startsWith('https://%00')) expect(await refused('https://%ff:x@example.com/x')).toBe(problem);
    else expect(await refused(url)).toBe(problem);
    expect((await service.call('GET', `/projects/owner%2Fp${count}`, { token: owner.token })).status).toBe(
      404,
    );
  });

  test('when a README is requested too; an empty URL imports nothing', async () => {
    const both = await create(`${remote.url}/plain.git`, { initialize_with_readme: true });
    expect([both.status, both.body]).toEqual([
      400,
      { message: { import_url: ['and initialize_with_readme are mutually exclusive'] } },
    ]);
    const none = await create(' ', { initialize_with_readme: true });
    expect(none.body).toMatchObject({ import_status: 'none', import_url: null, empty_repo: false });
  });
});

describe('import messages may be repeated, late or outdated', () => {
  const importOf = async (projectId: number) => {
    const project = (await storeOf().projects.getEvenDeleted(projectId))!;
    return { projectId, importId: project.importSource!.id };
  };

  test('and then change nothing', async () => {
    const now = await ended(await create(`${remote.url}/plain.git`));
    const about = await importOf(now.body.id);
    for (const [type, more] of [
      ['import.started', {}],
      ['import.staged', { outcome: 'staged' }],
      ['import.staged', { outcome: 'failed', failure: 'timeout' }],
      ['import.ends', {}],
    ] as const) {
      expect(await invoke('ingest', type, { ...about, ...more })).toEqual(done);
    }
    const after = await service.call('GET', `/projects/${now.body.id}`, { token: owner.token });
    expect(after.body).toMatchObject({ import_status: 'finished', import_error: null });
  });

  test('when they belong to another import or to none', async () => {
    const made = await create(`${remote.url}/slow/plain.git`);
    const about = await importOf(made.body.id);
    const status = async () =>
      (await service.call('GET', `/projects/${made.body.id}`, { token: owner.token })).body;
    const forged = { ...about, importId: '01ARZ3NDEKTSV4RRFFQ69G5FAV' };
    expect(await invoke('ingest', 'import.staged', { ...forged, outcome: 'empty' })).toEqual(done);
    expect(await invoke('ingest', 'import.ends', forged)).toEqual(done);
    expect(await invoke('ingest', 'import.staged', { ...about, projectId: 987654 })).toEqual(done);
    expect((await status()).import_status).toMatch(/scheduled|started/);
    for (const body of [{}, { projectId: 'x', importId: 1 }]) {
      expect(await invoke('ingest', 'import.staged', body)).toEqual({
        batchItemFailures: [{ itemIdentifier: 'm' }],
      });
    }
    // Told that all is there when nothing is: ended, and what comes later changes nothing.
    expect(await invoke('ingest', 'import.staged', { ...about, outcome: 'staged' })).toEqual(done);
    expect(await status()).toMatchObject({
      import_status: 'failed',
      import_error: 'The import failed on our side; try again',
    });
    await letGo(about.importId);
    expect(await status()).toMatchObject({ import_status: 'failed', empty_repo: true });
  });

  test('when two arrive at once, or one order is carried out twice', async () => {
    const made = await create(`${remote.url}/slow/plain.git`);
    const about = await importOf(made.body.id);
    const { stagingArea: staging } = storeOf();
    const order = {
      url: `${remote.url}/plain.git`,
      packUrl: await staging.presignUnsized(about.importId, 60),
      refsUrl: await staging.presignNote(about.importId, STAGED_REFS, 60),
      maxPackBytes: 1_000_000,
    };
    const policy = { allow: parseAllowList(process.env['OUTBOUND_ALLOW']!) };
    for (let n = 0; n < 2; n++) {
      expect(await stageRepository(order, { policy, signal: AbortSignal.timeout(20_000) })).toEqual({
        outcome: 'staged',
      });
    }
    // Refs of another run than the pack: to be told again, not believed.
    const refs = (await staging.noted(about.importId, STAGED_REFS))!;
    const other = { ...JSON.parse(Buffer.from(refs).toString()), packBytes: 12 };
    await staging.note(about.importId, STAGED_REFS, Buffer.from(JSON.stringify(other)));
    const staged = () => invoke('ingest', 'import.staged', { ...about, outcome: 'staged' });
    expect(await staged()).toEqual({ batchItemFailures: [{ itemIdentifier: 'm' }] });
    await staging.note(about.importId, STAGED_REFS, refs);
    const answers = await Promise.all([staged(), staged(), staged()]);
    // One that finds what it reads taken away by another comes again, and has nothing to do.
    expect(answers).toContainEqual(done);
    expect(await staged()).toEqual(done);
    const now = await ended(made);
    expect(now.body).toMatchObject({
      import_status: 'finished',
      import_error: null,
      default_branch: 'trunk',
    });
    await letGo(about.importId);
    expect(await refsOf(await cloneOf(now, '--mirror'))).toEqual(await refsOf(git.path('served/plain.git')));
  });

  test.each([
    ['no JSON', 'x'],
    ['no refs', '{}'],
    ['nothing', 'null'],
    ['a ref that is none', JSON.stringify({ refs: [['refs/heads/../x', 'a'.repeat(40)]], packBytes: 1 })],
    ['a ref elsewhere', JSON.stringify({ refs: [['refs/keep/x', 'a'.repeat(40)]], packBytes: 1 })],
    ['refs of another kind', JSON.stringify({ refs: [null, 1, { 0: 'refs/heads/x' }], packBytes: 1 })],
  ])('when %s accompanies the pack', async (_, text) => {
    const made = await create(`${remote.url}/slow/plain.git`);
    const about = await importOf(made.body.id);
    const { stagingArea: staging } = storeOf();
    await fetch(await staging.presignUnsized(about.importId, 60), { method: 'PUT', body: 'x' });
    await staging.note(about.importId, STAGED_REFS, Buffer.from(text));
    expect(await invoke('ingest', 'import.staged', { ...about, outcome: 'staged' })).toEqual(done);
    expect((await ended(made)).body.import_error).toBe('The import failed on our side; try again');
    await letGo(about.importId);
  });

  test('when the import timed out while its result was applied', async () => {
    const made = await create(`${remote.url}/slow/plain.git`);
    const about = await importOf(made.body.id);
    const project = (await storeOf().projects.get(made.body.id))!;
    expect(await invoke('ingest', 'import.ends', about)).toEqual(done);
    const { refs } = openRepository(deps(), project, { importer: true, finishing: true });
    const update = { name: 'refs/heads/main' as RefName, from: ZERO_OID, to: 'a'.repeat(40) as Oid };
    await expect(refs.compareAndSwap([update])).rejects.toThrow(RefConflict);
    expect((await refs.all()).refs).toEqual([]);
    expect((await ended(made)).body).toMatchObject({ import_status: 'failed', default_branch: null });
    await letGo(about.importId);
  });

  test('when no result arrives: the import ends by timeout', async () => {
    const made = await create(`${remote.url}/slow/plain.git`);
    const about = await importOf(made.body.id);
    expect(await invoke('ingest', 'import.ends', about)).toEqual(done);
    const now = await ended(made);
    expect(now.body).toMatchObject({ import_status: 'failed', import_error: 'The server took too long' });
    await letGo(about.importId);
    expect((await ended(made)).body).toMatchObject({ import_status: 'failed', empty_repo: true });
  });

  test('when the project was deleted', async () => {
    const made = await create(`${remote.url}/slow/plain.git`);
    const about = await importOf(made.body.id);
    expect((await service.call('DELETE', `/projects/${made.body.id}`, { token: owner.token })).status).toBe(
      202,
    );
    await letGo(about.importId);
    expect(await invoke('ingest', 'import.staged', { ...about, outcome: 'staged' })).toEqual(done);
    expect((await service.call('GET', `/projects/${made.body.id}`, { token: owner.token })).status).toBe(404);
  });

  test('when its order waited longer than its URLs are valid', async () => {
    const made = await create(`${remote.url}/slow/plain.git`);
    const about = await importOf(made.body.id);
    const fetches = () => asked.filter((one) => one.includes('/slow/')).length;
    await expect.poll(() => waiting).not.toEqual([]);
    const before = fetches();
    const order = { ...about, url: 'https://unused.example', packUrl: 'x', refsUrl: 'x', maxPackBytes: 1 };
    const late = { ...order, signedUntil: Date.now() };
    expect(await invoke('outbound', 'repository.import-fetch', late)).toEqual(done);
    // Signed and ordered again, from the URL that the project names.
    await expect.poll(fetches).toBeGreaterThan(before);
    await letGo(about.importId);
    expect((await ended(made)).body).toMatchObject({ import_status: 'finished', empty_repo: false });
  });

  test('when an earlier try killed the function', async () => {
    const made = await create(`${remote.url}/slow/plain.git`);
    const about = await importOf(made.body.id);
    const before = asked.length;
    const order = { ...about, url: `${remote.url}/plain.git`, packUrl: 'x', refsUrl: 'x', maxPackBytes: 1 };
    expect(await invoke('outbound', 'repository.import-fetch', order, 4)).toEqual(done);
    expect((await ended(made)).body).toMatchObject({
      import_status: 'failed',
      import_error: 'The import failed on our side; try again',
    });
    expect(asked.slice(before).filter((one) => !one.includes('/slow/'))).toEqual([]);
    await letGo(about.importId);
  });

  /** Lets the slow server answer, until what it gave was taken away again. */
  async function letGo(importId: string): Promise<void> {
    let quiet = 0;
    while (quiet < 10) {
      quiet = waiting.length > 0 || existsSync(join(dataDir, 'objects', 'staging', importId)) ? 0 : quiet + 1;
      waiting.shift()?.();
      await sleep(20);
    }
  }
});

test('import credentials appear in no table, bucket, queue, log or answer', async () => {
  const spellings = [PASSWORD, 'wr0ng-pass'].flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(`ada:${secret}`).toString('base64'),
  ]);
  const found = (text: string) => spellings.filter((spelling) => text.includes(spelling));
  const table = DynamoDBDocumentClient.from(awsClients().dynamodb);
  const items: unknown[] = [];
  for (
    let start: Record<string, unknown> | undefined, first = true;
    first || start !== undefined;
    first = false
  ) {
    const page = await table.send(
      new ScanCommand({ TableName: 'lemnos', ...(start === undefined ? {} : { ExclusiveStartKey: start }) }),
    );
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  }
  expect(items.length).toBeGreaterThan(100);
  // Each import has a timeout message in the outbox.
  expect(items).toContainEqual(expect.objectContaining({ type: 'import.ends', queue: 'ingest' }));
  expect(found(JSON.stringify(items))).toEqual([]);
  expect(JSON.stringify(items)).toContain('/locked/plain.git');
  let messages = 0;
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
    expect(found(text), entry.name).toEqual([]);
    if (text.includes('/locked/plain.git')) messages++;
  }
  expect(messages, 'files that tell of these imports').toBeGreaterThan(0);
  expect(found(logged.join('\n'))).toEqual([]);
  // They were used: the server was asked behind its lock.
  expect(asked.some((one) => one.startsWith('POST /locked/'))).toBe(true);
});
