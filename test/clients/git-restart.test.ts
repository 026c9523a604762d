import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../harness/service.ts';
import { GitCli } from './git-cli.ts';

/** `npm start` as it is, killed without a word and started again over the same directory. */
const git = new GitCli();
const TOKEN = 'root-token-of-the-restart-test';
const started: ChildProcess[] = [];

async function start(): Promise<{ url: string; stop(signal: NodeJS.Signals): Promise<number | null> }> {
  const child = spawn(process.execPath, ['local/main.ts'], {
    env: { PATH: process.env['PATH'], DATA_DIR: git.path('data'), PORT: '0', ROOT_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
      if (found !== null) resolve(found[0]);
    });
    void ended.then(() => reject(new Error(`the host ended: ${text}`)));
  });
  return {
    url,
    async stop(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

beforeAll(() => git.ok(git.home, 'init', '--quiet', '--initial-branch=main', 'work'));
afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  git[Symbol.dispose]();
});

test('repositories survive when the host is killed or stopped', async () => {
  const work = git.path('work');
  const token = { 'PRIVATE-TOKEN': TOKEN };
  const json = { ...token, 'Content-Type': 'application/json' };
  let host = await start();
  const address = () => `${host.url.replace('//', `//x:${TOKEN}@`)}/root/kept.git`;
  const made = await request(`${host.url}/api/v4/projects`, 'POST', {
    headers: json,
    body: '{"name":"kept"}',
  });
  expect(made.status).toBe(201);
  const tree = async () =>
    (
      await request(`${host.url}/api/v4/projects/${made.body.id}/repository/tree?recursive=true`, 'GET', {
        headers: token,
      })
    ).body;
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    await git.ok(work, 'commit', '--quiet', '--allow-empty', '-m', signal);
    await git.ok(work, 'push', '--quiet', address(), 'main', `main:refs/tags/${signal}`);
    const file = await request(
      `${host.url}/api/v4/projects/${made.body.id}/repository/files/${signal}`,
      'POST',
      {
        headers: json,
        body: JSON.stringify({ branch: 'main', content: signal, commit_message: signal }),
      },
    );
    expect(file.status).toBe(201);
    const before = [await git.ok(work, 'ls-remote', address()), await tree()];
    await host.stop(signal);
    host = await start();
    expect([await git.ok(work, 'ls-remote', address()), await tree()]).toEqual(before);
    await git.ok(work, 'pull', '--quiet', '--ff-only', address(), 'main');
    await git.clone(address(), `after-${signal}`);
  }
  await host.stop('SIGTERM');
});

test('a host that is stopped in the middle of a push ends in time, and leaves the repository as it was', async () => {
  const work = git.path('work');
  const headers = { 'PRIVATE-TOKEN': TOKEN, 'Content-Type': 'application/json' };
  let host = await start();
  const address = () => `${host.url.replace('//', `//x:${TOKEN}@`)}/root/half.git`;
  const made = await request(`${host.url}/api/v4/projects`, 'POST', { headers, body: '{"name":"half"}' });
  expect(made.status).toBe(201);
  await git.ok(work, 'commit', '--quiet', '--allow-empty', '-m', 'before');
  await git.ok(work, 'push', '--quiet', address(), 'HEAD:main');
  const before = await git.ok(work, 'ls-remote', address());

  const command = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/half\0report-status`;
  const half = `${(command.length + 4).toString(16).padStart(4, '0')}${command}0000PACK\0\0\0\x02\0\0\0\x01`;
  const push = httpRequest(`${host.url}/root/half.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}`,
      'Content-Type': 'application/x-git-receive-pack-request',
    },
  });
  const cut = once(push, 'error');
  push.write(half, 'latin1');
  // Until the host reads it.
  await sleep(1000);
  // As service managers do after ten seconds.
  const impatient = setTimeout(() => host.stop('SIGKILL'), 11_000);
  expect(await host.stop('SIGTERM')).toBe(0);
  clearTimeout(impatient);
  await cut;

  host = await start();
  expect(await git.ok(work, 'ls-remote', address())).toBe(before);
  await git.ok(work, 'push', '--quiet', address(), 'HEAD:refs/heads/half');
  await git.clone(address(), 'after-half');
  await host.stop('SIGTERM');
});
