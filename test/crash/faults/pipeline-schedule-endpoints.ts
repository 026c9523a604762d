import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, countOf, endpoint, flip, found } from './sent.ts';

const SCHEDULES = '/projects/:id/pipeline_schedules';
const SCHEDULE = `${SCHEDULES}/:pipeline_schedule_id`;
const VARIABLE = `${SCHEDULE}/variables/:key`;

/** Writes of schedules, of their variables, and of triggers. */
export const pipelineScheduleWrites: readonly Operation[] = [
  endpoint(`POST ${SCHEDULES}`, async (fixtures) => {
    const { id, owner } = await fixtures.ground();
    const description = fixtures.fresh('schedule');
    const path = `/projects/${id}/pipeline_schedules`;
    const state = async () => {
      const all: { description: string }[] = await fixtures.done('GET', `${path}?per_page=100`, {
        token: owner.token,
      });
      return countOf(all.filter((each) => each.description === description));
    };
    return { path, token: owner.token, json: { description, ref: 'main', cron: '0 1 * * *' }, state };
  }),
  endpoint(`PUT ${SCHEDULE}`, async (fixtures) => {
    const { path, token } = await schedule(fixtures);
    const state = async () => {
      const { cron, next_run_at } = await fixtures.done('GET', path, { token });
      return after(`${cron} ${next_run_at.slice(11, 16)}`, '0 1 * * * 01:00', '0 2 * * * 02:00');
    };
    return { path, token, json: { cron: '0 2 * * *' }, state };
  }),
  endpoint(`POST ${SCHEDULE}/take_ownership`, async (fixtures) => {
    const { path, token } = await schedule(fixtures);
    const state = async () => {
      const { owner } = await fixtures.done('GET', path, { token });
      return owner.username === 'root' ? 'after' : 'before';
    };
    return { path: `${path}/take_ownership`, token: fixtures.service.rootToken, state };
  }),
  endpoint(`POST ${SCHEDULE}/play`, async (fixtures) => {
    const { id, path, token } = await schedule(fixtures);
    await configured(fixtures, id, token);
    const state = async () => {
      await fixtures.settle();
      return (await fixtures.done('GET', path, { token })).last_pipeline === null ? 'before' : 'after';
    };
    return { path: `${path}/play`, token, state };
  }),
  endpoint(`DELETE ${SCHEDULE}`, async (fixtures) => {
    const { path, token } = await schedule(fixtures);
    await fixtures.done('POST', `${path}/variables`, { token, json: { key: 'KEY', value: 'x' } });
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
  endpoint(`POST ${SCHEDULE}/variables`, async (fixtures) => {
    const { path, token } = await schedule(fixtures);
    const state = async () => countOf((await fixtures.done('GET', path, { token })).variables);
    return { path: `${path}/variables`, token, json: { key: 'KEY', value: 'x' }, state };
  }),
  endpoint(`PUT ${VARIABLE}`, async (fixtures) => {
    const { path, token } = await schedule(fixtures);
    await fixtures.done('POST', `${path}/variables`, { token, json: { key: 'KEY', value: 'x' } });
    const state = async () => {
      const { variables } = await fixtures.done('GET', path, { token });
      return after(variables[0].value, 'x', 'longer');
    };
    return { path: `${path}/variables/KEY`, token, json: { value: 'longer' }, state };
  }),
  endpoint(`DELETE ${VARIABLE}`, async (fixtures) => {
    const { path, token } = await schedule(fixtures);
    await fixtures.done('POST', `${path}/variables`, { token, json: { key: 'KEY', value: 'x' } });
    const state = async () => flip(countOf((await fixtures.done('GET', path, { token })).variables));
    return { path: `${path}/variables/KEY`, token, state };
  }),
  endpoint('POST /projects/:id/triggers', async (fixtures) => {
    const { id, owner } = await fixtures.ground();
    const description = fixtures.fresh('trigger');
    const path = `/projects/${id}/triggers`;
    const state = async () => {
      const all: { description: string }[] = await fixtures.done('GET', `${path}?per_page=100`, {
        token: owner.token,
      });
      return countOf(all.filter((each) => each.description === description));
    };
    return { path, token: owner.token, json: { description }, state };
  }),
  endpoint('PUT /projects/:id/triggers/:trigger_id', async (fixtures) => {
    const { path, token } = await trigger(fixtures);
    const state = async () => after((await fixtures.done('GET', path, { token })).description, 'one', 'two');
    return { path, token, json: { description: 'two' }, state };
  }),
  endpoint('DELETE /projects/:id/triggers/:trigger_id', async (fixtures) => {
    const { path, token } = await trigger(fixtures);
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
  ...['trigger', 'ref/:ref/trigger'].map((at) =>
    endpoint(`POST /projects/:id/${at}/pipeline`, async (fixtures) => {
      const { id, owner } = await fixtures.ownGround();
      const { token } = owner;
      await configured(fixtures, id, token);
      const json = { description: 'one' };
      const made = await fixtures.done('POST', `/projects/${id}/triggers`, { token, json });
      const state = async () => {
        const all = await fixtures.store.pipelines.newestOfRef(id, 'main', 50);
        return countOf(all.filter(({ source }) => source === 'trigger'));
      };
      const path = `/projects/${id}/${at.replace(':ref', 'main')}/pipeline`;
      return { path, token, json: { token: made.token, ref: 'main' }, state };
    }),
  ),
];

/** Gives a project a configuration, with which pipelines can be made. */
async function configured(fixtures: Fixtures, id: number, token: string): Promise<void> {
  const json = {
    branch: 'main',
    commit_message: 'Add a configuration',
    actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: 'hello:\n  script: echo\n' }],
  };
  await fixtures.done('POST', `/projects/${id}/repository/commits`, { token, json });
}

async function schedule(fixtures: Fixtures) {
  const { id, owner } = await fixtures.ownGround();
  const { token } = owner;
  const json = { description: 'nightly', ref: 'main', cron: '0 1 * * *' };
  const made = await fixtures.done('POST', `/projects/${id}/pipeline_schedules`, { token, json });
  return { id, path: `/projects/${id}/pipeline_schedules/${made.id}`, token };
}

async function trigger(fixtures: Fixtures) {
  const { id, owner } = await fixtures.ground();
  const { token } = owner;
  const made = await fixtures.done('POST', `/projects/${id}/triggers`, {
    token,
    json: { description: 'one' },
  });
  return { path: `/projects/${id}/triggers/${made.id}`, token };
}
