import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { downloadPrefix } from '../../../lib/store/blobs/downloads.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { type Pushed, pushedProject } from './pushed-project.ts';

/** A private project with a file of 2 MiB, where responses end a little above 1 MiB. */
const LARGE = randomBytes(2 * 1024 ** 2);
const SMALL = Buffer.from('small\n');
beforeAll(() => {
  process.env['MAX_STREAMED_BYTES'] = String(1024 ** 2);
});
const { service, world } = ownWorld({ limits: { streamed: 1_100_000 } });
let pushed: Pushed;
let prefix: string;
let oid: string;
beforeAll(async () => {
  const owner = { username: 'owner', token: world.tokens.owner! };
  const file = (path: string, content: Buffer) =>
    `M 100644 inline ${path}\ndata ${content.length}\n${content.toString('latin1')}\n`;
  const commit = `commit refs/heads/main\ncommitter C <c@example.com> 1700000001 +0000\ndata 1\nm\n`;
  const files = file('"large file.bin"', LARGE) + file('small', SMALL);
  const fill = (git: Pushed['git']) => void git.feed(`${commit}${files}`, 'fast-import', '--quiet');
  pushed = await pushedProject(service, owner, 'downloads', fill, { visibility: 'private' });
  prefix = downloadPrefix((await world.store.projects.get(pushed.id))!.repositoryId);
  oid = pushed.git.oid('main:large file.bin');
});
afterAll(() => {
  delete process.env['MAX_STREAMED_BYTES'];
  pushed.git[Symbol.dispose]();
});

const ask = (
  path: string,
  {
    who = 'owner',
    method = 'GET',
    headers = {},
  }: {
    who?: 'owner' | 'stranger';
    method?: string;
    headers?: Record<string, string>;
  } = {},
) =>
  fetch(`${service.url}/api/v4${pushed.repository}/${path}`, {
    method,
    redirect: 'manual',
    headers: { 'PRIVATE-TOKEN': world.tokens[who]!, ...headers },
  });

const copies = async () => (await world.store.blobs.list(prefix)).keys.length;

const RAW = 'files/large%20file.bin/raw?ref=main';

test.each([
  ['a file', () => RAW, 'text/plain; charset=utf-8', /^inline; filename="large file.bin"/],
  ['a blob', () => `blobs/${oid}/raw`, 'text/plain; charset=utf-8', /^inline; filename="[0-9a-f]{40}"/],
])(
  '%s above the limit is a redirect to a copy with its type and name',
  async (_, path, type, disposition) => {
    const answer = await ask(path());
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'private, no-store']);
    const url = answer.headers.get('location')!;
    expect(url).toContain('X-Amz-Expires=300');
    const got = await fetch(url);
    expect([got.status, got.headers.get('content-type')]).toEqual([200, type]);
    expect(got.headers.get('content-disposition')).toMatch(disposition);
    expect(LARGE.equals(Buffer.from(await got.arrayBuffer()))).toBe(true);
    const part = await fetch(url, { headers: { Range: 'bytes=10-19' } });
    expect(part.status).toBe(206);
    expect(LARGE.subarray(10, 20).equals(Buffer.from(await part.arrayBuffer()))).toBe(true);
  },
);

test('a copy is made once, however often and by whichever way the file is read', async () => {
  await ask(RAW);
  const before = await copies();
  for (const path of [RAW, `blobs/${oid}/raw`]) expect((await ask(path)).status).toBe(302);
  expect(await copies()).toBe(before);
});

test('a client that follows redirects gets a large file, whichever credential it sends', async () => {
  const token = world.tokens.owner!;
  for (const headers of [
    { 'PRIVATE-TOKEN': token },
    { Authorization: `Bearer ${token}` },
    { Authorization: `Basic ${btoa(`any:${token}`)}` },
  ]) {
    const got = await fetch(`${service.url}/api/v4${pushed.repository}/${RAW}`, {
      headers: headers as Record<string, string>,
    });
    expect([Object.keys(headers)[0], got.status]).toEqual([Object.keys(headers)[0], 200]);
    expect(LARGE.equals(Buffer.from(await got.arrayBuffer()))).toBe(true);
  }
});

test('HEAD of a large file tells its facts and makes no copy', async () => {
  await world.store.blobs.delete((await world.store.blobs.list(prefix)).keys);
  const head = await ask(RAW, { method: 'HEAD' });
  expect([head.status, head.headers.get('x-lemnos-size')]).toEqual([200, String(LARGE.length)]);
  const sha256 = createHash('sha256').update(LARGE).digest('hex');
  expect(head.headers.get('x-lemnos-content-sha256')).toBe(sha256);
  expect((await ask(`blobs/${oid}/raw`, { method: 'HEAD' })).status).toBe(200);
  expect((await ask('archive.tar', { method: 'HEAD' })).status).toBe(200);
  expect(await copies()).toBe(0);
});

test('an archive above the limit is a redirect, made or kept; a smaller one is the response', async () => {
  const id = pushed.git.oid('main');
  const tar = Buffer.from(
    pushed.git.git('archive', '--format=tar', `--prefix=downloads-main-${id}/`, 'main'),
    'latin1',
  );
  for (const time of ['made', 'kept']) {
    const answer = await ask('archive.tar?sha=main');
    expect([time, answer.status]).toEqual([time, 302]);
    const got = await fetch(answer.headers.get('location')!);
    expect([got.status, got.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
    expect(got.headers.get('content-disposition')).toContain(
      `attachment; filename="downloads-main-${id}.tar"`,
    );
    expect(tar.equals(Buffer.from(await got.arrayBuffer()))).toBe(true);
  }
  for (const time of ['made', 'kept'])
    expect([time, (await ask('archive.tar?sha=main&path=small')).status]).toEqual([time, 200]);
});

test('a small file is the response itself, and a stranger gets no redirect to a private file', async () => {
  const got = await ask('files/small/raw?ref=main');
  expect([got.status, await got.text()]).toEqual([200, SMALL.toString()]);
  for (const path of [RAW, `blobs/${oid}/raw`, 'archive.tar']) {
    const answer = await ask(path, { who: 'stranger' });
    expect([path, answer.status, answer.headers.get('location')]).toEqual([path, 404, null]);
  }
});

test('copies older than their time are swept', async () => {
  await ask(RAW);
  const now = new Date();
  expect(await world.store.downloads.sweep(new Date(now.getTime() - 3_600_000))).toBe(0);
  const before = await copies();
  expect(await world.store.downloads.sweep(new Date(now.getTime() + 60_000))).toBeGreaterThanOrEqual(before);
  expect(await copies()).toBe(0);
});
