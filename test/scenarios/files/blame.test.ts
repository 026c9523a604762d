import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { codeReads, seedCode } from '../repository/code-audience.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, world } = ownWorld();
let pushed: Pushed;
beforeAll(async () => {
  await seedCode(world);
  const owner = { username: 'owner', token: world.tokens.owner! };
  pushed = await pushedProject(service, owner, 'history', (git) => {
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`);
    let stream = '';
    for (let n = 1; n <= 12; n++) {
      lines.splice((n * 7) % lines.length, n % 3, `of ${n}`, `also of ${n}`);
      const path = n < 6 ? 'old.txt' : 'dir/new name.txt';
      const text = `${lines.join('\n')}\n`;
      stream += `commit refs/heads/main\nmark :${n}\nauthor Ann <ann@example.com> ${1e9 + n} +0200\n`;
      stream += `committer Bob <bob@example.com> ${1e9 + 60 * n} -0130\ndata 9\nchange ${n % 10}\n\n`;
      stream += `${n === 1 ? '' : `from :${n - 1}\n`}${n === 6 ? 'D old.txt\n' : ''}`;
      stream += `M 100644 inline ${JSON.stringify(path)}\ndata ${text.length}\n${text}\n\n`;
    }
    const more = ['empty', '', 'latin', 'caf\xe9\r\n\xff', 'utf8', 'caf\xc3\xa9'];
    stream += `commit refs/heads/more\ncommitter C <c@example.com> 1700000000 +0000\ndata 1\nm\n`;
    for (let i = 0; i < more.length; i += 2) {
      stream += `M 100644 inline ${more[i]}\ndata ${more[i + 1]!.length}\n${more[i + 1]}\n`;
    }
    git.feed(`${stream}\n`, 'fast-import', '--quiet');
  });
});
afterAll(() => {
  pushed.git[Symbol.dispose]();
});

interface Range {
  commit: { id: string };
  lines: string[];
}
const at = (path: string) => `${pushed.repository}/files/${encodeURIComponent(path)}/blame`;
const get = (path: string, query: string) => service.call('GET', `${at(path)}${query}`);
const flat = (ranges: Range[]) =>
  ranges.flatMap(({ commit, lines }) => lines.map((line) => [commit.id, line] as const));

/** Commit and text of each line, by git. */
function blamed(path: string, ...options: string[]): (readonly [string, string])[] {
  const found: [string, string][] = [];
  let commit = '';
  for (const line of pushed.git.lines('blame', '--porcelain', ...options, 'main', '--', path)) {
    commit = /^([0-9a-f]{40}) \d+ \d+/.exec(line)?.[1] ?? commit;
    if (line.startsWith('\t')) found.push([commit, line.slice(1)]);
  }
  return found;
}

describe('permission to read blame', () =>
  scenarios(
    () => world,
    [
      ...codeReads('GET', '/repository/files/README.md/blame?ref=main', { files: true }),
      ...codeReads('HEAD', '/repository/files/src%2Fdeep%2Fword%2Etxt/blame?ref=v1', { files: true }),
    ],
  ));

test('blame has the line ranges that git blame has, across a rename', async () => {
  const { status, body } = await get('dir/new name.txt', '?ref=main');
  expect(status).toBe(200);
  expect(flat(body)).toEqual(blamed('dir/new name.txt'));
  expect(new Set(flat(body).map(([commit]) => commit)).size).toBeGreaterThan(6);
  // A range is as long as it can be.
  for (let i = 1; i < body.length; i++) expect(body[i].commit.id).not.toBe(body[i - 1].commit.id);
});

test('a blame range names its commit', async () => {
  const { body } = await get('dir/new name.txt', '?ref=main');
  const id = pushed.git.oid('main');
  const range = body.find(({ commit }: Range) => commit.id === id);
  expect(range).toEqual({
    commit: {
      id,
      parent_ids: [pushed.git.oid('main~1')],
      message: 'change 2\n',
      authored_date: '2001-09-09T03:46:52.000+02:00',
      author_name: 'Ann',
      author_email: 'ann@example.com',
      committed_date: '2001-09-09T00:28:40.000-01:30',
      committer_name: 'Bob',
      committer_email: 'bob@example.com',
    },
    lines: expect.arrayContaining(['also of 12']),
  });
});

test('blame can be asked for at a tag, an earlier commit and an id', async () => {
  const id = pushed.git.oid('main~8');
  const { body } = await get('old.txt', `?ref=${id}`);
  expect((await get('old.txt', '?ref=main~8')).body).toEqual(body);
  const expected = pushed.git
    .lines('blame', '--porcelain', id, '--', 'old.txt')
    .flatMap((line) => /^([0-9a-f]{40}) \d+ \d+/.exec(line)?.[1] ?? []);
  expect(flat(body).map(([commit]) => commit)).toEqual(expected);
});

test('HEAD of blame has the headers of the file and no body', async () => {
  const file = await service.call('HEAD', `${at('dir/new name.txt').replace(/\/blame$/, '')}?ref=main`);
  const facts = [...file.headers].filter(([name]) => /^x-(lemnos|gitlab)-/.test(name));
  expect(facts).toHaveLength(18);
  const got = await get('dir/new name.txt', '?ref=main');
  const head = await service.call('HEAD', `${at('dir/new name.txt')}?ref=main`);
  expect(head.status).toBe(200);
  expect(head.body).toBeNull();
  for (const [name, value] of facts) {
    expect([name, got.headers.get(name), head.headers.get(name)]).toEqual([name, value, value]);
  }
});

test('blame can be restricted to a range of lines', async () => {
  const path = 'dir/new name.txt';
  const some = await get(path, '?ref=main&range[start]=5&range[end]=17');
  expect(flat(some.body)).toEqual(blamed(path, '-L', '5,17'));
  const all = flat((await get(path, '?ref=main')).body);
  expect(flat((await get(path, '?ref=main&range[start]=40&range[end]=9999')).body)).toEqual(all.slice(39));
  expect((await get(path, '?ref=main&range[start]=9000&range[end]=9999')).body).toEqual([]);
  expect(flat((await get(path, '?ref=main&range[start]=1&range[end]=1')).body)).toEqual(all.slice(0, 1));
});

test('blame works on empty files and on invalid UTF-8', async () => {
  expect((await get('empty', '?ref=more')).body).toEqual([]);
  expect((await get('latin', '?ref=more')).body[0].lines).toEqual(['café\r', 'ÿ']);
  expect((await get('utf8', '?ref=more')).body[0].lines).toEqual(['café']);
});

test.each([
  ['old.txt', '', 400, { error: 'ref is missing' }],
  ['old.txt', '?ref=nope', 404, { message: '404 Commit Not Found' }],
  ['old.txt', '?ref=main', 404, { message: '404 File Not Found' }],
  ['dir', '?ref=main', 404, { message: '404 File Not Found' }],
  ['../x', '?ref=main', 400, { error: 'file_path should be a valid file path' }],
  ['utf8', '?ref=more&range[start]=1', 400, { error: 'range[end] is missing' }],
  ['utf8', '?ref=more&range[end]=1', 400, { error: 'range[start] is missing' }],
  ['utf8', '?ref=more&range=1', 400, { error: 'range is invalid' }],
  ['utf8', '?ref=more&range[start]=a&range[end]=2', 400, { error: 'range[start] is invalid' }],
  [
    'utf8',
    '?ref=more&range[start]=0&range[end]=2',
    400,
    { error: 'range[start] does not have a valid value' },
  ],
  [
    'utf8',
    '?ref=more&range[start]=3&range[end]=2',
    400,
    { message: 'range[start] must be less than or equal to range[end]' },
  ],
])('blame %s%s is answered with %i', async (path, query, status, body) => {
  const answer = await get(path, query);
  expect([answer.status, answer.body]).toEqual([status, body]);
});
