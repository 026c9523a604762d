import { patchOf, person, type ScimGroup, scimGroup } from '../../harness/scim.ts';
import type { Answer } from '../../harness/service.ts';
import type { Operation } from './driver.ts';
import type { Scene } from './scene.ts';
import { after, answered, endpoint, flip, found } from './sent.ts';

/** Writes of identity providers, and of what lets them in. */
export const scimWrites: readonly Operation[] = [
  endpoint('PUT /groups/:id/saml', async (scene) => {
    const { id } = await group(scene);
    const { token } = await scene.owner();
    const path = `/groups/${id}/saml`;
    const state = async () => after((await scene.done('GET', path, { token })).enabled, true, false);
    return { path, token, json: { enabled: false }, state };
  }),
  endpoint('POST /groups/:id/scim_token', async (scene) => {
    const { id, agent } = await group(scene);
    const { token } = await scene.owner();
    return {
      path: `/groups/${id}/scim_token`,
      token,
      state: async () => after(await letIn(agent), true, false),
    };
  }),
  endpoint('DELETE /groups/:id/scim_token', async (scene) => {
    const { id, agent } = await group(scene);
    const { token } = await scene.owner();
    return {
      path: `/groups/${id}/scim_token`,
      token,
      state: async () => after(await letIn(agent), true, false),
    };
  }),
  ...(['saml', 'scim'] as const).map((kind) =>
    endpoint(`PATCH /groups/:id/${kind}/:uid`, async (scene) => {
      const { id, uid, agent } = await withPerson(scene);
      const { token } = await scene.owner();
      const state = async () => here(await agent('GET', `/Users/${uid}-on`));
      return { path: `/groups/${id}/${kind}/${uid}`, token, json: { extern_uid: `${uid}-on` }, state };
    }),
  ),
  endpoint('DELETE /groups/:id/scim/:uid', async (scene) => {
    const { id, uid } = await withPerson(scene);
    const { token } = await scene.owner();
    const path = `/groups/${id}/scim/${uid}`;
    return { path, token, state: async () => flip(await found(scene, path, token)) };
  }),
  endpoint('POST /api/scim/v2/groups/:group_path/Users', async (scene) => {
    const { path, token, agent } = await group(scene);
    const name = scene.fresh('person');
    const state = async () => here(await agent('GET', `/Users/ext-${name}`));
    return { path: `${ROOT}/${path}/Users`, token, bearer: true, json: person(name), state };
  }),
  endpoint('PUT /api/scim/v2/groups/:group_path/Users/:uid', async (scene) => {
    const { at, uid, token, agent } = await withPerson(scene);
    const state = () => email(agent, uid);
    return { path: at, token, bearer: true, json: { emails: [{ value: `${uid}-on@corp.example` }] }, state };
  }),
  endpoint('PATCH /api/scim/v2/groups/:group_path/Users/:uid', async (scene) => {
    const { at, uid, token, agent } = await withPerson(scene);
    const state = async () => after((await agent('GET', `/Users/${uid}`)).body.active, true, false);
    const json = patchOf({ op: 'Replace', path: 'active', value: 'False' });
    return { path: at, token, bearer: true, json, state };
  }),
  endpoint('DELETE /api/scim/v2/groups/:group_path/Users/:uid', async (scene) => {
    const { at, uid, token, agent } = await withPerson(scene);
    const state = async () => flip(here(await agent('GET', `/Users/${uid}`)));
    return { path: at, token, bearer: true, state };
  }),
];

const ROOT = '/api/scim/v2/groups';

const group = async (scene: Scene): Promise<ScimGroup> => {
  const { token } = await scene.owner();
  return scimGroup(scene.service, token, scene.fresh('sso'));
};

async function withPerson(scene: Scene): Promise<ScimGroup & { uid: string; at: string }> {
  const made = await group(scene);
  const name = scene.fresh('person');
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
