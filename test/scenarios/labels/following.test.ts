import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { follow } from '../../../lib/domain/issues/follow.ts';
import { issueKeys } from '../../../lib/store/row-keys/issues.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { storeOf } from '../../harness/world.ts';

let service: Service;
/** A group with a project, and a subgroup with another. */
let group: number;
let projects: readonly number[];

const root = (method: string, path: string, json?: unknown): Promise<Answer> =>
  service.call(method, path, { token: service.rootToken, ...(json === undefined ? {} : { json }) });
const made = async (path: string, json: unknown): Promise<Answer['body']> => {
  const answer = await root('POST', path, json);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
/** Rows by which lists find the issues of a label in a project: how they are listed in the group. */
const rowsOf = async (projectId: number, labelId: number) => {
  const rows = { partition: issueKeys.partition(projectId), prefix: issueKeys.valuePrefix('label', labelId) };
  return (await storeOf().table.query(rows)).items.map(({ list }) => list);
};
const labelsOf = async (projectId: number, iid = 1) =>
  (await root('GET', `/projects/${projectId}/issues/${iid}`)).body.labels;

beforeAll(async () => {
  service = await startService();
  group = (await made('/groups', { name: 'all', path: 'all' })).id;
  const sub = (await made('/groups', { name: 'sub', path: 'sub', parent_id: group })).id;
  const make = async (name: string, namespace_id: number) =>
    (await made('/projects', { name, namespace_id })).id as number;
  projects = [await make('one', group), await make('two', sub)];
});
afterAll(() => service.stop());

/** A label of the group, with an issue in each project, which has another label too. */
async function used(name: string): Promise<{ id: number; iids: number[] }> {
  const { id } = await made(`/groups/${group}/labels`, { name, color: 'red' });
  const iids: number[] = [];
  for (const project of projects) {
    const issue = await made(`/projects/${project}/issues`, { title: name, labels: `${name},stays` });
    expect(issue.labels).toEqual([name, 'stays'].sort());
    iids.push(issue.iid);
  }
  return { id, iids };
}

describe('issues follow their labels', () => {
  test('a deleted one is shown no more at once, and no list finds them by it', async () => {
    const { id, iids } = await used('gone');
    expect(await rowsOf(projects[0]!, id)).toHaveLength(1);
    await root('DELETE', `/groups/${group}/labels/gone`);
    for (const [i, project] of projects.entries())
      expect(await labelsOf(project, iids[i])).toEqual(['stays']);
    await settled();
    for (const [i, project] of projects.entries()) {
      expect(await rowsOf(project, id)).toEqual([]);
      const issue = await storeOf().issues.get({ projectId: project, iid: iids[i]! });
      expect(issue!.labelIds).toHaveLength(1);
      expect(await labelsOf(project, iids[i])).toEqual(['stays']);
    }
  });

  test('a renamed one is listed under its new title in the group', async () => {
    const { id, iids } = await used('before');
    await root('PUT', `/groups/${group}/labels/before`, { new_name: 'later' });
    expect(await labelsOf(projects[1]!, iids[1])).toEqual(['later', 'stays']);
    await settled();
    for (const project of projects) {
      const lists = await rowsOf(project, id);
      expect(lists).toEqual([expect.stringContaining('#label#later#opened')]);
    }
  });

  test('a promoted one takes the place of those with its title', async () => {
    const [one] = projects;
    const other = (await made('/projects', { name: 'other', namespace_id: group })).id;
    for (const project of [one, other])
      await made(`/projects/${project}/labels`, { name: 'wide', color: 'red' });
    const issue = await made(`/projects/${other}/issues`, { title: 'x', labels: 'wide' });
    const promoted = await root('PUT', `/projects/${one}/labels/wide/promote`);
    await settled();
    expect(await labelsOf(other, issue.iid)).toEqual(['wide']);
    expect(await rowsOf(other, promoted.body.id)).toHaveLength(1);
    const stored = await storeOf().issues.get({ projectId: other, iid: issue.iid });
    expect(stored!.labelIds).toEqual([promoted.body.id]);
  });

  test('in slices of time, each of which goes on where the last one stopped', async () => {
    const project = (await made('/projects', { name: 'many', namespace_id: group })).id as number;
    const { id } = await made(`/projects/${project}/labels`, { name: 'sliced', color: 'red' });
    for (let n = 0; n < 3; n++) await made(`/projects/${project}/issues`, { title: 'x', labels: 'sliced' });
    const following = { facet: 'label', valueId: id, kind: 'group', id: group, successorId: null } as const;
    const stopped = await follow(deps(), following, 0);
    expect(stopped).toMatchObject({ ...following, from: { row: 'DIRECT', projectId: project } });
    expect(await rowsOf(project, id)).toHaveLength(3);
    expect(await follow(deps(), stopped!, Date.now() + 60_000)).toBeUndefined();
    expect(await rowsOf(project, id)).toEqual([]);
  });
});

let proposed = 0;
/** A merge request of a new project in the group. */
async function proposal(json: object): Promise<{ project: number; iid: number }> {
  const given = { name: `code ${++proposed}`, namespace_id: group, initialize_with_readme: true };
  const { id } = await made('/projects', given);
  const actions = [{ action: 'create', file_path: 'a.txt', content: 'x' }];
  const commit = { branch: 'topic', start_branch: 'main', commit_message: 'x', actions };
  await made(`/projects/${id}/repository/commits`, commit);
  const branches = { source_branch: 'topic', target_branch: 'main' };
  const { iid } = await made(`/projects/${id}/merge_requests`, { title: 'x', ...branches, ...json });
  return { project: id, iid };
}
/** Projects of the merge requests that the group lists. */
const listed = async (query: string) =>
  (await root('GET', `/groups/${group}/merge_requests?${query}`)).body.map(
    (one: { project_id: number }) => one.project_id,
  );

test('merge requests follow their labels and milestones too', async () => {
  const { id } = await made(`/groups/${group}/labels`, { name: 'tagged', color: 'red' });
  const { id: milestone_id } = await made(`/groups/${group}/milestones`, { title: 'May' });
  const { project, iid } = await proposal({ labels: 'tagged,spread', milestone_id });
  await root('PUT', `/groups/${group}/labels/tagged`, { new_name: 'retagged' });
  await root('PUT', `/groups/${group}/milestones/${milestone_id}`, { title: 'June' });
  const [one] = projects;
  await made(`/projects/${one}/labels`, { name: 'spread', color: 'red' });
  const promoted = await root('PUT', `/projects/${one}/labels/spread/promote`);
  await settled();
  for (const query of ['labels=retagged', 'milestone=June', 'labels=spread'])
    expect(await listed(query), query).toEqual([project]);
  for (const query of ['labels=tagged', 'milestone=May']) expect(await listed(query), query).toEqual([]);
  const record = async () => (await storeOf().mergeRequests.get({ projectId: project, iid }))!;
  expect((await record()).labelIds.toSorted()).toEqual([id, promoted.body.id].toSorted());
  await root('DELETE', `/groups/${group}/labels/retagged`);
  await root('DELETE', `/groups/${group}/milestones/${milestone_id}`);
  await settled();
  expect(await record()).toMatchObject({ labelIds: [promoted.body.id], milestoneId: null });
});
