/** A team plans, discusses and does two weeks' work with a client library and git. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Service, startService } from '../harness/service.ts';
import { settled } from '../harness/settled.ts';
import { GitCli, withToken } from './git-cli.ts';

type Client = InstanceType<typeof Gitlab>;
let service: Service;
/** Plans; develops; a stranger. */
let [ada, bob, eve]: Client[] = [];
const ids: Record<string, number> = {};
const tokens: Record<string, string> = {};
const git = new GitCli();
let group: number;
let project: number;

beforeAll(async () => {
  service = await startService();
  [ada, bob, eve] = await Promise.all(
    ['ada', 'bob', 'eve'].map(async (name) => {
      const { token, id } = await service.user(name);
      ids[name] = id;
      tokens[name] = token;
      return new Gitlab({ host: service.url, token }) as Client;
    }),
  );
  group = (await ada!.Groups.create('Team', 'team', { visibility: 'private' })).id;
  await ada!.GroupMembers.add(group, 30, { userId: ids['bob']! });
  project = (await ada!.Projects.create({ name: 'door', namespaceId: group })).id;
});
afterAll(async () => {
  await service.stop();
  git[Symbol.dispose]();
});

const titles = (issues: unknown) => (issues as { title: string }[]).map(({ title }) => title);

test('on Monday labels and a milestone are made, and the work is filed under them', async () => {
  await ada!.GroupLabels.create(group, 'bug', '#ff0000', { description: 'It does not work' });
  await ada!.ProjectLabels.create(project, 'urgent', 'orange', { priority: 0 });
  const milestone = await ada!.ProjectMilestones.create(project, 'Week 1', { dueDate: '2030-01-04' });
  for (const title of ['The door sticks', 'The bell is silent', 'Paint the frame'])
    await ada!.Issues.create(project, title, {
      description: `- [ ] look at it @bob\n- [x] ${title}`,
      labels: title.startsWith('The') ? 'bug,urgent' : 'bug',
      milestoneId: milestone.id,
    });
  const filed = await bob!.Issues.all({ projectId: project, labels: 'bug,urgent', sort: 'asc' });
  expect(titles(filed)).toEqual(['The door sticks', 'The bell is silent']);
  expect(filed[0]).toMatchObject({
    iid: 1,
    state: 'opened',
    labels: ['bug', 'urgent'],
    milestone: { title: 'Week 1' },
    author: { username: 'ada' },
    task_completion_status: { count: 2, completed_count: 1 },
    references: { short: '#1', relative: '#1', full: 'team/door#1' },
  });
  expect(await bob!.ProjectMilestones.allAssignedIssues(project, milestone.id)).toHaveLength(3);
});

test('on Tuesday issues are assigned, and whom they mention or are assigned to has a to-do for each', async () => {
  const todos = async () => {
    const all = await bob!.TodoLists.all();
    return all.map(({ id, action_name, target }) => ({ id, action_name, iid: target.iid }));
  };
  await vi.waitFor(async () => expect(await todos()).toHaveLength(3), { timeout: 60_000 });
  expect((await todos()).every(({ action_name }) => action_name === 'mentioned')).toBe(true);
  await bob!.TodoLists.done();
  expect(await todos()).toEqual([]);

  await ada!.Issues.edit(project, 1, { assigneeIds: [ids['bob']!], weight: 3 });
  await vi.waitFor(async () => expect(await todos()).toMatchObject([{ action_name: 'assigned', iid: 1 }]), {
    timeout: 60_000,
  });
  expect(titles(await bob!.Issues.all({ scope: 'assigned_to_me' }))).toEqual(['The door sticks']);
  await bob!.TodoLists.done({ todoId: (await todos())[0]!.id });
  expect(await todos()).toEqual([]);
  expect(await bob!.Users.showCount()).toMatchObject({ assigned_issues: 1, todos: 0 });
  expect(await ada!.Users.showAssociationsCount(ids['ada']!)).toMatchObject({ issues_count: 3 });
});

test('on Wednesday an issue is discussed in a thread, and a note is corrected and another deleted', async () => {
  const thread = await bob!.IssueDiscussions.create(project, 1, 'The hinge is bent.');
  await ada!.IssueDiscussions.addNote(project, 1, thread.id, 'Can it be *straightened*?');
  const note = await bob!.IssueNotes.create(project, 1, 'No');
  await bob!.IssueNotes.edit(project, 1, note.id, { body: 'No, it broke.' });
  const mistaken = await bob!.IssueNotes.create(project, 1, 'wrong window');
  await bob!.IssueNotes.remove(project, 1, mistaken.id);
  const notes = await ada!.IssueNotes.all(project, 1, { sort: 'asc', orderBy: 'created_at' });
  const written = notes.filter(({ system }) => !system).map(({ body }) => body);
  expect(written).toEqual(['The hinge is bent.', 'Can it be *straightened*?', 'No, it broke.']);
  expect((await ada!.Issues.show(1, { projectId: project })).user_notes_count).toBe(3);
});

test('on Thursday a confidential issue is seen by the team and by no stranger', async () => {
  await ada!.Groups.edit(group, { visibility: 'public' });
  await ada!.Projects.edit(project, { visibility: 'public' });
  await bob!.Issues.create(project, 'The lock opens by itself', { confidential: true });
  expect(titles(await bob!.Issues.all({ projectId: project }))).toContain('The lock opens by itself');
  const seen = await eve!.Issues.all({ projectId: project });
  expect(titles(seen)).toEqual(['Paint the frame', 'The bell is silent', 'The door sticks']);
  await expect(eve!.Issues.show(4, { projectId: project })).rejects.toThrow(/Not Found|not found/i);
  const counts = await eve!.IssuesStatistics.all({ projectId: project });
  expect(counts).toMatchObject({ statistics: { counts: { all: 3, opened: 3, closed: 0 } } });
});

test('on Friday what is done is closed, and the counts say so', async () => {
  expect(await bob!.Issues.edit(project, 1, { stateEvent: 'close' })).toMatchObject({
    state: 'closed',
    closed_by: { username: 'bob' },
  });
  expect(titles(await ada!.Issues.all({ projectId: project, state: 'closed' }))).toEqual(['The door sticks']);
  const counts = await ada!.IssuesStatistics.all({ projectId: project });
  expect(counts).toMatchObject({ statistics: { counts: { all: 4, opened: 3, closed: 1 } } });
  expect((await ada!.Projects.show(project)).open_issues_count).toBe(3);
  expect(
    titles(await ada!.Issues.all({ groupId: group, scope: 'all', state: 'opened', sort: 'asc' })),
  ).toEqual(['The bell is silent', 'Paint the frame', 'The lock opens by itself']);
});

/** The second week: the next issue is the fifth. */
test('then awards are given and taken back, of an issue and of a note', async () => {
  const award = await bob!.IssueAwardEmojis.award(project, 2, 'thumbsup');
  await ada!.IssueAwardEmojis.award(project, 2, 'tada');
  expect(await ada!.Issues.show(2, { projectId: project })).toMatchObject({ upvotes: 1, downvotes: 0 });
  const awards = await eve!.IssueAwardEmojis.all(project, 2);
  expect(awards).toMatchObject([
    { id: award.id, name: 'thumbsup', user: { username: 'bob' }, awardable_type: 'Issue' },
    { name: 'tada', user: { username: 'ada' } },
  ]);
  expect(await eve!.IssueAwardEmojis.show(project, 2, award.id)).toEqual(awards[0]);
  const mine = await bob!.Issues.all({ projectId: project, myReactionEmoji: 'thumbsup' });
  expect(titles(mine)).toEqual(['The bell is silent']);
  await bob!.IssueAwardEmojis.remove(project, 2, award.id);
  expect(await eve!.IssueAwardEmojis.all(project, 2)).toHaveLength(1);

  const note = await bob!.IssueNotes.create(project, 2, 'The wire is loose.');
  const thanks = await ada!.IssueNoteAwardEmojis.award(project, 2, note.id, 'heart');
  expect(thanks).toMatchObject({ name: 'heart', awardable_id: note.id, awardable_type: 'Note' });
  expect(await bob!.IssueNoteAwardEmojis.all(project, 2, note.id)).toEqual([thanks]);
});

test('what blocks what is said, and the work is put in order', async () => {
  const link = await ada!.IssueLinks.create(project, 2, project, 3, { linkType: 'blocks' });
  expect(link).toMatchObject({ link_type: 'blocks', source_issue: { iid: 2 }, target_issue: { iid: 3 } });
  const [blocker] = await bob!.IssueLinks.all(project, 3);
  expect(blocker).toMatchObject({ iid: 2, link_type: 'is_blocked_by' });
  await bob!.IssueLinks.remove(project, 3, (blocker as unknown as { issue_link_id: number }).issue_link_id);
  expect(await ada!.IssueLinks.all(project, 2)).toEqual([]);

  const byHand = async () =>
    titles(
      await bob!.Issues.all({
        ...{ projectId: project, state: 'opened', orderBy: 'relative_position', sort: 'asc' },
      }),
    );
  const [bell, frame, lock] = ['The bell is silent', 'Paint the frame', 'The lock opens by itself'];
  expect(await byHand()).toEqual([bell, frame, lock]);
  const { id: first } = await ada!.Issues.show(2, { projectId: project });
  await ada!.Issues.reorder(project, 4, { moveAfterId: first });
  expect(await byHand()).toEqual([lock, bell, frame]);
});

test('time is estimated and spent, and who wants to be told subscribes', async () => {
  await bob!.Issues.addTimeEstimate(project, 2, '2h');
  await bob!.Issues.addSpentTime(project, 2, '45m', { summary: 'found the wire' });
  const stats = { human_time_estimate: '2h', human_total_time_spent: '45m', total_time_spent: 2700 };
  expect(await ada!.Issues.showTimeStats(project, 2)).toMatchObject(stats);
  expect((await ada!.Issues.show(2, { projectId: project })).time_stats).toMatchObject(stats);
  await bob!.Issues.resetSpentTime(project, 2);
  expect(await bob!.Issues.resetTimeEstimate(project, 2)).toMatchObject({
    ...{ time_estimate: 0, human_time_estimate: null, total_time_spent: 0, human_total_time_spent: null },
  });

  expect(await eve!.Issues.subscribe(project, 2)).toMatchObject({ iid: 2, subscribed: true });
  expect(await eve!.Issues.unsubscribe(project, 2)).toMatchObject({ iid: 2, subscribed: false });
  const people = await ada!.Issues.allParticipants(project, 2);
  expect(people.map(({ username }) => username)).toEqual(['ada', 'bob']);
  expect(await bob!.Issues.createTodo(project, 2)).toMatchObject({
    action_name: 'marked',
    target: { iid: 2 },
  });
  await bob!.TodoLists.done();
});

test('notes act on the issue, and what they did is told as events', async () => {
  const acted = await ada!.IssueNotes.create(project, 2, '/assign @bob\n/unlabel ~urgent\n/weight 5');
  expect(acted).toMatchObject({
    commands_changes: { assignee_ids: [ids['bob']], weight: 5 },
    summary: ['Assigned @bob. Removed ~urgent label. Set weight to 5.'],
  });
  const note = await bob!.IssueNotes.create(project, 2, '@ada, I am on it.\n\n/spend 1h\n/close');
  expect(note).toMatchObject({
    body: '@ada, I am on it.',
    author: { username: 'bob' },
    commands_changes: { spend_time: { duration: 3600 }, state_event: 'close' },
  });
  await bob!.IssueNotes.create(project, 2, '/reopen');
  expect(await ada!.Issues.show(2, { projectId: project })).toMatchObject({
    ...{ state: 'opened', assignees: [{ username: 'bob' }], labels: ['bug'], weight: 5 },
    time_stats: { human_total_time_spent: '1h' },
  });

  const labels = await ada!.IssueLabelEvents.all(project, 2);
  expect(labels.map(({ action, label }) => `${action} ${label.name}`)).toEqual([
    ...['add bug', 'add urgent', 'remove urgent'],
  ]);
  expect(await ada!.IssueLabelEvents.show(project, 2, labels[0]!.id)).toEqual(labels[0]);
  const states = await ada!.IssueStateEvents.all(project, 2);
  expect(states).toMatchObject([
    { state: 'closed', user: { username: 'bob' } },
    { state: 'reopened', resource_type: 'Issue' },
  ]);
  expect(await ada!.IssueMilestoneEvents.all(project, 2)).toMatchObject([
    { action: 'add', milestone: { title: 'Week 1' } },
  ]);

  await settled();
  const [todo] = await ada!.TodoLists.all();
  expect(todo).toMatchObject({
    action_name: 'directly_addressed',
    target_type: 'Issue',
    target: { iid: 2 },
    target_url: expect.stringContaining(`#note_${note.id}`),
    author: { username: 'bob' },
  });
});

test('an issue is moved to another project with what was said, and cloned', async () => {
  await bob!.IssueNotes.create(project, 3, 'Which colour?');
  const other = (await ada!.Projects.create({ name: 'windows', namespaceId: group, visibility: 'public' }))
    .id;
  const moved = await ada!.Issues.move(project, 3, other);
  expect(moved).toMatchObject({
    ...{ project_id: other, iid: 1, title: 'Paint the frame', state: 'opened', labels: ['bug'] },
    references: { full: 'team/windows#1' },
  });
  expect(await ada!.Issues.show(3, { projectId: project })).toMatchObject({
    ...{ state: 'closed', moved_to_id: moved.id },
  });
  await settled();
  const notes = await bob!.IssueNotes.all(other, 1, { sort: 'asc', orderBy: 'created_at' });
  expect(notes.map(({ body }) => body)).toContain('Which colour?');
  const copy = await ada!.Issues.clone(other, 1, other, { withNotes: true });
  expect(copy).toMatchObject({ project_id: other, iid: 2, title: 'Paint the frame' });
  await ada!.Issues.remove(other, 2);
  await expect(ada!.Issues.show(2, { projectId: other })).rejects.toThrow(/not found/i);
});

test('the larger plan is an epic of the group, and is discussed there', async () => {
  const epic = await ada!.Epics.create(group, 'A house that closes', { labels: 'bug' });
  expect(epic).toMatchObject({ iid: 1, group_id: group, state: 'opened', labels: ['bug'] });
  expect(titles(await bob!.Epics.all(group, { labels: 'bug' }))).toEqual(['A house that closes']);
  const note = await bob!.EpicNotes.create(group, epic.id, 'Doors first.');
  await bob!.EpicNotes.edit(group, epic.id, note.id, { body: 'Doors first, then windows.' });
  const thread = await ada!.EpicDiscussions.create(group, epic.id, 'By when?');
  await bob!.EpicDiscussions.addNote(group, epic.id, thread.id, 'By May.' as never);
  const notes = await ada!.EpicNotes.all(group, epic.id, { sort: 'asc' });
  expect(notes.filter(({ system }) => !system).map(({ body }) => body)).toEqual([
    ...['Doors first, then windows.', 'By when?', 'By May.'],
  ]);
  await ada!.Epics.edit(group, epic.iid, { stateEvent: 'close' });
  expect(await bob!.Epics.show(group, epic.iid)).toMatchObject({ state: 'closed', title: epic.title });
  await ada!.Epics.remove(group, epic.iid);
  expect(await bob!.Epics.all(group)).toEqual([]);
});

test('a commit that git pushes closes what it says it closes, once it is on the default branch', async () => {
  const { iid } = await ada!.Issues.create(project, 'The key is stiff', { assigneeId: ids['bob']! });
  const remote = (name: string) => withToken(service.url, 'team/door', tokens[name]);
  await git.ok(git.home, 'init', '--quiet', '--initial-branch=main', 'door');
  const dir = git.path('door');
  await git.ok(dir, 'commit', '--quiet', '--allow-empty', '-m', 'Begin');
  await git.ok(dir, 'push', '--quiet', remote('ada'), 'main');
  await git.ok(dir, 'commit', '--quiet', '--allow-empty', '-m', `Oil the lock\n\nCloses #${iid}, see #2`);
  const sha = await git.ok(dir, 'rev-parse', 'HEAD');
  await git.ok(dir, 'push', '--quiet', remote('bob'), 'main:oil');
  await settled();
  expect((await ada!.Issues.show(iid, { projectId: project })).state).toBe('opened');
  await git.ok(dir, 'push', '--quiet', remote('ada'), 'main');
  await settled();
  expect(await bob!.Issues.show(iid, { projectId: project })).toMatchObject({
    ...{ state: 'closed', closed_by: { username: 'ada' } },
  });
  const told = async (of: number) =>
    (await ada!.IssueNotes.all(project, of)).filter(({ system }) => system).map(({ body }) => body);
  expect(await told(2)).toContain(`mentioned in commit ${sha}`);
  expect((await ada!.IssueStateEvents.all(project, iid)).map(({ state }) => state)).toEqual(['closed']);
});

test('everybody finds the issues that they may see', async () => {
  await settled();
  const found = async (who: Client, text: string, where: object = {}) =>
    titles(await who.Search.all('issues', text, where));
  expect(await found(bob!, 'bell', { projectId: project })).toEqual(['The bell is silent']);
  expect(await found(bob!, 'paint', { groupId: group, state: 'opened' })).toEqual(['Paint the frame']);
  expect(await found(eve!, 'silent')).toEqual(['The bell is silent']);
  expect(await found(bob!, 'lock')).toEqual(['The lock opens by itself']);
  expect(await found(eve!, 'lock')).toEqual([]);
  expect(titles(await bob!.Search.all('milestones', 'week', { projectId: project }))).toEqual(['Week 1']);
});
