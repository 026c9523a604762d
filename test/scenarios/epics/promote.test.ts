/** Issues become epics of the group of their project by a quick action. */
import { beforeAll, describe, expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';

const { as, world } = ownWorld();

async function made(path: string, json: object, who: Who = 'owner') {
  const { status, body } = await as(who, 'POST', path, json);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}
const read = async (path: string, who: Who = 'owner') => (await as(who, 'GET', path)).body;

let [group, project] = [0, 0];
beforeAll(async () => {
  group = (await made('/groups', { name: 'plans', path: 'plans', visibility: 'public' })).id;
  project = (await made('/projects', { name: 'yard', namespace_id: group, visibility: 'public' })).id;
  await made(`/groups/${group}/members`, { user_id: world.ids['reporter'], access_level: 20 });
  await made(`/projects/${project}/members`, { user_id: world.ids['maintainer'], access_level: 40 });
  await made(`/groups/${group}/labels`, { name: 'large', color: 'red' });
});

const issue = (json: object) => made(`/projects/${project}/issues`, json);
const promote = (iid: number, who: Who = 'reporter', body = '/promote') =>
  as(who, 'POST', `/projects/${project}/issues/${iid}/notes`, { body });
const bodies = (notes: readonly { body: string }[]) => notes.map(({ body }) => body);

describe('/promote', () => {
  test('makes an epic of an issue, which is closed; each names the other', async () => {
    const parent = await made(`/groups/${group}/epics`, { title: 'Above' });
    const { iid } = await issue({
      ...{ title: 'A new pier', description: 'Of **oak**', labels: 'large,here', confidential: true },
      ...{ epic_id: parent.id },
    });
    const { status, body } = await promote(iid);
    expect([status, body.summary]).toEqual([202, ['Promoted issue to an epic.']]);
    const [epic] = await read(`/groups/${group}/epics`);
    expect(epic).toMatchObject({
      ...{ title: 'A new pier', description: 'Of **oak**', labels: ['large'], confidential: true },
      ...{ state: 'opened', parent_id: parent.id, author: { username: 'reporter' } },
    });
    expect(await read(`/projects/${project}/issues/${iid}`)).toMatchObject({
      ...{ state: 'closed', closed_by: { username: 'reporter' } },
    });
    await settled();
    const notes = await read(`/projects/${project}/issues/${iid}/notes`);
    expect(bodies(notes)).toContain(`promoted to epic plans&${epic.iid}`);
    expect(bodies(await read(`/groups/${group}/epics/${epic.id}/notes`))).toEqual([
      `promoted from issue plans/yard#${iid}`,
    ]);
    expect((await promote(iid)).body.summary).toEqual(['Could not apply promote command.']);
  });

  test('is for who may write epics of the group, and for projects in groups', async () => {
    const { iid } = await issue({ title: 'A door' });
    for (const who of ['maintainer', 'stranger'] as const)
      expect((await promote(iid, who)).body.summary, who).toEqual(['Could not apply promote command.']);
    const own = await made('/projects', { name: 'alone' });
    await made(`/projects/${own.id}/issues`, { title: 'Mine' });
    const { body } = await as('owner', 'POST', `/projects/${own.id}/issues/1/notes`, { body: '/promote' });
    expect(body.summary).toEqual(['Could not apply promote command.']);
    expect((await read(`/projects/${project}/issues/${iid}`)).state).toBe('opened');
  });

  test('by ten at once makes one epic', async () => {
    const { iid } = await issue({ title: 'Contested' });
    await Promise.all(Array.from({ length: 10 }, () => promote(iid, 'owner', 'Now\n/promote')));
    const epics = await read(`/groups/${group}/epics?search=Contested`);
    expect(epics).toHaveLength(1);
    expect((await read(`/projects/${project}/issues/${iid}`)).state).toBe('closed');
  });
});
