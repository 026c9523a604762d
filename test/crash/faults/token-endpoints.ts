import type { Operation } from './driver.ts';
import type { Fixtures, Someone } from './fixtures.ts';
import { answered, countOf, endpoint, flip, found, type Sent } from './sent.ts';

/** Writes of tokens of every kind. */
export const tokenWrites: readonly Operation[] = [
  endpoint('POST /users/:user_id/personal_access_tokens', async (fixtures) => {
    const user = await fixtures.owner();
    const name = fixtures.fresh('token');
    return {
      path: `/users/${user.id}/personal_access_tokens`,
      token: fixtures.service.rootToken,
      json: { name, scopes: ['api'] },
      state: () => named(fixtures, `/personal_access_tokens?search=${name}`, user.token),
    };
  }),
  endpoint('DELETE /personal_access_tokens/:id', async (fixtures) => {
    const { id, token } = await personal(fixtures);
    return {
      path: `/personal_access_tokens/${id}`,
      token: fixtures.service.rootToken,
      state: () => ended(fixtures, token),
    };
  }),
  endpoint('DELETE /personal_access_tokens/self', async (fixtures) => {
    const { token } = await personal(fixtures);
    return { path: '/personal_access_tokens/self', token, state: () => ended(fixtures, token) };
  }),
  endpoint('POST /personal_access_tokens/self/rotate', async (fixtures) => {
    const { token } = await personal(fixtures);
    return { path: '/personal_access_tokens/self/rotate', token, state: () => ended(fixtures, token) };
  }),
  endpoint('POST /personal_access_tokens/:id/rotate', async (fixtures) => {
    const { id, token } = await personal(fixtures);
    return {
      path: `/personal_access_tokens/${id}/rotate`,
      token: fixtures.service.rootToken,
      state: () => ended(fixtures, token),
    };
  }),
  endpoint('POST /users/:user_id/impersonation_tokens', async (fixtures) => {
    const { id } = await fixtures.owner();
    const name = fixtures.fresh('token');
    const path = `/users/${id}/impersonation_tokens`;
    const token = fixtures.service.rootToken;
    const state = async () => {
      const list: { name: string }[] = await fixtures.done('GET', `${path}?per_page=100`, { token });
      return countOf(list.filter((one) => one.name === name));
    };
    return { path, token, json: { name, scopes: ['api'] }, state };
  }),
  endpoint('DELETE /users/:user_id/impersonation_tokens/:id', async (fixtures) => {
    const user = await fixtures.owner();
    const base = `/users/${user.id}/impersonation_tokens`;
    const token = fixtures.service.rootToken;
    const made = await fixtures.done('POST', base, {
      token,
      json: { name: fixtures.fresh('token'), scopes: ['api'] },
    });
    return { path: `${base}/${made.id}`, token, state: () => ended(fixtures, made.token) };
  }),
  ...(['projects', 'groups'] as const).flatMap((kind) => [
    endpoint(`POST /${kind}/:id/access_tokens`, async (fixtures) => {
      const { base, token } = await place(fixtures, kind);
      const name = fixtures.fresh('token');
      const path = `${base}/access_tokens`;
      const state = () => named(fixtures, `${path}?search=${name}`, token);
      return { path, token, json: { name, scopes: ['api'] }, state };
    }),
    endpoint(`DELETE /${kind}/:id/access_tokens/:token_id`, (fixtures) => onBot(fixtures, kind, '')),
    endpoint(`POST /${kind}/:id/access_tokens/:token_id/rotate`, (fixtures) =>
      onBot(fixtures, kind, '/rotate'),
    ),
    endpoint(`POST /${kind}/:id/access_tokens/self/rotate`, async (fixtures) => {
      const { base, token } = await place(fixtures, kind);
      const json = { name: fixtures.fresh('token'), scopes: ['api'] };
      const made = await fixtures.done('POST', `${base}/access_tokens`, { token, json });
      const path = `${base}/access_tokens/self/rotate`;
      return { path, token: made.token, state: () => ended(fixtures, made.token) };
    }),
    endpoint(`POST /${kind}/:id/deploy_tokens`, async (fixtures) => {
      const { base, token } = await place(fixtures, kind);
      const name = fixtures.fresh('token');
      const path = `${base}/deploy_tokens`;
      const state = async () => {
        const list: { name: string }[] = await fixtures.done('GET', `${path}?per_page=100`, { token });
        return countOf(list.filter((one) => one.name === name));
      };
      return { path, token, json: { name, scopes: ['read_repository'] }, state };
    }),
    endpoint(`DELETE /${kind}/:id/deploy_tokens/:token_id`, async (fixtures) => {
      const { base, token } = await place(fixtures, kind);
      const json = { name: fixtures.fresh('token'), scopes: ['read_repository'] };
      const { id } = await fixtures.done('POST', `${base}/deploy_tokens`, { token, json });
      const path = `${base}/deploy_tokens/${id}`;
      return { path, token, state: async () => flip(await found(fixtures, path, token)) };
    }),
  ]),
];

/** A request about a token of a bot that is there; done when that token is no good any more. */
async function onBot(fixtures: Fixtures, kind: 'projects' | 'groups', action: string): Promise<Sent> {
  const { base, token } = await place(fixtures, kind);
  const json = { name: fixtures.fresh('token'), scopes: ['api'] };
  const made = await fixtures.done('POST', `${base}/access_tokens`, { token, json });
  const path = `${base}/access_tokens/${made.id}${action}`;
  return { path, token, state: () => ended(fixtures, made.token) };
}

async function place(
  fixtures: Fixtures,
  kind: 'projects' | 'groups',
): Promise<{ base: string; token: string }> {
  if (kind === 'projects') {
    const { id, owner } = await fixtures.ground();
    return { base: `/projects/${id}`, token: owner.token };
  }
  const owner: Someone = await fixtures.owner();
  const path = fixtures.fresh('group');
  const group = await fixtures.done('POST', '/groups', { token: owner.token, json: { name: path, path } });
  return { base: `/groups/${group.id}`, token: owner.token };
}

async function personal(fixtures: Fixtures): Promise<{ id: number; token: string }> {
  const { id } = await fixtures.owner();
  const json = { name: fixtures.fresh('token'), scopes: ['api'] };
  return fixtures.done('POST', `/users/${id}/personal_access_tokens`, {
    token: fixtures.service.rootToken,
    json,
  });
}

async function ended({ service }: Fixtures, token: string): Promise<string> {
  const answer = await service.call('GET', '/user', { token });
  return answer.status === 200 ? 'before' : answer.status === 401 ? 'after' : answered(answer);
}

async function named(fixtures: Fixtures, path: string, token: string): Promise<string> {
  return countOf(await fixtures.done('GET', path, { token }));
}
