/** Jobs that start other pipelines. */
import { expect, test } from 'vitest';
import { ownWorld } from '../../harness/own-world.ts';
import { type Piped, piped } from './piped.ts';

const { world } = ownWorld();

const bridgesOf = async (made: Piped, id: number, who: 'owner' | 'stranger' = 'owner') =>
  (await made.call('GET', `/pipelines/${id}/bridges`, undefined, who)).body;
const statusOf = async (made: Piped, id: number) => (await made.call('GET', `/pipelines/${id}`)).body.status;

const CHILD = 'inside:\n  script: x\n';
const PARENT = `
stages: [start, after]
child:
  stage: start
  variables: { COLOUR: red }
  trigger:
    include: child.yml
    strategy: depend
later:
  stage: after
  script: y
`;

async function withChild(config = PARENT, child = CHILD) {
  const made = await piped(world, 'never:\n  script: x\n  only: [tags]\n');
  const sha = await made.commit('child', { 'child.yml': child });
  const actions = [{ action: 'update', file_path: '.gitlab-ci.yml', content: config }];
  const body = { branch: 'main', commit_message: 'parent', actions };
  expect((await made.call('POST', '/repository/commits', body)).status).toBe(201);
  const { settled } = await import('../../harness/settled.ts');
  await settled();
  const all = await made.pipelines();
  const parent = all.find(({ source }: { source: string }) => source === 'push');
  return { made, sha, parent };
}

test('a child pipeline runs its files, gets variables, and its job ends as it does', async () => {
  const { made, parent } = await withChild();
  const [bridge] = await bridgesOf(made, parent.id);
  expect(bridge).toMatchObject({ name: 'child', status: 'running' });
  const { downstream_pipeline: child } = bridge;
  expect(child).toMatchObject({ source: 'parent_pipeline', sha: parent.sha, ref: 'main' });
  const { body: variables } = await made.call('GET', `/pipelines/${child.id}/variables`);
  expect(variables).toEqual([{ variable_type: 'env_var', key: 'COLOUR', value: 'red' }]);
  await made.end(child.id, 'inside', 'success');
  expect((await bridgesOf(made, parent.id))[0].status).toBe('success');
  expect(await made.jobs(parent.id)).toEqual({ later: 'pending' });
  const { body: commit } = await made.call('GET', `/repository/commits/${parent.sha}`);
  expect(commit.last_pipeline.id).toBe(parent.id);
});

test('where the child fails, so does the job that waits for it; cancelling ends both', async () => {
  const { made, parent } = await withChild();
  const [{ downstream_pipeline: child }] = await bridgesOf(made, parent.id);
  await made.end(child.id, 'inside', 'failed');
  expect((await bridgesOf(made, parent.id))[0]).toMatchObject({
    status: 'failed',
    failure_reason: 'downstream_pipeline_failed',
  });
  expect(await statusOf(made, parent.id)).toBe('failed');
  const other = await withChild();
  await other.made.call('POST', `/pipelines/${other.parent.id}/cancel`);
  const [{ downstream_pipeline: ended }] = await bridgesOf(other.made, other.parent.id);
  expect(ended.status).toBe('canceled');
});

test('children that start children go so far and no further', async () => {
  const { made, parent } = await withChild(
    'child:\n  trigger:\n    include: child.yml\n',
    'again:\n  trigger:\n    include: child.yml\n',
  );
  const [{ downstream_pipeline: first }] = await bridgesOf(made, parent.id);
  const [{ downstream_pipeline: second }] = await bridgesOf(made, first.id);
  const [last] = await bridgesOf(made, second.id);
  expect(last).toMatchObject({
    status: 'failed',
    failure_reason: 'reached_max_descendant_pipelines_depth',
    downstream_pipeline: null,
  });
});

test('a pipeline of another project is started by who may, and shown to who may see it', async () => {
  const target = await piped(world, 'there:\n  script: x\n', { visibility: 'private' });
  const { path_with_namespace: path } = (await target.call('GET', '')).body;
  const made = await piped(world, `elsewhere:\n  trigger: ${path}\nnowhere:\n  trigger: no/where\n`);
  const [{ id }] = await made.pipelines();
  const [nowhere, elsewhere] = await bridgesOf(made, id);
  expect(nowhere).toMatchObject({
    status: 'failed',
    failure_reason: 'downstream_bridge_project_not_found',
  });
  expect(elsewhere).toMatchObject({
    status: 'success',
    downstream_pipeline: { project_id: target.id, source: 'pipeline', ref: 'main' },
  });
  expect((await bridgesOf(made, id, 'stranger'))[1].downstream_pipeline).toBeNull();
});
