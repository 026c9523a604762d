import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { GitCli, withToken } from '../../clients/git-cli.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';

const git = new GitCli();
let service: Service;
let token: string;
let id: number;
let before: string;
beforeAll(async () => {
  service = await startService();
  token = (await service.user('ada')).token;
  id = (await service.call('POST', '/projects', { token, json: { name: 'thing', visibility: 'public' } }))
    .body.id;
  await write('POST', 'dir/file', {});
  await write('POST', 'dir/other', {});
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const refs = async () => {
  const [branches, tags] = await Promise.all(
    ['branches', 'tags'].map((list) => service.call('GET', at(list), { token })),
  );
  return JSON.stringify([branches?.body, tags?.body]);
};
const at = (path: string) => `/projects/${id}/repository/${path}`;
const write = (method: string, path: string, json: object) =>
  service.call(method, at(`files/${encodeURIComponent(path)}`), {
    token,
    json: { branch: 'main', commit_message: 'm', ...(method === 'DELETE' ? {} : { content: path }), ...json },
  });
const commit = (json: object) =>
  service.call('POST', at('commits'), { token, json: { branch: 'main', commit_message: 'm', ...json } });

/** A clear text, in one of the shapes of the interface. */
function refusedClearly(answer: Answer, statuses: readonly number[] = [400]): void {
  expect(statuses).toContain(answer.status);
  const { message, error } = answer.body as { message?: unknown; error?: unknown };
  expect(typeof (message ?? error)).toBe('string');
  expect(String(message ?? error)).not.toMatch(/500|undefined|\[object|TypeError|RangeError|EditError/);
  expect(String(message ?? error).length).toBeLessThan(6_000);
}

describe('invalid input to the file and commit endpoints is refused and changes nothing', () => {
  beforeEach(async () => {
    before = await refs();
  });
  afterEach(async () => {
    expect(await refs()).toBe(before);
  });

  const GIT = [
    '.git',
    '.GIT',
    '.giT',
    '.git/config',
    'a/.Git/x',
    '.git ',
    '.git.',
    '.git . .',
    '.git::$INDEX_ALLOCATION',
    'GIT~1',
    'git~1/x',
    'a\\.git\\x',
    '.g\u200cit',
    '.git\ufeff',
    'x/.git/',
  ];
  const UP = [
    '..',
    '../x',
    'a/../x',
    'a/..',
    '/../x',
    './x',
    'a/./x',
    '.',
    'a\\..\\x',
    '..\\x',
    '/x',
    '//x',
    'C:\\x',
    'c:/x',
    '\\x',
  ];
  const SHAPES = [
    'a//b',
    'a/',
    'dir',
    'dir/',
    'dir/file/below',
    'nul\u0000',
    'line\nbreak',
    'bell\u0007',
    'del\u007f',
    'x'.repeat(256),
    `${'d/'.repeat(2100)}x`,
    'é'.repeat(128),
  ];
  test.each([...GIT, ...UP, ...SHAPES])('for a file path %j', async (path) => {
    const shown = path.length > 3000;
    // A path as long as that is no URL that every gateway takes.
    if (!shown)
      refusedClearly(
        await write('POST', path, {}),
        path === '.' || path === '..' ? [400, 404, 405] : [400, 404],
      );
    refusedClearly(await commit({ actions: [{ action: 'create', file_path: path, content: 'x' }] }));
    // `dir/file` may become `dir/file/below`: it makes room for itself.
    const from = path.startsWith('dir/file/') ? 'dir/other' : 'dir/file';
    refusedClearly(await commit({ actions: [{ action: 'move', previous_path: from, file_path: path }] }));
    for (const action of ['update', 'delete'])
      refusedClearly(await commit({ actions: [{ action, file_path: path, content: 'x' }] }));
    refusedClearly(await commit({ actions: [{ action: 'move', previous_path: path, file_path: 'to' }] }));
  });

  test.each([
    '',
    ' ',
    'a b',
    'a..b',
    'a~',
    'a^',
    'a:b',
    'a?',
    'a*',
    '[a',
    'a\\b',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.',
    'a.lock',
    'a.lock/b',
    '@{x',
    '@',
    'HEAD',
    'refs/heads/x',
    '-a',
    'a\u0001',
    'a\u0000',
    'x'.repeat(1100),
    'main/x',
    '\ud800',
  ])('for a branch name %j', async (branch) => {
    refusedClearly(await write('POST', 'new', { branch, start_branch: 'main' }));
    refusedClearly(
      await commit({
        branch,
        start_branch: 'main',
        actions: [{ action: 'create', file_path: 'new', content: '' }],
      }),
    );
    refusedClearly(await service.call('POST', at('branches'), { token, json: { branch, ref: 'main' } }));
  });

  test.each(['%', 'a', 'ab=c', 'abcde', '====', 'YQ=\u0000', 'Zm9v!', 'data:;base64,Zm9v', 'Zm9v Zm9v=x'])(
    'for the Base64 content %j',
    async (content) => {
      refusedClearly(await write('POST', 'new', { content, encoding: 'base64' }));
      refusedClearly(
        await commit({ actions: [{ action: 'create', file_path: 'new', content, encoding: 'base64' }] }),
      );
    },
  );

  test.each([
    { author_email: 'a@b\nparent 0000' },
    { author_email: 'a@b>' },
    { author_email: '<a@b' },
    { author_email: 'a b@c' },
    { author_email: 'a\u0000@b' },
    { author_name: 'x\ncommitter y' },
    { author_name: 'x <y' },
    { author_name: 'x\u0000' },
    { commit_message: '' },
    { commit_message: ' \n\t' },
    { commit_message: 'nul\u0000' },
    { commit_message: '\ud800' },
    { commit_message: null },
    { commit_message: ['x'] },
    { content: null },
    { content: { a: 1 } },
    { branch: ['main'] },
    { branch: {} },
    { encoding: 'latin1' },
    { last_commit_id: 'x' },
    { last_commit_id: ['x'] },
    { start_branch: 'a..b', branch: 'n' },
  ])('for the author %j', async (json) => {
    refusedClearly(await write('PUT', 'dir/file', { content: 'new', ...json }));
  });

  test('for actions that contradict each other, are too many or are missing', async () => {
    const create = { action: 'create', file_path: 'x', content: '1' };
    for (const actions of [
      [create, create],
      [create, { ...create, action: 'move', previous_path: 'x' }],
      [create, { ...create, file_path: 'x/y' }],
      [
        { action: 'delete', file_path: 'dir/file' },
        { action: 'update', file_path: 'dir/file', content: 'x' },
      ],
      [{ action: 'chmod', file_path: 'dir', execute_filemode: true }],
      [{ action: 'chmod', file_path: 'dir/file', execute_filemode: false }],
      [{ action: 'chmod', file_path: 'dir/file', execute_filemode: 'x' }],
      [{ action: 'move', file_path: 'dir/file', previous_path: 'dir/file' }],
      Array.from({ length: 10_001 }, (_, index) => ({ ...create, file_path: `f${index}` })),
      [null],
      [[]],
      [{}],
      { 0: create },
      null,
      'x',
      7,
    ])
      refusedClearly(await commit({ actions }));
    for (const [form, error] of [
      ['actions[]=', 'actions[0] is invalid'],
      ['actions[][action]', 'actions[0][action] is empty, actions[0][file_path] is missing'],
    ] as const) {
      const answer = await service.call('POST', at('commits'), {
        token,
        form: `branch=main&commit_message=m&${form}`,
      });
      expect([form, answer.status, answer.body]).toEqual([form, 400, { error }]);
    }
    expect((await commit({ actions: [create, null] })).body).toEqual({ error: 'actions[1] is invalid' });
  });

  test('for ids beyond every counter and malformed bodies', async () => {
    for (const project of [
      '9223372036854775808',
      '18446744073709551616',
      '9'.repeat(400),
      '-1',
      '0',
      '1e3',
      '%00',
      'a%2F..%2Fb',
      '%F0%28',
    ]) {
      for (const path of [
        'repository/tree',
        'repository/commits',
        'repository/branches/main',
        'repository/files/dir%2Ffile?ref=main',
      ]) {
        refusedClearly(await service.call('GET', `/projects/${project}/${path}`, { token }), [400, 404]);
      }
      refusedClearly(
        await service.call('POST', `/projects/${project}/repository/branches`, {
          token,
          json: { branch: 'b', ref: 'main' },
        }),
        [400, 404],
      );
    }
    for (const raw of ['{', '[]', '"x"', '7', 'null', '{"branch":', '\u0000', '{"a":'.repeat(5000)]) {
      const answer = await service.call('POST', at('commits'), {
        token,
        raw,
        headers: { 'Content-Type': 'application/json' },
      });
      refusedClearly(answer);
    }
    for (const form of [
      'branch=main&branch[]=x',
      'actions[][action]=create&actions[action]=x',
      `${'actions[]'.repeat(200)}=1`,
      'a=%ff',
    ]) {
      refusedClearly(await service.call('POST', at('commits'), { token, form }));
    }
  });

  test('for refs in queries', async () => {
    const refs = [
      'a..b',
      '-x',
      '--all',
      '@{-1}',
      'HEAD~99999999',
      'HEAD^99',
      '~',
      '^',
      ':/m',
      'main:dir',
      `${'HEAD^'.repeat(200)}`,
      'x'.repeat(3000),
      '../../x',
      '0'.repeat(39),
      'refs/heads/',
      '%E4',
      '\ud83d',
    ];
    for (const ref of refs) {
      const query = encodeURIComponent(ref.toWellFormed());
      for (const path of [
        `tree?ref=${query}`,
        `files/dir%2Ffile?ref=${query}`,
        `files/dir%2Ffile/raw?ref=${query}`,
        `commits/${query}`,
      ]) {
        refusedClearly(await service.call('GET', at(path), { token }), [404]);
      }
      expect([(await service.call('GET', at(`commits?ref_name=${query}`), { token })).status]).toEqual([200]);
      refusedClearly(
        await service.call('POST', at('tags'), { token, json: { tag_name: 't', ref: ref.toWellFormed() } }),
      );
      refusedClearly(
        await service.call('POST', at('branches'), { token, json: { branch: 't', ref: ref.toWellFormed() } }),
      );
    }
  });
});

test('for ten thousand actions in one commit, and a message of a megabyte', async () => {
  const actions = Array.from({ length: 10_000 }, (_, index) => ({
    action: 'create',
    file_path: `many/${index % 100}/${index}`,
    content: `${index % 7}`,
  }));
  const message = `Many\n\n${'words '.repeat(180_000)}`;
  const made = await commit({ branch: 'many', start_branch: 'main', actions, commit_message: message });
  expect([made.status, made.body.stats]).toEqual([201, { additions: 10_000, deletions: 0, total: 10_000 }]);
  // Answers show 512 Ki characters of a message.
  expect(made.body.message).toBe(message.slice(0, 512 * 1024));
  const listed = await service.call('GET', at('commits?ref_name=many&trailers=true'), { token });
  expect(listed.body[0].title).toBe('Many');
  const clone = await git.clone(withToken(service.url, 'ada/thing'), 'many', '--branch=many');
  expect((await git.lines(clone, 'ls-tree', '-r', '--name-only', 'HEAD', 'many/')).length).toBe(10_000);
  const stored = await git.ok(clone, 'cat-file', 'commit', 'HEAD');
  expect(stored.endsWith(`\n\n${message}`)).toBe(true);
});
