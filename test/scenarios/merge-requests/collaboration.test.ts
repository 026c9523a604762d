import { expect, test } from 'vitest';
import { inClone } from '../../harness/in-clone.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { world, as, service } = ownWorld();

let made = 0;

interface Shared {
  /** The target, with a maintainer and a developer; only the maintainer may merge into `main`. */
  readonly path: string;
  readonly fork: string;
  readonly forkPath: string;
  readonly mr: string;
}

/** A stranger's fork, which proposes its branch `mine` to `main` and shares it. */
async function shared(proposal: object = {}, fork: object = {}): Promise<Shared> {
  const name = `shared-${++made}`;
  const { body: target } = await as('owner', 'POST', '/projects', { name, visibility: 'public' });
  const path = `/projects/${target.id}`;
  for (const [who, access_level] of [
    ['developer', 30],
    ['maintainer', 40],
  ] as const)
    await as('owner', 'POST', `${path}/members`, { user_id: world.ids[who], access_level });
  expect(await write('owner', path, 'main')).toBe(201);
  const forked = await as('stranger', 'POST', `${path}/fork`, { name, path: name, ...fork });
  expect(forked.status).toBe(201);
  await settled();
  const own = `/projects/${forked.body.id}`;
  expect(await write('stranger', own, 'mine', { start_branch: 'main' })).toBe(201);
  const json = {
    ...{ source_branch: 'mine', target_branch: 'main', target_project_id: target.id, title: 'Mine' },
    allow_collaboration: true,
    ...proposal,
  };
  const { status, body } = await as('stranger', 'POST', `${own}/merge_requests`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  const mr = `${path}/merge_requests/${body.iid}`;
  return { path, fork: own, forkPath: forked.body.path_with_namespace, mr };
}

let files = 0;
/** Commits a new file. @returns the status */
async function write(who: Who, path: string, branch: string, more: object = {}): Promise<number> {
  const actions = [{ action: 'create', file_path: `f${++files}.txt`, content: 'f' }];
  const json = { branch, commit_message: 'Add a file', actions, ...more };
  return (await as(who, 'POST', `${path}/repository/commits`, json)).status;
}

const git = (who: Who, { forkPath }: Shared, ...commands: readonly (readonly string[])[]) =>
  inClone(service, { username: who, token: world.tokens[who]! }, forkPath, commands);
const toMine = ['checkout', '-q', 'mine'];
const commit = ['commit', '-q', '--allow-empty', '-m', 'More'];
const tipOf = async (path: string, branch: string) =>
  (await as('stranger', 'GET', `${path}/repository/branches/${branch}`)).body.commit?.id as
    | string
    | undefined;

test('who may merge a shared branch of a fork pushes to it, by git and by all that commits to it', async () => {
  const all = await shared();
  const { fork, mr } = all;
  const before = await tipOf(fork, 'mine');
  await git('maintainer', all, toMine, commit, ['push', '-q', 'origin', 'mine']);
  const pushed = await tipOf(fork, 'mine');
  expect(pushed).not.toBe(before);
  expect(await write('maintainer', fork, 'mine')).toBe(201);
  const file = { branch: 'mine', content: 'b', commit_message: 'Add b' };
  expect((await as('maintainer', 'POST', `${fork}/repository/files/b.txt`, file)).status).toBe(201);
  const reverted = await as('maintainer', 'POST', `${fork}/repository/commits/mine/revert`, {
    branch: 'mine',
  });
  expect(reverted.status).toBe(201);
  await settled();
  const { body } = await as('reporter', 'GET', mr);
  expect(body).toMatchObject({ allow_collaboration: true, sha: reverted.body.id });
});

test('a shared branch of a fork is told as one to push to, to who may merge it alone, and no other is', async () => {
  const { fork } = await shared();
  const at = `${fork}/repository/branches`;
  const told = async (who: Who) => {
    const listed = (await as(who, 'GET', at)).body;
    const pushable = listed.filter(({ can_push }: { can_push: boolean }) => can_push);
    const { can_push } = (await as(who, 'GET', `${at}/mine`)).body;
    return [can_push, pushable.map(({ name }: { name: string }) => name)];
  };
  expect(await told('maintainer')).toEqual([true, ['mine']]);
  expect(await told('developer')).toEqual([false, []]);
  expect(await told('anonymous')).toEqual([false, []]);
});

test('who may merge a shared branch of a fork rebases it', async () => {
  const { path, fork, mr } = await shared();
  await write('owner', path, 'main');
  expect((await as('developer', 'PUT', `${mr}/rebase`)).status).toBe(403);
  expect((await as('maintainer', 'PUT', `${mr}/rebase`)).status).toBe(202);
  await settled();
  const { body } = await as('maintainer', 'GET', `${mr}?include_diverged_commits_count=true`);
  expect(body).toMatchObject({
    merge_error: null,
    diverged_commits_count: 0,
    sha: await tipOf(fork, 'mine'),
  });
});

test.each<[string, (all: Shared) => Promise<unknown>]>([
  ['who may not merge into the target', ({ fork }) => write('developer', fork, 'mine')],
  [
    'another branch',
    async ({ fork }) => {
      expect(await write('stranger', fork, 'other', { start_branch: 'main' })).toBe(201);
      return write('maintainer', fork, 'other');
    },
  ],
  ['a new branch', ({ fork }) => write('maintainer', fork, 'new', { start_branch: 'mine' })],
  [
    'a branch of the same name once it is gone',
    async ({ fork }) => {
      await as('stranger', 'DELETE', `${fork}/repository/branches/mine`);
      return write('maintainer', fork, 'mine', { start_branch: 'main' });
    },
  ],
  ['a closed one', closing({ state_event: 'close' })],
  ['one that is not shared any more', closing({ allow_collaboration: false })],
  [
    'one that is merged',
    async ({ fork, mr }) => {
      const json = { should_remove_source_branch: false };
      expect((await as('maintainer', 'PUT', `${mr}/merge`, json)).status).toBe(200);
      return write('maintainer', fork, 'mine');
    },
  ],
  [
    'who is a member no more',
    async ({ path, fork }) => {
      await as('owner', 'DELETE', `${path}/members/${world.ids['maintainer']}`);
      return write('maintainer', fork, 'mine');
    },
  ],
  ['a protected branch', after((fork) => ['POST', `${fork}/protected_branches`, { name: 'mine' }])],
  ['an archived fork', after((fork) => ['POST', `${fork}/archive`])],
  [
    'an archived target',
    async ({ path, fork }) => {
      await as('owner', 'POST', `${path}/archive`);
      return write('maintainer', fork, 'mine');
    },
  ],
  [
    'a fork whose code is for its members',
    after((fork) => ['PUT', fork, { repository_access_level: 'private' }]),
  ],
])('a collaborator is refused: %s', async (_, attempt) => {
  const status = await attempt(await shared());
  expect([400, 403]).toContain(status);
});

/** The stranger changes the merge request, then the maintainer writes. */
function closing(json: object) {
  return async ({ fork, mr }: Shared) => {
    expect((await as('stranger', 'PUT', mr, json)).status).toBe(200);
    return write('maintainer', fork, 'mine');
  };
}

/** The stranger sends a request about the fork, then the maintainer writes. */
function after(request: (fork: string) => [method: string, path: string, json?: object]) {
  return async ({ fork }: Shared) => {
    expect((await as('stranger', ...request(fork))).status).toBeLessThan(300);
    return write('maintainer', fork, 'mine');
  };
}

test('a fork that is hidden from a collaborator stays hidden', async () => {
  const { fork } = await shared({}, { visibility: 'private' });
  expect(await write('maintainer', fork, 'mine')).toBe(404);
});

test('by git a collaborator pushes to no other branch, deletes none and makes no tag', async () => {
  const all = await shared();
  const tips = async () => [await tipOf(all.fork, 'main'), await tipOf(all.fork, 'mine')];
  const before = await tips();
  const attempts = [
    ['push', '-q', 'origin', 'HEAD:main'],
    ['push', '-q', 'origin', 'HEAD:new'],
    ['push', '-q', 'origin', 'HEAD:refs/tags/v1'],
    ['push', '-q', 'origin', ':mine'],
  ];
  for (const attempt of attempts)
    await expect(git('maintainer', all, toMine, commit, attempt), attempt.join(' ')).rejects.toThrow(
      'You are not allowed to push code to this project',
    );
  expect(await tips()).toEqual(before);
  expect(await tipOf(all.fork, 'new')).toBeUndefined();
  const refused = git('developer', all, toMine, commit, ['push', '-q', 'origin', 'mine']);
  await expect(refused).rejects.toThrow('You are not allowed to push code to this project');
});

test('a branch is deleted and created by those who may push to the fork alone', async () => {
  const { fork } = await shared();
  const asked = [
    await as('maintainer', 'DELETE', `${fork}/repository/branches/mine`),
    await as('maintainer', 'POST', `${fork}/repository/branches?branch=new&ref=mine`),
    await as('maintainer', 'POST', `${fork}/repository/tags?tag_name=v1&ref=mine`),
  ];
  expect(asked.map(({ status }) => status)).toEqual([403, 403, 403]);
});

test('a token without the scope to write pushes to no shared branch', async () => {
  const all = await shared();
  const json = { user_id: world.ids['owner'], access_level: 40 };
  await as('owner', 'POST', `${all.path}/members`, json);
  const push = ['push', '-q', 'origin', 'mine'];
  await expect(git('read_repository', all, toMine, commit, push)).rejects.toThrow('has not the scope');
  expect(await write('read_api', all.fork, 'mine')).toBe(403);
  await git('write_repository', all, toMine, commit, push);
});

test('only who may push to the source branch shares it', async () => {
  const { fork, mr } = await shared({ allow_collaboration: false });
  const share = (who: Who) => as(who, 'PUT', mr, { allow_collaboration: true });
  expect((await share('maintainer')).body.allow_collaboration).toBe(false);
  expect(await write('maintainer', fork, 'mine')).toBe(403);
  expect((await share('stranger')).body.allow_collaboration).toBe(true);
  expect(await write('maintainer', fork, 'mine')).toBe(201);
});

test('another target branch decides anew who may push to a shared branch', async () => {
  const { path, fork, mr } = await shared();
  await as('owner', 'POST', `${path}/repository/branches?branch=open&ref=main`);
  expect(await write('developer', fork, 'mine')).toBe(403);
  await as('stranger', 'PUT', mr, { target_branch: 'open' });
  expect(await write('developer', fork, 'mine')).toBe(201);
});
