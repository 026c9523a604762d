/** A file of more than is held: raw it goes out in pieces, within JSON it is refused. */
import { createHash, randomFillSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { readZip } from '../../git/read-zip.ts';
import { type Service, startService } from '../../harness/service.ts';

const git = new GitCli();
const block = randomFillSync(Buffer.alloc(2 ** 20));
const content = Buffer.concat([...Array.from({ length: 33 }, () => block), Buffer.from('end')]);
let service: Service;
let repository: string;
let url: string;
let blob: string;
beforeAll(async () => {
  service = await startService();
  const { token } = await service.user('ada');
  const made = await service.call('POST', '/projects', {
    token,
    json: { name: 'large', visibility: 'public' },
  });
  repository = `/projects/${made.body.id}/repository`;
  url = withToken(service.url, 'ada/large', token);
  await git.ok(git.home, 'init', '--quiet', '-b', 'main', 'local');
  const local = git.path('local');
  await git.ok(local, 'config', 'core.compression', '0');
  writeFileSync(join(local, 'small.txt'), 'small\n');
  await git.ok(local, 'add', '.');
  await git.ok(local, 'commit', '--quiet', '-m', 'small');
  writeFileSync(join(local, 'large.bin'), content);
  await git.ok(local, 'add', '.');
  await git.ok(local, 'commit', '--quiet', '-m', 'large');
  await git.ok(local, 'push', '--quiet', url, 'main');
  blob = await git.ok(local, 'rev-parse', 'main:large.bin');
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const get = (path: string, method = 'GET') => fetch(`${service.url}/api/v4${repository}/${path}`, { method });

test('a large file is served raw from the bucket, by path and by blob id; HEAD tells its digest', async () => {
  const sha256 = createHash('sha256').update(content).digest('hex');
  for (const path of ['files/large.bin/raw?ref=main', `blobs/${blob}/raw`]) {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(Buffer.compare(bytes, content)).toBe(0);
    expect(answer.headers.get('content-length')).toBe(String(content.length));
  }
  const redirect = await fetch(`${service.url}/api/v4${repository}/files/large.bin/raw?ref=main`, {
    redirect: 'manual',
  });
  expect([redirect.status, redirect.headers.get('x-lemnos-size')]).toEqual([302, String(content.length)]);
  const head = await get('files/large.bin?ref=main', 'HEAD');
  expect([head.status, head.headers.get('x-lemnos-content-sha256')]).toEqual([200, sha256]);
});

test('a large file inside a JSON answer is refused with a reason', async () => {
  for (const path of ['files/large.bin?ref=main', `blobs/${blob}`, 'files/large.bin/blame?ref=main']) {
    const answer = await get(path);
    expect([path, answer.status]).toEqual([path, 413]);
    expect(await answer.json()).toEqual({
      message: '413 Request Entity Too Large: a file of more than 32 MiB is served raw only',
    });
  }
});

test('diffs list a large file as too large, and commits around it work', async () => {
  const diff = await service.call('GET', `${repository}/commits/main/diff`);
  expect(diff.status).toBe(200);
  expect(diff.body).toMatchObject([{ new_path: 'large.bin', new_file: true, diff: '' }]);
  const commit = await service.call('GET', `${repository}/commits/main`);
  expect(commit.body.stats).toMatchObject({ deletions: 0 });
  const compared = await service.call('GET', `${repository}/compare?from=main~1&to=main`);
  expect(compared.body.diffs).toHaveLength(1);
  const tree = await service.call('GET', `${repository}/tree`);
  expect(tree.body).toHaveLength(2);
});

test('archives and clones contain large files', async () => {
  const zip = await get('archive.zip?sha=main');
  const { entries } = await readZip(Buffer.from(await zip.arrayBuffer()));
  const entry = entries.find(({ name }) => name.endsWith('/large.bin'))!;
  expect(Buffer.compare(entry.data, content)).toBe(0);
  const copy = await git.clone(url, 'copy');
  expect(await git.ok(copy, 'rev-parse', 'main:large.bin')).toBe(blob);
});
