import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownWorld } from '../harness/own-world.ts';
import { ask, type Who } from '../harness/world.ts';
import { seedCode } from '../scenarios/repository/code-audience.ts';
import { GitCli, withToken } from './git-cli.ts';

/** git itself with the helper that the service hands out, against a gateway's limits. */
const git = new GitCli();
const bin = git.path('bin');
const { service, world } = ownWorld({ limits: true });
beforeAll(async () => {
  await seedCode(world);
  const helper = await fetch(`${service.url}/git-remote-lemnos`);
  expect([helper.status, helper.headers.get('content-type')]).toEqual([200, 'text/x-python; charset=utf-8']);
  expect(await (await fetch(service.url)).text()).toContain(
    `curl -fo ~/.local/bin/git-remote-lemnos ${service.url}/`,
  );
  mkdirSync(bin);
  writeFileSync(join(bin, 'git-remote-lemnos'), await helper.text());
  chmodSync(join(bin, 'git-remote-lemnos'), 0o755);
});
afterAll(() => {
  git[Symbol.dispose]();
});

const stockUrl = (who: Who) => withToken(service.url, 'owner/public-thing', world.tokens[who]);
const url = (project = 'public-thing') => `lemnos::${service.url}/owner/${project}`;

/** Who git's credential helper says we are from now on. */
let asking: Who = 'owner';
const environment = () => ({
  PATH: `${bin}:${process.env['PATH']}`,
  TOKEN: world.tokens[asking] ?? '',
  ...(asking === 'anonymous'
    ? {}
    : {
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'credential.helper',
        GIT_CONFIG_VALUE_0: '!f() { test "$1" = get && echo username=any && echo "password=$TOKEN"; }; f',
      }),
});
const run = (cwd: string, args: readonly string[]) => git.run(args, { cwd, env: environment() });
async function ok(cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(cwd, args);
  if (code !== 0) throw new Error(`git ${args.join(' ')}: exit ${code}\n${stderr}`);
  return stdout.toString().trimEnd();
}
async function fails(cwd: string, ...args: string[]): Promise<string> {
  const { code, stderr } = await run(cwd, args);
  expect(code, stderr).not.toBe(0);
  return stderr;
}
let clones = 0;
async function clone(who: Who = 'owner'): Promise<string> {
  asking = who;
  const name = `clone-${++clones}`;
  await ok(git.home, 'clone', '--quiet', '--single-branch', url(), name);
  return git.path(name);
}
async function commit(at: string, name: string, megabytes: number): Promise<string> {
  writeFileSync(join(at, name), randomBytes(megabytes * 1_000_000));
  await git.ok(at, 'add', name);
  await git.ok(at, 'commit', '--quiet', '-m', name);
  return git.ok(at, 'rev-parse', 'HEAD');
}
const remote = async (ref: string) =>
  (await git.ok(git.home, 'ls-remote', stockUrl('owner'), ref)).split('\t')[0];
const left = (at: string) => {
  try {
    return readdirSync(join(at, '.git/lemnos'));
  } catch {
    return [];
  }
};

test('a push of 21 MB fails readably with git alone, passes with the push helper, and clones intact', async () => {
  const at = await clone();
  const oid = await commit(at, 'huge', 21);
  const stock = await fails(at, 'push', stockUrl('owner'), 'HEAD:refs/heads/huge');
  expect(stock).toMatch(/HTTP 413/);
  expect(await remote('refs/heads/huge')).toBe('');

  const pushed = await run(at, [
    'push',
    '--progress',
    'origin',
    'HEAD:refs/heads/huge',
    'HEAD:refs/heads/twin',
  ]);
  expect(pushed.stderr).toMatch(/Uploading pack: 100% \(\d+\/\d+\), 20\.\d+ MiB \|.*, done\./);
  expect(pushed.stderr).toContain('* [new branch]      HEAD -> huge');
  expect(pushed.stderr).toContain('* [new branch]      HEAD -> twin');
  expect(pushed.code).toBe(0);
  expect([await remote('refs/heads/huge'), await remote('refs/heads/twin')]).toEqual([oid, oid]);
  expect(left(at)).toEqual([]);
  await ok(git.home, 'clone', '--quiet', '--bare', url(), 'whole');
  await git.sound(git.path('whole'));
  expect(await git.ok(git.path('whole'), 'rev-parse', 'huge')).toBe(oid);
  expect(pushed.stderr).not.toContain(world.tokens.owner!);
});

test('with the push helper wikis and snippets take what is above one request', async () => {
  asking = 'owner';
  const files = [{ file_path: 'a.txt', content: 'one\n' }];
  const json = { title: 'x', visibility: 'private', files };
  const snippet = (await ask(world, 'owner', 'POST', '/snippets', json)).body;
  for (const [name, file, from] of [
    ['owner/public-thing.wiki', 'home.md', ''],
    [`snippets/${snippet.id}`, 'large.bin', 'a.txt'],
  ] as const) {
    const at = git.path(name.replaceAll('/', '-'));
    await ok(git.home, 'clone', '--quiet', `lemnos::${service.url}/${name}.git`, at);
    const oid = await commit(at, file, 8);
    const stock = withToken(service.url, name, world.tokens.owner!);
    expect(await fails(at, 'push', stock, 'HEAD:main')).toMatch(/HTTP 413/);
    const pushed = await run(at, ['push', '--progress', 'origin', 'HEAD:main']);
    expect([name, pushed.code, pushed.stderr]).toEqual([
      name,
      0,
      expect.stringContaining('Uploading pack: 100%'),
    ]);
    expect((await git.ok(git.home, 'ls-remote', stock, 'refs/heads/main')).split('\t')[0]).toBe(oid);
    await ok(git.home, 'clone', '--quiet', '--bare', `lemnos::${service.url}/${name}.git`, `${at}-again`);
    await git.sound(`${at}-again`);
    expect((await git.lines(`${at}-again`, 'ls-tree', '--name-only', 'main')).join(' ')).toBe(
      [from, file].filter((each) => each !== '').join(' '),
    );
  }
  const pages = await ask(world, 'owner', 'GET', `/projects/${world.ids['public']}/wikis`);
  expect(pages.body).toMatchObject([{ slug: 'home' }]);
  const shown = await ask(world, 'owner', 'GET', `/snippets/${snippet.id}`);
  expect(shown.body.files).toMatchObject([{ path: 'a.txt' }, { path: 'large.bin' }]);
});

test('with the push helper fetches and small pushes are done by git itself, in every protocol version', async () => {
  for (const version of ['0', '1', '2']) {
    const name = `version-${version}`;
    await ok(git.home, '-c', `protocol.version=${version}`, 'clone', '--quiet', '--depth=1', url(), name);
    const at = git.path(name);
    const oid = await commit(at, name, 0.01);
    const told = await run(at, [
      '-c',
      `protocol.version=${version}`,
      'push',
      '-o',
      'ci.skip',
      'origin',
      `HEAD:refs/heads/by-${version}`,
    ]);
    expect([told.code, told.stderr]).toEqual([0, expect.stringContaining(`HEAD -> by-${version}`)]);
    expect(await remote(`refs/heads/by-${version}`)).toBe(oid);
    await ok(at, '-c', `protocol.version=${version}`, 'fetch', '--quiet', 'origin', `by-${version}`);
    await ok(at, 'push', '--quiet', 'origin', `:by-${version}`);
    expect(await remote(`refs/heads/by-${version}`)).toBe('');
  }
});

test('with the push helper a refusal stands behind its ref, as in git', async () => {
  const at = await clone('developer');
  await commit(at, 'refused', 4);
  const told = await fails(
    at,
    'push',
    '-o',
    'merge_request.craete',
    'origin',
    'main',
    'HEAD:refs/heads/taken',
    ':refs/heads/twin',
  );
  expect(told).toContain("remote: warning: push option 'merge_request.craete' is unknown");
  expect(told).toContain(
    '! [remote rejected] main -> main (You are not allowed to push code to protected branches on this project.)',
  );
  expect(told).toContain('* [new branch]      HEAD -> taken');
  expect(told).toContain('- [deleted]         twin');
  const atomic = await fails(at, 'push', '--atomic', 'origin', 'main', 'HEAD:refs/heads/other');
  expect(atomic).toContain('! [remote rejected] HEAD -> other (atomic push failure)');
  expect(await remote('refs/heads/other')).toBe('');
  asking = 'owner';
  const dry = await run(at, ['push', '--dry-run', 'origin', 'HEAD:refs/heads/dry']);
  expect([dry.code, dry.stderr]).toEqual([0, expect.stringContaining('HEAD -> dry')]);
  expect(await remote('refs/heads/dry')).toBe('');
});

test('the push helper refuses a push that is no fast-forward, and accepts it with force', async () => {
  const at = await clone();
  await ok(at, 'push', '--quiet', 'origin', 'HEAD:refs/heads/topic');
  await git.ok(at, 'checkout', '--quiet', '--orphan', 'new');
  const oid = await commit(at, 'rewritten', 4);
  expect(await fails(at, 'push', 'origin', 'HEAD:topic')).toMatch(
    /\[rejected\] .*\((non-fast-forward|fetch first)\)/,
  );
  expect(await fails(at, 'push', '--force', 'origin', 'HEAD:main')).toContain(
    '(You are not allowed to force push code to a protected branch on this project.)',
  );
  await ok(at, 'push', '--quiet', '--force', 'origin', 'HEAD:topic');
  expect(await remote('refs/heads/topic')).toBe(oid);
});

test('with the push helper users without the right to push get git’s own errors', async () => {
  const at = await clone();
  await commit(at, 'nobody', 4);
  for (const [who, project, told] of [
    ['reporter', 'public-thing', /You are not allowed to push code to this project\./],
    ['revoked', 'public-thing', /Authentication failed/],
    ['read_repository', 'public-thing', /403/],
    ['stranger', 'private-thing', /not found/],
    ['anonymous', 'public-thing', /could not read Username/],
  ] as const) {
    asking = who;
    expect(await fails(at, 'push', url(project), 'HEAD:refs/heads/no')).toMatch(told);
  }
  asking = 'owner';
  const printed = `lemnos::${stockUrl('owner')}`;
  expect(await fails(at, 'push', printed, 'HEAD:refs/heads/no')).toMatch(/no password in a lemnos:: address/);
});

test.each(['SIGKILL', 'SIGINT'] as const)(
  'a push of the helper stopped by %s resumes where it stopped',
  async (signal) => {
    const at = await clone();
    const branch = `refs/heads/after-${signal}`;
    const oid = await commit(at, signal, 9);
    const { faults } = service.host.s3;
    const parts: number[] = [];
    service.host.s3.onOperation = ({ operation, key, status, bytesIn }) => {
      if (operation === 'UploadPart' && key?.startsWith('staging/') && status === 200) parts.push(bytesIn);
    };
    // One part of two arrives, then the storage asks for patience.
    faults.inject({
      operation: 'UploadPart',
      fault: { kind: 'error', code: 'SlowDown' },
      after: 1,
      times: 1000,
    });
    const child = spawn('git', ['push', 'origin', `HEAD:${branch}`], {
      cwd: at,
      // A group of its own, as a terminal gives it to a command: git and its helpers hear the signal together.
      detached: true,
      stdio: 'ignore',
      env: { HOME: git.home, GIT_CONFIG_NOSYSTEM: '1', ...environment() },
    });
    const ended = once(child, 'close');
    while (parts.length < 1) await sleep(20);
    await sleep(200);
    process.kill(-child.pid!, signal);
    const [code] = await ended;
    expect(code).not.toBe(0);
    expect([parts.length, left(at).length]).toEqual([1, 1]);
    faults.clear();
    const again = await run(at, ['push', 'origin', `HEAD:${branch}`]);
    expect(again.stderr).toContain('Going on with an upload that was interrupted.');
    expect(again.code).toBe(0);
    service.host.s3.onOperation = undefined;
    expect(parts).toHaveLength(2);
    expect(await remote(branch)).toBe(oid);
    expect(left(at)).toEqual([]);
  },
);

test('the push helper retries storage that fails now and then, also from a shallow clone with options', async () => {
  await ok(git.home, 'clone', '--quiet', '--depth=1', url(), 'shallow');
  const at = git.path('shallow');
  const oid = await commit(at, 'patience', 9);
  const { faults } = service.host.s3;
  faults.inject({ operation: 'UploadPart', fault: { kind: 'error', code: 'SlowDown' }, times: 2 });
  faults.inject({ operation: 'UploadPart', fault: { kind: 'lostAnswer' } });
  const options = ['-o', 'ci.skip', '-o', 'say="a \\\\ b" ü'];
  await ok(at, 'push', '--quiet', ...options, 'origin', 'HEAD:refs/heads/patient');
  faults.clear();
  expect(await remote('refs/heads/patient')).toBe(oid);
  // Ids sort by time: the last is this push, its options as they were given.
  const { blobs } = world.store;
  const key = (await blobs.list('staging/')).keys.filter((name) => name.endsWith('/request')).at(-1)!;
  const request = Buffer.from(await blobs.read(key, 0, 10_000)).toString();
  for (const option of ['ci.skip', 'say="a \\\\ b" ü']) expect(request).toContain(option);
});
