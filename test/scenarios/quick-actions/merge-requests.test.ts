import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld();

let project = '';
const ids: Record<string, number> = {};
let branches = 0;

const done = async (path: string, json: object, method = 'POST') => {
  const { status, body } = await as('owner', method, path, json);
  expect(status, JSON.stringify(body)).toBeLessThan(300);
  return body;
};

const commit = (branch: string, from: string | undefined, content: string, file_path = `${branch}.txt`) =>
  done(`${project}/repository/commits`, {
    ...{ branch, commit_message: 'x', actions: [{ action: 'create', file_path, content }] },
    ...(from === undefined ? {} : { start_branch: from }),
  });

beforeAll(async () => {
  project = `/projects/${(await done('/projects', { name: 'acted', visibility: 'public' })).id}`;
  for (const [who, access_level] of [
    ['reporter', 20],
    ['developer', 30],
    ['maintainer', 40],
  ] as const)
    await done(`${project}/members`, { user_id: world.ids[who], access_level });
  await commit('main', undefined, 'main');
  await commit('stable', 'main', 'stable');
  for (const name of ['bug', 'later'])
    ids[name] = (await done(`${project}/labels`, { name, color: '#112233' })).id;
  ids['v1'] = (await done(`${project}/milestones`, { title: 'v1' })).id;
});

/** Puts ids in the place of names in braces. */
const named = (json: object): object =>
  JSON.parse(
    JSON.stringify(json).replaceAll(/"\{([^}]+)\}"/g, (_, name) => String(ids[name] ?? world.ids[name])),
  );

/** Proposes a branch of its own. */
const propose = async (json: object = {}, who: Who = 'owner') => {
  const source_branch = `topic${++branches}`;
  await commit(source_branch, 'main', 'topic');
  const input = { title: 'Work', source_branch, target_branch: 'main', ...named(json) };
  const { status, body } = await as(who, 'POST', `${project}/merge_requests`, input);
  expect(status, JSON.stringify(body)).toBe(201);
  return { path: `${project}/merge_requests/${body.iid}`, ...body };
};
const read = async (path: string, who: Who = 'owner') => (await as(who, 'GET', path)).body;
const say = (who: Who, path: string, body: string) => as(who, 'POST', `${path}/notes`, { body });
const could = (...names: string[]) => names.map((name) => `Could not apply ${name} command.`).join(' ');
const told = async (path: string): Promise<string[]> =>
  (await read(`${path}/notes?sort=asc&activity_filter=only_activity`)).map(
    ({ body }: { body: string }) => body,
  );

/** The merge request before, the text, the sentences, the changes as answered, and fields of it after. */
const ACTIONS: readonly (readonly [object, string, string, object, object])[] = [
  [{}, '/close', 'Closed this merge request.', { state_event: 'close' }, { state: 'closed' }],
  [{}, '/title  New name ', 'Changed the title to "New name".', { title: 'New name' }, { title: 'New name' }],
  [
    {},
    '/draft',
    'Marked this merge request as a draft.',
    { wip_event: 'draft' },
    { title: 'Draft: Work', draft: true },
  ],
  [
    { title: 'Draft: Work' },
    '/draft',
    'Unmarked this merge request as a draft.',
    { wip_event: 'ready' },
    { title: 'Work', draft: false },
  ],
  [{}, '/wip', 'Marked this merge request as a draft.', {}, { draft: true }],
  [
    { title: '[Draft] Work' },
    '/ready',
    'Unmarked this merge request as a draft.',
    { wip_event: 'ready' },
    { title: 'Work', draft: false },
  ],
  [{}, '/ready', could('ready'), {}, { title: 'Work' }],
  [
    {},
    '/target_branch stable',
    'Set target branch to stable.',
    { target_branch: 'stable' },
    { target_branch: 'stable' },
  ],
  [{}, '/target_branch none', could('target_branch'), {}, { target_branch: 'main' }],
  [{}, '/label ~bug', 'Added ~bug label.', { add_label_ids: ['{bug}'] }, { labels: ['bug'] }],
  [{ labels: 'bug,later' }, '/unlabel ~bug', 'Removed ~bug label.', {}, { labels: ['later'] }],
  [{ labels: 'bug' }, '/relabel ~later', 'Replaced all labels with ~later label.', {}, { labels: ['later'] }],
  [
    { assignee_ids: ['{reporter}'] },
    '/assign me',
    'Assigned @owner.',
    { assignee_ids: ['{reporter}', '{owner}'] },
    { assignees: [{ username: 'reporter' }, { username: 'owner' }] },
  ],
  [{ assignee_ids: ['{owner}'] }, '/unassign', 'Removed assignee @owner.', {}, { assignees: [] }],
  [
    { assignee_ids: ['{owner}'] },
    '/reassign @reporter',
    'Changed assignee(s).',
    {},
    { assignees: [{ username: 'reporter' }] },
  ],
  [
    { reviewer_ids: ['{reporter}'] },
    '/assign_reviewer @developer and @maintainer',
    'Assigned @developer and @maintainer as reviewers.',
    { reviewer_ids: ['{reporter}', '{developer}', '{maintainer}'] },
    { reviewers: [{ username: 'reporter' }, { username: 'developer' }, { username: 'maintainer' }] },
  ],
  [
    {},
    '/request_review @developer',
    'Assigned @developer as reviewer.',
    {},
    { reviewers: [{ username: 'developer' }] },
  ],
  [{}, '/reviewer @nobody', 'Failed to assign a reviewer because no user was found.', {}, { reviewers: [] }],
  [
    { reviewer_ids: ['{reporter}'] },
    '/reassign_reviewer @developer',
    'Changed reviewer(s).',
    { reviewer_ids: ['{developer}'] },
    { reviewers: [{ username: 'developer' }] },
  ],
  [
    { reviewer_ids: ['{reporter}', '{developer}'] },
    '/unassign_reviewer @reporter',
    'Removed reviewer @reporter.',
    { reviewer_ids: ['{developer}'] },
    { reviewers: [{ username: 'developer' }] },
  ],
  [
    { reviewer_ids: ['{reporter}', '{developer}'] },
    '/remove_reviewer',
    'Removed reviewers @reporter and @developer.',
    { reviewer_ids: [] },
    { reviewers: [] },
  ],
  [
    {},
    '/milestone %v1',
    'Set the milestone to %"v1".',
    { milestone_id: '{v1}' },
    { milestone: { title: 'v1' } },
  ],
  [
    { milestone_id: '{v1}' },
    '/remove_milestone',
    'Removed %"v1" milestone.',
    { milestone_id: null },
    { milestone: null },
  ],
  [{}, '/lock', 'Locked the discussion.', { discussion_locked: true }, { discussion_locked: true }],
  [
    { description: '/estimate 2h' },
    '/remove_estimate\n/spend 1h 2026-01-31',
    'Removed time estimate. Added 1h spent time.',
    { spend_time: { duration: 3600, user_id: '{owner}', spent_at: '2026-01-31T12:00:00.000Z' } },
    { time_stats: { time_estimate: 0, total_time_spent: 3600 } },
  ],
  [
    {},
    '/unsubscribe',
    'Unsubscribed from this merge request.',
    { subscription_event: 'unsubscribe' },
    { subscribed: false },
  ],
  [{}, '/award :thumbsup:', 'Toggled :thumbsup: emoji award.', { emoji_award: 'thumbsup' }, { upvotes: 1 }],
  // Of what does not apply, or is of issues, nothing happens.
  ...['/reopen', '/unlabel ~bug', '/unapprove', '/unassign_reviewer', '/due tomorrow', '/submit_review'].map(
    (text) => [{}, text, could(text.slice(1).split(' ')[0]!), {}, { state: 'opened' }] as const,
  ),
];

describe('a note of quick actions only', () => {
  test.each(ACTIONS)('%j %s', async (before, text, summary, changes, after) => {
    const { path } = await propose(before);
    const { status, body } = await say('owner', path, text);
    expect([status, body.summary]).toEqual([202, [summary]]);
    expect(body.commands_changes).toMatchObject(named(changes));
    expect(await read(path)).toMatchObject({ ...after, user_notes_count: 0 });
  });

  test('reopens one whose source branch is there', async () => {
    const { path, source_branch } = await propose();
    await say('owner', path, '/close');
    expect((await say('owner', path, '/reopen')).body.summary).toEqual(['Reopened this merge request.']);
    await say('owner', path, '/close');
    await as('owner', 'DELETE', `${project}/repository/branches/${source_branch}`);
    expect((await say('owner', path, '/reopen')).body.summary).toEqual([could('reopen')]);
    expect((await read(path)).state).toBe('closed');
  });

  test('adds a to-do, and marks it as done', async () => {
    const { path, id } = await propose();
    const mine = async (state: string) =>
      (await read(`/todos?state=${state}`)).filter(
        ({ target }: { target: { id: number } }) => target.id === id,
      );
    expect((await say('owner', path, '/todo')).body.summary).toEqual(['Added a to-do item.']);
    expect(await mine('pending')).toMatchObject([{ target_type: 'MergeRequest', action_name: 'marked' }]);
    expect((await say('owner', path, '/done')).body.summary).toEqual(['Marked to-do item as done.']);
    expect([await mine('pending'), await mine('done')]).toMatchObject([[], [{ state: 'done' }]]);
  });

  test('copies labels and milestone of a merge request or an issue', async () => {
    const one = await propose({ labels: 'bug', milestone_id: '{v1}' });
    const issue = await done(`${project}/issues`, { title: 'x', labels: 'later' });
    const { path } = await propose();
    const { body } = await say('owner', path, `/copy_metadata !${one.iid}`);
    expect(body.summary).toEqual([`Copied labels and milestone from !${one.iid}.`]);
    await say('owner', path, `/copy_metadata #${issue.iid}`);
    expect(await read(path)).toMatchObject({ labels: ['bug', 'later'], milestone: { title: 'v1' } });
  });
});

describe('approving, merging and rebasing in notes', () => {
  test('an approval is given once with its note, and taken back', async () => {
    const { path } = await propose();
    const { status, body } = await say('developer', path, 'Well done.\n/approve');
    expect([status, body.body, body.commands_changes]).toEqual([201, 'Well done.', { approve: true }]);
    const approvedBy = async () =>
      (await read(`${path}/approvals`)).approved_by.map(
        ({ user }: { user: { username: string } }) => user.username,
      );
    expect(await approvedBy()).toEqual(['developer']);
    expect((await say('developer', path, '/approve')).body.summary).toEqual([could('approve')]);
    expect((await say('stranger', path, '/approve')).body.summary).toEqual([could('approve')]);
    expect((await say('developer', path, '/unapprove')).body.summary).toEqual([
      'Unapproved the current merge request.',
    ]);
    expect(await approvedBy()).toEqual([]);
    expect(await told(path)).toEqual(['approved this merge request', 'unapproved this merge request']);
  });

  test('a merge is made for who may merge into the target, when it can be merged', async () => {
    const { path, sha } = await propose();
    expect((await say('developer', path, '/merge')).body.summary).toEqual([could('merge')]);
    const { status, body } = await say('maintainer', path, '/merge');
    expect([status, body]).toEqual([
      202,
      { commands_changes: { merge: sha }, summary: ['Merged this merge request.'] },
    ]);
    expect(await read(path)).toMatchObject({ state: 'merged', merged_by: { username: 'maintainer' } });
    expect((await say('maintainer', path, '/merge')).body.summary).toEqual([could('merge')]);
    const draft = await propose({ title: 'Draft: more' });
    expect((await say('maintainer', draft.path, '/merge')).body.summary).toEqual([could('merge')]);
  });

  test('a merge waits for a pipeline that runs', async () => {
    const { path, sha, source_branch } = await propose();
    await done(`${project}/statuses/${sha}`, { state: 'running', ref: source_branch });
    expect((await say('maintainer', path, '/merge')).body.summary).toEqual([
      'Scheduled to merge this merge request (Merge when pipeline succeeds).',
    ]);
    expect(await read(path)).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true });
  });

  test('a rebase is made by a worker for who may push to the source branch', async () => {
    const { path, source_branch } = await propose();
    await commit('main', undefined, 'x', `moved-${source_branch}`);
    expect((await say('reporter', path, '/rebase')).body.summary).toEqual([could('rebase')]);
    expect((await say('developer', path, '/rebase')).body.summary).toEqual([
      `Scheduled a rebase of branch ${source_branch}.`,
    ]);
    await settled();
    expect(await read(`${path}?include_diverged_commits_count=true`)).toMatchObject({
      diverged_commits_count: 0,
      merge_error: null,
    });
  });
});

describe('a note with quick actions on a merge request', () => {
  test('is written without them, in one change, and counted', async () => {
    const { path } = await propose();
    const text = 'Enough.\n/close\n/label ~later\n/shrug well\n/cc @guest';
    const { status, body } = await say('owner', path, text);
    expect([status, body.body]).toEqual([201, 'Enough.\nwell ¯\\＿(ツ)＿/¯\n/cc @guest']);
    expect(body.commands_changes).toEqual({ state_event: 'close', add_label_ids: [ids['later']] });
    expect(await read(path)).toMatchObject({ state: 'closed', labels: ['later'], user_notes_count: 1 });
  });

  test('may start a discussion, which is to be resolved, or reply in it', async () => {
    await done(project, { only_allow_merge_if_all_discussions_are_resolved: true }, 'PUT');
    const { path } = await propose();
    const started = await as('owner', 'POST', `${path}/discussions`, { body: 'Well\n/lock' });
    expect(started.body.notes).toMatchObject([
      { body: 'Well', commands_changes: { discussion_locked: true } },
    ]);
    expect((await read(path)).blocking_discussions_resolved).toBe(false);
    const replies = `${path}/discussions/${started.body.id}/notes`;
    expect((await as('owner', 'POST', replies, { body: '/unlock\nYes' })).body.body).toBe('Yes');
    await as('owner', 'PUT', `${path}/discussions/${started.body.id}?resolved=true`);
    expect(await read(path)).toMatchObject({
      ...{ discussion_locked: false, user_notes_count: 2, blocking_discussions_resolved: true },
    });
    await done(project, { only_allow_merge_if_all_discussions_are_resolved: false }, 'PUT');
  });

  test('of many who write at once loses nothing', async () => {
    const { path } = await propose();
    await Promise.all(
      ['/label ~bug', '/label ~later', '/assign me', '/reviewer me', '/lock'].map((text) =>
        say('owner', path, `and\n${text}`),
      ),
    );
    expect(await read(path)).toMatchObject({
      ...{ labels: ['bug', 'later'], discussion_locked: true, user_notes_count: 5 },
      ...{ assignees: [{ username: 'owner' }], reviewers: [{ username: 'owner' }] },
    });
  });

  test('tells on which day time was spent, unless it is today', async () => {
    const { path } = await propose();
    await say('owner', path, '/spend 1h 2026-01-31');
    await say('owner', path, '/spend 30m\n/spend -15m 2026-02-01');
    expect(await told(path)).toEqual([
      'added 1h of time spent at 2026-01-31',
      'added 30m of time spent',
      'subtracted 15m of time spent at 2026-02-01',
    ]);
  });
});

describe('quick actions on merge requests', () => {
  test('change what their user may change', async () => {
    const { path } = await propose();
    const text =
      '/title Mine\n/close\n/draft\n/label ~bug\n/assign me\n/reviewer me\n/lock\n/estimate 1h\n/todo';
    const all = ['title', 'close', 'draft', 'label', 'assign', 'assign_reviewer', 'lock', 'estimate'];
    const stranger = await say('stranger', path, text);
    expect([stranger.status, stranger.body.summary]).toEqual([202, [`${could(...all)} Added a to-do item.`]]);
    // Reporters organize work; its texts and its time are for its author and for Developers.
    const reporter = await say('reporter', path, text);
    expect(reporter.body.summary[0]).toBe(
      `${could('title', 'close', 'draft')} Added ~bug label. Assigned @reporter. ` +
        `Assigned @reporter as reviewer. Locked the discussion. ${could('estimate')} Added a to-do item.`,
    );
    expect(await read(path)).toMatchObject({ title: 'Work', state: 'opened', labels: ['bug'] });
    expect((await say('stranger', path, '/todo')).status).toBe(403);
  });

  test('of a description are run when it is created and changed', async () => {
    const description =
      'Text\n/label ~bug\n/assign @reporter\n/reviewer me\n/draft\n/target_branch stable\nMore';
    const { path, ...created } = await propose({ description, assignee_ids: ['{owner}'] });
    expect(created).toMatchObject({
      ...{ description: 'Text\nMore', title: 'Draft: Work', target_branch: 'stable', labels: ['bug'] },
      ...{ assignees: [{ username: 'owner' }, { username: 'reporter' }], reviewers: [{ username: 'owner' }] },
    });
    const changed = await as('owner', 'PUT', path, {
      description: 'a\n/ready\n/unlabel ~bug\n/spend 1h\n/close',
    });
    expect(changed.body).toMatchObject({
      ...{ description: 'a', title: 'Work', labels: [], state: 'closed' },
      time_stats: { total_time_spent: 3600 },
    });
    const many = await as('owner', 'PUT', path, { description: '/close\n'.repeat(101) });
    expect([many.status, many.body.message]).toEqual([
      400,
      { description: ['has too many quick actions (maximum is 100)'] },
    ]);
    expect((await as('stranger', 'PUT', path, { description: '/reopen' })).status).toBe(403);
  });
});

describe('/create_merge_request on an issue', () => {
  const issueOf = async (json: object) => {
    const { iid } = await done(`${project}/issues`, named(json));
    return { iid, path: `${project}/issues/${iid}` };
  };
  const proposals = (branch: string) => read(`${project}/merge_requests?source_branch=${branch}`);

  test('makes a branch and a draft that closes it', async () => {
    const { iid, path } = await issueOf({ title: 'The Élan: of doors', labels: 'bug', milestone_id: '{v1}' });
    const branch = `${iid}-the-elan-of-doors`;
    const { status, body } = await say('developer', path, 'I do.\n/create_merge_request');
    expect([status, body.body, body.commands_changes]).toEqual([
      ...[201, 'I do.'],
      { create_merge_request: { branch_name: branch, issue_iid: iid } },
    ]);
    expect(await proposals(branch)).toMatchObject([
      {
        ...{
          title: 'Draft: Resolve "The Élan: of doors"',
          description: `Closes #${iid}`,
          target_branch: 'main',
        },
        ...{ labels: ['bug'], milestone: { title: 'v1' }, assignees: [{ username: 'developer' }] },
      },
    ]);
    expect((await say('developer', path, '/create_merge_request')).body.summary).toEqual([
      could('create_merge_request'),
    ]);
    expect((await say('developer', path, '/create_merge_request other')).body.summary).toEqual([
      "Created branch 'other' and a merge request to resolve this issue.",
    ]);
  });

  test('tells nothing of a confidential one, and is for who may push', async () => {
    const { iid, path } = await issueOf({ title: 'Secret', confidential: true, labels: 'later' });
    expect((await say('reporter', path, '/create_merge_request')).body.summary).toEqual([
      could('create_merge_request'),
    ]);
    await say('developer', path, '/create_merge_request');
    expect(await proposals(`${iid}-confidential-issue`)).toMatchObject([
      { title: `Draft: Resolve #${iid}`, labels: [] },
    ]);
  });
});
