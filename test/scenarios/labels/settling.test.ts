import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueKeys } from '../../../lib/store/row-keys/issues.ts';
import { padded } from '../../../lib/store/row-keys/key.ts';
import { TRACKED_LISTS } from '../../../lib/store/row-keys/tracked.ts';
import { type Answer, type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';
import { storeOf } from '../../harness/world.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const root = (method: string, path: string, json?: unknown): Promise<Answer> =>
  service.call(method, path, { token: service.rootToken, ...(json === undefined ? {} : { json }) });
const made = async (path: string, json: unknown): Promise<Answer['body']> => {
  const answer = await root('POST', path, json);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
};
const listsOf = async (projectId: number, prefix: string) =>
  (await storeOf().table.query({ partition: issueKeys.partition(projectId), prefix })).items.map(
    ({ list }) => list as string,
  );

/** Projects of the issues that a search in a group finds. */
const foundIn = async (group: number) =>
  (await root('GET', `/groups/${group}/search?scope=issues&search=drawer`)).body.map(
    (issue: { project_id: number }) => issue.project_id,
  );

/** Two top-level groups; a group in the first, with a project whose issue has labels of all three. */
async function moving(name: string) {
  const [old, next] = await Promise.all(
    [`${name}-old`, `${name}-next`].map(async (path) => (await made('/groups', { name: path, path })).id),
  );
  const sub = (await made('/groups', { name: `${name}-sub`, path: `${name}-sub`, parent_id: old })).id;
  const project = (await made('/projects', { name, namespace_id: sub })).id as number;
  const label = { name: 'above', color: 'teal', description: 'of the old group' };
  const above = await made(`/groups/${old}/labels`, label);
  await made(`/groups/${old}/labels`, { name: 'shared', color: 'red' });
  const shared = await made(`/groups/${next}/labels`, { name: 'shared', color: 'blue' });
  const { iid } = await made(`/projects/${project}/issues`, {
    title: 'The drawer',
    labels: 'above,own,shared',
  });
  return { old, next, sub, project, above, shared, iid };
}

test('a project that leaves its group keeps the labels that its issues have', async () => {
  const { old, next, project, above, shared, iid } = await moving('project');
  expect((await root('PUT', `/projects/${project}/transfer`, { namespace: next })).status).toBe(200);
  await settled();
  const issue = await root('GET', `/projects/${project}/issues/${iid}`);
  expect(issue.body.labels).toEqual(['above', 'own', 'shared']);
  const labels = (await root('GET', `/projects/${project}/labels`)).body;
  expect(labels).toMatchObject([
    { name: 'above', color: '#008080', description: 'of the old group', is_project_label: true },
    { name: 'own', is_project_label: true },
    { id: shared.id, name: 'shared', is_project_label: false },
  ]);
  expect(labels[0].id).not.toBe(above.id);
  const stored = await storeOf().issues.get({ projectId: project, iid });
  expect(stored!.labelIds.toSorted()).toEqual(labels.map(({ id }: { id: number }) => id).sort());
  const lists = [
    ...(await listsOf(project, TRACKED_LISTS)),
    ...(await listsOf(project, issueKeys.valuePrefix('label', labels[1].id))),
  ];
  expect(lists).toHaveLength(2);
  for (const list of lists) expect(list).toMatch(`ISSUES#ROOT#${padded(next)}#`);
  expect(await foundIn(next)).toEqual([project]);
  expect(await foundIn(old)).toEqual([]);
});

test('so do projects of a group that is moved', async () => {
  const { old, next, sub, project, iid } = await moving('group');
  expect((await root('POST', `/groups/${sub}/transfer`, { group_id: next })).status).toBe(201);
  await settled();
  const labels = (await root('GET', `/projects/${project}/labels`)).body;
  expect(labels).toMatchObject([
    { name: 'above', is_project_label: true },
    { name: 'own', is_project_label: true },
    { name: 'shared', is_project_label: false },
  ]);
  const stored = await storeOf().issues.get({ projectId: project, iid });
  expect(stored!.labelIds.toSorted()).toEqual(labels.map(({ id }: { id: number }) => id).sort());
  expect(await listsOf(project, TRACKED_LISTS)).toEqual([
    expect.stringContaining(`ISSUES#ROOT#${padded(next)}#`),
  ]);
  expect(await foundIn(next)).toEqual([project]);
  expect(await foundIn(old)).toEqual([]);
});

test('merge requests of a project come along, with the labels and the milestone that they have', async () => {
  const { old, next, project, above, shared } = await moving('proposals');
  const { id: milestone_id } = await made(`/groups/${old}/milestones`, { title: 'May' });
  const actions = [{ action: 'create', file_path: 'a.txt', content: 'x' }];
  for (const commit of [
    { branch: 'main', actions },
    { branch: 'topic', start_branch: 'main', actions: [{ ...actions[0], file_path: 'b.txt' }] },
  ])
    await made(`/projects/${project}/repository/commits`, { ...commit, commit_message: 'x' });
  const { iid } = await made(`/projects/${project}/merge_requests`, {
    ...{ title: 'x', source_branch: 'topic', target_branch: 'main', labels: 'above,shared', milestone_id },
  });
  expect((await root('PUT', `/projects/${project}/transfer`, { namespace: next })).status).toBe(200);
  await settled();
  const { body } = await root('GET', `/projects/${project}/merge_requests/${iid}`);
  expect(body).toMatchObject({
    labels: ['above', 'shared'],
    milestone: { title: 'May', project_id: project },
  });
  const listed = async (group: number, query = '') =>
    (await root('GET', `/groups/${group}/merge_requests?${query}`)).body.length;
  expect([await listed(old), await listed(next), await listed(next, 'labels=above')]).toEqual([0, 1, 1]);
  const { labelIds } = (await storeOf().mergeRequests.get({ projectId: project, iid }))!;
  expect([labelIds.includes(shared.id), labelIds.includes(above.id)]).toEqual([true, false]);
});
