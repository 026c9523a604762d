import { expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { expectSchema } from '../../harness/schemas.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld();

let made = 0;
/** A project of the owner with one commit on `main`, and members of three levels. */
async function project(settings: object = {}): Promise<string> {
  const name = `merged-${++made}`;
  const { body } = await as('owner', 'POST', '/projects', { name, visibility: 'public', ...settings });
  const path = `/projects/${body.id}`;
  for (const [who, access_level] of [
    ['reporter', 20],
    ['developer', 30],
    ['maintainer', 40],
  ] as const)
    await as('owner', 'POST', `${path}/members`, { user_id: world.ids[who], access_level });
  await commit(path, 'main', { 'a.txt': '1\n2\n3\n' });
  return path;
}

/** Commits files, to a new branch of `main` where it is not there. @returns the commit */
async function commit(path: string, branch: string, files: Record<string, string>): Promise<string> {
  const branches = await as('owner', 'GET', `${path}/repository/branches?search=^${branch}$`);
  const isNew = branches.body.length === 0 && branch !== 'main';
  const actions = [];
  for (const [file_path, content] of Object.entries(files)) {
    const url = `${path}/repository/files/${encodeURIComponent(file_path)}?ref=${isNew ? 'main' : branch}`;
    const there = (await as('owner', 'GET', url)).status === 200;
    actions.push({ action: there ? 'update' : 'create', file_path, content });
  }
  const json = {
    branch,
    commit_message: `Write ${Object.keys(files)}`,
    actions,
    ...(isNew ? { start_branch: 'main' } : {}),
  };
  const { status, body } = await as('owner', 'POST', `${path}/repository/commits`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

/** Proposes a branch. @returns the path of the merge request */
async function propose(path: string, source_branch: string, more: object = {}): Promise<string> {
  const json = { title: `Merge ${source_branch}`, source_branch, target_branch: 'main', ...more };
  const { status, body } = await as('owner', 'POST', `${path}/merge_requests`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return `${path}/merge_requests/${body.iid}`;
}

const tip = async (path: string, branch: string) =>
  (await as('owner', 'GET', `${path}/repository/branches/${branch}`)).body?.commit?.id as string | undefined;

test.each<[string, Who, object, object, number, string]>([
  ['a reporter', 'reporter', {}, {}, 401, '401 Unauthorized'],
  ['a developer, as main is protected', 'developer', {}, {}, 401, '401 Unauthorized'],
  ['for a draft', 'maintainer', { title: 'Draft: more' }, {}, 405, '405 Method Not Allowed'],
  [
    'when a pipeline succeeds that is not there',
    ...(['maintainer', {}, { merge_when_pipeline_succeeds: true }, 405, '405 Method Not Allowed'] as const),
  ],
])('a merge is refused %s', async (_, who, proposed, sent, status, message) => {
  const path = await project();
  await commit(path, 'topic', { 'b.txt': 'b' });
  const answer = await as(who, 'PUT', `${await propose(path, 'topic', proposed)}/merge`, sent);
  expect([answer.status, answer.body]).toEqual([status, { message }]);
});

test('a merge is refused for another head, for conflicts and when it is done; who may do it is told', async () => {
  const path = await project();
  const head = await commit(path, 'topic', { 'a.txt': '1\ntwo\n3\n' });
  await commit(path, 'rival', { 'a.txt': '1\nzwei\n3\n' });
  const [topic, rival] = [await propose(path, 'topic'), await propose(path, 'rival')];
  expect((await as('developer', 'GET', topic)).body).toMatchObject({
    ...{ merge_status: 'can_be_merged', detailed_merge_status: 'mergeable', has_conflicts: false },
    user: { can_merge: false },
  });
  const { body: whole } = await as('maintainer', 'GET', topic);
  expect(whole.user).toEqual({ can_merge: true });
  expect(whole).not.toHaveProperty('conflicts');
  const other = await as('maintainer', 'PUT', `${topic}/merge`, { sha: 'f'.repeat(40) });
  expect(other.status).toBe(409);
  expect(other.body.message).toBe(`SHA does not match HEAD of source branch: ${head}`);
  const merged = await as('maintainer', 'PUT', `${topic}/merge`, {
    ...{ sha: head, should_remove_source_branch: true, merge_commit_message: 'All in' },
  });
  expect(merged.status).toBe(200);
  expect(merged.body).toMatchObject({
    ...{ state: 'merged', merged_by: { username: 'maintainer' }, should_remove_source_branch: true },
  });
  expect(await tip(path, 'main')).toBe(merged.body.merge_commit_sha);
  expect(await tip(path, 'topic')).toBeUndefined();
  expect((await as('maintainer', 'PUT', `${topic}/merge`)).status).toBe(405);
  const refused = await as('maintainer', 'PUT', `${rival}/merge`);
  expect([refused.status, refused.body]).toEqual([406, { message: 'Branch cannot be merged' }]);
  expect((await as('reporter', 'GET', rival)).body).toMatchObject({
    ...{ merge_status: 'cannot_be_merged', detailed_merge_status: 'conflict', has_conflicts: true },
    conflicts: ['a.txt'],
  });
  // As they are after a change of its title, too.
  const renamed = await as('maintainer', 'PUT', rival, { title: 'Rival' });
  expect(renamed.body).toMatchObject({ has_conflicts: true, conflicts: ['a.txt'] });
});

test.each([
  [undefined, null, false],
  [false, false, true],
  [true, true, false],
])(
  'whether its merger wanted the source branch removed (%s) is told beside what its author wanted, and decides',
  async (should_remove_source_branch, told, isThere) => {
    const path = await project();
    await commit(path, 'topic', { 'b.txt': 'b' });
    const mr = await propose(path, 'topic', { remove_source_branch: true });
    const wanted = async () => {
      const { body } = await as('owner', 'GET', mr);
      return [body.should_remove_source_branch, body.force_remove_source_branch];
    };
    expect(await wanted()).toEqual([null, true]);
    const merged = await as('maintainer', 'PUT', `${mr}/merge`, { should_remove_source_branch });
    expect([merged.status, merged.body.should_remove_source_branch]).toEqual([200, told]);
    // Obeyed before the answer.
    expect((await tip(path, 'topic')) !== undefined).toBe(isThere);
    expect(await wanted()).toEqual([told, true]);
  },
);

test('one that is read shows the head that its branch has by then, as pushed by who may have', async () => {
  const path = await project();
  await commit(path, 'topic', { 'b.txt': 'b' });
  const mr = await propose(path, 'topic');
  const head = await commit(path, 'topic', { 'c.txt': 'c' });
  await commit(path, 'main', { 'm.txt': 'm' });
  await commit(path, 'main', { 'n.txt': 'n' });
  const url = `${mr}?include_diverged_commits_count=true&include_rebase_in_progress=true`;
  expect((await as('reporter', 'GET', url)).body).toMatchObject({
    ...{ sha: head, merge_status: 'can_be_merged' },
    ...{ diverged_commits_count: 2, rebase_in_progress: false },
  });
});

test('a merge waits for its pipeline, unless that is canceled', async () => {
  const path = await project();
  const head = await commit(path, 'topic', { 'b.txt': 'b' });
  const mr = await propose(path, 'topic');
  const cancel = (who: Who) => as(who, 'POST', `${mr}/cancel_merge_when_pipeline_succeeds`);
  expect((await cancel('maintainer')).status).toBe(406);
  const report = (state: string) => as('owner', 'POST', `${path}/statuses/${head}`, { state, ref: 'topic' });
  await report('running');
  const later = () => as('maintainer', 'PUT', `${mr}/merge`, { merge_when_pipeline_succeeds: true });
  const waiting = await later();
  expect(waiting.status).toBe(200);
  expect(waiting.body).toMatchObject({
    ...{ state: 'opened', merge_when_pipeline_succeeds: true, merge_user: { username: 'maintainer' } },
    head_pipeline: { sha: head, status: 'running' },
  });
  expect((await cancel('developer')).status).toBe(401);
  const canceled = await cancel('owner');
  expect([canceled.status, canceled.body.merge_when_pipeline_succeeds]).toEqual([201, false]);
  await later();
  await report('success');
  await settled();
  expect((await as('developer', 'GET', mr)).body).toMatchObject({
    ...{ state: 'merged', merged_by: { username: 'maintainer' } },
  });
});

test('a rebase is made by a worker for who may push to the source branch', async () => {
  const path = await project({ merge_method: 'ff' });
  await commit(path, 'topic', { 'b.txt': 'b' });
  await commit(path, 'main', { 'm.txt': 'm' });
  const mr = await propose(path, 'topic');
  expect((await as('maintainer', 'GET', mr)).body.detailed_merge_status).toBe('need_rebase');
  expect((await as('maintainer', 'PUT', `${mr}/merge`)).status).toBe(406);
  const refused = await as('reporter', 'PUT', `${mr}/rebase`);
  expect([refused.status, refused.body.message]).toEqual([
    403,
    '403 Forbidden - Cannot push to source branch',
  ]);
  const asked = await as('developer', 'PUT', `${mr}/rebase`, { skip_ci: true });
  expect([asked.status, asked.body]).toEqual([202, { rebase_in_progress: true }]);
  await settled();
  const rebased = await as('maintainer', 'GET', `${mr}?include_rebase_in_progress=true`);
  expect(rebased.body).toMatchObject({
    ...{ rebase_in_progress: false, merge_error: null, detailed_merge_status: 'mergeable' },
    sha: await tip(path, 'topic'),
  });
  const merged = await as('maintainer', 'PUT', `${mr}/merge`);
  expect(merged.body).toMatchObject({ state: 'merged', merge_commit_sha: null });
  expect(await tip(path, 'main')).toBe(rebased.body.sha);
});

test('the pipeline of a rebased branch is skipped on demand', async () => {
  for (const [skip_ci, expected] of [
    [true, 'skipped'],
    [false, 'created'],
  ] as const) {
    const path = await project({ merge_method: 'ff' });
    await commit(path, 'main', { '.gitlab-ci.yml': 'a: { script: [x], when: delayed, start_in: 1 day }' });
    await commit(path, 'topic', { 'b.txt': 'b', '.gitlab-ci.yml': 'a: { script: [x] }\n# topic' });
    await commit(path, 'main', { 'm.txt': 'm' });
    const mr = await propose(path, 'topic');
    await as('developer', 'PUT', `${mr}/rebase`, { skip_ci });
    await settled();
    const sha = await tip(path, 'topic');
    const { body } = await as('maintainer', 'GET', `${path}/pipelines?sha=${sha}`);
    const statuses = body.map(({ status }: { status: string }) => status);
    expect(statuses[0] === 'skipped' ? 'skipped' : 'created', JSON.stringify(body)).toBe(expected);
    expect(statuses.length).toBeGreaterThan(0);
  }
});

test('a merge is tried out under a ref of its own, again when a branch has moved', async () => {
  const path = await project();
  const head = await commit(path, 'topic', { 'a.txt': '1\ntwo\n3\n' });
  const mr = await propose(path, 'topic');
  const tried = await Promise.all([1, 2, 3].map(() => as('reporter', 'GET', `${mr}/merge_ref`)));
  expect(tried.map(({ status }) => status)).toEqual([200, 200, 200]);
  const [id] = new Set(tried.map(({ body }) => body.commit_id));
  expect(tried.map(({ body }) => body)).toEqual(Array(3).fill({ commit_id: id }));
  const main = (await tip(path, 'main'))!;
  const commitOf = async (sha: string) =>
    (await as('owner', 'GET', `${path}/repository/commits/${sha}`)).body;
  expect((await commitOf(id)).parent_ids).toEqual([main, head]);
  const moved = await commit(path, 'main', { 'm.txt': 'm' });
  const again = (await as('reporter', 'GET', `${mr}/merge_ref`)).body.commit_id;
  expect((await commitOf(again)).parent_ids).toEqual([moved, head]);
  expect(await tip(path, 'main')).toBe(moved);
  await commit(path, 'main', { 'a.txt': '1\nzwei\n3\n' });
  const refused = await as('reporter', 'GET', `${mr}/merge_ref`);
  expect([refused.status, refused.body]).toEqual([400, { message: 'Merge request is not mergeable' }]);
});

test('feeds tell that one is opened, closed, approved and merged, by whom, and find each by its word', async () => {
  const path = await project();
  await commit(path, 'topic', { 'b.txt': 'b' });
  const mr = await propose(path, 'topic');
  for (const state_event of ['close', 'reopen']) await as('developer', 'PUT', mr, { state_event });
  await as('developer', 'POST', `${mr}/approve`);
  await as('maintainer', 'PUT', `${mr}/merge`);
  const told = async (query = '') => {
    const { body } = await as('reporter', 'GET', `${path}/events?target_type=merge_request&sort=asc${query}`);
    return body.map(({ action_name, author_username, target_type, target_iid, target_title }: never) =>
      [action_name, author_username, target_type, target_iid, target_title].join(' '),
    );
  };
  const about = 'MergeRequest 1 Merge topic';
  const all = [
    'opened owner',
    'closed developer',
    'opened developer',
    'approved developer',
    'accepted maintainer',
  ];
  expect(await told()).toEqual(all.map((each) => `${each} ${about}`));
  for (const [word, found] of [
    ['merged', ['accepted maintainer']],
    ['approved', ['approved developer']],
    ['closed', ['closed developer']],
    ['reopened', ['opened developer']],
    ['created', ['opened owner']],
  ] as const)
    expect(await told(`&action=${word}`), word).toEqual(found.map((each) => `${each} ${about}`));
});

test('ten merges of one are one merge, and nine refusals', async () => {
  const path = await project();
  await commit(path, 'topic', { 'b.txt': 'b' });
  const mr = await propose(path, 'topic');
  const answers = await Promise.all(Array.from({ length: 10 }, () => as('maintainer', 'PUT', `${mr}/merge`)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(405)]);
});

test('messages of a merge are cut after a megabyte, between characters', async () => {
  const path = await project();
  await commit(path, 'topic', { 'b.txt': 'b' });
  const message = `Sum\n\n${'é'.repeat(2 ** 19)}`;
  const json = { squash: true, squash_commit_message: message, merge_commit_message: message };
  const merged = await as('maintainer', 'PUT', `${await propose(path, 'topic')}/merge`, json);
  expect([merged.status, merged.body.state]).toEqual([200, 'merged']);
  for (const sha of [merged.body.merge_commit_sha, merged.body.squash_commit_sha]) {
    const { status, body } = await as('owner', 'GET', `${path}/repository/commits/${sha}`);
    expect([status, body.title]).toEqual([200, 'Sum']);
    expect(message.startsWith(body.message)).toBe(true);
    expect(Buffer.byteLength(body.message)).toBeGreaterThan(2 ** 20 - 8);
    expect(Buffer.byteLength(body.message)).toBeLessThanOrEqual(2 ** 20);
  }
});

test('messages are made from the templates of the project, unless the merger writes them', async () => {
  const path = await project({ approvals_before_merge: 0 });
  await commit(path, 'topic', { 'b.txt': 'b' });
  await commit(path, 'topic', { 'c.txt': 'c' });
  const merging = [
    '%{title} into %{target_branch}',
    '%{description}',
    '%{issues}',
    '%{approved_by}',
    '%{reviewed_by}',
  ];
  const templates = {
    merge_commit_template: `${merging.join('\n\n')}\n\n%{local_reference} by %{merged_by}, for %{merge_request_author}`,
    squash_commit_template: '%{source_branch}: %{first_commit}\n\n%{all_commits}\n\n%{unknown}',
  };
  const { body: changed } = await as('owner', 'PUT', path, templates);
  expect(changed).toMatchObject(templates);
  for (const name of Object.keys(templates)) {
    const { status, body } = await as('owner', 'PUT', path, { [name]: 'x'.repeat(501) });
    expect([status, body.error]).toEqual([400, `${name} is too long (maximum is 500 characters)`]);
  }
  const proposal = {
    title: 'Topic',
    description: 'Because.',
    reviewer_ids: [world.ids['maintainer']],
    squash: true,
  };
  const mr = await propose(path, 'topic', proposal);
  expect((await as('developer', 'POST', `${mr}/approve`)).status).toBe(201);
  const { body: merged } = await as('maintainer', 'PUT', `${mr}/merge`);
  const messageOf = async (sha: string) =>
    (await as('owner', 'GET', `${path}/repository/commits/${sha}`)).body.message;
  expect(await messageOf(merged.merge_commit_sha)).toBe(
    [
      'Topic into main',
      'Because.',
      'Approved-by: developer <developer@example.com>',
      'Reviewed-by: maintainer <maintainer@example.com>',
      '!1 by maintainer <maintainer@example.com>, for owner <owner@example.com>',
    ].join('\n\n'),
  );
  expect(await messageOf(merged.squash_commit_sha)).toBe(
    'topic: Write b.txt\n\n* Write b.txt\n\n* Write c.txt\n\n%{unknown}',
  );
  await commit(path, 'other', { 'd.txt': 'd' });
  const own = { merge_commit_message: 'Mine %{title}', squash: true, squash_commit_message: ' ' };
  const { body: second } = await as('maintainer', 'PUT', `${await propose(path, 'other')}/merge`, own);
  expect(await messageOf(second.merge_commit_sha)).toBe('Mine %{title}');
  expect(await messageOf(second.squash_commit_sha)).toContain('other: Write d.txt');
});

test('the default message of a merge tells the issues that it closes', async () => {
  const path = await project();
  for (const title of ['one', 'two']) await as('owner', 'POST', `${path}/issues`, { title });
  await commit(path, 'topic', { 'b.txt': 'b' });
  const mr = await propose(path, 'topic', { description: 'Closes #1 and #2. See #3.' });
  const { body: merged } = await as('maintainer', 'PUT', `${mr}/merge`);
  const { body } = await as('owner', 'GET', `${path}/repository/commits/${merged.merge_commit_sha}`);
  expect(body.message).toBe(
    [
      "Merge branch 'topic' into 'main'",
      'Merge topic',
      'Closes #1 and #2',
      `See merge request ${merged.references.full}`,
    ].join('\n\n'),
  );
});

test.each([
  ['never', true, false],
  ['always', false, true],
  ['default_on', undefined, true],
  ['default_on', false, false],
  ['default_off', undefined, false],
  ['default_off', true, true],
])(
  'where the project says %s, and the merger %s, squashing is %s',
  async (squash_option, squash, squashed) => {
    const path = await project({ squash_option });
    await commit(path, 'topic', { 'b.txt': 'b' });
    const base = await tip(path, 'main');
    const head = await commit(path, 'topic', { 'c.txt': 'c' });
    const mr = await propose(path, 'topic');
    const { body } = await as('maintainer', 'PUT', `${mr}/merge`, { squash });
    const { body: merge } = await as('owner', 'GET', `${path}/repository/commits/${body.merge_commit_sha}`);
    expect([body.squash, body.squash_commit_sha !== null]).toEqual([squashed, squashed]);
    expect(merge.parent_ids).toEqual([base, squashed ? body.squash_commit_sha : head]);
  },
);

test('a merge request is shown as clients expect it', async () => {
  const path = await project();
  await commit(path, 'topic', { 'b.txt': 'b' });
  const { body } = await as('maintainer', 'PUT', `${await propose(path, 'topic')}/merge`);
  const shown = JSON.parse(JSON.stringify(body), (_, value) =>
    value?.username === undefined ? value : { ...value, locked: false, avatar_url: 'http://localhost/a.png' },
  );
  expectSchema('merge_request', { ...shown, changes_count: '1', closed_by: shown.author });
});
