/** What payloads say field by field, beside what the tests of deliveries look at. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { changeSettings } from '../../harness/settings.ts';
import { settled } from '../../harness/settled.ts';
import { type Received, startReceiver } from './receiver.ts';

const { service, world, as, root, someone } = ownWorld();
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let project: string;
let groupId: number;
beforeAll(async () => {
  receiver = await startReceiver();
  await changeSettings(service, { allow_local_requests_from_web_hooks_and_services: true });
  groupId = (await as('owner', 'POST', '/groups', { name: 'Told team', path: 'told' })).body.id;
  const json = { name: 'Told', namespace_id: groupId, initialize_with_readme: true };
  project = `/projects/${(await as('owner', 'POST', '/projects', json)).body.id}`;
});
afterAll(() => receiver.stop());

let paths = 0;

/** What a new hook hears, in order. */
async function hearing(switches: object, at = project) {
  const path = `/ok/payload-${++paths}`;
  const json = { url: `${receiver.url}${path}`, push_events: false, ...switches };
  const ask = at === '' ? root : (...args: Parameters<typeof root>) => as('owner', ...args);
  const { status, body } = await ask('POST', `${at}/hooks`, json);
  expect([status, body.message]).toEqual([201, undefined]);
  return {
    // biome-ignore lint/suspicious/noExplicitAny: payloads of many shapes.
    async heard(count: number): Promise<any[]> {
      await expect
        .poll(() => receiver.at(path).length, { timeout: 60_000, interval: 50 })
        .toBeGreaterThanOrEqual(count);
      return receiver.at(path).map((call: Received) => call.body);
    },
    drop: () => ask('DELETE', `${at}/hooks/${body.id}`),
  };
}

let files = 0;
async function commit(branch = 'main', content = 'one\n', start?: string): Promise<string> {
  const actions = [{ action: 'create', file_path: `told-${++files}.txt`, content }];
  const json = { branch, commit_message: 'Add it', actions, ...(start && { start_branch: start }) };
  const { status, body } = await as('owner', 'POST', `${project}/repository/commits`, json);
  expect(status).toBe(201);
  return body.id;
}

const STAMP = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/;

describe('an issue', () => {
  test('says who changed it last, and who its texts; its times are written alike', async () => {
    const hook = await hearing({ issues_events: true });
    const { body: issue } = await as('owner', 'POST', `${project}/issues`, { title: 'First' });
    const path = `${project}/issues/${issue.iid}`;
    await as('owner', 'PUT', path, { title: 'Second' });
    await as('administrator', 'PUT', path, { state_event: 'close' });
    const [opened, changed, closed] = await hook.heard(3);
    const [owner, administrator] = [world.ids['owner'], world.ids['administrator']];
    expect(opened.object_attributes).toMatchObject({
      ...{ updated_by_id: null, last_edited_at: null, last_edited_by_id: null },
    });
    expect(changed.object_attributes).toMatchObject({
      ...{ updated_by_id: owner, last_edited_by_id: owner, last_edited_at: expect.stringMatching(STAMP) },
    });
    expect(changed.changes).toEqual({
      title: { previous: 'First', current: 'Second' },
      updated_at: { previous: expect.stringMatching(STAMP), current: expect.stringMatching(STAMP) },
      updated_by_id: { previous: null, current: owner },
      last_edited_at: { previous: null, current: expect.stringMatching(STAMP) },
      last_edited_by_id: { previous: null, current: owner },
    });
    expect(closed.object_attributes).toMatchObject({
      ...{ updated_by_id: administrator, last_edited_by_id: owner },
      ...{ state: 'closed', closed_at: expect.stringMatching(STAMP) },
    });
    expect(closed.changes).toMatchObject({
      updated_by_id: { previous: owner, current: administrator },
      closed_at: { previous: null, current: expect.stringMatching(STAMP) },
    });
    expect(closed.changes).not.toHaveProperty('last_edited_at');
    await hook.drop();
  });

  test('that is new has been nothing before', async () => {
    const hook = await hearing({ issues_events: true });
    const json = { title: 'New', description: 'text' };
    const { body: issue } = await as('owner', 'POST', `${project}/issues`, json);
    const [opened] = await hook.heard(1);
    expect(opened.changes).toMatchObject({
      id: { previous: null, current: issue.id },
      iid: { previous: null, current: issue.iid },
      title: { previous: null, current: 'New' },
      description: { previous: null, current: 'text' },
      created_at: { previous: null, current: expect.stringMatching(STAMP) },
    });
    await hook.drop();
  });

  test('shows its images with their whole addresses, apart from code', async () => {
    const hook = await hearing({ issues_events: true });
    const description = [
      '![a](/uploads/0123/a.png) and ![b](b.png) and ![c](https://example.com/c.png)',
      '```',
      '![d](/uploads/0123/d.png)',
      '```',
    ].join('\n');
    await as('owner', 'POST', `${project}/issues`, { title: 'Shown', description });
    const [opened] = await hook.heard(1);
    const base = opened.project.web_url;
    expect(opened.object_attributes.description.split('\n')).toEqual([
      `![a](${base}/uploads/0123/a.png) and ![b](${base.replace('/told/told', '')}/b.png) and ![c](https://example.com/c.png)`,
      ...['```', '![d](/uploads/0123/d.png)', '```'],
    ]);
    await hook.drop();
  });

  test('tells a long description that changes as text', async () => {
    const long = (letter: string) => letter.repeat(40_000);
    const json = { title: 'Long', description: long('a') };
    const { body: issue } = await as('owner', 'POST', `${project}/issues`, json);
    const hook = await hearing({ issues_events: true });
    await as('owner', 'PUT', `${project}/issues/${issue.iid}`, { description: long('b') });
    const [changed] = await hook.heard(1);
    const { previous, current } = changed.changes.description;
    expect([previous.slice(0, 9), current.slice(0, 9)]).toEqual(['a'.repeat(9), 'b'.repeat(9)]);
    await hook.drop();
  });
});

describe('a merge request', () => {
  async function proposed(branch: string) {
    await commit(branch, 'one\ntwo\n', 'main');
    const json = { source_branch: branch, target_branch: 'main', title: branch, remove_source_branch: true };
    const { status, body } = await as('owner', 'POST', `${project}/merge_requests`, json);
    expect(status).toBe(201);
    return { ...body, path: `${project}/merge_requests/${body.iid}` };
  }

  test('has the pipeline of its head, and how it is to be merged', async () => {
    const hook = await hearing({ merge_requests_events: true });
    const made = await proposed('piped');
    const json = { state: 'running', ref: 'piped' };
    expect((await as('owner', 'POST', `${project}/statuses/${made.sha}`, json)).status).toBe(201);
    const merging = { merge_when_pipeline_succeeds: true, should_remove_source_branch: false, squash: true };
    expect((await as('owner', 'PUT', `${made.path}/merge`, merging)).status).toBe(200);
    await as('owner', 'PUT', made.path, { title: 'Another' });
    const told = await hook.heard(2);
    const pipelines = await as('owner', 'GET', `${made.path}/pipelines`);
    expect(told[0].object_attributes.merge_params).toEqual({ force_remove_source_branch: '1' });
    expect(told.at(-1).object_attributes).toMatchObject({
      head_pipeline_id: pipelines.body[0].id,
      merge_when_pipeline_succeeds: true,
      merge_user_id: world.ids['owner'],
      last_edited_by_id: world.ids['owner'],
      merge_params: {
        force_remove_source_branch: '1',
        auto_merge_strategy: 'merge_when_pipeline_succeeds',
        should_remove_source_branch: false,
        squash: true,
        sha: made.sha,
      },
    });
    await hook.drop();
  });

  test('is approved by the last approval that it needs, and unapproved when it is not any more', async () => {
    const made = await proposed('approved');
    await as('owner', 'POST', `${project}/approvals`, { approvals_before_merge: 2 });
    const json = { user_id: world.ids['developer'], access_level: 30 };
    await as('owner', 'POST', `${project}/members`, json);
    const hook = await hearing({ merge_requests_events: true });
    for (const [who, what] of [
      ['developer', 'approve'],
      ['administrator', 'approve'],
      ['developer', 'unapprove'],
      ['administrator', 'unapprove'],
    ] as const)
      expect([who, (await as(who, 'POST', `${made.path}/${what}`)).status]).toEqual([who, 201]);
    const told = await hook.heard(4);
    expect(told.map(({ object_attributes: { action } }) => action)).toEqual([
      ...['approval', 'approved', 'unapproved', 'unapproval'],
    ]);
    await as('owner', 'POST', `${project}/approvals`, { approvals_before_merge: 0 });
    await hook.drop();
  });

  test('whose note is on a line tells where', async () => {
    const made = await proposed('noted');
    const { body: shown } = await as('owner', 'GET', made.path);
    const { base_sha, start_sha, head_sha } = shown.diff_refs;
    const file = `told-${files}.txt`;
    const hook = await hearing({ note_events: true });
    const position = {
      ...{ base_sha, start_sha, head_sha, position_type: 'text' },
      ...{ old_path: file, new_path: file, new_line: 2 },
    };
    const json = { body: 'why?', position };
    const answer = await as('owner', 'POST', `${made.path}/discussions`, json);
    expect(answer.status).toBe(201);
    const [told] = await hook.heard(1);
    const at = {
      ...{ base_sha, start_sha, head_sha, position_type: 'text', old_path: file, new_path: file },
      ...{ old_line: null, new_line: 2, line_range: null },
    };
    expect(told.object_attributes).toMatchObject({
      type: 'DiffNote',
      position: at,
      original_position: at,
      change_position: {
        ...{ base_sha: null, start_sha: null, head_sha: null, position_type: 'text', old_path: null },
        ...{ new_path: null, old_line: null, new_line: null, line_range: null },
      },
      line_code: expect.stringMatching(/^[0-9a-f]{40}_0_2$/),
    });
    expect(told.merge_request).toMatchObject({ iid: made.iid, time_change: 0, human_time_change: null });
    await hook.drop();
  });
});

test('a note on a line of a commit names the line, one on a snippet shows the snippet', async () => {
  const sha = await commit('main', 'one\ntwo\n');
  const snippet = await as('owner', 'POST', `${project}/snippets`, {
    ...{ title: 'Small', description: 'of two lines', visibility: 'private' },
    files: [{ file_path: 'small.txt', content: 'one\ntwo\n' }],
  });
  expect(snippet.status).toBe(201);
  const hook = await hearing({ note_events: true });
  const line = { note: 'here', path: `told-${files}.txt`, line: 2, line_type: 'new' };
  await as('owner', 'POST', `${project}/repository/commits/${sha}/comments`, line);
  await hook.heard(1);
  await as('owner', 'POST', `${project}/snippets/${snippet.body.id}/notes`, { body: 'good' });
  const [onCommit, onSnippet] = await hook.heard(2);
  expect(onCommit.object_attributes).toMatchObject({
    ...{ type: 'DiffNote', commit_id: sha, position: null },
    line_code: expect.stringMatching(/^[0-9a-f]{40}_0_2$/),
  });
  expect(onSnippet.object_attributes.noteable_type).toBe('Snippet');
  expect(onSnippet.snippet).toEqual({
    id: snippet.body.id,
    title: 'Small',
    description: 'of two lines',
    content: 'one\ntwo\n',
    author_id: world.ids['owner'],
    project_id: Number(project.split('/')[2]),
    created_at: expect.stringMatching(STAMP),
    updated_at: expect.stringMatching(STAMP),
    file_name: 'small.txt',
    type: 'ProjectSnippet',
    visibility_level: 0,
    url: expect.stringContaining(`/told/told/-/snippets/${snippet.body.id}`),
  });
  await hook.drop();
});

test('a push has the options that it was given', async () => {
  await commit('slow', 'one\n', 'main');
  const json = { source_branch: 'slow', target_branch: 'main', title: 'slow' };
  const { body: made } = await as('owner', 'POST', `${project}/merge_requests`, json);
  await commit();
  const hook = await hearing({ push_events: true, push_events_branch_filter: 'slow' });
  const path = `${project}/merge_requests/${made.iid}/rebase`;
  expect((await as('owner', 'PUT', path, { skip_ci: true })).status).toBe(202);
  const [told] = await hook.heard(1);
  expect(told.push_options).toEqual({ ci: { skip: true } });
  await hook.drop();
});

describe('the instance', () => {
  test('hears of whom a project is, and when it was made', async () => {
    const hook = await hearing({ repository_update_events: false }, '');
    const { body: own } = await as('owner', 'POST', '/projects', { name: 'Of one' });
    const { body: shared } = await as('owner', 'POST', '/projects', {
      name: 'Of all',
      namespace_id: groupId,
    });
    await as('owner', 'PUT', `/projects/${own.id}`, { description: 'changed' });
    const told = await hook.heard(3);
    const of = (id: number) => told.filter(({ project_id }) => project_id === id);
    const { body: me } = await as('owner', 'GET', '/user');
    expect(of(own.id).map(({ owner_name, owner_email }) => [owner_name, owner_email])).toEqual([
      ...[
        [me.name, me.email],
        [me.name, me.email],
      ],
    ]);
    expect(of(shared.id)[0]).toMatchObject({ owner_name: 'Told team', owner_email: '' });
    const seconds = (iso: string) => `${iso.slice(0, 19)}Z`;
    for (const each of of(own.id)) expect(each.created_at).toBe(seconds(own.created_at));
    await hook.drop();
  });

  test('hears which level a member had who is removed, or leaves, and since when', async () => {
    const hook = await hearing({ repository_update_events: false }, '');
    const [one, two] = [await someone(), await someone()];
    for (const { id } of [one, two])
      await as('owner', 'POST', `${project}/members`, { user_id: id, access_level: 40 });
    await as('owner', 'DELETE', `${project}/members/${one.id}`);
    await root('DELETE', `${project}/members/${two.id}`);
    const of = (told: readonly { user_id: number; event_name: string }[], id: number) =>
      told.filter(({ user_id, event_name }) => user_id === id && event_name !== 'user_create');
    await expect.poll(async () => of(await hook.heard(0), two.id).length, { timeout: 60_000 }).toBe(2);
    const told = await hook.heard(0);
    for (const { id } of [one, two]) {
      const [added, removed] = of(told, id);
      expect(removed).toMatchObject({ event_name: 'user_remove_from_team', access_level: 'Maintainer' });
      expect((removed as unknown as Received['body']).created_at).toBe(
        (added as unknown as Received['body']).created_at,
      );
    }
    await hook.drop();
  });
});

test('a group hears in which group a subgroup was that is deleted', async () => {
  const json = { name: 'Passing', path: 'passing', parent_id: groupId };
  const { body: inner } = await as('owner', 'POST', '/groups', json);
  await settled();
  const hook = await hearing({ subgroup_events: true }, `/groups/${groupId}`);
  expect((await as('owner', 'DELETE', `/groups/${inner.id}`)).status).toBe(202);
  const [told] = await hook.heard(1);
  expect(told).toMatchObject({
    ...{ event_name: 'subgroup_destroy', full_path: 'told/passing', group_id: inner.id },
    ...{ parent_group_id: groupId, parent_name: 'Told team', parent_path: 'told', parent_full_path: 'told' },
    created_at: `${inner.created_at.slice(0, 19)}Z`,
  });
  await hook.drop();
});
