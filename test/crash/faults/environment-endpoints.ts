import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, endpoint, flip, found } from './sent.ts';

const ENVIRONMENT = '/projects/:id/environments/:environment_id';

/** Writes of environments and deployments. */
export const environmentWrites: readonly Operation[] = [
  endpoint('POST /projects/:id/environments', async (fixtures) => {
    const { id, owner } = await fixtures.ground();
    const name = fixtures.fresh('place');
    const path = `/projects/${id}/environments`;
    const state = () => counted(fixtures, `${path}?name=${name}`, owner.token);
    return { path, token: owner.token, json: { name }, state };
  }),
  endpoint(`PUT ${ENVIRONMENT}`, async (fixtures) => {
    const { path, token, name } = await place(fixtures);
    const json = { name: `${name}-b`, tier: 'staging' };
    const state = async () => {
      const shown = await fixtures.done('GET', path, { token });
      return after(`${shown.name} ${shown.tier}`, `${name} other`, `${name}-b staging`);
    };
    return { path, token, json, state };
  }),
  endpoint(`POST ${ENVIRONMENT}/stop`, async (fixtures) => {
    const { path, token } = await place(fixtures);
    const state = async () =>
      after((await fixtures.done('GET', path, { token })).state, 'available', 'stopped');
    return { path: `${path}/stop`, token, state };
  }),
  endpoint(`DELETE ${ENVIRONMENT}`, async (fixtures) => {
    const { path, token } = await place(fixtures);
    await fixtures.done('POST', `${path}/stop`, { token });
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
  endpoint('DELETE /projects/:id/environments/review_apps', async (fixtures) => {
    const { id, owner } = await fixtures.ownGround();
    const { token } = owner;
    const all = `/projects/${id}/environments`;
    const { id: reviewed } = await fixtures.done('POST', all, { token, json: { name: 'review/a' } });
    await fixtures.done('POST', `${all}/${reviewed}/stop`, { token });
    const state = async () => {
      const { deletedOn } = (await fixtures.store.environments.get(id, reviewed))!;
      return deletedOn === null ? 'before' : 'after';
    };
    const before = encodeURIComponent('2040-01-01T00:00:00Z');
    return { path: `${all}/review_apps?dry_run=false&before=${before}`, token, state };
  }),
  endpoint('POST /projects/:id/deployments', async (fixtures) => {
    const { id, owner, main } = await fixtures.ground();
    const environment = fixtures.fresh('place');
    const json = { environment, sha: main[1], ref: 'main', tag: false, status: 'success' };
    const path = `/projects/${id}/deployments`;
    const state = () => counted(fixtures, `${path}?environment=${environment}`, owner.token);
    return { path, token: owner.token, json, state };
  }),
  endpoint('PUT /projects/:id/deployments/:deployment_id', async (fixtures) => {
    const { id, owner, main } = await fixtures.ground();
    const { token } = owner;
    const json = { environment: fixtures.fresh('place'), sha: main[1], ref: 'main', tag: false };
    const made = await fixtures.done('POST', `/projects/${id}/deployments`, { token, json });
    const path = `/projects/${id}/deployments/${made.id}`;
    const place = `/projects/${id}/environments/${made.environment.id}`;
    const state = async () => {
      const { status } = await fixtures.done('GET', path, { token });
      const { last_deployment } = await fixtures.done('GET', place, { token });
      return after(`${status} ${last_deployment?.id === made.id}`, 'created false', 'success true');
    };
    return { path, token, json: { status: 'success' }, state };
  }),
  endpoint('POST /projects/:id/protected_environments', protecting),
  endpoint('DELETE /projects/:id/protected_environments/:name', async (fixtures) => {
    const { path, json, token, state } = await protecting(fixtures);
    await fixtures.done('POST', path, { token, json });
    return { path: `${path}/${json.name}`, token, state: async () => flip(await state()) };
  }),
];

async function protecting(fixtures: Fixtures) {
  const { id, owner } = await fixtures.ground();
  const name = fixtures.fresh('place');
  const path = `/projects/${id}/protected_environments`;
  return {
    path,
    token: owner.token,
    json: { name, deploy_access_levels: [{ access_level: 40 }] },
    state: () => found(fixtures, `${path}/${name}`, owner.token),
  };
}

async function place(fixtures: Fixtures) {
  const { id, owner } = await fixtures.ground();
  const name = fixtures.fresh('place');
  const path = `/projects/${id}/environments`;
  const made = await fixtures.done('POST', path, { token: owner.token, json: { name } });
  return { name, token: owner.token, path: `${path}/${made.id}` };
}
