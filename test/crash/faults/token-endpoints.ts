import type { Operation } from './driver.ts';
import type { Scene, Someone } from './scene.ts';
import { answered, countOf, endpoint, flip, found, type Sent } from './sent.ts';

/** Writes of tokens of every kind. */
export const tokenWrites: readonly Operation[] = [
  endpoint('POST /users/:user_id/personal_access_tokens', async (scene) => {
    const user = await scene.owner();
    const name = scene.fresh('token');
    return {
      path: `/users/${user.id}/personal_access_tokens`,
      token: scene.service.rootToken,
      json: { name, scopes: ['api'] },
      state: () => named(scene, `/personal_access_tokens?search=${name}`, user.token),
    };
  }),
  endpoint('DELETE /personal_access_tokens/:id', async (scene) => {
    const { id, token } = await personal(scene);
    return {
      path: `/personal_access_tokens/${id}`,
      token: scene.service.rootToken,
      state: () => ended(scene, token),
    };
  }),
  endpoint('DELETE /personal_access_tokens/self', async (scene) => {
    const { token } = await personal(scene);
    return { path: '/personal_access_tokens/self', token, state: () => ended(scene, token) };
  }),
  endpoint('POST /personal_access_tokens/self/rotate', async (scene) => {
    const { token } = await personal(scene);
    return { path: '/personal_access_tokens/self/rotate', token, state: () => ended(scene, token) };
  }),
  endpoint('POST /personal_access_tokens/:id/rotate', async (scene) => {
    const { id, token } = await personal(scene);
    return {
      path: `/personal_access_tokens/${id}/rotate`,
      token: scene.service.rootToken,
      state: () => ended(scene, token),
    };
  }),
  endpoint('POST /users/:user_id/impersonation_tokens', async (scene) => {
    const { id } = await scene.owner();
    const name = scene.fresh('token');
    const path = `/users/${id}/impersonation_tokens`;
    const token = scene.service.rootToken;
    const state = async () => {
      const list: { name: string }[] = await scene.done('GET', `${path}?per_page=100`, { token });
      return countOf(list.filter((one) => one.name === name));
    };
    return { path, token, json: { name, scopes: ['api'] }, state };
  }),
  endpoint('DELETE /users/:user_id/impersonation_tokens/:id', async (scene) => {
    const user = await scene.owner();
    const base = `/users/${user.id}/impersonation_tokens`;
    const token = scene.service.rootToken;
    const made = await scene.done('POST', base, {
      token,
      json: { name: scene.fresh('token'), scopes: ['api'] },
    });
    return { path: `${base}/${made.id}`, token, state: () => ended(scene, made.token) };
  }),
  ...(['projects', 'groups'] as const).flatMap((kind) => [
    endpoint(`POST /${kind}/:id/access_tokens`, async (scene) => {
      const { base, token } = await place(scene, kind);
      const name = scene.fresh('token');
      const path = `${base}/access_tokens`;
      const state = () => named(scene, `${path}?search=${name}`, token);
      return { path, token, json: { name, scopes: ['api'] }, state };
    }),
    endpoint(`DELETE /${kind}/:id/access_tokens/:token_id`, (scene) => onBot(scene, kind, '')),
    endpoint(`POST /${kind}/:id/access_tokens/:token_id/rotate`, (scene) => onBot(scene, kind, '/rotate')),
    endpoint(`POST /${kind}/:id/access_tokens/self/rotate`, async (scene) => {
      const { base, token } = await place(scene, kind);
      const json = { name: scene.fresh('token'), scopes: ['api'] };
      const made = await scene.done('POST', `${base}/access_tokens`, { token, json });
      const path = `${base}/access_tokens/self/rotate`;
      return { path, token: made.token, state: () => ended(scene, made.token) };
    }),
    endpoint(`POST /${kind}/:id/deploy_tokens`, async (scene) => {
      const { base, token } = await place(scene, kind);
      const name = scene.fresh('token');
      const path = `${base}/deploy_tokens`;
      const state = async () => {
        const list: { name: string }[] = await scene.done('GET', `${path}?per_page=100`, { token });
        return countOf(list.filter((one) => one.name === name));
      };
      return { path, token, json: { name, scopes: ['read_repository'] }, state };
    }),
    endpoint(`DELETE /${kind}/:id/deploy_tokens/:token_id`, async (scene) => {
      const { base, token } = await place(scene, kind);
      const json = { name: scene.fresh('token'), scopes: ['read_repository'] };
      const { id } = await scene.done('POST', `${base}/deploy_tokens`, { token, json });
      const path = `${base}/deploy_tokens/${id}`;
      return { path, token, state: async () => flip(await found(scene, path, token)) };
    }),
  ]),
];

/** A request about a token of a bot that is there; done when that token is no good any more. */
async function onBot(scene: Scene, kind: 'projects' | 'groups', action: string): Promise<Sent> {
  const { base, token } = await place(scene, kind);
  const json = { name: scene.fresh('token'), scopes: ['api'] };
  const made = await scene.done('POST', `${base}/access_tokens`, { token, json });
  const path = `${base}/access_tokens/${made.id}${action}`;
  return { path, token, state: () => ended(scene, made.token) };
}

async function place(scene: Scene, kind: 'projects' | 'groups'): Promise<{ base: string; token: string }> {
  if (kind === 'projects') {
    const { id, owner } = await scene.ground();
    return { base: `/projects/${id}`, token: owner.token };
  }
  const owner: Someone = await scene.owner();
  const path = scene.fresh('group');
  const group = await scene.done('POST', '/groups', { token: owner.token, json: { name: path, path } });
  return { base: `/groups/${group.id}`, token: owner.token };
}

async function personal(scene: Scene): Promise<{ id: number; token: string }> {
  const { id } = await scene.owner();
  const json = { name: scene.fresh('token'), scopes: ['api'] };
  return scene.done('POST', `/users/${id}/personal_access_tokens`, { token: scene.service.rootToken, json });
}

async function ended({ service }: Scene, token: string): Promise<string> {
  const answer = await service.call('GET', '/user', { token });
  return answer.status === 200 ? 'before' : answer.status === 401 ? 'after' : answered(answer);
}

async function named(scene: Scene, path: string, token: string): Promise<string> {
  return countOf(await scene.done('GET', path, { token }));
}
