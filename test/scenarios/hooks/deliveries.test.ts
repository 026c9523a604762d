/** What hooks are sent, when, and what becomes of calls that fail: with a receiver that records them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { runJob } from '../../../lib/domain/worker/dispatch.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { person, scimGroup } from '../../harness/scim.ts';
import { changeSettings } from '../../harness/settings.ts';
import { settled } from '../../harness/settled.ts';
import { type Received, startReceiver } from './receiver.ts';

const { service, world, as, root } = ownWorld();
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let project: string;
let groupId: number;
beforeAll(async () => {
  receiver = await startReceiver();
  await changeSettings(service, { allow_local_requests_from_web_hooks_and_services: true });
  const group = await as('owner', 'POST', '/groups', { name: 'Team', path: 'team' });
  groupId = group.body.id;
  const json = { name: 'Code', namespace_id: groupId, initialize_with_readme: true };
  const made = await as('owner', 'POST', '/projects', json);
  expect(made.status).toBe(201);
  project = `/projects/${made.body.id}`;
});
afterAll(() => receiver.stop());

const PATIENCE = { timeout: 60_000, interval: 50 };
let paths = 0;

/** A hook that is called at a path of its own. */
async function hooked(
  switches: object,
  { at = project, kind = 'ok', base = receiver.url, ...more } = {} as Record<string, string>,
) {
  const path = `/${kind}/${++paths}`;
  const json = { url: `${base}${path}`, push_events: false, ...switches, ...more };
  const { status, body } = await as(at === '' ? 'administrator' : 'owner', 'POST', `${at}/hooks`, json);
  expect([status, body.message]).toEqual([201, undefined]);
  const self = `${at}/hooks/${body.id}`;
  return {
    path,
    self,
    id: body.id as number,
    /** Waits for so many calls. */
    async calls(count = 1): Promise<Received[]> {
      await expect.poll(() => receiver.at(path).length, PATIENCE).toBeGreaterThanOrEqual(count);
      return receiver.at(path);
    },
    events: async () =>
      (await as(at === '' ? 'administrator' : 'owner', 'GET', `${self}/events`)).body as {
        id: string;
        state: string;
        attempts: number;
        response_status: string | null;
        response_body: string;
        request_headers: Record<string, string>;
        request_data: Record<string, unknown>;
        event_uuid: string;
      }[],
    drop: () => as(at === '' ? 'administrator' : 'owner', 'DELETE', self),
  };
}

let files = 0;
async function commit(branch = 'main', from?: string) {
  const { status, body } = await as('owner', 'POST', `${project}/repository/commits`, {
    branch,
    ...(from === undefined ? {} : { start_branch: from }),
    commit_message: 'Add a file',
    actions: [{ action: 'create', file_path: `file-${++files}.txt`, content: 'x\n' }],
  });
  expect([status, body.message && 'made']).toEqual([201, 'made']);
  return body.id as string;
}
const keys = (value: object) => Object.keys(value).sort();
const PROJECT_KEYS = [
  ...['avatar_url', 'ci_config_path', 'default_branch', 'description', 'git_http_url', 'git_ssh_url'],
  ...['homepage', 'http_url', 'id', 'name', 'namespace', 'path_with_namespace', 'ssh_url', 'url'],
  ...['visibility_level', 'web_url'],
].sort();

describe('a push', () => {
  test('is told with its commits, the token and the id of the event', async () => {
    const hook = await hooked({ push_events: true }, { token: 'open sesame' });
    const sha = await commit();
    const [{ headers, body }] = (await hook.calls()) as [Received];
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-gitlab-event': 'Push Hook',
      'x-gitlab-token': 'open sesame',
      'x-gitlab-event-uuid': expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      'x-lemnos-event': 'Push Hook',
      'x-lemnos-token': 'open sesame',
    });
    expect(headers['x-lemnos-event-uuid']).toBe(headers['x-gitlab-event-uuid']);
    expect(headers['x-gitlab-instance']).toBeDefined();
    expect(keys(body)).toEqual(
      [
        ...['after', 'before', 'checkout_sha', 'commits', 'event_name', 'message', 'object_kind', 'project'],
        ...['project_id', 'push_options', 'ref', 'repository', 'total_commits_count', 'user_avatar'],
        ...['user_email', 'user_id', 'user_name', 'user_username'],
      ].sort(),
    );
    expect(keys(body.project)).toEqual(PROJECT_KEYS);
    expect(body).toMatchObject({
      object_kind: 'push',
      ref: 'refs/heads/main',
      after: sha,
      checkout_sha: sha,
      user_username: 'owner',
      total_commits_count: 1,
    });
    expect(body.commits).toEqual([
      {
        id: sha,
        message: 'Add a file',
        title: 'Add a file',
        timestamp: expect.any(String),
        url: expect.stringContaining(`/team/code/-/commit/${sha}`),
        author: { name: expect.any(String), email: expect.any(String) },
        added: [`file-${files}.txt`],
        modified: [],
        removed: [],
      },
    ]);
    await expect
      .poll(hook.events, PATIENCE)
      .toMatchObject([
        { state: 'delivered', response_status: '200', response_body: 'thank you', attempts: 1 },
      ]);
    const [event] = await hook.events();
    expect(JSON.stringify(event)).not.toContain('open sesame');
    expect(event!.request_headers['X-Gitlab-Token']).toBe('[REDACTED]');
    expect(event!.request_data).toEqual(body);
    await hook.drop();
  });

  test('to other branches than the filter names is not told', async () => {
    const hook = await hooked({ push_events: true }, { push_events_branch_filter: 'release/*' });
    await commit('feature-a', 'main');
    await commit('release/1', 'main');
    const calls = await hook.calls();
    expect(calls.map(({ body }) => body.ref)).toEqual(['refs/heads/release/1']);
    expect(calls[0]!.body.before).toBe('0'.repeat(40));
    await hook.drop();
  });

  test('of more branches than the limit is not told', async () => {
    const hook = await hooked({ push_events: true, tag_push_events: true });
    await changeSettings(service, { push_event_hooks_limit: 0 });
    await commit();
    await changeSettings(service, { push_event_hooks_limit: 3 });
    const sha = await commit();
    const calls = await hook.calls();
    expect(calls.map(({ body }) => body.after)).toEqual([sha]);
    await hook.drop();
  });

  test('of a tag is told to those who want it', async () => {
    const hook = await hooked({ tag_push_events: true });
    await as('owner', 'POST', `${project}/repository/tags`, { tag_name: 'v1', ref: 'main', message: 'one' });
    await as('owner', 'DELETE', `${project}/repository/tags/v1`);
    const calls = await hook.calls(2);
    expect(calls.map(({ headers }) => headers['x-gitlab-event'])).toEqual(['Tag Push Hook', 'Tag Push Hook']);
    expect(calls[0]!.body).toMatchObject({ object_kind: 'tag_push', ref: 'refs/tags/v1', commits: [] });
    expect(calls[1]!.body).toMatchObject({ after: '0'.repeat(40), checkout_sha: null });
    await hook.drop();
  });

  test('reaches the hooks of its project, its groups and the instance as one event', async () => {
    const own = await hooked({ push_events: true });
    const above = await hooked({ push_events: true }, { at: `/groups/${groupId}` });
    const all = await hooked({ push_events: true, repository_update_events: true }, { at: '' });
    const sha = await commit();
    const [one] = await own.calls();
    const [two] = await above.calls();
    const calls = await all.calls(2);
    expect(two!.body).toEqual(one!.body);
    expect(two!.headers['x-gitlab-event-uuid']).toBe(one!.headers['x-gitlab-event-uuid']);
    expect(calls.map(({ headers }) => headers['x-gitlab-event'])).toEqual(['System Hook', 'System Hook']);
    expect(calls[0]!.body).toMatchObject({ event_name: 'push', commits: [], after: sha });
    expect(calls[1]!.body).toMatchObject({
      event_name: 'repository_update',
      refs: ['refs/heads/main'],
      changes: [{ after: sha, ref: 'refs/heads/main' }],
    });
    for (const hook of [own, above, all]) await hook.drop();
  });
});

describe('an issue', () => {
  test('is told when it is opened, changed and closed, with what changed', async () => {
    const hook = await hooked({ issues_events: true });
    const { body: issue } = await as('owner', 'POST', `${project}/issues`, {
      title: 'Broken',
      labels: 'bug',
    });
    await as('owner', 'PUT', `${project}/issues/${issue.iid}`, { title: 'Very broken' });
    await as('owner', 'PUT', `${project}/issues/${issue.iid}`, { state_event: 'close' });
    const calls = await hook.calls(3);
    expect(calls.map(({ body }) => body.object_attributes.action)).toEqual(['open', 'update', 'close']);
    const [{ body, headers }] = calls as [Received];
    expect(headers['x-gitlab-event']).toBe('Issue Hook');
    expect(keys(body)).toEqual(
      [
        'changes',
        'event_type',
        'labels',
        'object_attributes',
        'object_kind',
        'project',
        'repository',
        'user',
      ].sort(),
    );
    expect(keys(body.object_attributes)).toEqual(
      [
        ...['action', 'assignee_id', 'assignee_ids', 'author_id', 'closed_at', 'confidential', 'created_at'],
        ...['description', 'discussion_locked', 'due_date', 'duplicated_to_id', 'health_status'],
        ...['human_time_change', 'human_time_estimate', 'human_total_time_spent', 'id', 'iid', 'labels'],
        ...['last_edited_at', 'last_edited_by_id', 'milestone_id', 'moved_to_id', 'project_id'],
        ...['relative_position', 'severity', 'state', 'state_id', 'time_change', 'time_estimate', 'title'],
        ...['total_time_spent', 'type', 'updated_at', 'updated_by_id', 'url', 'weight'],
      ].sort(),
    );
    expect(keys(body.user)).toEqual(['avatar_url', 'email', 'id', 'name', 'username']);
    expect(body.labels).toMatchObject([{ title: 'bug' }]);
    expect(calls[1]!.body.changes.title).toEqual({ previous: 'Broken', current: 'Very broken' });
    expect(calls[2]!.body.changes.state_id).toEqual({ previous: 1, current: 2 });
    await hook.drop();
  });

  test('that is confidential is told to those alone who want it', async () => {
    const hook = await hooked({ issues_events: true });
    const confidential = await hooked({ confidential_issues_events: true });
    await as('owner', 'POST', `${project}/issues`, { title: 'Secret', confidential: true });
    await as('owner', 'POST', `${project}/issues`, { title: 'Open' });
    const [call] = await confidential.calls();
    expect([call!.headers['x-gitlab-event'], call!.body.event_type]).toEqual([
      'Confidential Issue Hook',
      'confidential_issue',
    ]);
    expect((await hook.calls()).map(({ body }) => body.object_attributes.title)).toEqual(['Open']);
    for (const each of [hook, confidential]) await each.drop();
  });
});

test('notes on issues and commits are told with what they are on', async () => {
  const hook = await hooked({ note_events: true });
  const sha = await commit();
  const { body: issue } = await as('owner', 'POST', `${project}/issues`, { title: 'Talk' });
  await as('owner', 'POST', `${project}/issues/${issue.iid}/notes`, { body: 'first' });
  await as('owner', 'POST', `${project}/repository/commits/${sha}/comments`, { note: 'second' });
  const calls = await hook.calls(2);
  expect(calls.map(({ body }) => body.object_attributes.note)).toEqual(['first', 'second']);
  expect(calls[0]!.body).toMatchObject({
    object_kind: 'note',
    event_type: 'note',
    object_attributes: { noteable_type: 'Issue', noteable_id: issue.id },
    issue: { iid: issue.iid, title: 'Talk' },
  });
  expect(calls[1]!.body).toMatchObject({
    object_attributes: { noteable_type: 'Commit', commit_id: sha },
    commit: { id: sha },
  });
  await hook.drop();
});

test('a merge request is told when it is opened, pushed to and closed', async () => {
  const hook = await hooked({ merge_requests_events: true });
  await commit('topic', 'main');
  const { body: made } = await as('owner', 'POST', `${project}/merge_requests`, {
    source_branch: 'topic',
    target_branch: 'main',
    title: 'A topic',
  });
  const head = made.sha;
  await commit('topic');
  await hook.calls(2);
  await as('owner', 'PUT', `${project}/merge_requests/${made.iid}`, { state_event: 'close' });
  const calls = await hook.calls(3);
  expect(calls.map(({ body }) => body.object_attributes.action)).toEqual(['open', 'update', 'close']);
  expect(calls[1]!.body.object_attributes.oldrev).toBe(head);
  expect(keys(calls[0]!.body.object_attributes)).toEqual(
    [
      ...[
        'action',
        'assignee_id',
        'assignee_ids',
        'author_id',
        'blocking_discussions_resolved',
        'created_at',
      ],
      ...['description', 'draft', 'head_pipeline_id', 'human_time_change', 'human_time_estimate'],
      ...['human_total_time_spent', 'id', 'iid', 'labels', 'last_commit', 'last_edited_at'],
      ...['last_edited_by_id', 'merge_commit_sha', 'merge_error', 'merge_params', 'merge_status'],
      ...['merge_user_id', 'merge_when_pipeline_succeeds', 'milestone_id', 'reviewer_ids', 'source'],
      ...['source_branch', 'source_project_id', 'state', 'state_id', 'target', 'target_branch'],
      ...['target_project_id', 'time_change', 'time_estimate', 'title', 'total_time_spent', 'updated_at'],
      ...['updated_by_id', 'url', 'work_in_progress'],
    ].sort(),
  );
  await hook.drop();
});

test('a merge request is told when it is approved, that is taken back, and when it is merged', async () => {
  const member = { user_id: world.ids['maintainer'], access_level: 40 };
  await as('owner', 'POST', `${project}/members`, member);
  await commit('judged', 'main');
  const { body: made } = await as('owner', 'POST', `${project}/merge_requests`, {
    ...{ source_branch: 'judged', target_branch: 'main', title: 'Judged' },
  });
  const hook = await hooked({ merge_requests_events: true });
  const at = `${project}/merge_requests/${made.iid}`;
  for (const what of ['approve', 'unapprove', 'approve'])
    expect((await as('maintainer', 'POST', `${at}/${what}`)).status).toBe(201);
  await hook.calls(3);
  // A push takes the approval back, and is told as a push.
  const { body: settings } = await as('owner', 'POST', `${project}/approvals`, {
    reset_approvals_on_push: true,
  });
  expect(settings.reset_approvals_on_push).toBe(true);
  await commit('judged');
  await hook.calls(4);
  const { body: merged } = await as('owner', 'PUT', `${at}/merge`);
  const calls = await hook.calls(5);
  expect(calls.map(({ body }) => [body.object_attributes.action, body.user.username])).toEqual([
    ['approved', 'maintainer'],
    ['unapproved', 'maintainer'],
    ['approved', 'maintainer'],
    ['update', 'owner'],
    ['merge', 'owner'],
  ]);
  expect(calls[4]!.body.object_attributes).toMatchObject({
    ...{ state: 'merged', merge_commit_sha: merged.merge_commit_sha },
  });
  await hook.drop();
});

test('releases, pages of wikis and deployments are told', async () => {
  const hook = await hooked({ releases_events: true, wiki_page_events: true, deployment_events: true });
  const sha = await commit();
  await as('owner', 'POST', `${project}/releases`, { tag_name: 'v2', ref: 'main', description: 'two' });
  await hook.calls(1);
  await as('owner', 'POST', `${project}/wikis`, { title: 'home', content: 'welcome' });
  await hook.calls(2);
  const json = { environment: 'live', sha, ref: 'main', tag: false, status: 'success' };
  await as('owner', 'POST', `${project}/deployments`, json);
  const calls = await hook.calls(3);
  expect(calls.map(({ headers }) => headers['x-gitlab-event'])).toEqual([
    'Release Hook',
    'Wiki Page Hook',
    'Deployment Hook',
  ]);
  expect(keys(calls[0]!.body)).toEqual(
    [
      ...['action', 'assets', 'commit', 'created_at', 'description', 'id', 'name', 'object_kind', 'project'],
      ...['released_at', 'tag', 'url'],
    ].sort(),
  );
  expect(calls[0]!.body).toMatchObject({ tag: 'v2', action: 'create', assets: { count: 4 } });
  expect(calls[1]!.body.object_attributes).toMatchObject({
    slug: 'home',
    action: 'create',
    content: 'welcome',
  });
  expect(calls[2]!.body).toMatchObject({
    status: 'success',
    environment: 'live',
    short_sha: sha.slice(0, 8),
  });
  await hook.drop();
});

test('members and subgroups are told to hooks of groups', async () => {
  const hook = await hooked({ member_events: true, subgroup_events: true }, { at: `/groups/${groupId}` });
  const userId = world.ids['stranger'];
  await as('owner', 'POST', `/groups/${groupId}/members`, { user_id: userId, access_level: 30 });
  await hook.calls(1);
  await as('owner', 'DELETE', `/groups/${groupId}/members/${userId}`);
  await hook.calls(2);
  await as('owner', 'POST', '/groups', { name: 'Inner', path: 'inner', parent_id: groupId });
  const calls = await hook.calls(3);
  expect(calls.map(({ body }) => body.event_name)).toEqual([
    'user_add_to_group',
    'user_remove_from_group',
    'subgroup_create',
  ]);
  expect(calls[0]!.body).toMatchObject({ group_id: groupId, user_id: userId, group_access: 'Developer' });
  expect(calls[2]!.body).toMatchObject({ full_path: 'team/inner', parent_group_id: groupId });
  await hook.drop();
});

test('memberships are told however they begin and end: an invitation, a day, a group above', async () => {
  const hook = await hooked({ member_events: true }, { at: `/groups/${groupId}` });
  const { endMembership } = await import('../../../lib/domain/members/expiry.ts');
  const inner = await as('owner', 'POST', '/groups', { name: 'Deep', path: 'deep', parent_id: groupId });
  const told = async (count: number) => {
    const { body } = (await hook.calls(count)).at(-1)!;
    return [body.event_name, body.group_path, body.user_username];
  };
  // An invitation of an address that nobody has yet.
  const email = 'invited@example.com';
  await as('owner', 'POST', `/groups/${groupId}/invitations`, { email, access_level: 30 });
  const { id: userId, username } = await service.user('invited');
  expect(await told(1)).toEqual(['user_add_to_group', 'team', username]);
  // A day that has come.
  const expiresAt = '2026-01-01';
  const source = { kind: 'group', id: groupId } as const;
  const { members } = world.store;
  const member = await members.get(source, userId);
  expect(member).toBeDefined();
  const { memberKey } = await import('../../../lib/store/row-keys/members.ts');
  await world.store.table.update({ update: memberKey(source, userId), set: { expiresAt } });
  await endMembership(deps(), { ...source, userId, expiresAt });
  expect(await told(2)).toEqual(['user_remove_from_group', 'team', username]);
  // With that of a group above.
  for (const id of [groupId, inner.body.id])
    await as('owner', 'POST', `/groups/${id}/members`, { user_id: userId, access_level: 30 });
  await hook.calls(4);
  await as('owner', 'DELETE', `/groups/${groupId}/members/${userId}`);
  const calls = (await hook.calls(6)).slice(4);
  expect(calls.map(({ body }) => [body.event_name, body.group_path]).sort()).toEqual([
    ['user_remove_from_group', 'deep'],
    ['user_remove_from_group', 'team'],
  ]);
  await hook.drop();
});

test('memberships that an identity provider gives and takes are told', async () => {
  const corp = await scimGroup(service, world.tokens.owner!, 'hired', {
    trusted_email_domains: ['corp.example'],
  });
  const hook = await hooked({ member_events: true }, { at: `/groups/${corp.id}` });
  const made = await corp.agent('POST', '/Users', person('hired'));
  expect(made.status).toBe(201);
  await hook.calls(1);
  expect((await corp.agent('DELETE', `/Users/${made.body.id}`)).status).toBe(204);
  const calls = await hook.calls(2);
  expect(calls.map(({ body }) => [body.event_name, body.user_name])).toEqual([
    ['user_add_to_group', 'hired Person'],
    ['user_remove_from_group', 'hired Person'],
  ]);
  await hook.drop();
});

test('hooks of the instance hear of other names of projects, groups and users', async () => {
  const hook = await hooked({ repository_update_events: false }, { at: '' });
  const group = await as('owner', 'POST', '/groups', { name: 'Old', path: 'old' });
  const json = { name: 'p', path: 'p', namespace_id: group.body.id };
  const made = await as('owner', 'POST', '/projects', json);
  const user = await service.user('once');
  await hook.calls(3);
  await as('owner', 'PUT', `/groups/${group.body.id}`, { name: 'Another', path: 'new' });
  await as('owner', 'PUT', `/groups/${group.body.id}`, { description: 'the same path' });
  await as('owner', 'PUT', `/projects/${made.body.id}`, { path: 'q' });
  await as('administrator', 'PUT', `/users/${user.id}`, { username: 'present' });
  await as('administrator', 'PUT', `/users/${user.id}`, { name: 'The same username' });
  const calls = (await hook.calls(6)).slice(3).map(({ body }) => body);
  expect(calls).toHaveLength(3);
  const named = (name: string) => calls.find(({ event_name }) => event_name === name);
  expect(named('group_rename')).toMatchObject({
    ...{ path: 'new', full_path: 'new', group_id: group.body.id },
    ...{ old_path: 'old', old_full_path: 'old' },
  });
  expect(named('project_rename')).toMatchObject({
    path_with_namespace: 'new/q',
    old_path_with_namespace: 'new/p',
  });
  expect(named('user_rename')).toMatchObject({
    ...{ user_id: user.id, username: 'present', old_username: 'once' },
    email: 'once@example.com',
  });
  await hook.drop();
});

test('what is deleted with its group is told', async () => {
  const top = await as('owner', 'POST', '/groups', { name: 'Top', path: 'top' });
  const lower = (name: string, id: number) =>
    as('owner', 'POST', '/groups', { name, path: name, parent_id: id });
  const middle = (await lower('middle', top.body.id)).body.id;
  const bottom = (await lower('bottom', middle)).body.id;
  await as('owner', 'POST', '/projects', { name: 'deep', namespace_id: bottom });
  await settled();
  const system = await hooked({ repository_update_events: false }, { at: '' });
  const above = await hooked({ subgroup_events: true }, { at: `/groups/${top.body.id}` });
  expect((await as('owner', 'DELETE', `/groups/${middle}`)).status).toBe(202);
  await settled();
  const names = async (hook: typeof system, count: number) =>
    (await hook.calls(count)).map(
      ({ body }) => `${body.event_name} ${body.path_with_namespace ?? body.full_path}`,
    );
  expect((await names(system, 3)).sort()).toEqual([
    'group_destroy top/middle',
    'group_destroy top/middle/bottom',
    'project_destroy top/middle/bottom/deep',
  ]);
  expect((await names(above, 2)).sort()).toEqual([
    'subgroup_destroy top/middle',
    'subgroup_destroy top/middle/bottom',
  ]);
  for (const hook of [system, above]) await hook.drop();
});

test('hooks of the instance hear of projects, users, keys and members', async () => {
  const hook = await hooked({ repository_update_events: false }, { at: '' });
  const made = await as('owner', 'POST', '/projects', { name: 'Fresh' });
  const user = await service.user('heard');
  const json = { user_id: user.id, access_level: 20 };
  await as('owner', 'POST', `/projects/${made.body.id}/members`, json);
  await as('owner', 'DELETE', `/projects/${made.body.id}`);
  const names = async () => (await hook.calls()).map(({ body }) => body.event_name).sort();
  await expect
    .poll(names, PATIENCE)
    .toEqual(['project_create', 'project_destroy', 'user_add_to_team', 'user_create']);
  await hook.drop();
});

describe('a receiver that', () => {
  test('hangs does not hold another one, nor the change', async () => {
    const slow = await hooked({ push_events: true }, { kind: 'hold' });
    const quick = await hooked({ push_events: true });
    await commit();
    await slow.calls();
    await commit();
    await quick.calls(2);
    expect(receiver.at(slow.path)).toHaveLength(1);
    receiver.letGo();
    await slow.calls(2);
    receiver.letGo();
    for (const hook of [slow, quick]) await hook.drop();
  });

  test.each([
    ['close', 'unreachable', 'waiting'],
    ['redirect', 'redirects', 'waiting'],
    ['absent', '404', 'failed'],
  ])('answers with %s: %s', async (kind, status, state) => {
    const hook = await hooked({ push_events: true }, { kind });
    await commit();
    await expect.poll(hook.events, PATIENCE).toMatchObject([{ state, response_status: status, attempts: 1 }]);
    expect(receiver.at('/inside')).toEqual([]);
    await hook.drop();
  });

  test('shows a certificate that nobody vouches for is sent nothing, unless its hook does not mind', async () => {
    const place = { base: receiver.secureUrl };
    const strict = await hooked({ push_events: true }, place);
    const lenient = await hooked({ push_events: true, enable_ssl_verification: false }, place);
    await commit();
    await expect.poll(strict.events, PATIENCE).toMatchObject([{ state: 'waiting', response_status: 'tls' }]);
    await expect
      .poll(lenient.events, PATIENCE)
      .toMatchObject([{ state: 'delivered', response_status: '200' }]);
    expect(receiver.at(strict.path)).toEqual([]);
    for (const hook of [strict, lenient]) await hook.drop();
  });

  test('sends without end is cut off, and has answered', async () => {
    const hook = await hooked({ push_events: true }, { kind: 'huge' });
    await commit();
    await expect.poll(hook.events, PATIENCE).toMatchObject([{ state: 'delivered', response_status: '200' }]);
    const [event] = await hook.events();
    expect(event!.response_body).toHaveLength(8192);
    await hook.drop();
  });

  test('fails again and again is called less often, and is called again after a test', async () => {
    const hook = await hooked({ push_events: true }, { kind: 'absent' });
    for (let i = 0; i < 4; i++) {
      await commit();
      await hook.calls(i + 1);
      await expect.poll(async () => (await hook.events())[0]?.state, PATIENCE).toBe('failed');
    }
    const { body } = await as('owner', 'GET', hook.self);
    expect(body).toMatchObject({ alert_status: 'temporarily_disabled', disabled_until: expect.any(String) });
    await commit();
    await expect.poll(async () => (await hook.events())[0]?.state, PATIENCE).toBe('waiting');
    expect(receiver.at(hook.path)).toHaveLength(4);
    await as('owner', 'PUT', hook.self, { url: `${receiver.url}/ok${hook.path}` });
    expect((await as('owner', 'POST', `${hook.self}/test/push_events`)).body).toEqual({
      message: '201 Created',
    });
    await expect
      .poll(async () => (await hook.events()).map(({ state }) => state).slice(0, 2), PATIENCE)
      .toEqual(['delivered', 'delivered']);
    expect((await as('owner', 'GET', hook.self)).body.alert_status).toBe('executable');
    await hook.drop();
  });
});

test('a delivery is sent again with the same event, also to whom it failed', async () => {
  const hook = await hooked({ push_events: true });
  await commit();
  await hook.calls();
  await expect.poll(async () => (await hook.events())[0]?.state, PATIENCE).toBe('delivered');
  const [event] = await hook.events();
  const again = await as('owner', 'POST', `${hook.self}/events/${event!.id}/resend`);
  expect([again.status, again.body.state, again.body.event_uuid]).toEqual([
    201,
    'waiting',
    event!.event_uuid,
  ]);
  const [first, second] = await hook.calls(2);
  expect(second!.body).toEqual(first!.body);
  expect(second!.headers['x-gitlab-event-uuid']).toBe(first!.headers['x-gitlab-event-uuid']);
  const unknown = await as('owner', 'POST', `${hook.self}/events/none/resend`);
  expect([unknown.status, unknown.body]).toEqual([404, { message: '404 Not found' }]);
  await hook.drop();
});

/** The message of a push, which a worker has. */
const pushed = (id: string, to: string) => ({
  id,
  type: 'hook.tell',
  body: {
    actorId: world.ids['owner'],
    baseUrl: service.url,
    at: new Date().toISOString(),
    scene: { kind: 'project', id: Number(project.split('/')[2]), groupIds: [groupId] },
    events: [{ kind: 'push', updates: [{ name: 'refs/heads/main', from: '0'.repeat(40), to }] }],
  },
});

test('what waits for a hook is told in the order of the changes, whichever worker was faster', async () => {
  const [earlier, later] = [await commit(), await commit()];
  const hook = await hooked({ push_events: true }, { kind: 'hold' });
  const first = await commit();
  await hook.calls();
  await runJob(deps(), pushed('01JD0000000000000000000002', later));
  await runJob(deps(), pushed('01JD0000000000000000000001', earlier));
  for (let calls = 2; calls <= 3; calls++) {
    receiver.letGo();
    await hook.calls(calls);
  }
  receiver.letGo();
  expect((await hook.calls(3)).map(({ body }) => body.after)).toEqual([first, earlier, later]);
  await hook.drop();
});

test('a message that comes twice, or whose worker was killed, makes one delivery', async () => {
  const hook = await hooked({ push_events: true });
  const sha = await commit();
  await hook.calls();
  const job = pushed('01JD0000000000000000000000', sha);
  await runJob(deps(), job);
  await runJob(deps(), job);
  await hook.calls(2);
  await expect
    .poll(async () => (await hook.events()).map(({ state }) => state), PATIENCE)
    .toEqual(['delivered', 'delivered']);
  expect(receiver.at(hook.path)).toHaveLength(2);
  await hook.drop();
});

test('a test of a hook of the instance sends the example that it answers', async () => {
  const hook = await hooked({}, { at: '' });
  const { status, body } = await root('POST', hook.self);
  expect([status, body.event_name]).toEqual([201, 'project_create']);
  const [call] = await hook.calls();
  expect(call!.body).toMatchObject(body);
  await hook.drop();
});

test('there are no tests about what a project has not', async () => {
  const { body } = await as('owner', 'POST', '/projects', { name: 'Bare' });
  const hook = await hooked({ push_events: true }, { at: `/projects/${body.id}` });
  const refused = await as('owner', 'POST', `${hook.self}/test/issues_events`);
  expect([refused.status, refused.body]).toEqual([422, { message: 'Ensure the project has issues.' }]);
  const unknown = await as('owner', 'POST', `${hook.self}/test/nothing_events`);
  expect([unknown.status, unknown.body]).toEqual([400, { error: 'trigger does not have a valid value' }]);
});
