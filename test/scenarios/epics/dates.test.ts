/** Epics without fixed dates have those of the milestones of their issues. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';

const { as } = ownWorld();

async function made(path: string, json: object) {
  const { status, body } = await as('owner', 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}
async function changed(path: string, json: object) {
  const { status, body } = await as('owner', 'PUT', path, json);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

let [group, project] = [0, 0];
let [epics, issues, milestones] = ['', '', ''];
beforeAll(async () => {
  group = (await made('/groups', { name: 'yard', path: 'yard' })).id;
  project = (await made('/projects', { name: 'dock', namespace_id: group })).id;
  epics = `/groups/${group}/epics`;
  issues = `/projects/${project}/issues`;
  milestones = `/projects/${project}/milestones`;
});

/** Start and due date as they count, and those of milestones. */
async function dates(iid: number) {
  await settled();
  const { body } = await as('owner', 'GET', `${epics}/${iid}`);
  expect(body.start_date_from_inherited_source).toBe(body.start_date_from_milestones);
  expect(body.due_date_from_inherited_source).toBe(body.due_date_from_milestones);
  expect(body.end_date).toBe(body.due_date);
  return [body.start_date, body.due_date, body.start_date_from_milestones, body.due_date_from_milestones];
}
const both = (start: string | null, due: string | null) => [start, due, start, due];

const milestone = (title: string, start_date?: string, due_date?: string): Promise<{ id: number }> =>
  made(milestones, { title, start_date, due_date });

describe('the dates of an epic', () => {
  test('are from the earliest start to the latest end of the milestones of its issues', async () => {
    const epic = await made(epics, { title: 'x' });
    expect(await dates(epic.iid)).toEqual(both(null, null));
    const early = await milestone('early', '2030-01-01', '2030-02-01');
    const late = await made(`/groups/${group}/milestones`, { title: 'late', due_date: '2030-05-01' });
    await made(issues, { title: 'a', epic_id: epic.id, milestone_id: early.id });
    const second = await made(issues, { title: 'b', epic_id: epic.id });
    expect(await dates(epic.iid)).toEqual(both('2030-01-01', '2030-02-01'));
    await changed(`${issues}/${second.iid}`, { milestone_id: late.id });
    expect(await dates(epic.iid)).toEqual(both('2030-01-01', '2030-05-01'));
    const updated = (await as('owner', 'GET', `${epics}/${epic.iid}`)).body.updated_at;
    expect(updated).toBe(epic.updated_at);
    await changed(`${milestones}/${early.id}`, { start_date: '2029-12-01', due_date: '2030-06-01' });
    expect(await dates(epic.iid)).toEqual(both('2029-12-01', '2030-06-01'));
    await as('owner', 'DELETE', `${milestones}/${early.id}`);
    expect(await dates(epic.iid)).toEqual(both(null, '2030-05-01'));
    await as('owner', 'DELETE', `${issues}/${second.iid}`);
    expect(await dates(epic.iid)).toEqual(both(null, null));
  });

  test('that are fixed count instead, and those of milestones come back', async () => {
    const epic = await made(epics, {
      ...{ title: 'x', start_date_is_fixed: true, start_date_fixed: '2031-01-01' },
      ...{ due_date_is_fixed: true, due_date_fixed: '2031-02-01' },
    });
    const { id } = await milestone('fixed', '2030-01-01', '2030-02-01');
    await made(issues, { title: 'a', epic_id: epic.id, milestone_id: id });
    expect(await dates(epic.iid)).toEqual(['2031-01-01', '2031-02-01', '2030-01-01', '2030-02-01']);
    await changed(`${epics}/${epic.iid}`, { start_date_is_fixed: false, due_date_is_fixed: false });
    expect(await dates(epic.iid)).toEqual(both('2030-01-01', '2030-02-01'));
  });

  test('go with an issue from one epic to another', async () => {
    const [from, to] = [await made(epics, { title: 'from' }), await made(epics, { title: 'to' })];
    const { id } = await milestone('goes', '2030-01-01', '2030-02-01');
    const issue = await made(issues, { title: 'a', epic_id: from.id, milestone_id: id });
    await made(`${epics}/${to.iid}/issues/${issue.id}`, {});
    expect(await dates(from.iid)).toEqual(both(null, null));
    expect(await dates(to.iid)).toEqual(both('2030-01-01', '2030-02-01'));
    await as('owner', 'DELETE', `${epics}/${to.iid}/issues/${issue.id}`);
    expect(await dates(to.iid)).toEqual(both(null, null));
  });
});
