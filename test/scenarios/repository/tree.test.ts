import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import type { Answer } from '../../harness/service.ts';
import { ask, type Who } from '../../harness/world.ts';
import { codeReads, SECRET, seedCode } from './code-audience.ts';

const git = new GitCli();
const { service, world } = ownWorld();
let clone: string;
let forest: string;
let blobs: Record<string, string>;
beforeAll(async () => {
  await seedCode(world);
  blobs = Object.fromEntries(
    await Promise.all(
      ['public', 'internal', 'private'].map(async (name) => {
        const path = `/projects/${world.ids[name]}/repository/files/src%2Fdeep%2Fword.txt?ref=main`;
        return [name, (await ask(world, 'owner', 'GET', path)).body.blob_id] as const;
      }),
    ),
  );
  const made = await ask(world, 'owner', 'POST', '/projects', { name: 'forest', visibility: 'public' });
  world.ids['forest'] = made.body.id;
  forest = `/projects/${made.body.id}/repository`;
  clone = git.path('forest');
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', 'forest');
  const file = (path: string, text: string, mode = '100644') =>
    `M ${mode} inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}`;
  const many = Array.from({ length: 45 }, (_, index) => file(`many/f${index}`, `${index % 3}`));
  const stream = [
    'commit refs/heads/main',
    'committer C <c@e> 1700000000 +0000',
    'data 1\nm',
    ...many,
    file('a.txt', 'a'),
    file('a/b', 'b'),
    file('a-', 'c'),
    file('run.sh', '#!', '100755'),
    file('link', 'a.txt', '120000'),
    file('dir/sub/deep/x', 'x'),
    file('dir/sub/y', 'y'),
    file('"\\303\\274/\\360\\237\\230\\200"', 'unicode'),
    file('"latin\\344"', 'not UTF-8'),
    'M 160000 0123456789012345678901234567890123456789 module',
    '',
  ];
  const run = await git.run(['fast-import', '--quiet'], { cwd: clone, input: stream.join('\n') });
  if (run.code !== 0) throw new Error(run.stderr);
  await git.ok(clone, 'push', '--quiet', withToken(service.url, 'owner/forest', world.tokens.owner), 'main');
});
afterAll(() => {
  git[Symbol.dispose]();
});

const get = (path: string, who: Who = 'anonymous') => ask(world, who, 'GET', path);

describe('permission to read trees and blobs', () => {
  scenarios(
    () => world,
    [
      ...codeReads('GET', '/repository/tree'),
      ...codeReads('GET', '/repository/tree?recursive=true&pagination=keyset'),
      ...codeReads('HEAD', '/repository/tree?path=src'),
    ],
  );
  for (const rest of ['', '/raw']) {
    for (const visibility of ['public', 'internal', 'private']) {
      const expected = {
        anonymous: 404,
        stranger: 404,
        guest: 403,
        reporter: 200,
        administrator: 200,
      } as const;
      const open = {
        public: { anonymous: 200, stranger: 200, guest: 200 },
        internal: { stranger: 200, guest: 200 },
        private: {},
      };
      const as = { ...expected, ...open[visibility as 'public'] };
      test.each(Object.entries(as))(`blob${rest} of ${visibility}, %s: %i`, async (who, status) => {
        const path = `/projects/${world.ids[visibility]}/repository/blobs/${blobs[visibility]}${rest}`;
        const answer = await get(path, who as Who);
        expect(answer.status).toBe(status);
        if (status !== 200) expect(JSON.stringify(answer.body)).not.toContain(SECRET);
      });
    }
  }

  test("a private project's blob is not found through another project", async () => {
    for (const rest of ['', '/raw']) {
      const answer = await get(
        `/projects/${world.ids['public']}/repository/blobs/${blobs['private']}${rest}`,
        'owner',
      );
      expect([answer.status, answer.body]).toEqual([404, { message: '404 Blob Not Found' }]);
    }
  });
});

type Row = { id: string; name: string; type: string; path: string; mode: string };
const line = (row: Row) => `${row.mode} ${row.type} ${row.id}\t${row.path}`;
const lsTree = async (...args: string[]) => {
  const run = await git.run(['ls-tree', '-z', ...args], { cwd: clone });
  expect(run.code).toBe(0);
  // For a byte that is no UTF-8 a character stands.
  const text = run.stdout
    .toString('latin1')
    .split('\0')
    .filter((row) => row !== '');
  return text.map((row) =>
    row.includes('latin') ? row.replace('\xe4', '\u{10fee4}') : Buffer.from(row, 'latin1').toString(),
  );
};
const shown = (rows: Row[]) => rows.map(line).toSorted();

test('a tree lists directories, then files, then submodules, as git ls-tree has them', async () => {
  const { status, body, headers } = await get(`${forest}/tree?per_page=100`);
  expect(status).toBe(200);
  expect(shown(body)).toEqual((await lsTree('main')).toSorted());
  expect(body.map((row: Row) => row.name)).toEqual([
    'a',
    'dir',
    'many',
    'ü',
    'a-',
    'a.txt',
    'latin\u{10fee4}',
    'link',
    'run.sh',
    'module',
  ]);
  expect(Object.keys(body[0])).toEqual(['id', 'name', 'type', 'path', 'mode']);
  expect(headers.get('x-total')).toBe('10');
  expect(body.find((row: Row) => row.name === 'module')).toMatchObject({ type: 'commit', mode: '160000' });
  expect(body.find((row: Row) => row.name === 'dir')).toMatchObject({ type: 'tree', mode: '040000' });
});

test('a recursive tree has the order of git ls-tree -r -t', async () => {
  for (const value of ['true', '1']) {
    const { body } = await get(`${forest}/tree?recursive=${value}&per_page=100`);
    expect(body.map(line)).toEqual(await lsTree('-r', '-t', 'main'));
  }
  const { body } = await get(`${forest}/tree?recursive=true&path=dir`);
  expect(body.map(line)).toEqual((await lsTree('-r', '-t', 'main', 'dir/')).slice(1));
});

test.each(['dir', 'dir/', '/dir', 'dir/sub', encodeURIComponent('ü')])(
  'the tree of the same directory is found by path=%s',
  async (path) => {
    const { status, body } = await get(`${forest}/tree?path=${path}`);
    const plain = decodeURIComponent(path).replace(/^\/|\/$/g, '');
    expect([status, shown(body)]).toEqual([200, (await lsTree('main', `${plain}/`)).toSorted()]);
  },
);

test.each(['main', 'HEAD', 'refs/heads/main', 'main^{commit}', '@'])(
  'the tree of the default branch is found by ref=%s',
  async (ref) => {
    const { status, body } = await get(`${forest}/tree?ref=${encodeURIComponent(ref)}&per_page=100`);
    expect([status, body.length]).toEqual([200, 10]);
  },
);

test('the tree of an absent path or ref is refused', async () => {
  const table = [
    ['?ref=nope', '404 Tree Not Found'],
    ['?ref=', '404 Tree Not Found'],
    [`?ref=${'0'.repeat(40)}`, '404 Tree Not Found'],
    ['?ref=nope&path=dir', '404 Tree Not Found'],
    ['?path=nope', '404 invalid revision or path Not Found'],
    ['?path=a.txt', '404 invalid revision or path Not Found'],
    ['?path=dir/../a', '404 invalid revision or path Not Found'],
    ['?path=dir//sub', '404 invalid revision or path Not Found'],
    ['?path=module', '404 invalid revision or path Not Found'],
    ['?path=link', '404 invalid revision or path Not Found'],
    [`?path=${'x/'.repeat(3000)}`, '404 invalid revision or path Not Found'],
  ];
  for (const [query, message] of table) {
    const answer = await get(`${forest}/tree${query}`);
    expect([query, answer.status, answer.body]).toEqual([query, 404, { message }]);
  }
  const empty = await ask(world, 'owner', 'POST', '/projects', { name: 'empty', visibility: 'public' });
  const answer = await get(`/projects/${empty.body.id}/repository/tree`);
  expect([answer.status, answer.body]).toEqual([404, { message: '404 Tree Not Found' }]);
});

async function pages(path: string): Promise<{ rows: Row[]; answers: Answer[] }> {
  const rows: Row[] = [];
  const answers: Answer[] = [];
  for (let url: string | undefined = path; url !== undefined && answers.length < 60; ) {
    const answer: Answer = await get(url);
    expect(answer.status).toBe(200);
    answers.push(answer);
    rows.push(...answer.body);
    const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1];
    url = next?.slice(`${service.url}/api/v4`.length);
  }
  return { rows, answers };
}

test.each(['', '&recursive=true', '&path=many', '&path=many&recursive=true'])(
  'tree pages by number and by token join into the whole: %s',
  async (query) => {
    const { body: whole } = await get(`${forest}/tree?per_page=100${query}`);
    const offset = await pages(`${forest}/tree?per_page=7${query}`);
    expect(offset.rows).toEqual(whole);
    expect(offset.answers[0]!.headers.get('x-total')).toBe(`${whole.length}`);
    expect(offset.answers[0]!.headers.get('x-total-pages')).toBe(`${Math.ceil(whole.length / 7)}`);
    const keyset = await pages(`${forest}/tree?pagination=keyset&per_page=7${query}`);
    expect(keyset.rows).toEqual(whole);
    expect(keyset.answers[0]!.headers.get('x-total')).toBeNull();
    expect(keyset.answers[0]!.headers.get('link')).toContain('page_token=');
    expect(keyset.answers.at(-1)!.headers.get('link')).toBeNull();
  },
);

test('a tree page token is the id of the last entry where that is unambiguous; others are refused', async () => {
  const { body } = await get(`${forest}/tree?per_page=100`);
  const { body: after } = await get(`${forest}/tree?pagination=keyset&per_page=2&page_token=${body[3].id}`);
  expect(after).toEqual(body.slice(4, 6));
  for (const token of ['x', '0'.repeat(40), `${body[0].id}.%%%`, `${body[0].id}.AAAA`]) {
    const answer = await get(`${forest}/tree?pagination=keyset&page_token=${encodeURIComponent(token)}`);
    expect([token, answer.status, answer.body]).toEqual([
      token,
      400,
      { message: '400 Bad request - page_token is invalid' },
    ]);
  }
});

test('invalid parameters of trees are refused', async () => {
  for (const [query, error] of [
    ['recursive=x', 'recursive is invalid'],
    ['pagination=other', 'pagination does not have a valid value'],
    ['per_page=0', 'per_page has a value not allowed'],
    ['page=x', 'page is invalid'],
    ['path=%00', 'parameters may not contain NUL'],
  ]) {
    const answer = await get(`${forest}/tree?${query}`);
    expect([query, answer.status, answer.body]).toEqual([query, 400, { error }]);
  }
});

describe('a blob', () => {
  test('has exactly size, encoding, content and sha, or its raw bytes', async () => {
    const id = await git.ok(clone, 'rev-parse', 'main:many/f1');
    const answer = await get(`${forest}/blobs/${id}`);
    expect([answer.status, answer.body]).toEqual([
      200,
      { size: 1, encoding: 'base64', content: 'MQ==', sha: id },
    ]);
    const raw = await get(`${forest}/blobs/${id.toUpperCase()}/raw`);
    expect([raw.status, raw.body]).toEqual([200, '1']);
    expect(raw.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(raw.headers.get('content-disposition')).toMatch(/^inline; filename=/);
    expect((await ask(world, 'anonymous', 'HEAD', `${forest}/blobs/${id}/raw`)).status).toBe(200);
  });

  test('with the id of another kind of object is 404', async () => {
    const tree = await git.ok(clone, 'rev-parse', 'main^{tree}');
    const commit = await git.ok(clone, 'rev-parse', 'main');
    const short = (await git.ok(clone, 'rev-parse', 'main:a.txt')).slice(0, 12);
    for (const sha of [
      tree,
      commit,
      short,
      'main',
      '0'.repeat(40),
      'f'.repeat(41),
      '..',
      'x'.repeat(3000),
      '%E4',
    ]) {
      for (const rest of ['', '/raw']) {
        const answer = await get(
          `${forest}/blobs/${sha.includes('%') ? 'z' : encodeURIComponent(sha)}${rest}`,
        );
        if (sha === '..') expect(answer.status).toBe(404);
        else expect([sha, answer.status, answer.body]).toEqual([sha, 404, { message: '404 Blob Not Found' }]);
      }
    }
  });
});
