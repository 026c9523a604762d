import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { request } from '../harness/service.ts';
import { GitCli } from './git-cli.ts';

/** `npm start` as it is, killed without a word and started again over the same directory. */
const git = new GitCli();
const TOKEN = 'root-token-of-the-restart-test';
const started: ChildProcess[] = [];

async function start(): Promise<{ url: string; stop(signal: NodeJS.Signals): Promise<void> }> {
  const child = spawn(process.execPath, ['local/main.ts'], {
    env: { PATH: process.env['PATH'], DATA_DIR: git.path('data'), PORT: '0', ROOT_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
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
      await ended;
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
