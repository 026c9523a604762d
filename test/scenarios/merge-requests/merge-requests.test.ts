import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { mergeRequestKeys } from '../../../lib/store/row-keys/merge-requests.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { ask, makeWorld, type Who, type World } from '../../harness/world.ts';

let service: Service;
let world: World;
beforeAll(async () => {
  service = await startService();
  world = await makeWorld(service);
  for (const project of ['public', 'private']) {
    await commit(project, 'main', undefined, { 'a.txt': 'one\n' });
    await commit(project, 'topic', 'main', { 'b.txt': 'two\n' });
    await commit(project, 'other', 'main', { 'c.txt': 'three\n' });
  }
});
afterAll(() => service.stop());

const as = (who: Who, method: string, path: string, json?: unknown) => ask(world, who, method, path, json);
const of = (project: string) => `/projects/${world.ids[project]}/merge_requests`;

async function commit(
  project: string,
  branch: string,
  start: string | undefined,
  files: Record<string, string>,
): Promise<string> {
  const actions = Object.entries(files).map(([file_path, content]) => ({
    action: 'create',
    file_path,
    content,
  }));
  const json = {
    branch,
    commit_message: `Write ${branch}`,
    actions,
    ...(start === undefined ? {} : { start_branch: start }),
  };
  const { status, body } = await as(
    'maintainer',
    'POST',
    `/projects/${world.ids[project]}/repository/commits`,
    json,
  );
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

let branches = 0;
/** A new branch with a commit of its own. */
async function branch(project = 'public'): Promise<string> {
  const name = `branch-${++branches}`;
  await commit(project, name, 'main', { [`${name}.txt`]: name });
  return name;
}

async function proposed(json: object = {}, who: Who = 'developer', project = 'public') {
  const source = await branch(project);
  const given = { title: `Merge ${source}`, source_branch: source, target_branch: 'main', ...json };
  const { status, body } = await as(who, 'POST', of(project), given);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const later = (body: unknown) =>
  JSON.parse(JSON.stringify(body), (_, value) =>
    value?.username === undefined ? value : { ...value, locked: false, avatar_url: 'http://localhost/a.png' },
  );

describe('a merge request', () => {
  test('is proposed with all that a Developer says, and read again', async () => {
    const label = `door-${Date.now()}`;
    const body = await proposed({
      title: '  Draft: Mend the door ',
      description: '- [ ] buy a hinge\n- [x] find the screws',
      assignee_ids: [world.ids['developer'], world.ids['maintainer']],
      reviewer_ids: [world.ids['maintainer']],
      labels: label,
      squash: true,
      remove_source_branch: true,
    });
    expect(body).toMatchObject({
      ...{ title: 'Draft: Mend the door', draft: true, work_in_progress: true, state: 'opened' },
      ...{ target_branch: 'main', squash: true, force_remove_source_branch: true, labels: [label] },
      ...{ source_project_id: world.ids['public'], target_project_id: world.ids['public'] },
      ...{ merged_by: null, merged_at: null, merge_commit_sha: null, head_pipeline: null, pipeline: null },
      assignees: [{ username: 'developer' }, { username: 'maintainer' }],
      reviewers: [{ username: 'maintainer' }],
      task_completion_status: { count: 2, completed_count: 1 },
      references: { short: `!${body.iid}`, relative: `!${body.iid}` },
    });
    expect(body.sha).toMatch(/^[0-9a-f]{40}$/);
    expect(body.diff_refs).toMatchObject({ head_sha: body.sha });
    const read = await as('guest', 'GET', `${of('public')}/${body.iid}`);
    expect(read.status).toBe(200);
    expectSchema('merge_request', { ...later(read.body), changes_count: '1', closed_by: later(body.author) });
  });

  test('is the only open one of its branches, until it is closed', async () => {
    const first = await proposed();
    const json = { title: 'again', source_branch: first.source_branch, target_branch: 'main' };
    const second = await as('developer', 'POST', of('public'), json);
    expect(second.status).toBe(409);
    expect(second.body.message).toEqual([
      `Another open merge request already exists for this source branch: !${first.iid}`,
    ]);
    expect(
      (await as('developer', 'PUT', `${of('public')}/${first.iid}`, { state_event: 'close' })).body,
    ).toMatchObject({
      state: 'closed',
      closed_by: { username: 'developer' },
    });
    expect((await as('developer', 'POST', of('public'), json)).status).toBe(201);
    const reopened = await as('developer', 'PUT', `${of('public')}/${first.iid}`, { state_event: 'reopen' });
    expect(reopened.status).toBe(409);
  });

  test('that is opened again proposes what its branch is by then', async () => {
    const { iid, source_branch, sha } = await proposed();
    const path = `${of('public')}/${iid}`;
    await as('developer', 'PUT', path, { state_event: 'close' });
    const later = await commit('public', source_branch, undefined, { [`later-${iid}.txt`]: 'x' });
    await settled();
    expect((await as('guest', 'GET', path)).body.sha).toBe(sha);
    const { status, body } = await as('developer', 'PUT', path, { state_event: 'reopen' });
    expect([status, body.state, body.sha]).toEqual([200, 'opened', later]);
    await as('developer', 'PUT', path, { state_event: 'close' });
    const latest = await commit('public', source_branch, undefined, { [`latest-${iid}.txt`]: 'x' });
    await as('developer', 'POST', `${path}/notes`, { body: '/reopen' });
    await settled();
    const [listed] = (await as('guest', 'GET', `${of('public')}?iids[]=${iid}`)).body;
    expect(listed).toMatchObject({ state: 'opened', sha: latest, merge_status: 'can_be_merged' });
    expect((await as('guest', 'GET', `${path}/versions`)).body).toHaveLength(3);
  });

  test.each<[string, object, number, unknown]>([
    ['nothing', {}, 400, { error: expect.stringMatching(/at least one parameter must be provided$/) }],
    ['a blank title', { title: '' }, 400, { error: 'title is empty' }],
    ['a blank target', { target_branch: '' }, 400, { error: 'target_branch is empty' }],
    ['a long title', { title: 'x'.repeat(256) }, 400, { message: { title: [expect.any(String)] } }],
    ['an unknown event', { state_event: 'merge' }, 400, { error: 'state_event does not have a valid value' }],
    [
      'a target that there is not',
      { target_branch: 'absent' },
      400,
      { message: { target_branch: ['does not exist'] } },
    ],
    [
      'its own branch as the target',
      { target_branch: '{source}' },
      422,
      { message: ["You can't use same project/branch for source and target"] },
    ],
  ])('is not changed to %s', async (_, json, status, expected) => {
    const { iid, source_branch } = await proposed();
    const given = JSON.parse(JSON.stringify(json).replace('{source}', source_branch));
    const answer = await as('developer', 'PUT', `${of('public')}/${iid}`, given);
    expect([answer.status, answer.body]).toMatchObject([status, expected]);
  });

  test('is changed in all that may change, and by its author without what organizes work', async () => {
    const { iid } = await proposed({ labels: 'one,two' });
    const path = `${of('public')}/${iid}`;
    const given = {
      ...{ title: 'Another', description: '- [x] done', squash: true, remove_source_branch: false },
      ...{ assignee_ids: [world.ids['maintainer']], reviewer_ids: [world.ids['developer']] },
      ...{ add_labels: 'three', remove_labels: 'two', discussion_locked: true },
    };
    const { status, body } = await as('developer', 'PUT', path, given);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      ...{ title: 'Another', description: '- [x] done', squash: true, force_remove_source_branch: false },
      ...{ assignees: [{ username: 'maintainer' }], reviewers: [{ username: 'developer' }] },
      ...{ labels: ['one', 'three'], discussion_locked: true },
      task_completion_status: { count: 1, completed_count: 1 },
    });
    expect((await as('reporter', 'PUT', path, { title: 'Mine' })).status).toBe(403);
    const none = {
      ...{ assignee_id: 0, reviewer_ids: [], labels: '', milestone_id: 0, description: null },
      discussion_locked: null,
    };
    expect((await as('developer', 'PUT', path, none)).body).toMatchObject({
      ...{ assignees: [], assignee: null, reviewers: [], labels: [], milestone: null, description: null },
      discussion_locked: null,
    });
  });

  test.each([
    ['0: approvals are off', 0, 3, null, 0],
    ['fewer than the project', 2, 1, null, 2],
    ['as many as the project', 2, 2, null, 2],
    ['more than the project', 2, 3, 3, 3],
    ['nothing', 2, undefined, null, 2],
  ])('asks for its own number of approvals: %s', async (_, general, own, kept, required) => {
    const settings = { approvals_before_merge: general };
    const project = `/projects/${world.ids['public']}`;
    expect((await as('owner', 'PUT', project, settings)).status).toBe(200);
    const body = await proposed({ approvals_before_merge: own });
    expect(body.approvals_before_merge).toBe(kept);
    const { body: approvals } = await as('developer', 'GET', `${of('public')}/${body.iid}/approvals`);
    expect(approvals.approvals_required).toBe(required);
    await as('owner', 'PUT', project, { approvals_before_merge: 0 });
  });

  test.each([-1, 101])('asks for 0 to 100 approvals: not for %i', async (approvals_before_merge) => {
    const error = { error: 'approvals_before_merge does not have a valid value' };
    const source_branch = await branch();
    const json = { title: 'Bounded', source_branch, target_branch: 'main' };
    const refused = await as('developer', 'POST', of('public'), { ...json, approvals_before_merge });
    expect([refused.status, refused.body]).toEqual([400, error]);
    const { iid } = (await as('developer', 'POST', of('public'), json)).body;
    const kept = await as('developer', 'PUT', `${of('public')}/${iid}`, { approvals_before_merge });
    expect([kept.status, kept.body]).toEqual([400, error]);
  });

  test('of ten that are proposed at once one is made', async () => {
    const source_branch = await branch();
    const json = { title: 'race', source_branch, target_branch: 'main' };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => as('developer', 'POST', of('public'), json)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
  });

  test.each<[string, Who, object, number, unknown]>([
    ['no title', 'developer', { source_branch: 'topic', target_branch: 'main' }, 400, 'title is missing'],
    [
      'the same branch',
      'developer',
      { title: 't', source_branch: 'main', target_branch: 'main' },
      422,
      undefined,
    ],
    [
      'a missing source',
      'developer',
      { title: 't', source_branch: 'none', target_branch: 'main' },
      400,
      undefined,
    ],
    [
      'a missing target',
      'developer',
      { title: 't', source_branch: 'topic', target_branch: 'none' },
      400,
      undefined,
    ],
    [
      'an invalid branch',
      'developer',
      { title: 't', source_branch: 'a..b', target_branch: 'main' },
      400,
      undefined,
    ],
    ['a Guest', 'guest', { title: 't', source_branch: 'topic', target_branch: 'main' }, 403, undefined],
    ['nobody', 'anonymous', { title: 't', source_branch: 'topic', target_branch: 'main' }, 401, undefined],
    [
      'an unrelated project',
      'developer',
      { title: 't', source_branch: 'topic', target_branch: 'main', target_project_id: 'private' },
      422,
      undefined,
    ],
  ])('is not proposed with %s', async (_, who, json, status, error) => {
    const given = 'target_project_id' in json ? { ...json, target_project_id: world.ids['private'] } : json;
    const answer = await as(who, 'POST', of('public'), given);
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    if (error !== undefined) expect(answer.body.error).toBe(error);
  });

  test('shows its texts as HTML to who asks for that', async () => {
    const { iid } = await proposed({ title: '# Mend *it* <b', description: 'See !1 and **more**' });
    const { body: plain } = await as('guest', 'GET', `${of('public')}/${iid}`);
    expect(plain).not.toHaveProperty('title_html');
    const { body } = await as('guest', 'GET', `${of('public')}/${iid}?render_html=true`);
    // A title is one line: it has no headings.
    expect(body.title_html).toBe('# Mend <em>it</em> &lt;b');
    expect(body.description_html).toContain('<strong>more</strong>');
    expect(body.description_html).toMatch(/<a [^>]*merge_requests\/1"/);
  });

  test('has another version when its target changes', async () => {
    const body = await proposed();
    await commit('public', 'stable', 'main', { 'stable.txt': 'x' }).catch(() => {});
    const { status, body: moved } = await as('developer', 'PUT', `${of('public')}/${body.iid}`, {
      target_branch: 'stable',
    });
    expect(status, JSON.stringify(moved)).toBe(200);
    expect(moved).toMatchObject({ target_branch: 'stable', sha: body.sha });
    expect(moved.diff_refs.start_sha).not.toBe(body.diff_refs.start_sha);
  });

  test('is deleted by owners alone', async () => {
    const { iid } = await proposed({}, 'developer');
    expect((await as('developer', 'DELETE', `${of('public')}/${iid}`)).status).toBe(403);
    expect((await as('owner', 'DELETE', `${of('public')}/${iid}`)).status).toBe(204);
    expect((await as('owner', 'GET', `${of('public')}/${iid}`)).status).toBe(404);
  });

  test('of a private project is hidden from strangers', async () => {
    const { iid } = await proposed({}, 'developer', 'private');
    expect((await as('stranger', 'GET', `${of('private')}/${iid}`)).status).toBe(404);
    expect((await as('anonymous', 'GET', `${of('public')}/${iid}`)).status).toBe(401);
  });
});

describe('a list of merge requests', () => {
  const iids = async (who: Who, path: string) => {
    const { status, body } = await as(who, 'GET', path);
    expect(status, JSON.stringify(body)).toBe(200);
    return (body as { iid: number }[]).map(({ iid }) => iid);
  };

  test('finds by branch, state, person, label, draft and words', async () => {
    const label = `listed-${Date.now()}`;
    const one = await proposed({
      title: 'Draft: Zebra crossing',
      labels: label,
      assignee_id: world.ids['developer'],
      reviewer_ids: [world.ids['maintainer']],
    });
    const list = of('public');
    for (const query of [
      `source_branch=${one.source_branch}`,
      `labels=${label}`,
      `labels=${label}&wip=yes&state=opened`,
      `labels=${label}&assignee_id=${world.ids['developer']}`,
      `reviewer_username=maintainer&source_branch=${one.source_branch}`,
      `search=zebra&source_branch=${one.source_branch}`,
      `iids[]=${one.iid}`,
      `labels=${label}&order_by=updated_at&sort=asc`,
      `labels=${label}&view=simple`,
    ])
      expect(await iids('guest', `${list}?${query}`), query).toEqual([one.iid]);
    for (const query of [
      `labels=${label}&wip=no`,
      `labels=${label}&state=merged`,
      `labels=${label}&state=locked`,
      `labels=${label}&not[author_username]=developer`,
      `labels=${label}&target_branch=none`,
      `labels=${label}&author_username=nobody-of-this-name`,
    ])
      expect(await iids('guest', `${list}?${query}`), query).toEqual([]);
  });

  test('of the instance shows the caller their own, and nothing hidden', async () => {
    const hidden = await proposed({}, 'developer', 'private');
    const all = await as('stranger', 'GET', '/merge_requests?scope=all&per_page=100');
    expect(all.status).toBe(200);
    expect(all.body.some(({ id }: { id: number }) => id === hidden.id)).toBe(false);
    expect((await as('anonymous', 'GET', '/merge_requests?scope=all')).status).toBe(401);
    const own = await as('developer', 'GET', '/merge_requests?per_page=100');
    expect(own.body.some(({ id }: { id: number }) => id === hidden.id)).toBe(true);
    const ofOthers = await as('maintainer', 'GET', '/merge_requests');
    expect(
      ofOthers.body.every(({ author }: { author: { username: string } }) => author.username === 'maintainer'),
    ).toBe(true);
  });
});

test('whether it can be merged is known before anybody asks, also after its target has moved', async () => {
  const body = await proposed();
  const status = async (query = '') =>
    (await as('guest', 'GET', `${of('public')}?iids[]=${body.iid}${query}`)).body[0].merge_status;
  await settled();
  expect(await status()).toBe('can_be_merged');
  await commit('public', 'main', undefined, { [`moved-${body.iid}.txt`]: 'x' });
  await settled();
  expect(await status()).toBe('can_be_merged');
  // As if the check were lost.
  const { store } = await deps();
  const key = mergeRequestKeys.record({ projectId: body.project_id, iid: body.iid });
  await store.table.update({ update: key, set: { verdict: null }, remove: ['check'] });
  expect(await status()).toBe('unchecked');
  expect(await status('&with_merge_status_recheck=true')).toBe('checking');
  await settled();
  expect(await status()).toBe('can_be_merged');
});
