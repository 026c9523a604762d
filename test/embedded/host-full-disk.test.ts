import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { GitCli, withToken } from '../clients/git-cli.ts';
import { Host, ROOT_TOKEN } from '../crash/host.ts';
import { type Answer, request } from '../harness/service.ts';

/** `npm start` on a file system of 64 MB that runs full. */
const folder = mkdtempSync(join(tmpdir(), 'lemnos-full-'));
const mounted = mount();
const git = new GitCli();
let host: Host | undefined;

afterAll(async () => {
  await host?.kill();
  git[Symbol.dispose]();
  if (mounted) execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true, force: true });
});

function mount(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const call = (method: string, path: string, json?: unknown): Promise<Answer> =>
  request(`${host!.url}/api/v4${path}`, method, {
    headers: { 'PRIVATE-TOKEN': ROOT_TOKEN, 'Content-Type': 'application/json' },
    body: json === undefined ? undefined : JSON.stringify(json),
  });

/** Repeats what answers otherwise at first. @throws when it does not for 30 s */
async function until(status: number, attempt: () => Promise<Answer>): Promise<Answer> {
  const end = Date.now() + 30_000;
  for (;;) {
    const answer = await attempt();
    if (answer.status === status) return answer;
    if (Date.now() > end) throw new Error(`still ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

// Skipped where this process may not mount: no other way makes a disk full for it alone.
test.skipIf(!mounted)(
  'a full disk is told to callers and once in the log, and writes work again when there is space',
  async () => {
    host = await Host.start(join(folder, 'data'));
    const project = (await call('POST', '/projects', { name: 'kept', initialize_with_readme: true })).body;
    const describe = (description: string) => call('PUT', `/projects/${project.id}`, { description });
    expect((await describe('before')).status).toBe(200);

    // As much as there is, to the last byte.
    const ballast = join(folder, 'ballast');
    expect(() => writeFileSync(ballast, Buffer.alloc(64 * 2 ** 20))).toThrow('ENOSPC');

    const { body } = await until(507, () => describe('x'.repeat(1000)));
    expect(body.message).toBe('507 Insufficient Storage: the disk of this instance is full');
    expect(await call('GET', `/projects/${project.id}`)).toMatchObject({
      status: 200,
      body: { name: 'kept' },
    });
    const remote = withToken(host.url, 'root/kept', ROOT_TOKEN);
    await git.ok(git.home, 'clone', '--quiet', remote, 'kept');
    await git.ok(git.path('kept'), 'commit', '--quiet', '--allow-empty', '-m', 'later');
    expect(await git.fails(git.path('kept'), 'push', '--quiet')).toContain(
      'the disk of this instance is full',
    );

    rmSync(ballast);
    await until(200, () => describe('after'));
    await git.ok(git.path('kept'), 'push', '--quiet');
    // The request that met it first, and had begun before, has a line of its own.
    const lines = host
      .errors()
      .map((line) => JSON.parse(line))
      .filter(({ message }) => message !== 'request failed');
    expect(lines.map(({ message }) => message)).toEqual([
      'the disk is full: writes are refused for now',
      'the disk can be written again',
    ]);
    expect(lines[0].error).toMatch(/No space left on device|ENOSPC/);

    await host.kill();
    host = await Host.start(join(folder, 'data'));
    expect((await call('GET', `/projects/${project.id}`)).body.description).toBe('after');
  },
);
