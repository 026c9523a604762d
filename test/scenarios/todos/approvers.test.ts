/** Approvers whom rules name have a to-do about what waits for them. */
import { beforeAll, expect, test, vi } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { askedToApprove } from '../../../lib/domain/approvals/asked.ts';
import { addTodos } from '../../../lib/domain/todos/causes.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { world, ok, join } = ownWorld();

const ids = (...names: readonly Who[]) => names.map((name) => world.ids[name]!);
let group: number;
beforeAll(async () => {
  const made = { name: 'reviewers', path: 'reviewers', visibility: 'public' };
  ({ id: group } = await ok('owner', 'POST', '/groups', made));
  for (const user_id of ids('reporter', 'stranger'))
    await ok('owner', 'POST', `/groups/${group}/members`, { user_id, access_level: 20 });
});

let made = 0;
/** A project of the owner with `main`, `stable` and `topic`, and members of each level. */
async function project(): Promise<string> {
  const json = { name: `asked-${++made}`, visibility: 'public', initialize_with_readme: true };
  const path = `/projects/${(await ok('owner', 'POST', '/projects', json)).id}`;
  await join(path);
  await ok('owner', 'POST', `${path}/repository/branches?branch=stable&ref=main`);
  const actions = [{ action: 'create', file_path: 'a.txt', content: 'x' }];
  const commit = { branch: 'topic', start_branch: 'main', commit_message: 'x', actions };
  await ok('owner', 'POST', `${path}/repository/commits`, commit);
  return path;
}

const rule = (path: string, name: string, more: object) =>
  ok('owner', 'POST', `${path}/approval_rules`, { name, approvals_required: 1, ...more });

async function propose(path: string, target_branch = 'main'): Promise<string> {
  const json = { title: 'Topic', source_branch: 'topic', target_branch };
  return `${path}/merge_requests/${(await ok('owner', 'POST', `${path}/merge_requests`, json)).iid}`;
}

/** What a user is asked to do in a project. */
async function asked(who: Who, path: string): Promise<string[]> {
  const todos = await ok(who, 'GET', '/todos?per_page=100');
  return todos
    .filter((todo: { project: { id: number } }) => path === `/projects/${todo.project.id}`)
    .map((todo: { action_name: string }) => todo.action_name);
}

test('rules in force ask whom they name, and members of groups, who may approve; an approval is the end of it', async () => {
  const path = await project();
  await rule(path, 'People', { user_ids: ids('owner', 'developer', 'guest') });
  await rule(path, 'Team', { group_ids: [group] });
  const stable = (await ok('owner', 'POST', `${path}/protected_branches`, { name: 'stable' })).id;
  await rule(path, 'Stable', { user_ids: ids('maintainer'), protected_branch_ids: [stable] });
  const mr = await propose(path);
  await settled();
  expect(await asked('developer', path)).toEqual(['approval_required']);
  expect(await asked('reporter', path)).toEqual(['approval_required']);
  // The author; who may not approve; who is asked about another branch; a member of the group, and not of the project.
  for (const who of ['owner', 'guest', 'maintainer', 'stranger'] as const)
    expect(await asked(who, path), who).toEqual([]);
  const [todo] = await ok('developer', 'GET', '/todos?action=approval_required&type=MergeRequest');
  expect(todo).toMatchObject({ author: { username: 'owner' }, target: { title: 'Topic' }, state: 'pending' });
  await ok('developer', 'POST', `${mr}/approve`);
  await settled();
  expect(await asked('developer', path)).toEqual([]);
  await propose(path, 'stable');
  await settled();
  expect(await asked('maintainer', path)).toEqual(['approval_required']);
});

test('a rule of a merge request asks whom it is given, and nobody again', async () => {
  const path = await project();
  const mr = await propose(path);
  const json = { name: 'Own', approvals_required: 1, user_ids: ids('developer') };
  const { id } = await ok('owner', 'POST', `${mr}/approval_rules`, json);
  await settled();
  expect(await asked('developer', path)).toEqual(['approval_required']);
  await ok('developer', 'POST', '/todos/mark_as_done');
  await ok('owner', 'PUT', `${mr}/approval_rules/${id}`, { approvals_required: 2 });
  await settled();
  expect([await asked('developer', path), await asked('maintainer', path)]).toEqual([[], []]);
  await ok('owner', 'PUT', `${mr}/approval_rules/${id}`, { user_ids: ids('developer', 'maintainer') });
  await settled();
  expect(await asked('maintainer', path)).toEqual(['approval_required']);
  await ok('maintainer', 'POST', '/todos/mark_as_done');
  await ok('owner', 'DELETE', `${mr}/approval_rules/${id}`);
  await settled();
  expect(await asked('maintainer', path)).toEqual([]);
});

test('rules that name nobody ask nobody', async () => {
  const path = await project();
  await ok('owner', 'POST', `${path}/approvals`, { approvals_before_merge: 1 });
  await propose(path);
  await settled();
  for (const who of ['developer', 'maintainer'] as const) expect(await asked(who, path), who).toEqual([]);
});

test('who may not approve takes no place among those who are asked', async () => {
  const path = await project();
  await rule(path, 'People', { user_ids: ids('guest', 'owner', 'developer', 'maintainer') });
  const iid = Number((await propose(path)).split('/').at(-1));
  const projectId = Number(path.split('/').at(-1));
  const access = { project: (await world.store.projects.get(projectId))!, level: 0 } as const;
  const record = (await world.store.mergeRequests.get({ projectId, iid }))!;
  const few = (atMost: number) => askedToApprove(deps(), access, record, 'all', atMost);
  expect(await few(1)).toEqual(ids('developer'));
  expect(await few(3)).toEqual(ids('developer', 'maintainer'));
});

test('a job that goes on with a long group that is mentioned asks nobody again', async () => {
  const path = await project();
  await rule(path, 'People', { user_ids: ids('developer') });
  const iid = Number((await propose(path)).split('/').at(-1));
  await settled();
  const looks = vi.spyOn(deps().store.approvalRules, 'forMergeRequest');
  const cause = {
    ...({ kind: 'merge-request', projectId: Number(path.split('/').at(-1)), iid } as const),
    ...{ authorId: world.ids['owner']!, assignedIds: [], described: true, finished: false },
    approvalRules: 'all',
  } as const;
  const run = (more: object) => addTodos(deps(), { ...cause, ...more }, 'again', Date.now() + 60_000);
  await run({ from: { source: 0, after: 0 } });
  expect(looks).not.toHaveBeenCalled();
  await run({});
  expect(looks).toHaveBeenCalled();
});
