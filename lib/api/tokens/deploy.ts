import { sourceOf } from '../../domain/members/list.ts';
import {
  createDeployToken,
  deleteDeployToken,
  deployToken,
  listDeployTokens,
} from '../../domain/tokens/deploy-tokens.ts';
import { administrator, group, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { DEPLOY_TOKEN_SCOPES } from '../../records/tokens.ts';
import { accessOf } from '../container-access.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import * as present from './present.ts';
import * as shapes from './shapes.ts';

const area = 'tokens';
const active = () =>
  p.params({ active: p.boolean({ description: 'Return only tokens that have not expired' }) });

const listAll = endpoint({
  method: 'GET',
  path: '/deploy_tokens',
  area,
  summary: 'List all deploy tokens',
  access: administrator(),
  query: active,
  returns: { body: shapes.deployTokens },
  ...BY_ROWS,
  handle: async ({ query, page }, deps) => {
    const found = await listDeployTokens(deps, undefined, { ...counted(page), active: query.active });
    return { ...found, items: found.items.map((record) => present.deployToken(record, deps.now())) };
  },
});

/** Projects and groups have the same endpoints. */
const KINDS = {
  project: {
    base: '/projects/:id/deploy_tokens',
    readers: project('read_deploy_tokens'),
    managers: project('admin_deploy_tokens'),
    access: 'access to the project, as its scopes say',
  },
  group: {
    base: '/groups/:id/deploy_tokens',
    readers: group('read_deploy_tokens'),
    managers: group('admin_deploy_tokens'),
    access: 'access to every project in the group, as its scopes say',
  },
} as const;

type Kind = keyof typeof KINDS;

const list = (kind: Kind) =>
  endpoint({
    method: 'GET',
    path: KINDS[kind].base,
    area,
    summary: `List the deploy tokens of a ${kind}`,
    access: KINDS[kind].readers,
    query: active,
    returns: { body: shapes.deployTokens },
    paginate: 'offset',
    handle: async ({ query, page, ...found }, deps) => {
      const options = { ...counted(page), active: query.active };
      const tokens = await listDeployTokens(deps, sourceOf(accessOf(found)), options);
      return { ...tokens, items: tokens.items.map((record) => present.deployToken(record, deps.now())) };
    },
  });

const create = (kind: Kind) =>
  endpoint({
    method: 'POST',
    path: KINDS[kind].base,
    area,
    summary: `Create a deploy token for a ${kind}`,
    description: `The token has ${KINDS[kind].access}. The response is the only one that contains its text.`,
    access: KINDS[kind].managers,
    body: () =>
      p.params({
        name: p.string({ required: true, maxLength: 255, description: 'Name of the token' }),
        scopes: p.list(p.oneOf(DEPLOY_TOKEN_SCOPES), {
          required: true,
          blank: false,
          description: 'Scopes of the token',
        }),
        expires_at: p.datetime({ nullable: true, description: 'Time at which the token expires (ISO 8601)' }),
        username: p.string({
          maxLength: 255,
          description: 'Username of the token; default: `deploy-token-<id>`',
        }),
      }),
    returns: { body: shapes.deployTokenWithText },
    handle: async ({ actor, body, ...found }, deps) => {
      const { name, scopes, username, expires_at } = body;
      const input = { name, scopes, username: username || undefined, expiresAt: expires_at ?? undefined };
      const { token, text } = await createDeployToken(deps, actor, accessOf(found), input);
      return { ...present.deployToken(token, deps.now()), token: text };
    },
  });

const byId = () => p.params({ token_id: p.integer({ required: true, description: 'Id of the token' }) });
const errors = [{ status: 404, description: 'The token does not exist' }];

const get = (kind: Kind) =>
  endpoint({
    method: 'GET',
    path: `${KINDS[kind].base}/:token_id`,
    area,
    summary: `Get a deploy token of a ${kind}`,
    access: KINDS[kind].readers,
    params: byId,
    returns: { body: shapes.deployToken },
    errors,
    handle: async ({ params, ...found }, deps) =>
      present.deployToken(await deployToken(deps, accessOf(found), params.token_id), deps.now()),
  });

const remove = (kind: Kind) =>
  endpoint({
    method: 'DELETE',
    path: `${KINDS[kind].base}/:token_id`,
    area,
    summary: `Delete a deploy token of a ${kind}`,
    access: KINDS[kind].managers,
    params: byId,
    returns: { status: 204 },
    errors,
    handle: async ({ actor, params, unmodifiedSince, ...found }, deps) => {
      const resource = accessOf(found);
      const record = await deployToken(deps, resource, params.token_id);
      unmodifiedSince(record.createdAt);
      await deleteDeployToken(deps, actor, resource, record);
      return noContent();
    },
  });

const of = (kind: Kind) => [list(kind), create(kind), get(kind), remove(kind)];

export const deployTokenEndpoints = [listAll, ...of('project'), ...of('group')];
