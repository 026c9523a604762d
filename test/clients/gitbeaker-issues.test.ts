/** A team plans and discusses a week's work with a client library. */
import { Gitlab } from '@gitbeaker/rest';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Service, startService } from '../harness/service.ts';

type Client = InstanceType<typeof Gitlab>;
let service: Service;
/** Plans; develops; a stranger. */
let [ada, bob, eve]: Client[] = [];
const ids: Record<string, number> = {};
let group: number;
let project: number;

beforeAll(async () => {
  service = await startService();
  [ada, bob, eve] = await Promise.all(
    ['ada', 'bob', 'eve'].map(async (name) => {
      const { token, id } = await service.user(name);
      ids[name] = id;
      return new Gitlab({ host: service.url, token }) as Client;
    }),
  );
  group = (await ada!.Groups.create('Team', 'team', { visibility: 'private' })).id;
  await ada!.GroupMembers.add(group, 30, { userId: ids['bob']! });
  project = (await ada!.Projects.create({ name: 'door', namespaceId: group })).id;
});
afterAll(() => service.stop());

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
  await vi.waitFor(async () => expect(await todos()).toHaveLength(3), { timeout: 20_000 });
  expect((await todos()).every(({ action_name }) => action_name === 'mentioned')).toBe(true);
  await bob!.TodoLists.done();
  expect(await todos()).toEqual([]);

  await ada!.Issues.edit(project, 1, { assigneeIds: [ids['bob']!], weight: 3 });
  await vi.waitFor(async () => expect(await todos()).toMatchObject([{ action_name: 'assigned', iid: 1 }]), {
    timeout: 20_000,
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
