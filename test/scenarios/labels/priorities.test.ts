/** A project gives priorities of its own to the labels that it inherits. */
import { beforeAll, describe, expect, test } from 'vitest';
import { labelPrioritiesOf } from '../../../lib/store/row-keys/labels.ts';
import { ownWorld } from '../../harness/own-world.ts';
import type { Answer } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';

const { as, world } = ownWorld();
let group: number;
/** Both are in the group. */
let one: number;
let other: number;

const owner = (method: string, path: string, json?: unknown): Promise<Answer> =>
  as('owner', method, path, json);
const made = async (path: string, json: unknown): Promise<Answer['body']> => {
  const answer = await owner('POST', path, json);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const label = (name: string, more: object = {}, path = `/groups/${group}`) =>
  made(`${path}/labels`, { name, color: 'red', ...more });
const rank = (project: number, name: string, priority: number | null) =>
  owner('PUT', `/projects/${project}/labels/${name}`, { priority });
const rankOf = async (project: number, name: string) =>
  (await owner('GET', `/projects/${project}/labels/${name}`)).body.priority;
const NO_LABEL = { status: 404, body: { message: '404 Label Not Found' } };

beforeAll(async () => {
  group = (await made('/groups', { name: 'ranked', path: 'ranked', visibility: 'public' })).id;
  const within = { namespace_id: group, visibility: 'public' };
  one = (await made('/projects', { name: 'one', ...within })).id;
  other = (await made('/projects', { name: 'other', ...within })).id;
});

describe('the priority of a label of a group', () => {
  test('is one of the project that gave it, as that shows the label', async () => {
    const { id } = await label('urgent');
    const given = await rank(one, 'urgent', 3);
    expect(given).toMatchObject({ status: 200, body: { id, priority: 3, is_project_label: false } });
    expect(await rankOf(one, 'urgent')).toBe(3);
    expect((await owner('GET', `/projects/${one}/labels?search=urgent`)).body).toMatchObject([
      { priority: 3 },
    ]);
    expect((await owner('POST', `/projects/${one}/labels/urgent/subscribe`)).body.priority).toBe(3);
    expect(await rankOf(other, 'urgent')).toBeNull();
    expect((await owner('GET', `/groups/${group}/labels/urgent`)).body).not.toHaveProperty('priority');
    const body = { label_id: id, priority: 0 };
    expect((await owner('PUT', `/projects/${one}/labels`, body)).body.priority).toBe(0);
    expect(await rankOf(one, 'urgent')).toBe(0);
  });

  test('stays when the group changes the label, and ends with null', async () => {
    await label('kept');
    await rank(one, 'kept', 7);
    await rank(other, 'kept', 8);
    expect(
      (await owner('PUT', `/groups/${group}/labels/kept`, { new_name: 'held', color: 'blue' })).status,
    ).toBe(200);
    expect([await rankOf(one, 'held'), await rankOf(other, 'held')]).toEqual([7, 8]);
    expect((await rank(one, 'held', null)).body.priority).toBeNull();
    expect([await rankOf(one, 'held'), await rankOf(other, 'held')]).toEqual([null, 8]);
  });

  test('is all that a project changes of it', async () => {
    await label('above');
    for (const json of [
      { new_name: 'below' },
      { color: 'blue', priority: 1 },
      { description: 'x', priority: 1 },
    ])
      expect(await owner('PUT', `/projects/${one}/labels/above`, json)).toMatchObject(NO_LABEL);
    expect(await rank(one, 'nowhere', 1)).toMatchObject(NO_LABEL);
    expect(await rankOf(one, 'above')).toBeNull();
  });

  test('is changed by those who change labels of the project', async () => {
    await label('theirs');
    const change = (who: 'anonymous' | 'stranger' | 'reporter') =>
      as(who, 'PUT', `/projects/${one}/labels/theirs`, { priority: 1 });
    await made(`/projects/${one}/members`, { user_id: world.ids['reporter'], access_level: 20 });
    for (const [who, status] of [
      ['anonymous', 401],
      ['stranger', 403],
      ['reporter', 200],
    ] as const)
      expect((await change(who)).status, who).toBe(status);
    expect(await rankOf(one, 'theirs')).toBe(1);
  });

  test('is obeyed by the order of issues, of each in its project', async () => {
    await label('first');
    await label('second');
    await rank(one, 'first', 1);
    await rank(one, 'second', 2);
    await rank(other, 'first', 4);
    await rank(other, 'second', 3);
    for (const [project, name] of [
      [one, 'one'],
      [other, 'other'],
    ] as const)
      for (const title of ['second', 'first'])
        await made(`/projects/${project}/issues`, { title: `${name} ${title}`, labels: title });
    const titles = async (path: string) =>
      (await owner('GET', path)).body.map(({ title }: { title: string }) => title);
    for (const order of ['label_priority', 'priority']) {
      const query = `/issues?order_by=${order}&sort=asc`;
      expect(await titles(`/projects/${one}${query}`)).toEqual(['one first', 'one second']);
      expect(await titles(`/projects/${other}${query}`)).toEqual(['other second', 'other first']);
      expect(await titles(`/groups/${group}${query}&scope=all`)).toEqual([
        'one first',
        'one second',
        'other second',
        'other first',
      ]);
    }
  });

  test.each([
    ['that the project’s label becomes', false],
    ['that the group has already', true],
  ])('is the former one in projects whose labels a promotion makes the one %s', async (_, present) => {
    const name = present ? 'merged' : 'raised';
    await label(name, { priority: 5 }, `/projects/${one}`);
    await label(name, { priority: 6 }, `/projects/${other}`);
    if (present) await label(name);
    expect((await owner('PUT', `/projects/${one}/labels/${name}/promote`)).status).toBe(200);
    await settled();
    expect([await rankOf(one, name), await rankOf(other, name)]).toEqual([5, 6]);
    const found = (await owner('GET', `/groups/${group}/labels/${name}`)).body;
    for (const project of [one, other])
      expect((await owner('GET', `/projects/${project}/labels/${name}`)).body.id).toBe(found.id);
  });

  test('goes along when the project leaves the group and keeps a copy of the label', async () => {
    await label('carried');
    const { id } = await made('/projects', { name: 'leaving', namespace_id: group });
    await rank(id, 'carried', 2);
    await made(`/projects/${id}/issues`, { title: 'x', labels: 'carried' });
    const { id: next } = await made('/groups', { name: 'next', path: 'next' });
    expect((await owner('PUT', `/projects/${id}/transfer`, { namespace: next })).status).toBe(200);
    await settled();
    const copy = await owner('GET', `/projects/${id}/labels/carried`);
    expect(copy.body).toMatchObject({ priority: 2, is_project_label: true });
  });

  test('passes to the label of the same title of the group that the project comes to', async () => {
    await label('twin');
    const { id } = await made('/projects', { name: 'coming', namespace_id: group });
    await rank(id, 'twin', 4);
    await made(`/projects/${id}/issues`, { title: 'x', labels: 'twin' });
    const { id: next } = await made('/groups', { name: 'coming', path: 'coming' });
    const { id: successor } = await label('twin', {}, `/groups/${next}`);
    expect((await owner('PUT', `/projects/${id}/transfer`, { namespace: next })).status).toBe(200);
    await settled();
    const found = await owner('GET', `/projects/${id}/labels/twin`);
    expect(found.body).toMatchObject({ id: successor, priority: 4, is_project_label: false });
    const ordered = await owner('GET', `/projects/${id}/issues?order_by=label_priority`);
    expect(ordered.body).toMatchObject([{ labels: ['twin'] }]);
  });

  test('goes with the label, and with the project', async () => {
    const { id: project } = await made('/projects', { name: 'short', namespace_id: group });
    await label('gone');
    await label('left');
    for (const name of ['gone', 'left']) await rank(project, name, 1);
    const rows = async () =>
      (await world.store.table.query({ index: 'byId', partition: labelPrioritiesOf(project) })).items.length;
    expect(await rows()).toBe(2);
    expect((await owner('DELETE', `/groups/${group}/labels/gone`)).status).toBe(204);
    await settled();
    expect(await rows()).toBe(1);
    expect((await owner('DELETE', `/projects/${project}`)).status).toBe(202);
    await settled();
    expect(await rows()).toBe(0);
  });
});
