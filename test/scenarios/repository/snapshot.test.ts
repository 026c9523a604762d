import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateHistory } from '../../git/history-fixture.ts';
import { type Service, startService } from '../../harness/service.ts';
import { ask, makeWorld, type World } from '../../harness/world.ts';
import { type Pushed, pushedProject } from './pushed-project.ts';

let service: Service;
let world: World;
let small: Pushed;
let large: Pushed;
beforeAll(async () => {
  process.env['MAX_STREAMED_BYTES'] = String(1024 ** 2);
  service = await startService();
  world = await makeWorld(service);
  const owner = { username: 'owner', token: world.tokens.owner! };
  small = await pushedProject(service, owner, 'small', (git) => {
    generateHistory(git, { seed: 7, commits: 30, skew: false });
    git.git('tag', '-a', '-m', 'annotated', 'v/annotated', 'main');
  });
  large = await pushedProject(
    service,
    owner,
    'large',
    (git) => {
      const content = randomBytes(2 * 1024 ** 2);
      const commit = 'commit refs/heads/main\ncommitter C <c@example.com> 1700000001 +0000\ndata 1\nm\n';
      const file = `M 100644 inline file\ndata ${content.length}\n${content.toString('latin1')}\n`;
      git.feed(commit + file, 'fast-import', '--quiet');
    },
    { visibility: 'private' },
  );
});
afterAll(async () => {
  delete process.env['MAX_STREAMED_BYTES'];
  for (const { git } of [small, large]) git[Symbol.dispose]();
  await service.stop();
});

const snapshot = (id: number, method = 'GET', query = '') =>
  fetch(`${service.url}/api/v4/projects/${id}/snapshot${query}`, {
    method,
    redirect: 'manual',
    headers: { 'PRIVATE-TOKEN': world.tokens.administrator! },
  });

/** Unpacks a snapshot with tar and asks git about it. */
function unpacked(bytes: Buffer, look: (git: (...args: string[]) => string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'lemnos-snapshot-'));
  try {
    writeFileSync(join(directory, 'snapshot.tar'), bytes);
    const bare = join(directory, 'bare.git');
    execFileSync('mkdir', [bare]);
    execFileSync('tar', ['-xf', '../snapshot.tar'], { cwd: bare });
    const env = { PATH: process.env['PATH'], HOME: directory, GIT_CONFIG_NOSYSTEM: '1' };
    look((...args) =>
      execFileSync('git', [`--git-dir=${bare}`, ...args], { env, encoding: 'latin1', stdio: 'pipe' }),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}
const REFS = ['for-each-ref', '--format=%(refname) %(objectname) %(*objectname)'];

test('a snapshot is a bare repository that git finds whole, with every ref', async () => {
  const answer = await snapshot(small.id);
  expect([
    answer.status,
    answer.headers.get('content-type'),
    answer.headers.get('content-disposition'),
  ]).toEqual([200, 'application/x-tar', 'attachment; filename="snapshot.tar"']);
  unpacked(Buffer.from(await answer.arrayBuffer()), (git) => {
    git('fsck', '--full', '--strict');
    expect(git(...REFS)).toBe(small.git.git(...REFS));
    expect(git('symbolic-ref', 'HEAD').trim()).toBe('refs/heads/main');
    expect(git('rev-list', '--all', '--objects').split('\n').sort()).toEqual(
      small.git.git('rev-list', '--all', '--objects').split('\n').sort(),
    );
  });
});

test('a large snapshot is a redirect to a copy in the bucket, which a change of refs replaces', async () => {
  const answer = await snapshot(large.id);
  expect(answer.status).toBe(302);
  const first = answer.headers.get('location')!;
  const copy = await fetch(first);
  expect(copy.headers.get('content-type')).toBe('application/x-tar');
  unpacked(Buffer.from(await copy.arrayBuffer()), (git) => {
    git('fsck', '--full', '--strict');
    expect(git(...REFS)).toBe(large.git.git(...REFS));
  });
  const pathOf = (url: string) => new URL(url).pathname;
  expect(pathOf((await snapshot(large.id)).headers.get('location')!)).toBe(pathOf(first));
  const branch = { branch: 'other', ref: 'main' };
  expect((await ask(world, 'owner', 'POST', `${large.repository}/branches`, branch)).status).toBe(201);
  expect(pathOf((await snapshot(large.id)).headers.get('location')!)).not.toBe(pathOf(first));
});

test('an empty repository has a snapshot too, also that of a wiki, and HEAD makes none', async () => {
  const { body } = await ask(world, 'owner', 'POST', '/projects', { name: 'void' });
  for (const query of ['', '?wiki=true']) {
    const empty = await snapshot(body.id, 'GET', query);
    unpacked(Buffer.from(await empty.arrayBuffer()), (git) => expect(git(...REFS)).toBe(''));
    const head = await snapshot(body.id, 'HEAD', query);
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'application/x-tar']);
  }
});

test('the snapshot of a wiki has its pages and nothing of the code', async () => {
  const page = { title: 'Tern', content: 'a tern' };
  await ask(world, 'owner', 'POST', `/projects/${small.id}/wikis`, page);
  const answer = await snapshot(small.id, 'GET', '?wiki=1');
  unpacked(Buffer.from(await answer.arrayBuffer()), (git) => {
    git('fsck', '--full', '--strict');
    expect(git('ls-tree', '-r', '--name-only', 'HEAD')).toBe('Tern.md\n');
    expect(git('show', 'HEAD:Tern.md')).toBe('a tern');
  });
  const refused = await ask(world, 'owner', 'GET', `/projects/${small.id}/snapshot?wiki=1`);
  expect(refused.status).toBe(403);
});

test('each download is in the audit, which only administrators can cause', async () => {
  await snapshot(small.id);
  expect((await ask(world, 'owner', 'GET', `/projects/${small.id}/snapshot`)).status).toBe(403);
  const { body } = await ask(world, 'administrator', 'GET', `/projects/${small.id}/audit_events?per_page=1`);
  expect(body[0].details.custom_message).toBe('Repository Snapshot Download Started');
});
