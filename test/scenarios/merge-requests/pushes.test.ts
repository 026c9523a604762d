import { describe, expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { followPush } from '../../../lib/domain/merge-requests/after-push.ts';
import { ZERO_OID } from '../../../lib/git/oid.ts';
import { Outbox } from '../../../lib/store/outbox/outbox.ts';
import { inClone as commandsInClone } from '../../harness/in-clone.ts';
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

/** Runs git commands in a clone of a project. */
async function inClone(who: Who, path: string, commands: readonly (readonly string[])[]): Promise<void> {
  const { body } = await as(who, 'GET', path);
  const cloner = { username: who, token: world.tokens[who]! };
  await commandsInClone(service, cloner, body.path_with_namespace, commands);
}

test('a push to the source branch makes a version, told as added by who pushed', async () => {
  const { path, id } = await project();
  const { iid } = await propose(path);
  const head = await commit(path, 'topic', 'c.txt', undefined, 'maintainer');
  await settled();
  expect(await record(id, iid)).toMatchObject({ state: 'opened', diff: { number: 2, headSha: head } });
  expect(await notedOn(id, iid)).toContainEqual([`added 1 commit\n\n* ${head.slice(0, 8)}`, 'maintainer']);
});

test('pushes that follow each other before a worker sees one make a version each, also where one takes back another', async () => {
  const { path, id } = await project();
  const { iid, sha: first } = await propose(path);
  // No worker hears of them: this one does when all are done.
  const held = vi.spyOn(Outbox.prototype, 'deliver').mockResolvedValue();
  const second = await commit(path, 'topic', 'c.txt', undefined, 'maintainer');
  const json = { branch: 'topic', commit_message: 'x', start_sha: first, force: true };
  const actions = [{ action: 'create', file_path: 'd.txt', content: 'x' }];
  const { body } = await as('owner', 'POST', `${path}/repository/commits`, { ...json, actions });
  held.mockRestore();
  for (const [who, from, to] of [
    ['maintainer', first, second],
    ['owner', second, body.id],
  ] as const) {
    const push = { projectId: id, branches: [{ name: 'refs/heads/topic', from, to }] };
    const writer = { actorId: world.ids[who]!, baseUrl: service.url };
    expect(await followPush(deps(), { ...push, ...writer }, Date.now() + 60_000)).toBe(true);
  }
  const versions = (await as('owner', 'GET', `${path}/merge_requests/${iid}/versions`)).body;
  expect(versions.map((each: { head_commit_sha: string }) => each.head_commit_sha)).toEqual([
    ...[body.id, second, first],
  ]);
  const added = (sha: string) => `added 1 commit\n\n* ${sha.slice(0, 8)}`;
  expect(await notedOn(id, iid)).toContainEqual([added(second), 'maintainer']);
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

test.each([
  ['takes approvals back', true, 0],
  ['leaves approvals where the project says so', false, 1],
])('a git push of a commit to the source branch %s', async (_, reset, left) => {
  const { path, id } = await project();
  expect((await as('owner', 'POST', `${path}/approvals`, { reset_approvals_on_push: reset })).status).toBe(
    201,
  );
  const { iid } = await propose(path);
  expect((await as('maintainer', 'POST', `${path}/merge_requests/${iid}/approve`, {})).status).toBe(201);
  await inClone('owner', path, [
    ['switch', '--quiet', 'topic'],
    ['commit', '--quiet', '--allow-empty', '-m', 'More'],
    ['push', '--quiet', 'origin', 'topic'],
  ]);
  await settled();
  expect((await record(id, iid))!.approvals).toHaveLength(left);
  expect((await as('owner', 'GET', `${path}/merge_requests/${iid}/approvals`)).body.approved_by).toHaveLength(
    left,
  );
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
  const isFirst = async (number: number) =>
    (await as('reporter', 'GET', `${path}/merge_requests/${number}`)).body.first_contribution;
  expect(await isFirst(iid)).toBe(true);
  const merged = await as('maintainer', 'PUT', `${path}/merge_requests/${iid}/merge`);
  expect([merged.status, merged.body.state]).toEqual([200, 'merged']);
  await commit(fork, 'next', 'n.txt', 'main', 'developer');
  const next = await propose(fork, { source_branch: 'next', target_project_id: id }, 'developer');
  const own = await propose(path);
  expect([await isFirst(next.iid), await isFirst(own.iid)]).toEqual([false, false]);
  const files = (await as('owner', 'GET', `${path}/repository/tree?ref=main`)).body;
  expect(files.map(({ name }: { name: string }) => name)).toEqual(['a.txt', 'f.txt', 'g.txt']);
  await settled();
  expect((await as('developer', 'GET', `${fork}/repository/branches/mine`)).status).toBe(404);
});

test('each version of a fork’s branch copies the objects that it adds, and none twice', async () => {
  const { path, id } = await project();
  const many = Array.from({ length: 30 }, (_, i) => ({
    action: 'create',
    file_path: `m${i}`,
    content: `${i}`,
  }));
  const filled = { branch: 'main', commit_message: 'Fill', actions: many };
  expect((await as('owner', 'POST', `${path}/repository/commits`, filled)).status).toBe(201);
  const named = { name: `copied-${made}`, path: `copied-${made}` };
  const { body: forked } = await as('developer', 'POST', `${path}/fork`, named);
  await settled();
  const fork = `/projects/${forked.id}`;
  /** Also those that maintenance has merged by now. */
  const packs = async () => {
    await settled();
    const { repositoryId } = (await world.store.projects.get(id))!;
    const all = await world.store.repositories.open(repositoryId).catalogue();
    return all.filter(({ source }) => source === 'insert');
  };
  /** How many objects the packs have that come with some work. */
  const added = async (work: () => Promise<unknown>) => {
    const before = new Set((await packs()).map((pack) => pack.id));
    await work();
    const fresh = (await packs()).filter((pack) => !before.has(pack.id));
    return fresh.map(({ objectCount }) => objectCount).toSorted((a, b) => a - b);
  };
  await commit(fork, 'mine', 'f.txt', 'main', 'developer');
  const json = { source_branch: 'mine', target_project_id: id };
  // The commit, its root directory and the file; and the merge that can be fetched.
  expect(await added(() => propose(fork, json, 'developer'))).toEqual([1, 3]);
  for (const file of ['g.txt', 'h.txt'])
    expect(await added(() => commit(fork, 'mine', file, undefined, 'developer'))).toEqual([1, 3]);
  // The same head, proposed into another branch, and merged: the merges alone, the first with a root directory of its own.
  await commit(path, 'stable', 's.txt', 'main');
  expect(await added(() => propose(fork, { ...json, target_branch: 'stable' }, 'developer'))).toEqual([2]);
  expect(await added(() => as('owner', 'PUT', `${path}/merge_requests/1/merge`))).toEqual([1]);
});

describe('one whose source branch is deleted', () => {
  test('is closed, as who deleted it, and opened again with the branch', async () => {
    const { path, id } = await project();
    const { iid } = await propose(path, {}, 'owner');
    const at = `${path}/merge_requests/${iid}`;
    expect((await as('maintainer', 'DELETE', `${path}/repository/branches/topic`)).status).toBe(204);
    await settled();
    const { body: closed } = await as('owner', 'GET', at);
    expect(closed).toMatchObject({ state: 'closed', closed_by: { username: 'maintainer' } });
    expect(await notedOn(id, iid)).toEqual([
      ['closed', 'maintainer'],
      ['deleted source branch `topic`', 'maintainer'],
    ]);
    expect((await as('owner', 'PUT', at, { state_event: 'reopen' })).status).toBe(422);
    await as('owner', 'POST', `${path}/repository/branches?branch=topic&ref=${closed.sha}`);
    expect((await as('owner', 'PUT', at, { state_event: 'reopen' })).body).toMatchObject({ state: 'opened' });
  });

  test('stays open where the branch is there again by then', async () => {
    const { path, id } = await project();
    const { iid, sha } = await propose(path);
    const branch = { name: 'refs/heads/topic', from: sha, to: ZERO_OID };
    const push = { projectId: id, branches: [branch], actorId: world.ids['owner']!, baseUrl: service.url };
    expect(await followPush(deps(), push, Date.now() + 60_000)).toBe(true);
    expect(await record(id, iid)).toMatchObject({ state: 'opened', diff: { number: 1 } });
  });

  test.each([
    ['with one push', [['push', '--quiet', 'origin', 'HEAD:main', ':topic']]],
    [
      'with two',
      [
        ['push', '--quiet', 'origin', 'HEAD:main'],
        ['push', '--quiet', 'origin', ':topic'],
      ],
    ],
  ])('and whose commits came to the target, %s, is merged', async (_, pushes) => {
    const { path, id } = await project();
    const { iid } = await propose(path);
    await inClone('maintainer', path, [
      ['merge', '--quiet', '--no-ff', '-m', 'By hand', 'origin/topic'],
      ...pushes,
    ]);
    await settled();
    expect(await record(id, iid)).toMatchObject({ state: 'merged', mergedById: world.ids['maintainer'] });
  });

  test('is left to those who may close it', async () => {
    const { path, id } = await project();
    const name = `kept-${made}`;
    const { body: fork } = await as('developer', 'POST', `${path}/fork`, { name, path: name });
    await settled();
    await as('developer', 'POST', `/projects/${fork.id}/members`, {
      ...{ user_id: world.ids['stranger'], access_level: 40 },
    });
    await commit(`/projects/${fork.id}`, 'mine', 'f.txt', 'main', 'developer');
    const json = { source_branch: 'mine', target_project_id: id };
    const { iid } = await propose(`/projects/${fork.id}`, json, 'developer');
    const branch = `/projects/${fork.id}/repository/branches/mine`;
    expect((await as('stranger', 'DELETE', branch)).status).toBe(204);
    await settled();
    const { body } = await as('owner', 'GET', `${path}/merge_requests/${iid}`);
    expect(body).toMatchObject({ state: 'opened', detailed_merge_status: 'broken_status' });
  });
});
