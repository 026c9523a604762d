import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { notedOn } from '../../harness/proposals.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { world, as, service } = ownWorld();

let made = 0;
/** A project of the owner with a commit on `main` and another on `topic`, and a maintainer. */
async function project(): Promise<{ readonly path: string; readonly id: number }> {
  const name = `pushed-${++made}`;
  const { body } = await as('owner', 'POST', '/projects', { name, visibility: 'public' });
  const path = `/projects/${body.id}`;
  const member = { user_id: world.ids['maintainer'], access_level: 40 };
  await as('owner', 'POST', `${path}/members`, member);
  await commit(path, 'main', 'a.txt');
  await commit(path, 'topic', 'b.txt', 'main');
  return { path, id: body.id };
}

async function commit(
  path: string,
  branch: string,
  file_path: string,
  start_branch?: string,
  who: Who = 'owner',
) {
  const actions = [{ action: 'create', file_path, content: file_path }];
  const start = start_branch === undefined ? {} : { start_branch };
  const json = { branch, commit_message: `Add ${file_path}`, actions, ...start };
  const { status, body } = await as(who, 'POST', `${path}/repository/commits`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id as string;
}

async function propose(path: string, json: object = {}, who: Who = 'owner') {
  const given = { title: 'Topic', source_branch: 'topic', target_branch: 'main', ...json };
  const { status, body } = await as(who, 'POST', `${path}/merge_requests`, given);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const record = (projectId: number, iid: number) => world.store.mergeRequests.get({ projectId, iid });
const branchTip = async (path: string, branch: string) =>
  (await as('owner', 'GET', `${path}/repository/branches/${branch}`)).body.commit.id as string;

/** Runs git commands, one after the other, in a clone of a project. */
async function inClone(who: Who, path: string, commands: readonly (readonly string[])[]): Promise<void> {
  const { body } = await as(who, 'GET', path);
  const remote = new URL(`${service.url}/${body.path_with_namespace}.git`);
  remote.username = who;
  remote.password = world.tokens[who]!;
  const { mkdtemp, rm } = await import('node:fs/promises');
  const directory = await mkdtemp(`${process.env['TMPDIR'] ?? '/tmp'}/clone-`);
  const env = {
    ...{ PATH: process.env['PATH'], HOME: directory, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' },
    ...{ GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' },
    ...{ GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' },
  };
  const git = promisify(execFile);
  try {
    await git('git', ['clone', '--quiet', remote.href, 'work'], { cwd: directory, env });
    for (const args of commands) await git('git', args, { cwd: `${directory}/work`, env });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

test('a push to the source branch makes a version, told as added by who pushed', async () => {
  const { path, id } = await project();
  const { iid } = await propose(path);
  const head = await commit(path, 'topic', 'c.txt', undefined, 'maintainer');
  await settled();
  expect(await record(id, iid)).toMatchObject({ state: 'opened', diff: { number: 2, headSha: head } });
  expect(await notedOn(id, iid)).toContainEqual([`added 1 commit\n\n* ${head.slice(0, 8)}`, 'maintainer']);
});

test('a push that brings the head to the target branch merges it, for who pushed', async () => {
  const { path, id } = await project();
  const { iid } = await propose(path);
  await commit(path, 'main', 'm.txt');
  await inClone('maintainer', path, [
    ['merge', '--quiet', '--no-ff', '-m', 'By hand', 'origin/topic'],
    ['push', '--quiet', 'origin', 'HEAD:main'],
  ]);
  await settled();
  expect(await record(id, iid)).toMatchObject({
    ...{ state: 'merged', mergedById: world.ids['maintainer'] },
    mergeCommitSha: await branchTip(path, 'main'),
  });
});

test('a fast-forward of the target branch merges it without a merge commit; others stay open', async () => {
  const { path, id } = await project();
  await commit(path, 'other', 'o.txt', 'main');
  const [topic, other] = [await propose(path), await propose(path, { source_branch: 'other' })];
  await inClone('owner', path, [['push', '--quiet', 'origin', 'origin/topic:main']]);
  await settled();
  expect(await record(id, topic.iid)).toMatchObject({ state: 'merged', mergeCommitSha: null });
  expect(await record(id, other.iid)).toMatchObject({ state: 'opened', diff: { number: 1 } });
});

test('a fork proposes a branch, pushes to it, and is merged; then the branch is removed', async () => {
  const { path, id } = await project();
  const name = `fork-${made}`;
  const forked = await as('developer', 'POST', `${path}/fork`, { name, path: name });
  expect(forked.status).toBe(201);
  await settled();
  const fork = `/projects/${forked.body.id}`;
  await commit(fork, 'mine', 'f.txt', 'main', 'developer');
  const json = { source_branch: 'mine', target_project_id: id, remove_source_branch: true };
  const { iid } = await propose(fork, json, 'developer');
  const head = await commit(fork, 'mine', 'g.txt', undefined, 'developer');
  await settled();
  expect(await record(id, iid)).toMatchObject({
    ...{ source: { projectId: forked.body.id, branch: 'mine' }, diff: { number: 2, headSha: head } },
  });
  const refused = await as('developer', 'PUT', `${path}/merge_requests/${iid}/merge`);
  expect(refused.status).toBe(401);
  const merged = await as('maintainer', 'PUT', `${path}/merge_requests/${iid}/merge`);
  expect([merged.status, merged.body.state]).toEqual([200, 'merged']);
  const files = (await as('owner', 'GET', `${path}/repository/tree?ref=main`)).body;
  expect(files.map(({ name }: { name: string }) => name)).toEqual(['a.txt', 'f.txt', 'g.txt']);
  await settled();
  expect((await as('developer', 'GET', `${fork}/repository/branches/mine`)).status).toBe(404);
});
