import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROOT_TOKEN as CRASH_TOKEN, Host as CrashHost } from '../crash/host.ts';
import { type ServiceProcess, startProcess } from '../harness/process.ts';
import { request } from '../harness/service.ts';

/** `npm start` over data that another host has open, or had. */
const MAIN = fileURLToPath(new URL('../../local/main.ts', import.meta.url));
const ROOT_TOKEN = 'root-token-of-the-start-test';
let folder: string;
let DATA_DIR: string;
const running: ServiceProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lemnos-start-'));
  DATA_DIR = join(folder, 'data');
});
afterEach(async () => {
  for (const host of running.splice(0)) await host.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(): Promise<ServiceProcess> {
  const host = await startProcess({ DATA_DIR, ROOT_TOKEN });
  running.push(host);
  return host;
}

/** Starts a host that must not start, or go on. @returns what it wrote */
async function refused(environment: Readonly<Record<string, string>> = {}, script = MAIN): Promise<string> {
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env['PATH'], DATA_DIR, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  const [code] = await once(child, 'close');
  expect(code, text).toBe(1);
  return text;
}

const commit = (host: ServiceProcess, project: number, name: string) =>
  host.call('POST', `/projects/${project}/repository/commits`, {
    token: ROOT_TOKEN,
    json: {
      branch: 'main',
      commit_message: name,
      actions: [{ action: 'create', file_path: name, content: name }],
    },
  });

test('a host that is refused touches nothing of the one that runs, even where it cannot see its process', async () => {
  const first = await start();
  const project = (await first.call('POST', '/projects', { token: ROOT_TOKEN, json: { name: 'kept' } })).body;
  expect((await commit(first, project.id, 'before')).status).toBe(201);
  // In another container the noted id is of no process, or of another one.
  const dead = spawn(process.execPath, ['-e', '']);
  await once(dead, 'exit');
  writeFileSync(join(DATA_DIR, 'host.pid'), String(dead.pid));
  const drafts = join(DATA_DIR, 'objects', 'tmp');
  writeFileSync(join(drafts, 'draft'), 'of the first');

  expect(await refused()).toContain(`${DATA_DIR} is in use by another process`);

  expect(readFileSync(join(DATA_DIR, 'host.pid'), 'utf8')).toBe(String(dead.pid));
  expect(existsSync(join(drafts, 'draft'))).toBe(true);
  expect((await commit(first, project.id, 'after')).status).toBe(201);
});

test('a host whose data another process has opened, while it opened them again, ends and says why', async () => {
  const said = await refused({}, fileURLToPath(new URL('./taken-host.ts', import.meta.url)));
  expect(said).toContain('another process has opened the data directory: this one ends');
});

test('the id of another process in host.pid keeps no host from starting', async () => {
  const first = await start();
  await first.stop();
  running.pop();
  const other = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)']);
  try {
    writeFileSync(join(DATA_DIR, 'host.pid'), String(other.pid));
    const second = await start();
    expect((await second.call('GET', '/user', { token: ROOT_TOKEN })).status).toBe(200);
  } finally {
    other.kill('SIGKILL');
  }
});

test('values that nothing can be done with are told before anything is touched', async () => {
  for (const [name, value, problem] of [
    ['BASE_URL', 'git.example.com', 'BASE_URL must be a URL'],
    [
      'OUTBOUND_ALLOW',
      'a.example, http://127.0.0.1:9000',
      '"http://127.0.0.1:9000" in the list of allowed addresses',
    ],
  ] as const)
    expect(await refused({ [name]: value })).toContain(problem);
  expect(existsSync(DATA_DIR)).toBe(false);
});

test('data of a newer release is refused before anything is touched, and of an older one is marked', async () => {
  const first = await start();
  await first.stop();
  running.pop();
  const version = join(DATA_DIR, 'version');
  const present = Number(readFileSync(version, 'utf8'));
  writeFileSync(version, `${present + 1}\n`);
  const said = await refused();
  expect(said).toContain(`data of version ${present + 1}, and this release knows version ${present}`);
  rmSync(version);
  await start();
  expect(Number(readFileSync(version, 'utf8'))).toBe(present);
});

test('what a killed host had not sent is sent at the next start, and its unfinished mails are removed', async () => {
  // The first administrator, whose token calls need.
  const first = await CrashHost.start(DATA_DIR);
  await first.stop();
  const mute = await CrashHost.start(DATA_DIR, 'test/crash/mute-host.ts');
  const made = await request(`${mute.url}/api/v4/users`, 'POST', {
    headers: { 'PRIVATE-TOKEN': CRASH_TOKEN, 'Content-Type': 'application/json' },
    body: JSON.stringify({ username: 'ada', name: 'Ada', email: 'ada@example.com', reset_password: true }),
  });
  expect(made.status).toBe(201);
  await mute.kill();
  const mails = join(DATA_DIR, 'mail');
  writeFileSync(join(mails, 'unfinished.part'), '');
  expect(readdirSync(mails)).toEqual(['unfinished.part']);

  await start();
  expect(existsSync(join(mails, 'unfinished.part'))).toBe(false);
  // The sweep of every minute would come later.
  await expect.poll(() => readdirSync(mails).length, { interval: 200 }).toBeGreaterThan(0);
});

test('a port that is taken is named, no token is printed, and the data can be opened on another port', async () => {
  const first = await startProcess({ DATA_DIR: join(folder, 'other'), ROOT_TOKEN });
  running.push(first);
  const { port } = new URL(first.url);
  const said = await refused({ PORT: port });
  expect(said).toContain(`127.0.0.1:${port} is in use by another program`);
  expect(said).not.toContain('sign in');
  const host = await startProcess({ DATA_DIR });
  running.push(host);
  const [, token] = /shown only now: (\S+)/.exec(host.said) ?? [];
  expect((await host.call('GET', '/user', { token: token! })).body.username).toBe('root');
});
