import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { doneAs } from '../../harness/done.ts';
import { propose } from '../../harness/proposals.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';

type User = Awaited<ReturnType<Service['user']>>;
let service: Service;
let owner: User;
let keeper: User;
let named: User;
let inGroup: User;
let group: number;
let project: number;
let path: string;

const call = (
  user: { readonly token: string },
  method: string,
  url: string,
  json?: unknown,
): Promise<Answer> =>
  service.call(method, url, { token: user.token, ...(json === undefined ? {} : { json }) });
const done = async (user: User, method: string, url: string, json?: unknown): Promise<Answer['body']> =>
  (await doneAs(service, user.token, method, url, json)).body;
const guard = (on = true) =>
  done(owner, 'PATCH', `/projects/${project}/protected_branches/main`, { code_owner_approval_required: on });

type Action = Readonly<Record<string, unknown>>;
const commit = (user: { readonly token: string }, actions: readonly Action[], more: object = {}) =>
  call(user, 'POST', `/projects/${project}/repository/commits`, {
    branch: 'main',
    commit_message: 'Change',
    actions,
    ...more,
  });
const write = (file_path: string, content = `${Math.random()}`) => ({ action: 'update', file_path, content });
const create = (file_path: string) => ({ action: 'create', file_path, content: 'new' });

const OWNERS = `
docs/ @keeper
*.rb @keeper
/vendor/
[Build]
Makefile @nobody-of-that-name
`;
const REFUSED =
  'Pushes to protected branches that contain changes to files that match patterns defined in `.gitlab/CODEOWNERS` ' +
  'are disabled for this project. Please submit these changes via a merge request. ' +
  'The following pattern(s) from `.gitlab/CODEOWNERS` were matched: - docs/';

let projects = 0;
beforeAll(async () => {
  service = await startService();
  [owner, keeper, named, inGroup] = (await Promise.all(
    ['owner', 'keeper', 'named', 'ingroup'].map((name) => service.user(name)),
  )) as [User, User, User, User];
  group = (await done(owner, 'POST', '/groups', { name: 'bots', path: 'bots' })).id;
  await done(owner, 'POST', `/groups/${group}/members`, { user_id: inGroup.id, access_level: 30 });
});
afterAll(() => service.stop());
beforeEach(async () => {
  const name = `owned${++projects}`;
  ({ id: project, path_with_namespace: path } = await done(owner, 'POST', '/projects', { name }));
  for (const [user, access_level] of [
    [keeper, 40],
    [named, 30],
  ] as const)
    await done(owner, 'POST', `/projects/${project}/members`, { user_id: user.id, access_level });
  const files = ['a.txt', 'docs/a.md', 'lib/a.rb', 'vendor/a.rb', 'Makefile'];
  const actions = [{ ...create('.gitlab/CODEOWNERS'), content: OWNERS }, ...files.map(create)];
  expect((await commit(owner, actions)).status).toBe(201);
});

describe('a branch that asks for code owners', () => {
  test('takes no commits of files that have any from maintainers, owners and administrators, nor from the owners themselves', async () => {
    await guard();
    for (const user of [owner, keeper, { token: service.rootToken }]) {
      const answer = await commit(user, [write('a.txt'), write('docs/a.md')]);
      expect([answer.status, answer.body]).toEqual([403, { message: `403 Forbidden - ${REFUSED}` }]);
      expect((await commit(user, [write('a.txt')])).status).toBe(201);
    }
    const { body } = await call(
      owner,
      'GET',
      `/projects/${project}/repository/files/docs%2Fa.md/raw?ref=main`,
    );
    expect(body).toBe('new');
  });

  test.each<[string, readonly Action[], number]>([
    ['a new file', [create('deep/docs/b.md')], 403],
    ['a deletion', [{ action: 'delete', file_path: 'lib/a.rb' }], 403],
    ['a file moved away', [{ action: 'move', previous_path: 'docs/a.md', file_path: 'b.md' }], 403],
    ['a file moved there', [{ action: 'move', previous_path: 'a.txt', file_path: 'docs/b.md' }], 403],
    ['a mode', [{ action: 'chmod', file_path: 'lib/a.rb', execute_filemode: true }], 403],
    ['a file whose owner is nobody', [write('Makefile')], 403],
    ['a file whose entry names no owner', [write('vendor/a.rb')], 201],
    ['a file without an entry', [create('b.txt')], 201],
  ])('%s', async (_, actions, status) => {
    await guard();
    expect((await commit(keeper, actions)).status).toBe(status);
  });

  test('tells so in the terms of each endpoint', async () => {
    const readme = `/projects/${project}/repository/files/docs%2Fa.md`;
    const picked = (
      await done(owner, 'POST', `/projects/${project}/repository/commits`, {
        ...{ branch: 'side', start_branch: 'main', commit_message: 'Side', actions: [write('docs/a.md')] },
      })
    ).id;
    const merged = (await commit(owner, [write('lib/a.rb')])).body.id;
    await guard();
    const change = { branch: 'main', content: 'x', commit_message: 'x' };
    expect(await call(keeper, 'PUT', readme, change)).toMatchObject({
      status: 400,
      body: { message: REFUSED },
    });
    expect((await call(keeper, 'DELETE', readme, change)).status).toBe(400);
    const at = (sha: string, what: string) => `/projects/${project}/repository/commits/${sha}/${what}`;
    expect(await call(keeper, 'POST', at(picked, 'cherry_pick'), { branch: 'main' })).toMatchObject({
      status: 403,
      body: { message: `403 Forbidden - ${REFUSED}` },
    });
    expect((await call(keeper, 'POST', at(merged, 'revert'), { branch: 'main' })).status).toBe(403);
    const log = `/projects/${project}/repository/changelog`;
    const section = { version: '1.0.0', branch: 'main', from: merged, file: 'docs/changes.md' };
    expect((await call(keeper, 'POST', log, section)).status).toBe(403);
    expect((await call(keeper, 'POST', log, { ...section, file: 'changes.md' })).status).toBe(200);
  });

  test('is not reset to a commit that changes such files, by force or from another branch', async () => {
    const { id: first } = (await commit(owner, [write('docs/a.md')])).body;
    await commit(owner, [write('docs/a.md')]);
    await done(owner, 'PATCH', `/projects/${project}/protected_branches/main`, { allow_force_push: true });
    await guard();
    const reset = { start_sha: first, force: true };
    expect((await commit(keeper, [write('a.txt')], reset)).status).toBe(403);
    const { id: last } = (await commit(keeper, [write('a.txt')])).body;
    await commit(keeper, [write('a.txt')]);
    expect((await commit(keeper, [write('a.txt')], { start_sha: last, force: true })).status).toBe(201);
  });

  test('is one where any rule that matches it asks for them', async () => {
    await done(owner, 'POST', `/projects/${project}/protected_branches`, {
      name: 'ma*',
      code_owner_approval_required: true,
    });
    expect((await commit(keeper, [write('docs/a.md')])).status).toBe(403);
    await done(owner, 'DELETE', `/projects/${project}/protected_branches/ma*`);
    expect((await commit(keeper, [write('docs/a.md')])).status).toBe(201);
  });

  test('lets those push who are named for that, themselves or by a group, and not all of a level', async () => {
    await done(owner, 'POST', `/projects/${project}/share`, { group_id: group, group_access: 30 });
    await guard();
    await done(owner, 'PATCH', `/projects/${project}/protected_branches/main`, {
      allowed_to_push: [{ user_id: named.id }, { group_id: group }],
    });
    expect((await commit(named, [write('docs/a.md')])).status).toBe(201);
    expect((await commit(inGroup, [write('docs/a.md')])).status).toBe(201);
    expect((await commit(keeper, [write('docs/a.md')])).status).toBe(403);
    expect(await push(named, { 'docs/a.md': 'pushed' })).toBe('');
  });

  test('goes by its own CODEOWNERS: a new branch has none yet', async () => {
    await done(owner, 'POST', `/projects/${project}/protected_branches`, {
      name: 'stable-*',
      code_owner_approval_required: true,
    });
    const from = { branch: 'stable-1', start_branch: 'main' };
    expect((await commit(keeper, [write('docs/a.md')], from)).status).toBe(201);
    expect((await commit(keeper, [write('docs/a.md')], { branch: 'stable-1' })).status).toBe(403);
    await guard();
    // CODEOWNERS itself has no owner here.
    expect((await commit(keeper, [{ action: 'delete', file_path: '.gitlab/CODEOWNERS' }])).status).toBe(201);
    expect((await commit(keeper, [write('docs/a.md')])).status).toBe(201);
  });

  test('has that of the root, else of docs, else of .gitlab', async () => {
    await commit(owner, [{ ...create('docs/CODEOWNERS'), content: 'a.txt @keeper' }]);
    await guard();
    expect((await commit(keeper, [write('docs/a.md')])).status).toBe(201);
    expect((await commit(keeper, [write('a.txt')])).status).toBe(403);
    await guard(false);
    await commit(owner, [{ ...create('CODEOWNERS'), content: '*.md @keeper' }]);
    await guard();
    expect((await commit(keeper, [write('a.txt')])).status).toBe(201);
    expect((await commit(keeper, [write('docs/a.md')])).status).toBe(403);
  });

  test('takes nothing where the owners cannot be found out', async () => {
    await commit(owner, [{ ...create('CODEOWNERS'), content: `${'x'.repeat(600)} @keeper\n` }]);
    await guard();
    const answer = await commit(keeper, [write('a.txt')]);
    expect(answer).toMatchObject({
      status: 403,
      body: { message: /cannot be found: CODEOWNERS is too large/ },
    });
  });
});

/** Commits files on the tip of main and pushes it. @returns what git says of a refusal; empty for success */
async function push(user: User, files: Readonly<Record<string, string>>, ref = 'main'): Promise<string> {
  const directory = await mkdtemp(`${process.env['TMPDIR'] ?? '/tmp'}/owned-`);
  const remote = new URL(`${service.url}/${path}.git`);
  [remote.username, remote.password] = [user.username, user.token];
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
      cwd: directory,
      env: { PATH: process.env['PATH'], HOME: directory, GIT_TERMINAL_PROMPT: '0' },
    });
  try {
    await git('clone', '--quiet', remote.href, '.');
    for (const [file, content] of Object.entries(files)) await writeFile(`${directory}/${file}`, content);
    await git('add', '--all');
    await git('commit', '--quiet', '-m', 'Change');
    await git('push', '--quiet', 'origin', `HEAD:refs/heads/${ref}`);
    return '';
  } catch (error) {
    return (error as { stderr: string }).stderr;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

test('git pushes what has no code owners, and is told why it may not push the rest', async () => {
  await guard();
  expect(await push(keeper, { 'a.txt': 'pushed' })).toBe('');
  const refusal = await push(keeper, { 'a.txt': 'again', 'docs/a.md': 'pushed' });
  expect(refusal).toContain(`remote: Lemnos: ${REFUSED}`);
  expect(refusal).toMatch(/! \[remote rejected\] HEAD -> main \(Pushes to protected branches/);
  expect(await push(keeper, { 'docs/a.md': 'pushed' }, 'topic')).toBe('');
  await guard(false);
  expect(await push(keeper, { 'docs/a.md': 'pushed' })).toBe('');
});

test('a rebase does not bring such files to a source branch that asks for code owners', async () => {
  await done(owner, 'POST', `/projects/${project}/repository/branches`, { branch: 'release', ref: 'main' });
  await commit(owner, [write('docs/a.md')]);
  await commit(owner, [write('a.txt')], { branch: 'release' });
  await done(owner, 'POST', `/projects/${project}/protected_branches`, {
    name: 'release',
    allow_force_push: true,
    code_owner_approval_required: true,
  });
  const iid = await propose(owner.id, project, { sourceBranch: 'release', targetBranch: 'main' });
  const mr = `/projects/${project}/merge_requests/${iid}`;
  expect((await call(keeper, 'PUT', `${mr}/rebase`)).status).toBe(202);
  await settled();
  expect((await done(keeper, 'GET', mr)).merge_error).toMatch(/^Rebase failed: Pushes to protected branches/);
});
