import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAX_NOTE_LENGTH } from '../../../lib/records/notes.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { type Scenario, scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { ask } from '../../harness/world.ts';
import { codeReads, seedCode, VISIBILITIES } from '../repository/code-audience.ts';
import { type Pushed, pushedProject } from '../repository/pushed-project.ts';

const { service, world } = ownWorld();
let story: Pushed;
beforeAll(async () => {
  await seedCode(world);
  story = await pushedProject(service, { username: 'owner', token: world.tokens.owner! }, 'story', (git) => {
    const file = (name: string, text: string) => `M 100644 inline ${name}\ndata ${text.length}\n${text}\n`;
    const lines = (...some: unknown[]) => `${some.join('\n')}\n`;
    const numbers = Array.from({ length: 40 }, (_, i) => i + 1);
    const commit = (n: number, rest: string) =>
      `commit refs/heads/main\ncommitter C <c@example.com> ${1.6e9 + n} +0000\ndata 1\n${n}\n${rest}\n`;
    const changed = numbers.filter((n) => n !== 5).map((n) => (n === 20 ? 'twenty' : n));
    git.feed(
      commit(1, file('a', lines(...numbers)) + file('gone', 'x\ny\n') + file('old', 'same\n'.repeat(9))) +
        commit(2, `${file('a', lines(...changed, 41, '@@ -1 +1 @@'))}D gone\nR old new\n`) +
        commit(3, file('new', `${'same\n'.repeat(9)}end`)),
      'fast-import',
      '--quiet',
    );
    git.git('branch', 'to/two', 'main~1');
  });
});
afterAll(() => {
  story.git[Symbol.dispose]();
});

const comments = (of: string, sha: string) => `/projects/${of}/repository/commits/${sha}/comments`;
const told = ({ body }: { body: { note: string }[] }) => body.map(({ note }) => note);

describe('permission on commit comments', () => {
  const refused = { status: 403, holds: { message: '403 Forbidden' } };
  const members = { reporter: 201, developer: 201, maintainer: 201, owner: 201, administrator: 201 } as const;
  const never = {
    read_user: 403,
    read_api: 403,
    read_repository: 403,
    blocked: 403,
    expired: 401,
    unknown: 401,
  } as const;
  const writers: Record<(typeof VISIBILITIES)[number], Scenario['as']> = {
    public: { anonymous: 401, stranger: 201, external: 201, former: 201, guest: 201, ...members, ...never },
    internal: { anonymous: 401, stranger: 201, external: 404, former: 201, guest: 201, ...members, ...never },
    private: { anonymous: 401, stranger: 404, external: 404, former: 404, guest: 403, ...members, ...never },
  };
  scenarios(
    () => world,
    [
      ...VISIBILITIES.map(
        (visibility): Scenario => ({
          request: `POST ${comments(`{${visibility}}`, 'main')}`,
          json: { note: 'sesame' },
          as: writers[visibility],
          holds: { note: 'sesame', path: null, line: null, line_type: null },
          look: ({ status, body }) => status === 201 && expectSchema('commit_note', body),
        }),
      ),
      {
        request: `POST ${comments('{archived}', 'main')}`,
        json: { note: 'late' },
        as: { stranger: refused, owner: refused, administrator: refused },
      },
      ...codeReads('GET', '/repository/commits/main/comments'),
      {
        request: `GET ${comments('{private}', 'main')}`,
        as: { reporter: 200 },
        look: ({ body }) => expect(body.length).toBe(5),
      },
    ],
  );
});

test('commit comments are listed oldest first, in pages', async () => {
  const path = comments(String(story.id), 'main');
  const authors = ['owner', 'administrator', 'stranger'] as const;
  for (let n = 0; n < 7; n++) {
    const made = await ask(world, authors[n % 3]!, 'POST', path, { note: `n${n}\n` });
    expect([made.status, made.body.author.username]).toEqual([201, n % 3 === 1 ? 'root' : authors[n % 3]]);
  }
  const get = (query: string) => service.call('GET', `${path}${query}`);
  const first = await get('?per_page=3');
  expectSchema('commit_notes', first.body);
  expect(told(first)).toEqual(['n0\n', 'n1\n', 'n2\n']);
  expect([first.headers.get('x-total'), first.headers.get('x-next-page')]).toEqual(['7', '2']);
  const last = await get('?per_page=3&page=3');
  expect([told(last), last.headers.get('x-next-page')]).toEqual([['n6\n'], '']);
  expect(told(await get('?per_page=3&page=9'))).toEqual([]);
  expect(told(await get('?per_page=100'))).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => `n${n}\n`));
  // A commit by another name is the same; another commit has its own.
  const id = story.git.oid('main');
  expect(told(await service.call('GET', comments(String(story.id), id))).length).toBe(7);
  expect(told(await service.call('GET', comments(String(story.id), 'to%2Ftwo')))).toEqual([]);
});

describe('a comment on a line', () => {
  const path = () => comments(String(story.id), 'to%2Ftwo');
  const NOWHERE = [null, null, null];
  test.each<[object, unknown[]]>([
    // Line 5 is deleted, line 20 replaced by what is line 19, two are added at the end.
    [{ path: 'a', line: 5, line_type: 'old' }, ['a', 5, 'old']],
    [{ path: 'a', line: 20, line_type: 'old' }, ['a', 20, 'old']],
    [{ path: 'a', line: 19 }, ['a', 19, 'new']],
    [{ path: 'a', line: 19, line_type: 'new' }, ['a', 19, 'new']],
    [{ path: 'a', line: '40' }, ['a', 40, 'new']],
    [{ path: 'a', line: 41, line_type: 'new' }, ['a', 41, 'new']],
    [{ path: 'gone', line: 2, line_type: 'old' }, ['gone', 2, 'old']],
    [{ path: 'a', line: 6, line_type: 'old' }, NOWHERE],
    [{ path: 'a', line: 5, line_type: 'new' }, NOWHERE],
    [{ path: 'a', line: 42 }, NOWHERE],
    [{ path: 'a', line: 0 }, NOWHERE],
    [{ path: 'a', line: -1 }, NOWHERE],
    [{ path: 'new', line: 1 }, NOWHERE],
    [{ path: 'absent', line: 1 }, NOWHERE],
    [{ path: '', line: 'x' }, []],
    [{ path: ' ' }, NOWHERE],
    [{ line: 5 }, NOWHERE],
  ])('answers with its position: %j', async (place, expected) => {
    const { status, body } = await ask(world, 'owner', 'POST', path(), { note: 'here', ...place });
    if (expected.length === 0) {
      expect([status, body]).toEqual([400, { error: 'line is invalid' }]);
      return;
    }
    expect(status).toBe(201);
    expectSchema('commit_note', body);
    expect([body.path, body.line, body.line_type]).toEqual(expected);
    const listed = await service.call('GET', `${path()}?per_page=100`);
    expect(listed.body.at(-1)).toEqual(body);
  });

  test('works on the first commit and on one that renames a file', async () => {
    const on = (sha: string, json: object) =>
      ask(world, 'owner', 'POST', comments(String(story.id), sha), { note: 'x', ...json });
    expect((await on(story.git.oid('main~2'), { path: 'a', line: 40 })).body.line).toBe(40);
    expect((await on('main', { path: 'new', line: 10 })).body).toMatchObject({ path: 'new', line: 10 });
  });
});

describe('invalid commit comments', () => {
  const long = 'é'.repeat(MAX_NOTE_LENGTH + 1);
  const note = (problem: string) => ({ message: `Failed to save note {:note=>["${problem}"]}` });
  test.each<[string, object, number, object]>([
    ['main', {}, 400, { error: 'note is missing' }],
    ['main', { path: 'a' }, 400, { error: 'note is missing, line is missing' }],
    ['main', { note: 'x', path: 'a' }, 400, { error: 'line is missing' }],
    ['main', { note: 'x', path: 'a', line: 'b' }, 400, { error: 'line is invalid' }],
    [
      'main',
      { note: 'x', path: 'a', line: 1, line_type: 'b' },
      400,
      { error: 'line_type does not have a valid value' },
    ],
    ['main', { note: ' \n' }, 400, note("can't be blank")],
    ['main', { note: long }, 400, note(`is too long (maximum is ${MAX_NOTE_LENGTH} characters)`)],
    ['nope', { note: 'x' }, 404, { message: '404 Commit Not Found' }],
  ])('are refused: %s %#', async (sha, json, status, body) => {
    const path = comments(String(story.id), sha);
    const answer = await ask(world, 'owner', 'POST', path, json);
    expect([answer.status, answer.body]).toEqual([status, body]);
  });

  test('have no list on an absent commit', async () => {
    const { status, body } = await service.call('GET', comments(String(story.id), 'nope'));
    expect([status, body]).toEqual([404, { message: '404 Commit Not Found' }]);
  });

  test('do not include the longest permitted note', async () => {
    const text = '😀'.repeat(MAX_NOTE_LENGTH);
    const sha = story.git.oid('main~2');
    const made = await ask(world, 'owner', 'POST', comments(String(story.id), sha), { note: text });
    expect([made.status, made.body.note === text]).toEqual([201, true]);
    const { body } = await service.call('GET', `${comments(String(story.id), sha)}?per_page=100`);
    expect(body.at(-1).note === text).toBe(true);
  });
});

test('a comment outlives its author’s account', async () => {
  const { id, token } = await service.user('leaving');
  const path = comments(String(story.id), 'main~1');
  await service.call('POST', path, { token, json: { note: 'bye' } });
  await world.store.users.remove((await world.store.users.get(id))!);
  // A worker gives what they wrote to the ghost user.
  await expect
    .poll(async () => (await service.call('GET', path)).body.at(-1))
    .toMatchObject({ note: 'bye', author: { username: 'ghost', state: 'active' } });
});

test('comments outlive the branches of their commit, and are deleted with the project', async () => {
  const { store } = world;
  const { body: project } = await ask(world, 'owner', 'POST', '/projects', { name: 'passing' });
  const commit = (
    await ask(world, 'owner', 'POST', `/projects/${project.id}/repository/commits`, {
      branch: 'main',
      commit_message: 'One',
      actions: [{ action: 'create', file_path: 'a', content: 'a' }],
    })
  ).body.id;
  const path = comments(String(project.id), commit);
  await ask(world, 'owner', 'POST', path, { note: 'kept' });
  const { repositoryId } = (await store.projects.get(project.id))!;
  expect((await store.pinnedCommits.snapshot(repositoryId, [commit])).unpinned).toEqual([]);
  await ask(world, 'owner', 'DELETE', `/projects/${project.id}`);
  const left = () =>
    store.notes.list(project.id, { kind: 'commit', id: commit }, { page: 1, perPage: 5, count: true });
  await expect.poll(async () => (await left()).total).toBe(0);
});
