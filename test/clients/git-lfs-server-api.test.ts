/** The tests that Git LFS has for servers: https://github.com/git-lfs/git-lfs/tree/main/t/git-lfs-test-server-api */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attempt, run } from '../deploy/process.ts';
import { ownService } from '../harness/own-service.ts';
import { withToken } from './git-cli.ts';

const program = 'git-lfs-test-server-api';
const cache = join(import.meta.dirname, '../../.cache', program);

/** Builds it on first use, which takes a minute. */
async function built(): Promise<string> {
  const environment = { ...process.env, GOBIN: cache };
  const name = `github.com/git-lfs/git-lfs/v3/t/${program}@v3.8.1`;
  await run('go', ['install', name], { env: environment, timeout: 600_000 });
  return join(cache, program);
}

describe('the tests that Git LFS has for servers', () => {
  const service = ownService();
  const home = mkdtempSync(join(tmpdir(), 'lemnos-lfs-'));
  let tests: string | undefined;
  beforeAll(async () => {
    tests = await built().catch((error: unknown) => {
      process.stderr.write(`${program} cannot be built: ${error}\n`);
      return undefined;
    });
  }, 600_000);
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  test('all pass', async (context) => {
    if (tests === undefined) return context.skip('it needs Go, and its module proxy once');
    const { token } = await service.user('ada');
    await service.call('POST', '/projects', { token, json: { name: 'models' } });
    const url = `${withToken(service.url, 'ada/models', token)}/info/lfs`;
    const environment = {
      ...{ PATH: process.env['PATH'], HOME: home, TMPDIR: home },
      ...{ GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0', NO_PROXY: '127.0.0.1' },
    };
    const { code, stdout, stderr } = await attempt(tests, ['--url', url], { cwd: home, env: environment });
    const results = [...stdout.matchAll(/(Test \w+: [\w ]+?) +(OK|FAILED)/g)].map(([, name, said]) => [
      name,
      said,
    ]);
    expect(results, stdout + stderr).toEqual([
      ['Test download: all existing', 'OK'],
      ['Test download: all missing', 'OK'],
      ['Test download: mixed', 'OK'],
      ['Test upload: all missing', 'OK'],
      ['Test upload: all present', 'OK'],
      ['Test upload: mixed', 'OK'],
      ['Test upload: edge cases', 'OK'],
    ]);
    expect([code, stderr]).toEqual([0, '']);
  });
});
