import { createHash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import type { Who, World } from '../../harness/world.ts';
import { codeReads, codeWrites, seedCode } from '../repository/code-audience.ts';

const { as, service, world } = ownWorld();
beforeAll(async () => {
  await seedCode(world);
});

const files = (path: string, project = 'public') =>
  `/projects/${world.ids[project]}/repository/files/${encodeURIComponent(path)}`;
const head = async (project = 'public', branch = 'main') =>
  (await as('owner', 'GET', `/projects/${world.ids[project]}/repository/branches/${branch}`)).body.commit.id;

describe('permission to read files', () => {
  scenarios(
    () => world,
    [
      ...codeReads('GET', '/repository/files/src%2Fdeep%2Fword.txt?ref=main', { files: true }),
      ...codeReads('HEAD', '/repository/files/src%2Fdeep%2Fword.txt?ref=main', { files: true }),
      ...codeReads('GET', '/repository/files/README%2Emd/raw', { files: true }),
      ...codeReads('HEAD', '/repository/files/README.md/raw?ref=v2', { files: true }),
    ],
  );
});

describe('permission to write files', () => {
  // Not the default branch, whose protection is a story of its own.
  const body = { branch: 'feature/x', commit_message: 'm', content: 'x' };
  const own = (_: World, who: Who) => `/repository/files/of-${who}.txt`;
  scenarios(
    () => world,
    [
      ...codeWrites('POST', own, body, { status: 201 }),
      ...codeWrites('PUT', own, { ...body, content: 'y' }, { status: 200 }),
      ...codeWrites('DELETE', own, { branch: 'feature/x', commit_message: 'm' }, { status: 204 }),
    ],
  );
});

test('file metadata is the same in the body and in the headers', async () => {
  const path = files('src/deep/word.txt');
  const content = Buffer.from('public\n');
  const { status, body, headers } = await as('anonymous', 'GET', `${path}?ref=main`);
  expect(status).toBe(200);
  const first = (await as('owner', 'GET', `/projects/${world.ids['public']}/repository/commits/v1`)).body.id;
  expect(body).toEqual({
    file_name: 'word.txt',
    file_path: 'src/deep/word.txt',
    size: 7,
    encoding: 'base64',
    content_sha256: createHash('sha256').update(content).digest('hex'),
    ref: 'main',
    blob_id: createHash('sha1').update('blob 7\0').update(content).digest('hex'),
    commit_id: await head(),
    last_commit_id: first,
    content: content.toString('base64'),
  });
  const facts = Object.entries(body).filter(([name]) => name !== 'content');
  const asked = await as('anonymous', 'HEAD', `${path}?ref=main`);
  expect(asked.body).toBeNull();
  for (const [name, value] of facts) {
    for (const brand of ['Lemnos', 'Gitlab']) {
      const header = `x-${brand}-${name.replaceAll('_', '-')}`;
      expect([header, headers.get(header), asked.headers.get(header)]).toEqual([
        header,
        `${value}`,
        `${value}`,
      ]);
    }
  }
  expect(headers.get('x-gitlab-content')).toBeNull();
});

test('a raw file has its content and headers, from the default branch if no ref is given', async () => {
  const raw = await as('anonymous', 'GET', `${files('README.md')}/raw`);
  expect(raw.body).toBe('# public\n');
  expect(raw.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(raw.headers.get('content-disposition')).toBe(
    `inline; filename="README.md"; filename*=UTF-8''README.md`,
  );
  expect(raw.headers.get('cache-control')).toContain('no-store');
  expect(raw.headers.get('x-gitlab-last-commit-id')).toMatch(/^[0-9a-f]{40}$/);
  const asked = await as('anonymous', 'HEAD', `${files('README.md')}/raw`);
  expect([asked.status, asked.body, asked.headers.get('x-gitlab-size')]).toEqual([200, null, '9']);
});

test('absent projects, refs and files are 404 with a text for each', async () => {
  const table = [
    [`${files('README.md')}?ref=nope`, 404, { message: '404 Commit Not Found' }],
    [`${files('README.md')}?ref=`, 404, { message: '404 Commit Not Found' }],
    [`${files('nope')}?ref=main`, 404, { message: '404 File Not Found' }],
    [`${files('src')}?ref=main`, 404, { message: '404 File Not Found' }],
    [`${files('src/deep/')}?ref=main`, 404, { message: '404 File Not Found' }],
    [`${files('README.md/x')}?ref=main`, 404, { message: '404 File Not Found' }],
    [`${files('nope')}/raw?ref=main`, 404, { message: '404 File Not Found' }],
    [`${files('README.md')}/raw?ref=nope`, 404, { message: '404 Commit Not Found' }],
    [files('README.md'), 400, { error: 'ref is missing' }],
    [`${files('/README.md')}?ref=main`, 400, { error: 'file_path should be a valid file path' }],
    [`${files('src/../README.md')}?ref=main`, 400, { error: 'file_path should be a valid file path' }],
    [
      `/projects/${world.ids['public']}/repository/files/src/deep/word.txt?ref=main`,
      404,
      { error: '404 Not Found' },
    ],
  ] as const;
  for (const [path, status, body] of table) {
    const answer = await as('owner', 'GET', path);
    expect([path, answer.status, answer.body]).toEqual([path, status, body]);
    expect((await as('owner', 'HEAD', path)).status).toBe(status);
  }
});

test('the ref of a file may be a branch, a tag, an id, a short id or HEAD, and is returned as given', async () => {
  const id = await head();
  for (const ref of [
    'main',
    'v1',
    'v2',
    'feature/x',
    id,
    id.slice(0, 10),
    'HEAD',
    'refs/heads/main',
    'main~0',
  ]) {
    const { status, body } = await as('owner', 'GET', `${files('README.md')}?ref=${encodeURIComponent(ref)}`);
    expect([ref, status, body.ref]).toEqual([ref, 200, ref]);
  }
});

describe('an invalid write of a file is refused with a reason and changes nothing', () => {
  const good = { branch: 'main', commit_message: 'm', content: 'x' };
  const stale = '0'.repeat(40);
  const without = (name: keyof typeof good) =>
    Object.fromEntries(Object.entries(good).filter(([key]) => key !== name));
  const table: [method: string, path: string, json: unknown, body: unknown][] = [
    ['POST', 'new', without('branch'), { error: 'branch is missing, branch is empty' }],
    ['POST', 'new', { ...good, branch: '' }, { error: 'branch is empty' }],
    ['POST', 'new', without('commit_message'), { error: 'commit_message is missing' }],
    ['POST', 'new', without('content'), { error: 'content is missing' }],
    [
      'POST',
      'new',
      {},
      { error: 'branch is missing, branch is empty, commit_message is missing, content is missing' },
    ],
    ['POST', 'new', { ...good, encoding: 'hex' }, { error: 'encoding does not have a valid value' }],
    ['POST', 'new', { ...good, commit_message: ' \n' }, { message: 'You must provide a commit message' }],
    ['POST', 'README.md', good, { message: 'A file with this name already exists' }],
    ['POST', 'src/deep', good, { message: 'A directory with this name already exists' }],
    ['POST', 'README.md/below', good, { message: 'A file with this name already exists' }],
    ['POST', 'a/../b', good, { error: 'file_path should be a valid file path' }],
    ['POST', '/abs', good, { error: 'file_path should be a valid file path' }],
    ['POST', 'a/./b', good, { message: 'Path cannot include directory traversal' }],
    ['POST', 'a//b', good, { message: "invalid path: 'a//b'" }],
    ['POST', '.git/config', good, { message: "invalid path: '.git/config'" }],
    [
      'POST',
      'new',
      { ...good, branch: 'nope' },
      { message: 'You can only create or edit files when you are on a branch' },
    ],
    [
      'POST',
      'new',
      { ...good, branch: 'a..b' },
      { message: 'You can only create or edit files when you are on a branch' },
    ],
    [
      'POST',
      'new',
      { ...good, branch: 'fresh', start_branch: 'nope' },
      { message: 'You can only create or edit files when you are on a branch' },
    ],
    [
      'POST',
      'new',
      { ...good, branch: 'feature/x', start_branch: 'main' },
      {
        message: "A branch called 'feature/x' already exists. Switch to that branch in order to make changes",
      },
    ],
    [
      'POST',
      'new',
      { ...good, branch: 'main/below', start_branch: 'main' },
      { message: 'Could not update refs/heads/main/below. Please refresh and try again.' },
    ],
    [
      'POST',
      'new',
      { ...good, content: '%%%', encoding: 'base64' },
      { message: 'content is not valid Base64' },
    ],
    [
      'POST',
      'new',
      { ...good, author_email: 'a@b\nauthor evil <e@e>' },
      { message: 'author_email is invalid' },
    ],
    ['POST', 'new', { ...good, author_name: 'a\nb' }, { message: 'author_name is invalid' }],
    ['PUT', 'nope', good, { message: "A file with this name doesn't exist" }],
    ['PUT', 'src', good, { message: "A file with this name doesn't exist" }],
    ['PUT', 'README.md', { ...good, content: '# public\n' }, { message: 'The commit would change nothing' }],
    [
      'PUT',
      'README.md',
      { ...good, last_commit_id: stale },
      { message: 'You are attempting to update a file that has changed since you started editing it.' },
    ],
    ['PUT', 'README.md', without('content'), { error: 'content is missing' }],
    ['DELETE', 'nope', without('content'), { message: "A file with this name doesn't exist" }],
    ['DELETE', 'src/deep', without('content'), { message: "A file with this name doesn't exist" }],
    [
      'DELETE',
      'README.md',
      { ...without('content'), last_commit_id: stale },
      { message: 'You are attempting to delete a file that has been previously updated.' },
    ],
    ['DELETE', 'README.md', { branch: 'main' }, { error: 'commit_message is missing' }],
  ];
  test.each(table)('%s %s %j', async (method, path, json, body) => {
    const before = await as('owner', 'GET', `/projects/${world.ids['public']}/repository/branches`);
    const answer = await as('maintainer', method, files(path), json);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 400, body });
    const after = await as('owner', 'GET', `/projects/${world.ids['public']}/repository/branches`);
    expect(after.body).toEqual(before.body);
  });
});

test('a file write returns the path and branch, and makes one commit by the caller', async () => {
  const made = await as('maintainer', 'POST', files('story/one.txt'), {
    branch: 'main',
    commit_message: 'Tell one',
    content: 'one',
    author_name: 'Ada L',
    author_email: 'ada@example.com',
    execute_filemode: true,
  });
  expect([made.status, made.body]).toEqual([201, { file_path: 'story/one.txt', branch: 'main' }]);
  const commit = (await as('owner', 'GET', `/projects/${world.ids['public']}/repository/commits/main`)).body;
  expect(commit).toMatchObject({
    message: 'Tell one',
    author_name: 'Ada L',
    author_email: 'ada@example.com',
    committer_name: 'maintainer',
    committer_email: 'maintainer@example.com',
    stats: { additions: 1, deletions: 0, total: 1 },
  });
  const updated = await as('maintainer', 'PUT', files('story/one.txt'), {
    branch: 'story',
    start_branch: 'main',
    commit_message: 'Tell more',
    content: 'two\n',
    last_commit_id: commit.id,
  });
  expect([updated.status, updated.body]).toEqual([200, { file_path: 'story/one.txt', branch: 'story' }]);
  const tree = await as(
    'owner',
    'GET',
    `/projects/${world.ids['public']}/repository/tree?path=story&ref=story`,
  );
  expect(tree.body[0].mode).toBe('100755');
  expect((await as('owner', 'GET', `${files('story/one.txt')}/raw`)).body).toBe('one');
  const read = (await as('owner', 'GET', `${files('story/one.txt')}?ref=story`)).body;
  const gone = await as(
    'maintainer',
    'DELETE',
    `${files('story/one.txt')}?branch=story&commit_message=end&last_commit_id=${read.last_commit_id}`,
  );
  expect([gone.status, gone.body]).toEqual([204, null]);
  // A directory goes with its last file.
  expect(
    (await as('owner', 'GET', `/projects/${world.ids['public']}/repository/tree?path=story&ref=story`))
      .status,
  ).toBe(404);
});

test.each([
  ['empty', Buffer.alloc(0)],
  ['binary', Buffer.from(Array.from({ length: 512 }, (_, i) => i & 255))],
  ['CRLF', Buffer.from('a\r\nb\r\n')],
  ['not UTF-8', Buffer.from([0xff, 0xfe, 0x41, 0x00, 0xc3])],
  ['five megabytes', Buffer.alloc(5 * 1024 * 1024, 'Lemnos\0\xff\n', 'latin1')],
])('content is returned byte for byte: %s', async (name, content) => {
  const path = files(`bytes/${name}`);
  const made = await as('maintainer', 'POST', path, {
    branch: 'main',
    commit_message: name,
    content: content.toString('base64'),
    encoding: 'base64',
  });
  expect([made.status, made.body]).toEqual([201, { file_path: `bytes/${name}`, branch: 'main' }]);
  const read = (await as('owner', 'GET', `${path}?ref=main`)).body;
  expect(Buffer.from(read.content, 'base64').equals(content)).toBe(true);
  expect(read.size).toBe(content.length);
  const raw = await fetch(`${service.url}/api/v4${path}/raw`);
  expect(Buffer.from(await raw.arrayBuffer()).equals(content)).toBe(true);
  const blob = await fetch(
    `${service.url}/api/v4/projects/${world.ids['public']}/repository/blobs/${read.blob_id}/raw`,
  );
  expect(Buffer.from(await blob.arrayBuffer()).equals(content)).toBe(true);
});

test.each([
  ['whole', 1000],
  ['in pieces', 4 * 2 ** 20 + 1],
  ['in pieces that end with a file', 3 * 2 ** 20],
])('content within JSON, sent %s, is asked for again by its entity tag', async (name, size) => {
  const content = randomBytes(size);
  const path = files(`tags/${name}`);
  const change = { branch: 'main', commit_message: name, encoding: 'base64' };
  await as('maintainer', 'POST', path, { ...change, content: content.toString('base64') });
  const { body: first, headers } = await as('owner', 'GET', `${path}?ref=main`);
  expect(first).toMatchObject({
    size,
    content: content.toString('base64'),
    content_sha256: createHash('sha256').update(content).digest('hex'),
  });
  const blob = `/projects/${world.ids['public']}/repository/blobs/${first.blob_id}`;
  const { body, headers: ofBlob } = await as('owner', 'GET', blob);
  expect(body).toEqual({ size, encoding: 'base64', sha: first.blob_id, content: content.toString('base64') });
  const again = (asked: string, etag: string) =>
    service.call('GET', asked, { token: world.tokens.owner!, headers: { 'If-None-Match': etag } });
  expect((await again(`${path}?ref=main`, headers.get('etag')!)).status).toBe(304);
  expect((await again(blob, ofBlob.get('etag')!)).status).toBe(304);
  // One byte differs.
  content[size - 1]! ^= 1;
  await as('maintainer', 'PUT', path, { ...change, content: content.toString('base64') });
  const changed = await again(`${path}?ref=main`, headers.get('etag')!);
  expect([changed.status, changed.body.content === content.toString('base64')]).toEqual([200, true]);
});

test('file content is stored as sent, in JSON and in a form; Base64 may have line breaks', async () => {
  const text = 'ünï\r\n😀\u0001\n';
  await as('maintainer', 'POST', files('text.json'), { branch: 'main', commit_message: 'm', content: text });
  const form = `branch=main&commit_message=m&content=${encodeURIComponent(text)}`;
  const token = world.tokens.maintainer!;
  expect((await service.call('POST', files('text.form'), { token, form })).status).toBe(201);
  const folded = Buffer.from(text)
    .toString('base64')
    .replace(/(.{4})/g, '$1\r\n');
  await as('maintainer', 'POST', files('text.folded'), {
    branch: 'main',
    commit_message: 'm',
    content: folded,
    encoding: 'base64',
  });
  for (const name of ['text.json', 'text.form', 'text.folded']) {
    const raw = await fetch(`${service.url}/api/v4${files(name)}/raw`);
    expect([name, Buffer.from(await raw.arrayBuffer()).toString()]).toEqual([name, text]);
  }
});

test('paths, headers and branches may hold letters of every script', async () => {
  for (const path of [
    'ü/😀 ö.txt',
    'a+b & c%20d.txt',
    'quote\'"s.txt',
    'dots...',
    '-dash',
    '~tilde^',
    'back\\slash',
    'x'.repeat(255),
  ]) {
    const made = await as('maintainer', 'POST', files(path), {
      branch: 'main',
      commit_message: path,
      content: path,
    });
    expect([path, made.status, made.body]).toEqual([path, 201, { file_path: path, branch: 'main' }]);
    const read = await as('owner', 'GET', `${files(path)}?ref=main`);
    expect([read.status, read.body.file_path]).toEqual([200, path]);
    expect(
      decodeURIComponent(read.headers.get('x-gitlab-file-path')!.replace(/%(?![0-9A-F]{2})/g, '%25')),
    ).toBe(path);
    expect((await as('owner', 'GET', `${files(path)}/raw`)).body).toBe(path);
  }
});

test('deleting a file respects If-Unmodified-Since', async () => {
  const path = files('timed.txt');
  const json = { branch: 'main', commit_message: 'm' };
  await as('maintainer', 'POST', path, { ...json, content: 'x' });
  const token = world.tokens.maintainer!;
  const at = (time: number) => ({ 'If-Unmodified-Since': new Date(time).toUTCString() });
  const refused = await service.call('DELETE', path, { token, json, headers: at(Date.now() - 60_000) });
  expect([refused.status, refused.body]).toEqual([412, { message: '412 Precondition Failed' }]);
  expect((await service.call('DELETE', path, { token, json, headers: at(Date.now() + 60_000) })).status).toBe(
    204,
  );
});

test('the first file of an empty repository creates the default branch', async () => {
  const made = await as('owner', 'POST', '/projects', { name: 'empty thing' });
  world.ids['empty'] = made.body.id;
  expect((await as('owner', 'GET', `${files('a', 'empty')}?ref=main`)).body).toEqual({
    message: '404 Commit Not Found',
  });
  expect((await as('owner', 'GET', `${files('a', 'empty')}/raw`)).body).toEqual({
    message: '404 Commit Not Found',
  });
  const first = await as('owner', 'POST', files('a', 'empty'), {
    branch: 'trunk',
    commit_message: 'm',
    content: 'x',
  });
  expect(first.status).toBe(201);
  expect((await as('owner', 'GET', `/projects/${made.body.id}`)).body).toMatchObject({
    default_branch: 'trunk',
    empty_repo: false,
  });
  expect((await as('owner', 'GET', `${files('a', 'empty')}/raw`)).body).toBe('x');
});
