import { execFileSync } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { DownloadTooLarge, downloadPrefix } from '../../../lib/store/blobs/downloads.ts';
import { RateLimits } from '../../../lib/store/rate-limits/rate-limits.ts';
import { generateHistory } from '../../git/history-fixture.ts';
import { readZip, type Zip } from '../../git/read-zip.ts';
import { freshWindow } from '../../harness/fresh-window.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { changeSettings } from '../../harness/settings.ts';
import { codeReads, seedCode } from './code-audience.ts';
import { type Pushed, pushedProject } from './pushed-project.ts';

const { service, world } = ownWorld();
let pushed: Pushed;
let repositoryId: string;
beforeAll(async () => {
  await seedCode(world);
  const owner = { username: 'owner', token: world.tokens.owner! };
  pushed = await pushedProject(service, owner, 'Some History', (git) => {
    generateHistory(git, { seed: 47, commits: 40, skew: false });
    git.git('branch', 'feature/of-old', 'light');
    const file = `M 100644 inline dir/file\ndata 5\ntext\n\nM 120000 inline dir/link\ndata 4\nfile\nM 100755 inline run\ndata 2\n#!\n`;
    git.feed(
      `commit refs/heads/plain\ncommitter C <c@example.com> 1700000001 +0000\ndata 1\nm\n${file}\n`,
      'fast-import',
      '--quiet',
    );
  });
  repositoryId = (await world.store.projects.get(pushed.id))!.repositoryId;
});
afterAll(() => {
  pushed.git[Symbol.dispose]();
});

/** A user of their own has a count of archives of their own. */
let people = 0;
const newToken = async () => (await service.user(`somebody${people++}`)).token;

interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

async function get(path: string, token?: string, more: Readonly<Record<string, string>> = {}): Promise<Got> {
  const headers = { ...(token === undefined ? {} : { 'PRIVATE-TOKEN': token }), ...more };
  const response = await fetch(`${service.url}/api/v4${pushed.repository}/archive${path}`, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes };
}

const git = (commit: string, format: string, prefix: string, ...paths: string[]) =>
  Buffer.from(
    pushed.git.git('archive', `--format=${format}`, `--prefix=${prefix}/`, commit, ...paths),
    'latin1',
  );
const text = ({ bytes }: Got) => JSON.parse(bytes.toString());

describe('permission to download an archive', () => {
  scenarios(
    () => world,
    [...codeReads('GET', '/repository/archive'), ...codeReads('HEAD', '/repository/archive.zip?sha=v1')],
  );
});

test.each([
  ['', 'tar.gz'],
  ['.tar.gz', 'tar.gz'],
  ['.tar.bz2', 'tar.bz2'],
  ['.tbz', 'tar.bz2'],
  ['.tbz2', 'tar.bz2'],
  ['.tb2', 'tar.bz2'],
  ['.bz2', 'tar.bz2'],
  ['.tar', 'tar'],
  ['.zip', 'zip'],
])('archive%s is a %s of the default branch, the same twice', async (suffix, format) => {
  const token = await newToken();
  const id = pushed.git.oid('main');
  const name = `some-history-main-${id}`;
  const tar = git(id, 'tar', name);
  // The second comes from what the first left.
  for (const time of ['made', 'kept']) {
    const got = await get(suffix, token);
    expect([time, got.status]).toEqual([time, 200]);
    expect(got.headers.get('content-disposition')).toBe(
      `attachment; filename="${name}.${format}"; filename*=UTF-8''${name}.${format}`,
    );
    expect(got.headers.get('content-type')).toBe(
      format === 'zip' ? 'application/zip' : 'application/octet-stream',
    );
    if (format === 'zip') {
      const zip = await readZip(got.bytes);
      expect(zip.comment).toBe(id);
      const content = ({ entries }: Zip) => entries.map(({ name, data }) => [name, data.toString('latin1')]);
      expect(content(zip)).toEqual(content(await readZip(git(id, 'zip', name))));
    } else {
      const plain =
        format === 'tar'
          ? got.bytes
          : format === 'tar.gz'
            ? gunzipSync(got.bytes)
            : execFileSync('bzip2', ['-dc'], { input: got.bytes });
      expect(plain.equals(tar), time).toBe(true);
    }
  }
});

test.each([
  ['plain', '', (id: string) => `some-history-plain-${id}`],
  ['feature/of-old', '', (id: string) => `some-history-feature-of-old-${id}`],
  ['annotated', '', (id: string) => `some-history-annotated-${id}`],
  ['plain', 'dir', (id: string) => `some-history-plain-${id}-dir`],
  ['plain', '/dir/link/', (id: string) => `some-history-plain-${id}-dir-link`],
])('the archive of %s with path "%s" equals git archive', async (sha, path, nameOf) => {
  const id = pushed.git.oid(`${sha}^{commit}`);
  const query = `?sha=${encodeURIComponent(sha)}&path=${encodeURIComponent(path)}`;
  const got = await get(`.tar${query}`, await newToken());
  expect(got.status).toBe(200);
  expect(got.headers.get('content-disposition')).toContain(`filename="${nameOf(id)}.tar"`);
  const paths = path === '' ? [] : [path.replace(/^\/|\/$/g, '')];
  expect(got.bytes.equals(git(id, 'tar', nameOf(id), ...paths))).toBe(true);
});

test('an archive of a commit is named by the full id, and HEAD gives its name too', async () => {
  const id = pushed.git.oid('plain');
  const token = await newToken();
  const got = await get(`.tar?sha=${id.slice(0, 12)}`, token);
  expect(got.bytes.equals(git(id, 'tar', `some-history-${id.slice(0, 12)}-${id}`))).toBe(true);
  const head = await service.call('HEAD', `${pushed.repository}/archive.tar?sha=${id}`, { token });
  expect(head.body).toBeNull();
  expect(head.headers.get('content-disposition')).toContain(`some-history-${id}-${id}.tar`);
});

test('an archive of an invalid revision, path or format is refused', async () => {
  const tokens = [await newToken(), await newToken()];
  for (const query of [
    '?sha=nope',
    `?sha=${'0'.repeat(40)}`,
    '?path=nope',
    '?path=..',
    '?sha=plain&path=dir/none',
  ]) {
    const got = await get(query, tokens[0]);
    expect([query, got.status, text(got)]).toEqual([query, 404, { message: '404 File Not Found' }]);
  }
  for (const suffix of ['.rar', '.json', '.tar.xz', '.TAR', '.tar.gz.zip', '.']) {
    const got = await get(suffix, tokens[1]);
    expect([suffix, got.status, text(got)]).toEqual([suffix, 404, { error: '404 Not Found' }]);
  }
  const { body } = await service.call('POST', '/projects', { token: tokens[1]!, json: { name: 'empty' } });
  const empty = await service.call('GET', `/projects/${body.id}/repository/archive`, { token: tokens[1]! });
  expect([empty.status, empty.body]).toEqual([404, { message: '404 File Not Found' }]);
});

test('archives are limited by the minute per user and project, as the setting says: 60 until it is changed', async () => {
  const [one, other] = [await newToken(), await newToken()];
  const usual = await service.call('GET', '/application/settings', { token: service.rootToken });
  expect(usual.body.archive_download_limit).toBe(60);
  await changeSettings(service, { archive_download_limit: 5 });
  onTestFinished(() => changeSettings(service, { archive_download_limit: 60 }));
  await freshWindow();
  const answers = await Promise.all(Array.from({ length: 8 }, () => get('.tar?sha=plain', one)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(text(refused)).toEqual({
    message: { error: 'This archive has been requested too many times. Try again later.' },
  });
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
  expect((await get('.tar?sha=plain', other)).status).toBe(200);
  const elsewhere = await service.call('HEAD', `/projects/${world.ids['public']}/repository/archive`, {
    token: one,
  });
  expect(elsewhere.status).toBe(200);
});

test('the archive limit is exact and starts again in the next window', async () => {
  const limits = new RateLimits(world.store.table);
  const limit = { kind: 'test', limit: 3, seconds: 10 };
  const take = (seconds: number) => limits.take(limit, 'subject', new Date(seconds * 1000));
  const taken = await Promise.all(Array.from({ length: 9 }, () => take(1_000_005)));
  expect(taken.filter(Boolean)).toHaveLength(3);
  expect(await take(1_000_009)).toBe(false);
  expect(await take(1_000_010)).toBe(true);
  expect(await limits.take({ ...limit, limit: 0 }, 'subject', new Date(1_000_005_000))).toBe(true);
});

test('an archive requested as a page’s image or stylesheet is refused', async () => {
  const token = await newToken();
  for (const headers of [
    { accept: 'image/png, image/*;q=0.8' },
    { 'sec-fetch-dest': 'image' },
    { accept: 'text/css' },
  ]) {
    const got = await get('.tar', token, headers);
    expect([headers, got.status, text(got)]).toEqual([headers, 406, { message: '406 Not Acceptable' }]);
  }
  for (const headers of [
    { accept: '*/*' },
    { accept: 'text/html, image/png' },
    { 'sec-fetch-dest': 'document' },
  ]) {
    expect([headers, (await get('.tar', token, headers)).status]).toEqual([headers, 200]);
  }
});

test('copies of archives are deleted with the repository, and what breaks off leaves none', async () => {
  const { blobs, downloads } = world.store;
  const prefix = downloadPrefix(repositoryId);
  const before = (await blobs.list(prefix)).keys.length;
  expect(before).toBeGreaterThan(8);
  const name = { commit: 'c', path: '', prefix: 'p', format: 'tar' };
  const made = (source: AsyncIterable<Uint8Array>, more: { maxBytes?: number; signal?: AbortSignal } = {}) =>
    downloads.make(repositoryId, name, source, { maxBytes: 1024 ** 3, ...more });
  const mebibytes = async function* (count: number) {
    for (let n = 0; n < count; n++) yield Buffer.alloc(1024 * 1024, n);
  };
  const failing = (async function* () {
    yield* mebibytes(40);
    throw new Error('lost');
  })();
  await expect(made(failing)).rejects.toThrow('lost');
  await expect(made(mebibytes(40), { maxBytes: 39 * 1024 ** 2 })).rejects.toThrow(DownloadTooLarge);
  const stop = new AbortController();
  const stopped = (async function* () {
    yield* mebibytes(40);
    stop.abort(new Error('nobody waits'));
    yield* mebibytes(1);
  })();
  await expect(made(stopped, { signal: stop.signal })).rejects.toThrow('nobody waits');
  expect(await downloads.get(repositoryId, name)).toBeUndefined();
  expect((await blobs.list(prefix)).keys).toHaveLength(before);

  // Two at once: one copy stays, both callers get it.
  const [one, other] = await Promise.all([made(mebibytes(40)), made(mebibytes(40))]);
  expect(one).toEqual(other);
  expect(await downloads.get(repositoryId, name)).toEqual(one);
  const { key } = one as { readonly key: string };
  expect((await blobs.head(key))?.size).toBe(40 * 1024 ** 2);
  expect(await downloads.sweep(new Date(Date.now() - 3_600_000))).toBe(0);

  await service.call('DELETE', `/projects/${pushed.id}`, { token: world.tokens.owner! });
  await expect.poll(async () => (await blobs.list(prefix)).keys, { interval: 200 }).toEqual([]);
});
