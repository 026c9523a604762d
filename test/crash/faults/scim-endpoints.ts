import { patchOf, person, type ScimGroup, scimGroup } from '../../harness/scim.ts';
import type { Answer } from '../../harness/service.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, answered, endpoint, flip, found } from './sent.ts';

/** Writes of identity providers, and of what lets them in. */
export const scimWrites: readonly Operation[] = [
  endpoint('PUT /groups/:id/saml', async (fixtures) => {
    const { id } = await group(fixtures);
    const { token } = await fixtures.owner();
    const path = `/groups/${id}/saml`;
    const state = async () => after((await fixtures.done('GET', path, { token })).enabled, true, false);
    return { path, token, json: { enabled: false }, state };
  }),
  endpoint('POST /groups/:id/scim_token', async (fixtures) => {
    const { id, agent } = await group(fixtures);
    const { token } = await fixtures.owner();
    return {
      path: `/groups/${id}/scim_token`,
      token,
      state: async () => after(await letIn(agent), true, false),
    };
  }),
  endpoint('DELETE /groups/:id/scim_token', async (fixtures) => {
    const { id, agent } = await group(fixtures);
    const { token } = await fixtures.owner();
    return {
      path: `/groups/${id}/scim_token`,
      token,
      state: async () => after(await letIn(agent), true, false),
    };
  }),
  ...(['saml', 'scim'] as const).map((kind) =>
    endpoint(`PATCH /groups/:id/${kind}/:uid`, async (fixtures) => {
      const { id, uid, agent } = await withPerson(fixtures);
      const { token } = await fixtures.owner();
      const state = async () => here(await agent('GET', `/Users/${uid}-on`));
      return { path: `/groups/${id}/${kind}/${uid}`, token, json: { extern_uid: `${uid}-on` }, state };
    }),
  ),
  endpoint('DELETE /groups/:id/scim/:uid', async (fixtures) => {
    const { id, uid } = await withPerson(fixtures);
    const { token } = await fixtures.owner();
    const path = `/groups/${id}/scim/${uid}`;
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
  endpoint('POST /api/scim/v2/groups/:group_path/Users', async (fixtures) => {
    const { path, token, agent } = await group(fixtures);
    const name = fixtures.fresh('person');
    const state = async () => here(await agent('GET', `/Users/ext-${name}`));
    return { path: `${ROOT}/${path}/Users`, token, bearer: true, json: person(name), state };
  }),
  endpoint('PUT /api/scim/v2/groups/:group_path/Users/:uid', async (fixtures) => {
    const { at, uid, token, agent } = await withPerson(fixtures);
    const state = () => email(agent, uid);
    return { path: at, token, bearer: true, json: { emails: [{ value: `${uid}-on@corp.example` }] }, state };
  }),
  endpoint('PATCH /api/scim/v2/groups/:group_path/Users/:uid', async (fixtures) => {
    const { at, uid, token, agent } = await withPerson(fixtures);
    const state = async () => after((await agent('GET', `/Users/${uid}`)).body.active, true, false);
    const json = patchOf({ op: 'Replace', path: 'active', value: 'False' });
    return { path: at, token, bearer: true, json, state };
  }),
  endpoint('DELETE /api/scim/v2/groups/:group_path/Users/:uid', async (fixtures) => {
    const { at, uid, token, agent } = await withPerson(fixtures);
    const state = async () => flip(here(await agent('GET', `/Users/${uid}`)));
    return { path: at, token, bearer: true, state };
  }),
];

const ROOT = '/api/scim/v2/groups';

const group = async (fixtures: Fixtures): Promise<ScimGroup> => {
  const { token } = await fixtures.owner();
  return scimGroup(fixtures.service, token, fixtures.fresh('sso'));
};

async function withPerson(fixtures: Fixtures): Promise<ScimGroup & { uid: string; at: string }> {
  const made = await group(fixtures);
  const name = fixtures.fresh('person');
  const answer = await made.agent('POST', '/Users', person(name));
  if (answer.status !== 201) throw new Error(answered(answer));
  return { ...made, uid: `ext-${name}`, at: `${ROOT}/${made.path}/Users/ext-${name}` };
}

const here = (answer: Answer): string =>
  answer.status === 404 ? 'before' : answer.status === 200 ? 'after' : answered(answer);

const letIn = async (agent: ScimGroup['agent']): Promise<boolean> =>
  (await agent('GET', '/ServiceProviderConfig')).status === 200;

async function email(agent: ScimGroup['agent'], uid: string): Promise<string> {
  const { body } = await agent('GET', `/Users/${uid}`);
  const was = `${uid.replace('ext-', '')}@corp.example`;
  return after(body.emails[0].value, was, `${uid}-on@corp.example`);
}
