import { revokeToken } from '../../domain/tokens/tokens.ts';
import {
  createImpersonationToken,
  impersonationToken,
  listImpersonationTokens,
} from '../../domain/tokens/user-tokens.ts';
import { administrator } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { TOKEN_SCOPES } from '../../records/tokens.ts';
import { counted, endpoint } from '../endpoint.ts';
import * as present from './present.ts';
import * as shapes from './shapes.ts';

const area = 'tokens';
const base = '/users/:user_id/impersonation_tokens';
const user = () => ({ user_id: p.routeInteger({ description: 'Id of the user' }) });
const errors = [{ status: 404, description: 'The user or token does not exist' }];

const list = endpoint({
  method: 'GET',
  path: base,
  area,
  summary: 'List the impersonation tokens of a user',
  access: administrator(),
  params: () => p.params(user()),
  query: () =>
    p.params({
      state: p.oneOf(['all', 'active', 'inactive'], {
        default: 'all',
        description: 'Return only active tokens, or only tokens that are revoked or expired',
      }),
    }),
  returns: { body: shapes.impersonationTokens },
  paginate: 'offset',
  errors,
  handle: async ({ params, query, page }, deps) => {
    const found = await listImpersonationTokens(deps, params.user_id, {
      ...counted(page),
      ...(query.state === 'all' ? {} : { state: query.state }),
    });
    return {
      ...found,
      items: found.items.map((record) => present.impersonationToken(record, deps.now())),
    };
  },
});

const create = endpoint({
  method: 'POST',
  path: base,
  area,
  summary: 'Create an impersonation token for a user',
  description:
    'The token acts as the user, who does not see it. The response is the only one that contains the text of the token.',
  access: administrator(),
  params: () => p.params(user()),
  body: () =>
    p.params({
      name: p.string({ required: true, maxLength: 255, description: 'Name of the token' }),
      scopes: p.list(p.oneOf(TOKEN_SCOPES), { description: 'Scopes of the token, at least one' }),
      expires_at: p.date({
        nullable: true,
        description: 'Date on which the token expires, at 00:00 UTC (`YYYY-MM-DD`)',
      }),
    }),
  returns: { body: shapes.impersonationTokenWithText },
  errors: [...errors, { status: 422, description: 'The user has the maximum number of tokens' }],
  handle: async ({ actor, params, body }, deps) => {
    const { name, scopes = [], expires_at } = body;
    const input = { name, scopes, expiresAt: expires_at ?? null };
    const { token, text } = await createImpersonationToken(deps, actor, params.user_id, input);
    return { ...present.impersonationToken(token, deps.now()), token: text };
  },
});

const oneToken = () =>
  p.params({ ...user(), id: p.integer({ required: true, description: 'Id of the token' }) });

const get = endpoint({
  method: 'GET',
  path: `${base}/:id`,
  area,
  summary: 'Get an impersonation token of a user',
  access: administrator(),
  params: oneToken,
  returns: { body: shapes.impersonationToken },
  errors,
  handle: async ({ params }, deps) =>
    present.impersonationToken(await impersonationToken(deps, params.user_id, params.id), deps.now()),
});

const revoke = endpoint({
  method: 'DELETE',
  path: `${base}/:id`,
  area,
  summary: 'Revoke an impersonation token',
  access: administrator(),
  params: oneToken,
  returns: { status: 204 },
  errors,
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    const record = await impersonationToken(deps, params.user_id, params.id);
    unmodifiedSince(record.createdAt);
    await revokeToken(deps, actor, record);
    return noContent();
  },
});

export const impersonationTokenEndpoints = [list, create, get, revoke];
