import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startProcess } from '../harness/process.ts';
import { request } from '../harness/service.ts';

const ROOT_TOKEN = 'root-token-of-the-stop-test';
const SLOW_HOST = join(import.meta.dirname, 'slow-host.ts');
let DATA_DIR: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  DATA_DIR = mkdtempSync(join(tmpdir(), 'lemnos-stop-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(DATA_DIR, { recursive: true, force: true });
});

/** A host with a request and a job under way that end in an hour. */
async function busy(threads: '0' | '1'): Promise<void> {
  const before = await startProcess({ DATA_DIR, ROOT_TOKEN });
  const json = { name: 'slow', initialize_with_readme: true };
  expect((await before.call('POST', '/projects', { token: ROOT_TOKEN, json })).status).toBe(201);
  await before.stop();

  child = spawn(process.execPath, [SLOW_HOST], {
    env: { PATH: process.env['PATH'], DATA_DIR, FUNCTION_THREADS: threads },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = (await once(child.stdout!.setEncoding('utf8'), 'data')) as [string];
  const url = /http:\S+/.exec(line)![0];
  const headers = { 'PRIVATE-TOKEN': ROOT_TOKEN };
  const job = await request(`${url}/api/v4/projects/root%2Fslow/housekeeping`, 'POST', { headers });
  expect(job.status).toBe(201);
  const file = `${url}/api/v4/projects/root%2Fslow/repository/files/README.md?ref=main`;
  void request(file, 'GET', { headers }).catch(() => {});
  // Until both wait for the bucket.
  await sleep(2000);
}

/** @returns how it ended; it is killed after eleven seconds, as service managers do after ten */
async function end(...signals: NodeJS.Signals[]): Promise<number | string> {
  const ended = once(child!, 'exit');
  for (const signal of signals) {
    child!.kill(signal);
    await sleep(200);
  }
  const timer = setTimeout(() => child!.kill('SIGKILL'), 11_000);
  const [code, signal] = (await ended) as [number | null, string | null];
  clearTimeout(timer);
  return code ?? signal!;
}

test.each([
  ['in one thread', '0'],
  ['in threads', '1'],
] as const)(
  'a host that is stopped ends within ten seconds, whatever is under way %s',
  async (_, threads) => {
    await busy(threads);
    expect(await end('SIGTERM')).toBe(0);
    const after = await startProcess({ DATA_DIR, ROOT_TOKEN });
    expect((await after.call('GET', '/projects/root%2Fslow', { token: ROOT_TOKEN })).status).toBe(200);
    await after.stop();
  },
);

test('a second signal ends the host at once', async () => {
  await busy('0');
  expect(await end('SIGTERM', 'SIGINT')).toBe(130);
});
