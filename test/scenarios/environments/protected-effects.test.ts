/** What protected environments keep those from whom their rules do not name. */
import { beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { advancePipeline } from '../../../lib/domain/pipelines/advance-pipeline.ts';
import { stopDue } from '../../../lib/domain/pipelines/stop-environment.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { settled } from '../../harness/settled.ts';
import type { Who } from '../../harness/world.ts';
import { type Piped, piped } from '../pipelines/piped.ts';

const { as, world } = ownWorld();

const protect = async (made: Piped, name: string, ...levels: readonly object[]) => {
  const json = { name, deploy_access_levels: levels };
  expect((await made.call('POST', '/protected_environments', json)).status).toBe(201);
};
const MAINTAINERS = { access_level: 40 };
const developer = () => ({ user_id: world.ids['developer'] });

/** A pipeline of a branch that anybody may push to, by this person. */
async function pipelineBy(made: Piped, who: Who, branch: string): Promise<number> {
  const actions = [{ action: 'create', file_path: `${branch}.txt`, content: branch }];
  const json = { branch, start_branch: 'main', commit_message: branch, actions };
  expect((await made.call('POST', '/repository/commits', json, who)).status).toBe(201);
  await settled();
  return (await made.pipelines(`?ref=${branch}`))[0].id;
}
const jobOf = async (made: Piped, pipeline: number, name: string) =>
  (await made.call('GET', `/pipelines/${pipeline}/jobs`)).body.find(
    (each: { name: string }) => each.name === name,
  );
const statusOf = async (made: Piped, method: string, path: string, who: Who, json?: object) =>
  (await made.call(method, path, json, who)).status;

describe('by the API', () => {
  let made: Piped;
  const place = async (name: string): Promise<number> =>
    (await made.call('GET', `/environments?name=${encodeURIComponent(name)}`)).body[0].id;
  const deploy = (environment: string, who: Who) =>
    made.call('POST', '/deployments', { environment, sha: made.sha, ref: 'main', tag: false }, who);
  beforeAll(async () => {
    made = await piped(world, 'one:\n  script: x\n');
    await protect(made, 'live', MAINTAINERS);
    expect((await deploy('live', 'owner')).status).toBe(201);
  });

  test('only those whom the rule names deploy, also before the environment exists', async () => {
    await protect(made, 'future', MAINTAINERS);
    await protect(made, 'theirs', developer());
    expect((await deploy('future', 'developer')).status).toBe(403);
    expect((await made.call('GET', '/environments?name=future')).body).toEqual([]);
    expect((await deploy('theirs', 'developer')).status).toBe(201);
    expect((await deploy('free', 'developer')).status).toBe(201);
    expect((await deploy('Live', 'developer')).status).toBe(201);
    // A rule of users alone shuts out the owner, and no administrator.
    expect((await deploy('theirs', 'owner')).status).toBe(403);
    expect((await deploy('theirs', 'administrator')).status).toBe(201);
    await protect(made, 'of administrators', { access_level: 60 });
    expect((await deploy('of administrators', 'owner')).status).toBe(403);
    expect((await deploy('of administrators', 'administrator')).status).toBe(201);
  });

  test('direct members of a group that the rule names deploy, as long as it is shared with the project', async () => {
    const group = (await as('owner', 'POST', '/groups', { name: 'crew', path: 'crew' })).body.id;
    const share = { group_id: group, group_access: 30 };
    expect((await made.call('POST', '/share', share)).status).toBe(201);
    await protect(made, 'of crew', { group_id: group });
    expect((await deploy('of crew', 'developer')).status).toBe(403);
    const member = { user_id: world.ids['developer'], access_level: 10 };
    expect((await as('owner', 'POST', `/groups/${group}/members`, member)).status).toBe(201);
    expect((await deploy('of crew', 'developer')).status).toBe(201);
    await made.call('DELETE', `/share/${group}`);
    expect((await deploy('of crew', 'developer')).status).toBe(403);
  });

  test('only they change deployments', async () => {
    const { id } = (await deploy('live', 'owner')).body;
    const path = `/deployments/${id}`;
    expect(await statusOf(made, 'PUT', path, 'developer', { status: 'success' })).toBe(403);
    expect((await made.call('GET', path)).body.status).toBe('created');
    expect(await statusOf(made, 'PUT', path, 'owner', { status: 'success' })).toBe(200);
  });

  test('only they rename, stop and delete the environment, or give another one its name', async () => {
    await protect(made, 'kept', MAINTAINERS);
    expect((await deploy('kept', 'owner')).status).toBe(201);
    const kept = `/environments/${await place('kept')}`;
    expect((await deploy('other', 'developer')).status).toBe(201);
    const other = `/environments/${await place('other')}`;
    await protect(made, 'wanted', MAINTAINERS);
    expect(await statusOf(made, 'PUT', kept, 'developer', { name: 'away' })).toBe(403);
    expect(await statusOf(made, 'PUT', other, 'developer', { name: 'wanted' })).toBe(403);
    expect(await statusOf(made, 'PUT', other, 'developer', { name: 'another' })).toBe(200);
    expect(await statusOf(made, 'POST', `${kept}/stop`, 'developer')).toBe(403);
    expect((await made.call('GET', kept)).body.state).toBe('available');
    expect(await statusOf(made, 'POST', `${kept}/stop`, 'owner')).toBe(200);
    expect(await statusOf(made, 'DELETE', kept, 'developer')).toBe(403);
    expect(await statusOf(made, 'DELETE', kept, 'owner')).toBe(204);
  });

  test('review apps that are protected are not scheduled for deletion by others', async () => {
    await protect(made, 'review/kept', MAINTAINERS);
    for (const name of ['review/kept', 'review/free']) {
      expect((await deploy(name, 'owner')).status).toBe(201);
      expect(await statusOf(made, 'POST', `/environments/${await place(name)}/stop`, 'owner')).toBe(200);
    }
    const path = '/environments/review_apps?before=2040-01-01T00:00:00Z&dry_run=false';
    const { body } = await made.call('DELETE', path, undefined, 'developer');
    expect(body).toMatchObject({
      scheduled_entries: [{ name: 'review/free' }],
      unprocessable_entries: [{ name: 'review/kept' }],
    });
    expect((await made.call('DELETE', path)).body).toMatchObject({
      scheduled_entries: [{ name: 'review/kept' }],
    });
  });
});

describe('by jobs', () => {
  const CONFIG = `
stages: [build, deploy, after]
build:
  stage: build
  script: x
  retry: 2
ship:
  stage: deploy
  script: x
  retry: 2
  environment: $PLACE
by hand:
  stage: deploy
  script: x
  when: manual
  environment: $PLACE
last:
  stage: after
  script: x
variables:
  PLACE: live
`;

  test('a job of somebody else fails when it is ready, is not repeated, and deploys nothing', async () => {
    const made = await piped(world, CONFIG);
    await protect(made, 'live', MAINTAINERS);
    const id = await pipelineBy(made, 'developer', 'side');
    expect(await made.jobs(id)).toEqual({
      build: 'pending',
      ship: 'created',
      'by hand': 'created',
      last: 'created',
    });
    await made.end(id, 'build', 'success');
    expect(await made.jobs(id, '?include_retried=true')).toEqual({
      build: 'success',
      ship: 'failed',
      'by hand': 'manual',
      last: 'skipped',
    });
    const ship = await jobOf(made, id, 'ship');
    expect(ship).toMatchObject({ failure_reason: 'protected_environment_failure', started_at: null });
    expect(ship.finished_at).not.toBeNull();
    const deployments = (await made.call('GET', '/deployments')).body;
    expect(deployments.map((each: { deployable: { name: string } }) => each.deployable.name)).not.toContain(
      'ship',
    );
    expect((await made.call('GET', `/pipelines/${id}`)).body.status).toBe('failed');
  });

  test('a job of somebody whom the rule names is made ready, by level or name', async () => {
    const made = await piped(world, CONFIG);
    await protect(made, 'live', MAINTAINERS);
    const id = await pipelineBy(made, 'owner', 'of-owner');
    await made.end(id, 'build', 'success');
    expect(await made.jobs(id)).toMatchObject({ ship: 'pending', 'by hand': 'manual' });
    await made.call('DELETE', '/protected_environments/live');
    await protect(made, 'live', developer());
    const theirs = await pipelineBy(made, 'developer', 'of-developer');
    await made.end(theirs, 'build', 'success');
    expect(await made.jobs(theirs)).toMatchObject({ ship: 'pending' });
  });

  test('the rule of an environment counts for jobs that only prepare or use it', async () => {
    const made = await piped(
      world,
      'look:\n  script: x\n  environment:\n    name: live\n    action: access\nother:\n  script: x\n',
    );
    await protect(made, 'live', MAINTAINERS);
    const id = await pipelineBy(made, 'developer', 'looking');
    expect(await made.jobs(id)).toEqual({ look: 'failed', other: 'pending' });
  });

  test('a job that waits for its time fails when that has come', async () => {
    const made = await piped(
      world,
      'ship:\n  script: x\n  when: delayed\n  start_in: 1 second\n  environment: live\n',
    );
    await protect(made, 'live', MAINTAINERS);
    const id = await pipelineBy(made, 'developer', 'delayed');
    expect(await made.jobs(id)).toEqual({ ship: 'scheduled' });
    const later = () => new Date(Date.now() + 60_000);
    await advancePipeline({ ...deps(), now: later }, { projectId: made.id, pipelineId: id });
    expect(await jobOf(made, id, 'ship')).toMatchObject({ failure_reason: 'protected_environment_failure' });
  });

  test('others may not play, cancel or retry jobs of it; those whom the rule names may', async () => {
    const made = await piped(world, CONFIG);
    await protect(made, 'live', MAINTAINERS);
    const id = await pipelineBy(made, 'developer', 'played');
    await made.end(id, 'build', 'success');
    const [ship, hand] = [await jobOf(made, id, 'ship'), await jobOf(made, id, 'by hand')];
    expect(await statusOf(made, 'POST', `/jobs/${hand.id}/play`, 'developer')).toBe(403);
    expect(await statusOf(made, 'POST', `/jobs/${hand.id}/cancel`, 'developer')).toBe(403);
    expect(await statusOf(made, 'POST', `/jobs/${ship.id}/retry`, 'developer')).toBe(403);
    expect(await made.jobs(id)).toMatchObject({ ship: 'failed', 'by hand': 'manual' });
    expect(await statusOf(made, 'POST', `/jobs/${hand.id}/play`, 'owner')).toBe(200);
    expect(await statusOf(made, 'POST', `/jobs/${ship.id}/retry`, 'owner')).toBe(201);
    await settled();
    expect(await made.jobs(id)).toMatchObject({ ship: 'pending', 'by hand': 'pending' });
    // It may do whatever is not of that environment.
    const build = await jobOf(made, id, 'build');
    expect(await statusOf(made, 'POST', `/jobs/${build.id}/retry`, 'developer')).toBe(201);
  });

  test('whom the rule names plays jobs of it from Reporter on, and nothing else, also on a protected branch', async () => {
    const made = await piped(world, CONFIG);
    const [pipeline] = await made.pipelines('?ref=main');
    await made.end(pipeline.id, 'build', 'success');
    const hand = await jobOf(made, pipeline.id, 'by hand');
    const play = (who: Who) => statusOf(made, 'POST', `/jobs/${hand.id}/play`, who);
    // Without a rule the branch decides.
    expect([await play('reporter'), await play('developer')]).toEqual([403, 403]);
    await protect(made, 'live', developer(), { user_id: world.ids['reporter'] });
    expect([await play('guest'), await play('stranger')]).toEqual([403, 403]);
    for (const action of ['cancel', 'retry', 'erase'])
      expect(await statusOf(made, 'POST', `/jobs/${hand.id}/${action}`, 'reporter')).toBe(403);
    const build = await jobOf(made, pipeline.id, 'build');
    expect(await statusOf(made, 'POST', `/jobs/${build.id}/play`, 'reporter')).toBe(403);
    expect(await play('reporter')).toBe(200);
    await settled();
    expect(await jobOf(made, pipeline.id, 'by hand')).toMatchObject({
      status: 'pending',
      user: { username: 'reporter' },
    });
    await made.end(pipeline.id, 'by hand', 'success');
    const [newest] = (
      await made.call('GET', '/deployments?order_by=id&sort=desc&environment=live&status=success')
    ).body;
    expect(newest).toMatchObject({ deployable: { id: hand.id, user: { username: 'reporter' } } });
  });

  test('repeating a pipeline leaves jobs alone that the caller may not start', async () => {
    const made = await piped(world, CONFIG);
    await protect(made, 'live', MAINTAINERS);
    const id = await pipelineBy(made, 'developer', 'repeated');
    await made.end(id, 'build', 'success');
    const ship = await jobOf(made, id, 'ship');
    const retry = `/pipelines/${id}/retry`;
    expect(await statusOf(made, 'POST', retry, 'developer')).toBe(201);
    await settled();
    expect((await jobOf(made, id, 'ship')).id).toBe(ship.id);
    expect(await statusOf(made, 'POST', retry, 'owner')).toBe(201);
    await settled();
    expect(await made.jobs(id)).toMatchObject({ ship: 'pending' });
  });

  test('a job of somebody who has lost the right, or was blocked, fails', async () => {
    const made = await piped(world, CONFIG);
    await protect(made, 'live', { access_level: 30 });
    const id = await pipelineBy(made, 'developer', 'left');
    const member = `/members/${world.ids['developer']}`;
    expect(await statusOf(made, 'PUT', member, 'owner', { access_level: 20 })).toBe(200);
    await settled();
    await made.end(id, 'build', 'success');
    expect(await jobOf(made, id, 'ship')).toMatchObject({ failure_reason: 'protected_environment_failure' });
    await made.call('PUT', member, { access_level: 30 });
    await settled();
    const next = await pipelineBy(made, 'developer', 'blocked');
    const block = `/users/${world.ids['developer']}`;
    expect((await as('administrator', 'POST', `${block}/block`)).status).toBe(201);
    await made.end(next, 'build', 'success');
    expect((await as('administrator', 'POST', `${block}/unblock`)).status).toBe(201);
    expect(await jobOf(made, next, 'ship')).toMatchObject({
      failure_reason: 'protected_environment_failure',
    });
  });
});

describe('its stop job', () => {
  const CONFIG = `
ship:
  script: x
  environment:
    name: live
    on_stop: take down
    auto_stop_in: 1 day
take down:
  script: x
  when: manual
  environment:
    name: live
    action: stop
`;

  test('is started by those alone whom the rule names, by playing it and by stopping the environment', async () => {
    const made = await piped(world, CONFIG);
    const id = await pipelineBy(made, 'developer', 'stopped');
    await made.end(id, 'ship', 'success');
    await protect(made, 'live', MAINTAINERS);
    const [{ id: place }] = (await made.call('GET', '/environments?name=live')).body;
    const hand = await jobOf(made, id, 'take down');
    expect(await statusOf(made, 'POST', `/environments/${place}/stop`, 'developer')).toBe(403);
    expect(await statusOf(made, 'POST', `/jobs/${hand.id}/play`, 'developer')).toBe(403);
    expect(await made.jobs(id)).toMatchObject({ 'take down': 'manual' });
    expect(await statusOf(made, 'POST', `/environments/${place}/stop`, 'owner')).toBe(200);
    expect(await made.jobs(id)).toMatchObject({ 'take down': 'pending' });
  });

  test('does not start when the time of the environment has come, nor with the deletion of the branch, for others', async () => {
    const made = await piped(world, CONFIG);
    const id = await pipelineBy(made, 'developer', 'due');
    await made.end(id, 'ship', 'success');
    await protect(made, 'live', MAINTAINERS);
    const [{ id: place }] = (await made.call('GET', '/environments?name=live')).body;
    expect(await statusOf(made, 'DELETE', '/repository/branches/due', 'developer')).toBe(204);
    await settled();
    const state = async () => (await made.call('GET', `/environments/${place}`)).body.state;
    expect(await state()).toBe('available');
    const later = () => new Date(Date.now() + 2 * 86_400_000);
    await stopDue({ ...deps(), now: later }, { projectId: made.id, environmentId: place });
    expect(await state()).toBe('stopped');
    expect(await made.jobs(id)).toMatchObject({ 'take down': 'manual' });
  });
});

test('the rules of a project go with it', async () => {
  const made = await piped(world, 'one:\n  script: x\n');
  await protect(made, 'live', MAINTAINERS);
  expect((await as('administrator', 'DELETE', `/projects/${made.id}`)).status).toBe(202);
  await settled();
  await expect.poll(async () => (await world.store.refRules.list(made.id, 'environment')).length).toBe(0);
});
