import { expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { checkMergeRequest } from '../../../lib/domain/merge-requests/check.ts';
import { mergeRequestKeys } from '../../../lib/store/row-keys/merge-requests.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld();

let made = 0;
/** A project of the owner with `main` and `topic`, which a developer proposes. */
async function proposed(settings: object = {}) {
  const json = { name: `stuck-${++made}`, visibility: 'public', ...settings };
  const path = `/projects/${(await as('owner', 'POST', '/projects', json)).body.id}`;
  for (const [who, access_level] of [
    ['developer', 30],
    ['maintainer', 40],
  ] as const)
    await as('owner', 'POST', `${path}/members`, { user_id: world.ids[who], access_level });
  await write('owner', path, 'main', 'create', 'first');
  const head = await write('developer', path, 'topic', 'update', 'topic', { start_branch: 'main' });
  const proposal = { title: 'Topic', source_branch: 'topic', target_branch: 'main' };
  const { body } = await as('developer', 'POST', `${path}/merge_requests`, proposal);
  return { path, head, mr: `${path}/merge_requests/${body.iid}` };
}

/** Writes the same file. @returns the commit */
async function write(
  who: Who,
  path: string,
  branch: string,
  action: string,
  content: string,
  more: object = {},
) {
  const actions = [{ action, file_path: 'a.txt', content: `${content}\n` }];
  const json = { branch, commit_message: content, actions, ...more };
  const { status, body } = await as(who, 'POST', `${path}/repository/commits`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id as string;
}

/** What a user has to do about a merge request. */
async function todos(who: Who, mr: string): Promise<string[]> {
  await settled();
  const { body } = await as(who, 'GET', '/todos?type=MergeRequest');
  const own = (body as { project: { id: number }; action_name: string }[]).filter(({ project }) =>
    mr.startsWith(`/projects/${project.id}/`),
  );
  return own.map(({ action_name }) => action_name);
}

test('the author has a to-do when conflicts appear, one however often they are found', async () => {
  const { path, mr } = await proposed();
  expect((await as('maintainer', 'GET', mr)).body.has_conflicts).toBe(false);
  expect(await todos('developer', mr)).toEqual([]);
  await write('owner', path, 'main', 'update', 'rival');
  expect((await as('maintainer', 'GET', mr)).body.has_conflicts).toBe(true);
  await write('owner', path, 'main', 'update', 'another rival');
  expect((await as('maintainer', 'GET', mr)).body.has_conflicts).toBe(true);
  expect(await todos('developer', mr)).toEqual(['unmergeable']);
  expect(await todos('maintainer', mr)).toEqual([]);
});

test('a worker that has no time to check says nothing, and at its last try that it cannot be merged', async () => {
  const { path, mr } = await proposed();
  const { body } = await as('maintainer', 'GET', mr);
  // The host's own workers have nothing to check any more.
  await settled();
  const { store } = deps();
  const address = { projectId: body.project_id, iid: body.iid };
  await store.table.update({
    update: mergeRequestKeys.record(address),
    set: { verdict: null },
    remove: ['check'],
  });
  const status = async () =>
    (await as('guest', 'GET', `${path}/merge_requests?iids[]=${body.iid}`)).body[0].merge_status;
  const check = (last: boolean) => checkMergeRequest(deps(), address, { deadline: Date.now(), last });
  await expect(check(false)).rejects.toThrow('was not found out in time');
  expect(await status()).toBe('unchecked');
  await check(true);
  expect(await status()).toBe('cannot_be_merged');
});

test('whether a closed one would merge is told as of an open one, and its author has nothing to do about it', async () => {
  const { path, mr } = await proposed();
  await as('developer', 'PUT', mr, { state_event: 'close' });
  const listed = async () => (await as('maintainer', 'GET', `${path}/merge_requests?state=closed`)).body[0];
  expect((await as('maintainer', 'GET', mr)).body).toMatchObject({
    state: 'closed',
    merge_status: 'can_be_merged',
  });
  expect(await listed()).toMatchObject({ merge_status: 'can_be_merged', has_conflicts: false });
  await write('owner', path, 'main', 'update', 'rival');
  expect((await as('maintainer', 'GET', mr)).body).toMatchObject({
    merge_status: 'cannot_be_merged',
    has_conflicts: true,
  });
  expect(await listed()).toMatchObject({ merge_status: 'cannot_be_merged', has_conflicts: true });
  expect(await todos('developer', mr)).toEqual([]);
});

test('the author has a to-do when an automatic merge is refused', async () => {
  const { path, head, mr } = await proposed({ only_allow_merge_if_all_discussions_are_resolved: true });
  await as('developer', 'POST', '/todos/mark_as_done');
  const report = (state: string) => as('owner', 'POST', `${path}/statuses/${head}`, { state, ref: 'topic' });
  await report('running');
  const later = await as('maintainer', 'PUT', `${mr}/merge`, { merge_when_pipeline_succeeds: true });
  expect(later.status).toBe(200);
  await as('maintainer', 'POST', `${mr}/discussions`, { body: 'Why?' });
  await report('success');
  expect(await todos('developer', mr)).toContain('unmergeable');
  const { body } = await as('maintainer', 'GET', mr);
  expect(body).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: false });
  expect(body.merge_error).toContain('Automatic merge failed');
});

test('the author, and who wants it merged then, have a to-do when the pipeline of its head fails', async () => {
  const { path, head, mr } = await proposed();
  const report = async (state: string, sha: string) => {
    const { status, body } = await as('owner', 'POST', `${path}/statuses/${sha}`, { state, ref: 'topic' });
    expect(status, JSON.stringify(body)).toBe(201);
  };
  await report('running', head);
  const later = await as('maintainer', 'PUT', `${mr}/merge`, { merge_when_pipeline_succeeds: true });
  expect(later.status).toBe(200);
  expect([await todos('developer', mr), await todos('maintainer', mr)]).toEqual([[], []]);
  await report('failed', head);
  expect([await todos('developer', mr), await todos('maintainer', mr)]).toEqual([
    ['build_failed'],
    ['build_failed'],
  ]);
  expect(await todos('owner', mr)).toEqual([]);
  // Of a former head it says nothing.
  await as('developer', 'POST', '/todos/mark_as_done');
  await write('developer', path, 'topic', 'update', 'topic again');
  await settled();
  await as('owner', 'POST', `${path}/statuses/${head}`, { state: 'failed', ref: 'topic', name: 'late' });
  expect(await todos('developer', mr)).toEqual([]);
});

test('an approval of a head that has been pushed over is refused, also before a worker knows of the push', async () => {
  const { path, head, mr } = await proposed();
  const next = await write('developer', path, 'topic', 'update', 'topic again');
  const approve = (sha: string) => as('maintainer', 'POST', `${mr}/approve`, { sha });
  const stale = await approve(head);
  expect([stale.status, stale.body.message]).toEqual([
    409,
    `SHA does not match HEAD of source branch: ${next}`,
  ]);
  expect((await approve(next)).status).toBe(201);
});
