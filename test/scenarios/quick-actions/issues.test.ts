import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import type { Who } from '../../harness/world.ts';

const { world, as } = ownWorld();

const project = () => `/projects/${world.ids['public']}`;
const ids: Record<string, number> = {};

const made = async (path: string, json: object) => {
  const { status, body } = await as('owner', 'POST', `${project()}${path}`, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body as { id: number; iid: number };
};

beforeAll(async () => {
  for (const name of ['bug', 'two words', 'later'])
    ids[name] = (await made('/labels', { name, color: '#112233' })).id;
  ids['v1'] = (await made('/milestones', { title: 'v1' })).id;
  ids['next one'] = (await made('/milestones', { title: 'next one' })).id;
});

/** Puts ids in the place of names in braces. */
const named = (json: object): object =>
  JSON.parse(
    JSON.stringify(json).replaceAll(/"\{([^}]+)\}"/g, (_, name) => String(ids[name] ?? world.ids[name])),
  );

const issue = async (json: object = {}, who: Who = 'owner') => {
  const answer = await as(who, 'POST', `${project()}/issues`, { title: 'Work', ...named(json) });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return { path: `${project()}/issues/${answer.body.iid}`, ...answer.body };
};
const read = async (path: string, who: Who = 'owner') => (await as(who, 'GET', path)).body;
const say = (who: Who, path: string, body: string) => as(who, 'POST', `${path}/notes`, { body });

const inTwoDays = () => new Date(Date.now() + 2 * 86_400_000).toISOString().slice(0, 10);
const labels = (titles: string) => ({ labels: titles });

/** The issue before, the text, the sentences, the changes as answered, and fields of the issue after. */
const ACTIONS: readonly (readonly [object, string, string, object, object])[] = [
  [{}, '/close', 'Closed this issue.', { state_event: 'close' }, { state: 'closed' }],
  [{}, '/title  New name ', 'Changed the title to "New name".', { title: 'New name' }, { title: 'New name' }],
  [{}, '/label ~bug', 'Added ~bug label.', { add_label_ids: ['{bug}'] }, { labels: ['bug'] }],
  [
    labels('later'),
    '/labels ~bug ~"two words" ~none',
    'Added ~bug ~"two words" labels.',
    { add_label_ids: ['{bug}', '{two words}'] },
    { labels: ['bug', 'later', 'two words'] },
  ],
  [{}, '/label bug "two words"', 'Added ~bug ~"two words" labels.', {}, { labels: ['bug', 'two words'] }],
  [
    labels('bug,later'),
    '/unlabel ~bug',
    'Removed ~bug label.',
    { remove_label_ids: ['{bug}'] },
    { labels: ['later'] },
  ],
  [labels('bug,later'), '/remove_label', 'Removed all labels.', { label_ids: [] }, { labels: [] }],
  [
    labels('bug'),
    '/relabel ~later',
    'Replaced all labels with ~later label.',
    { label_ids: ['{later}'] },
    { labels: ['later'] },
  ],
  [
    { assignee_ids: ['{guest}'] },
    '/assign me and @reporter',
    'Assigned @owner and @reporter.',
    { assignee_ids: ['{guest}', '{owner}', '{reporter}'] },
    { assignees: [{ username: 'guest' }, { username: 'owner' }, { username: 'reporter' }] },
  ],
  [{}, '/assign', 'Failed to assign a user because no user was found.', {}, { assignees: [] }],
  [{}, '/assign @nobody', 'Failed to assign a user because no user was found.', {}, { assignees: [] }],
  [
    { assignee_ids: ['{guest}', '{owner}'] },
    '/unassign @guest',
    'Removed assignee @guest.',
    { assignee_ids: ['{owner}'] },
    { assignees: [{ username: 'owner' }] },
  ],
  [
    { assignee_ids: ['{guest}', '{owner}'] },
    '/unassign',
    'Removed assignees @guest and @owner.',
    { assignee_ids: [] },
    { assignees: [] },
  ],
  [
    { assignee_ids: ['{guest}'] },
    '/reassign @owner',
    'Changed assignee(s).',
    { assignee_ids: ['{owner}'] },
    { assignees: [{ username: 'owner' }] },
  ],
  [
    {},
    '/milestone %v1',
    'Set the milestone to %"v1".',
    { milestone_id: '{v1}' },
    { milestone: { title: 'v1' } },
  ],
  [
    {},
    '/milestone %"next one"',
    'Set the milestone to %"next one".',
    {},
    { milestone: { title: 'next one' } },
  ],
  [{}, '/milestone next one', 'Set the milestone to %"next one".', {}, { milestone: { title: 'next one' } }],
  [
    { milestone_id: '{v1}' },
    '/remove_milestone',
    'Removed %"v1" milestone.',
    { milestone_id: null },
    { milestone: null },
  ],
  [
    {},
    '/due 2030-12-31',
    'Set the due date to Dec 31, 2030.',
    { due_date: '2030-12-31' },
    { due_date: '2030-12-31' },
  ],
  [{}, '/due some day', 'Failed to set due date because the date format is invalid.', {}, { due_date: null }],
  [
    { due_date: '2030-12-31' },
    '/remove_due_date',
    'Removed the due date.',
    { due_date: null },
    { due_date: null },
  ],
  [{}, '/weight 3', 'Set weight to 3.', { weight: 3 }, { weight: 3 }],
  [{ weight: 3 }, '/clear_weight', 'Cleared weight.', { weight: null }, { weight: null }],
  [
    {},
    '/health_status at_risk',
    'Set health status to at_risk.',
    { health_status: 'at_risk' },
    { health_status: 'at_risk' },
  ],
  [
    { health_status: 'on_track' },
    '/clear_health_status',
    'Cleared health status.',
    { health_status: null },
    { health_status: null },
  ],
  [{}, '/confidential', 'Made this issue confidential.', { confidential: true }, { confidential: true }],
  [{}, '/lock', 'Locked the discussion.', { discussion_locked: true }, { discussion_locked: true }],
  [
    { discussion_locked: true },
    '/unlock',
    'Unlocked the discussion.',
    { discussion_locked: false },
    { discussion_locked: false },
  ],
  [
    {},
    '/estimate 1w 2h',
    'Set time estimate to 1w 2h.',
    { time_estimate: 151_200 },
    { time_stats: { time_estimate: 151_200 } },
  ],
  [{}, '/estimate 0', 'Removed time estimate.', { time_estimate: 0 }, { time_stats: { time_estimate: 0 } }],
  [
    { description: '/estimate 1h' },
    '/remove_estimate',
    'Removed time estimate.',
    { time_estimate: 0 },
    { time_stats: { time_estimate: 0 } },
  ],
  [
    { description: '/spend 1h' },
    '/spend 30m 2026-01-31',
    'Added 30m spent time.',
    { spend_time: { duration: 1800, user_id: '{owner}', spent_at: '2026-01-31T12:00:00.000Z' } },
    { time_stats: { total_time_spent: 5400 } },
  ],
  [
    { description: '/spend 1h' },
    '/spent -30m',
    'Subtracted 30m spent time.',
    { spend_time: { duration: -1800, user_id: '{owner}' } },
    { time_stats: { total_time_spent: 1800 } },
  ],
  [{}, '/spend -30m', 'Could not apply spend command.', {}, { time_stats: { total_time_spent: 0 } }],
  [
    { description: '/spend 1h' },
    '/remove_time_spent',
    'Removed spent time.',
    { spend_time: { duration: 'reset', user_id: '{owner}' } },
    { time_stats: { total_time_spent: 0 } },
  ],
  [
    {},
    '/unsubscribe',
    'Unsubscribed from this issue.',
    { subscription_event: 'unsubscribe' },
    { subscribed: false },
  ],
  [{}, '/subscribe', 'Could not apply subscribe command.', {}, { subscribed: true }],
  [{}, '/award :thumbsup:', 'Toggled :thumbsup: emoji award.', { emoji_award: 'thumbsup' }, { upvotes: 1 }],
  [{ issue_type: 'incident' }, '/severity S2', 'Severity updated to High.', {}, { severity: 'HIGH' }],
  [
    {},
    '/promote_to_incident',
    'Issue has been promoted to incident',
    { issue_type: 'incident' },
    { issue_type: 'incident' },
  ],
  [{}, '/zoom http://zoom.us/j/1', 'Failed to add a Zoom meeting', {}, {}],
  [{}, '/zoom https://zoom.us.example.com/j/1', 'Failed to add a Zoom meeting', {}, {}],
  [{}, '/zoom see https://us02.zoom.us/j/1?pwd=x', 'Zoom meeting added', {}, {}],
  [{ description: '/zoom https://zoom.us/my/room' }, '/remove_zoom', 'Zoom meeting removed', {}, {}],
  [
    { description: '/zoom https://zoom.us/j/1' },
    '/zoom https://zoom.us/j/2',
    'Could not apply zoom command.',
    {},
    {},
  ],
  // Of what does not apply, nothing happens.
  ...['/reopen', '/unlabel ~bug', '/unassign', '/remove_milestone', '/remove_due_date', '/clear_weight'].map(
    (text) => [{}, text, `Could not apply ${text.slice(1).split(' ')[0]} command.`, {}, {}] as const,
  ),
  ...['/unlock', '/done', '/severity 1', '/remove_zoom', '/approve', '/remove_epic'].map(
    (text) => [{}, text, `Could not apply ${text.slice(1).split(' ')[0]} command.`, {}, {}] as const,
  ),
];

describe('a note of quick actions only', () => {
  test.each(ACTIONS)('%j %s', async (before, text, summary, changes, after) => {
    const { path } = await issue(before);
    const { status, body } = await say('owner', path, text);
    expect([status, body.summary]).toEqual([202, [summary]]);
    expect(body.commands_changes).toMatchObject(named(changes));
    const now = await read(path);
    expect(now).toMatchObject({ ...after, user_notes_count: 0 });
  });

  test('reopens, and has the changes of several noted once each', async () => {
    const { path } = await issue();
    await say('owner', path, '/close\n/title Other\n/assign me');
    expect((await read(path)).state).toBe('closed');
    const { body } = await say('owner', path, '/reopen');
    expect(body.summary).toEqual(['Reopened this issue.']);
    const noted = (await read(`${path}/notes?sort=asc`)).map((note: { body: string }) => note.body);
    for (const text of ['changed title', 'assigned to @owner'])
      expect(noted.filter((each: string) => each.includes(text))).toHaveLength(1);
  });

  test('adds a to-do, and marks it as done', async () => {
    const { path, id } = await issue();
    const mine = async (state: string) =>
      (await read(`/todos?state=${state}`)).filter(
        ({ target }: { target: { id: number } }) => target.id === id,
      );
    expect((await say('owner', path, '/todo')).body).toEqual({
      commands_changes: { todo_event: 'add' },
      summary: ['Added a to-do item.'],
    });
    expect(await mine('pending')).toMatchObject([{ action_name: 'marked' }]);
    expect((await say('owner', path, '/todo')).body.summary).toEqual(['Could not apply todo command.']);
    expect((await say('owner', path, '/done')).body.summary).toEqual(['Marked to-do item as done.']);
    expect([await mine('pending'), await mine('done')]).toMatchObject([[], [{ state: 'done' }]]);
  });

  test('takes an award back, and subscribes again', async () => {
    const { path } = await issue();
    for (const [upvotes, subscribed] of [
      [1, false],
      [0, true],
    ] as const) {
      await say('owner', path, `/award :thumbsup:\n/${subscribed ? 'subscribe' : 'unsubscribe'}`);
      expect(await read(path)).toMatchObject({ upvotes, subscribed });
    }
  });

  test('tells of a Zoom meeting that comes and goes', async () => {
    const { path } = await issue({ description: '/zoom https://zoom.us/j/1' });
    await say('owner', path, '/remove_zoom');
    await say('owner', path, '/title Other');
    const noted = (await read(`${path}/notes?sort=asc`)).map((note: { body: string }) => note.body);
    expect(noted).toEqual([
      'added a Zoom call to this issue',
      'removed a Zoom call from this issue',
      expect.stringContaining('changed title'),
    ]);
  });

  test('that names nothing is refused', async () => {
    const { path } = await issue({ assignee_ids: ['{guest}'] });
    for (const text of [
      '/unassign @nobody',
      '/label ~none',
      '/milestone %none',
      '/title',
      '/weight many',
      '/health_status well',
    ]) {
      const { status, body } = await say('owner', path, text);
      expect([text, status, body.message]).toEqual([
        text,
        400,
        '400 Bad request - Note {:commands=>["Failed to apply commands."]}',
      ]);
    }
    const many = await say('owner', path, '/close\n'.repeat(101));
    expect([many.status, many.body.message]).toEqual([
      400,
      '400 Bad request - Note {:note=>["has too many quick actions (maximum is 100)"]}',
    ]);
    expect(await read(path)).toMatchObject({ state: 'opened', assignees: [{ username: 'guest' }] });
  });
});

describe('quick actions about other issues', () => {
  const systemNotes = async (path: string) =>
    (await read(`${path}/notes?sort=asc&activity_filter=only_activity`)).map(
      ({ body }: { body: string }) => body,
    );

  test('relate them', async () => {
    const [one, two, three] = [await issue(), await issue(), await issue()];
    const text = `/relate #${two.iid} ${three.references.full} #99999`;
    const { status, body } = await say('owner', one.path, text);
    expect([status, body.summary]).toEqual([
      202,
      [`Marked this issue as related to #${two.iid} and #${three.iid}.`],
    ]);
    const links = await read(`${one.path}/links`);
    expect(links.map(({ iid }: { iid: number }) => iid).sort()).toEqual([two.iid, three.iid].sort());
    expect((await say('owner', one.path, `/relate #${two.iid}`)).status).toBe(202);
    const fresh = await issue({ description: `Of\n/relate #${one.iid}` });
    expect(await read(`${fresh.path}/links`)).toMatchObject([{ iid: one.iid }]);
    for (const none of ['#99999', `#${one.iid}`, 'nothing'])
      expect((await say('owner', one.path, `/relate ${none}`)).status).toBe(400);
  });

  test('close a duplicate', async () => {
    const [one, two] = [await issue(), await issue()];
    const { body } = await say('owner', one.path, `Known.\n/duplicate #${two.iid}`);
    expect(body).toMatchObject({ body: 'Known.' });
    expect(body.commands_changes).toEqual({ canonical_issue_id: two.id });
    expect((await read(one.path)).state).toBe('closed');
    expect(await read(`${one.path}/links`)).toMatchObject([{ iid: two.iid }]);
    expect(await systemNotes(one.path)).toContain(`marked this issue as a duplicate of #${two.iid}`);
    expect(await systemNotes(two.path)).toContain(`marked #${one.iid} as a duplicate of this issue`);
    // One that was related before is told of as well.
    const [three, four] = [await issue(), await issue()];
    await say('owner', three.path, `/relate #${four.iid}`);
    await say('owner', three.path, `/duplicate #${four.iid}`);
    expect(await systemNotes(three.path)).toContain(`marked this issue as a duplicate of #${four.iid}`);
    expect(await systemNotes(four.path)).toContain(`marked #${three.iid} as a duplicate of this issue`);
    expect(await read(`${three.path}/links`)).toHaveLength(1);
    const failed = await say('owner', two.path, '/duplicate #99999');
    expect([failed.status, failed.body.summary]).toEqual([
      202,
      ['Failed to mark this issue as a duplicate because referenced issue was not found.'],
    ]);
    expect((await read(two.path)).state).toBe('opened');
  });

  test('copy labels and milestone', async () => {
    const [one, two] = [await issue(labels('bug')), await issue({ labels: 'later', milestone_id: '{v1}' })];
    const { body } = await say('owner', one.path, `/copy_metadata #${two.iid}`);
    expect(body.summary).toEqual([`Copied labels and milestone from #${two.iid}.`]);
    expect(await read(one.path)).toMatchObject({ labels: ['bug', 'later'], milestone: { title: 'v1' } });
  });

  test('move an issue to another project, and clone it', async () => {
    const { path, iid } = await issue();
    const there = `/projects/${world.ids['internal']}`;
    const { path_with_namespace: target } = await read(there);
    const { path_with_namespace: here } = await read(project());
    await say('owner', path, 'A word');
    for (const [text, summary] of [
      ['/clone', `Cloned this issue to ${here}.`],
      [`/clone ${target} --with_notes`, `Cloned this issue to ${target}.`],
      ['/clone a b', 'Failed to clone this issue: wrong parameters.'],
      ['/move no/where', "Failed to move this issue because target project doesn't exist."],
      [`/move ${here}`, 'Could not apply move command.'],
      [`/label ~bug\n/move ${target}`, `Added ~bug label. Moved this issue to ${target}.`],
      [`/move ${target}`, 'Could not apply move command.'],
    ] as const) {
      const { status, body } = await say('owner', path, text);
      expect([text, status, body.summary]).toEqual([text, 202, [summary]]);
    }
    const moved = await read(path);
    expect(moved).toMatchObject({ state: 'closed', labels: ['bug'], moved_to_id: expect.any(Number) });
    const last = await read(`${there}/issues?per_page=2`);
    expect(last.map(({ title }: { title: string }) => title)).toEqual(['Work', 'Work']);
    expect((await read(`${project()}/issues?per_page=1`))[0].iid).toBe(iid + 1);
  });

  test('that are no longer possible when their turn comes do nothing: the note is written', async () => {
    const { path } = await issue();
    const { path_with_namespace: target } = await read(`/projects/${world.ids['internal']}`);
    const { status, body } = await say('owner', path, `Twice\n/move ${target}\n/move ${target}`);
    expect([status, body.body]).toEqual([201, 'Twice']);
    expect(await read(path)).toMatchObject({ state: 'closed', user_notes_count: 1 });
  });

  test('know nothing of those that their user may not see', async () => {
    const hidden = await issue({ confidential: true }, 'owner');
    const mine = await issue({}, 'guest');
    for (const name of ['relate', 'duplicate', 'copy_metadata']) {
      const { body } = await say('guest', mine.path, `/${name} #${hidden.iid}`);
      expect(body.summary).toEqual([`Could not apply ${name} command.`]);
    }
    // Reporters see it here, but nothing of a private project.
    const secret = await as('owner', 'POST', '/projects', { name: 'quick secret', visibility: 'private' });
    await as('owner', 'POST', `/projects/${secret.body.id}/issues`, { title: 'Secret' });
    const open = await issue();
    const answer = await say('reporter', open.path, '/relate owner/quick-secret#1');
    expect([answer.status, answer.body.message]).toEqual([
      400,
      '400 Bad request - Note {:commands=>["Failed to apply commands."]}',
    ]);
  });
});

describe('a note with quick actions', () => {
  test('is written without them, in one change of the issue', async () => {
    const { path } = await issue(labels('bug'));
    const { status, body } = await say(
      'owner',
      path,
      'Enough.\n/close\n/label ~later\n\nThank you!\n/cc @guest',
    );
    expect([status, body.body]).toEqual([201, 'Enough.\nThank you!\n/cc @guest']);
    expect(body.commands_changes).toEqual({ state_event: 'close', add_label_ids: [ids['later']] });
    const now = await read(path);
    expect(now).toMatchObject({ state: 'closed', labels: ['bug', 'later'], user_notes_count: 1 });
    const { body: notes, headers } = await as('owner', 'GET', `${path}/notes?sort=asc`);
    expect(notes.find(({ id }: { id: number }) => id === body.id)).toMatchObject({ commands_changes: {} });
    expect(headers.get('x-total')).toBe(String(notes.length));
  });

  test('may start or go on with a discussion', async () => {
    const { path } = await issue();
    const started = await as('owner', 'POST', `${path}/discussions`, { body: 'Well\n/lock' });
    expect(started.body.notes).toMatchObject([
      { body: 'Well', commands_changes: { discussion_locked: true } },
    ]);
    const replies = `${path}/discussions/${started.body.id}/notes`;
    const reply = await as('owner', 'POST', replies, { body: '/unlock\nYes' });
    expect([reply.status, reply.body.body]).toEqual([201, 'Yes']);
    expect((await as('owner', 'POST', replies, { body: '/close' })).status).toBe(202);
    expect((await as('owner', 'POST', `${path}/discussions`, { body: '/reopen' })).status).toBe(202);
    expect(await read(path)).toMatchObject({
      state: 'opened',
      discussion_locked: false,
      user_notes_count: 2,
    });
    const discussion = await read(`${path}/discussions/${started.body.id}`);
    expect(discussion.notes).toMatchObject([{ body: 'Well' }, { body: 'Yes' }]);
  });

  test('may be one that is changed; of quick actions only, it is deleted', async () => {
    const { path } = await issue();
    const { body: note } = await say('owner', path, 'one');
    const changed = await as('owner', 'PUT', `${path}/notes/${note.id}`, { body: 'two\n/close' });
    expect([changed.status, changed.body.body, changed.body.commands_changes]).toEqual([
      200,
      'two',
      { state_event: 'close' },
    ]);
    const deleted = await as('owner', 'PUT', `${path}/notes/${note.id}`, { body: '/reopen' });
    expect([deleted.status, deleted.body.summary]).toEqual([202, ['Reopened this issue.']]);
    expect((await as('owner', 'GET', `${path}/notes/${note.id}`)).status).toBe(404);
    expect(await read(path)).toMatchObject({ state: 'opened', user_notes_count: 0 });
    // What nobody may write changes nothing either.
    const { body: other } = await say('owner', path, 'mine');
    expect((await as('reporter', 'PUT', `${path}/notes/${other.id}`, { body: '/close' })).status).toBe(403);
    expect((await read(path)).state).toBe('opened');
  });

  test('of many who write at once loses nothing', async () => {
    const { path } = await issue();
    await Promise.all(
      ['/label ~bug', '/label ~later', '/assign me', '/weight 3', '/lock'].map((text) =>
        say('owner', path, `and\n${text}`),
      ),
    );
    expect(await read(path)).toMatchObject({
      labels: ['bug', 'later'],
      assignees: [{ username: 'owner' }],
      weight: 3,
      discussion_locked: true,
      user_notes_count: 5,
    });
  });

  test('keeps lines that only look like them', async () => {
    const { path } = await issue();
    for (const text of ['```\n/close\n```', '> /close', 'a `\n/close\n` b', '/closed', '/usr/bin/env']) {
      const { status, body } = await say('owner', path, text);
      expect([status, body.body]).toEqual([201, text]);
    }
    expect((await say('owner', path, '/shrug well')).body.body).toBe('well ¯\\＿(ツ)＿/¯');
    expect((await read(path)).state).toBe('opened');
  });
});

describe('quick actions', () => {
  test('change what their user may change', async () => {
    const { path } = await issue({}, 'guest');
    const text = '/title Mine\n/close\n/label ~bug\n/assign me\n/lock\n/confidential\n/weight 1\n/todo';
    const could = (...names: string[]) => names.map((name) => `Could not apply ${name} command.`).join(' ');
    const stranger = await say('stranger', path, text);
    const all = ['title', 'close', 'label', 'assign', 'lock', 'confidential', 'weight'];
    expect([stranger.status, stranger.body.summary]).toEqual([202, [`${could(...all)} Added a to-do item.`]]);
    expect(await read(path)).toMatchObject({ title: 'Work', state: 'opened' });
    const author = await say('guest', path, text);
    expect(author.body.summary[0]).toContain(
      'Changed the title to "Mine". Closed this issue. Could not apply',
    );
    expect(await read(path)).toMatchObject({ title: 'Mine', state: 'closed', labels: [], weight: null });
    // Those who may not comment may do nothing.
    const locked = await issue({ discussion_locked: true });
    expect((await say('stranger', locked.path, '/todo')).status).toBe(403);
    const hidden = await issue({ confidential: true });
    expect((await say('guest', hidden.path, '/todo')).status).toBe(404);
  });

  test('of a description are run when the issue is created and changed', async () => {
    const description = 'Text\n/label ~bug\n/assign @reporter\n/due in 2 days\n/close\n/todo\nMore';
    const { path, ...created } = await issue({ description, labels: 'later', assignee_ids: ['{guest}'] });
    expect(created).toMatchObject({
      description: 'Text\nMore',
      state: 'opened',
      labels: ['bug', 'later'],
      assignees: [{ username: 'guest' }, { username: 'reporter' }],
      due_date: inTwoDays(),
    });
    const changed = await as('owner', 'PUT', path, {
      description: '- [x] a\n/close\n/unlabel ~bug\n/title B',
    });
    expect(changed.body).toMatchObject({
      description: '- [x] a',
      state: 'closed',
      labels: ['later'],
      title: 'B',
      task_completion_status: { count: 1, completed_count: 1 },
    });
    const guests = await issue({ description: '/label ~bug\n/confidential' }, 'guest');
    expect(guests).toMatchObject({ description: '', labels: [], confidential: true });
    const many = await as('owner', 'PUT', path, { description: `/label ${'~a '.repeat(4000)}` });
    expect([many.status, many.body.message]).toEqual([
      400,
      { description: ['has quick actions that are too long (maximum is 10000 characters)'] },
    ]);
    expect((await as('stranger', 'PUT', path, { description: '/close' })).status).toBe(403);
  });
});
