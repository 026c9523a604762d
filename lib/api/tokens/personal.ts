import { signedIn as signedInActor } from '../../domain/access/permissions.ts';
import { revokeToken, rotateToken, type ToldToken } from '../../domain/tokens/tokens.ts';
import { createToken, listTokens, readableToken } from '../../domain/tokens/user-tokens.ts';
import { administrator, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { TOKEN_SCOPES, type TokenRecord } from '../../records/tokens.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { filters, filtersOf } from './filters.ts';
import { token } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'tokens';

const withText = ({ token: record, text }: ToldToken, now: Date) => ({ ...token(record, now), token: text });

const create = endpoint({
  method: 'POST',
  path: '/users/:user_id/personal_access_tokens',
  area,
  summary: 'Create a personal access token for a user',
  description: 'The response is the only one that contains the text of the token.',
  access: administrator(),
  params: () => p.params({ user_id: p.routeInteger({ description: 'Id of the user' }) }),
  body: () =>
    p.params({
      name: p.string({ required: true, maxLength: 255, description: 'Name of the token' }),
      scopes: p.list(p.oneOf(TOKEN_SCOPES), {
        required: true,
        blank: false,
        description: 'Scopes of the token',
      }),
      expires_at: p.date({
        nullable: true,
        description: 'Date on which the token expires, at 00:00 UTC (`YYYY-MM-DD`)',
      }),
    }),
  returns: { body: shapes.tokenWithText },
  errors: [
    { status: 404, description: 'The user does not exist' },
    {
      status: 422,
      description: 'The name is blank, or the date is in the past or beyond the maximum lifetime',
    },
  ],
  handle: async ({ actor, params, body }, deps) => {
    const { name, scopes, expires_at } = body;
    const input = { name, scopes, expiresAt: expires_at ?? null };
    return withText(await createToken(deps, actor, params.user_id, input), deps.now());
  },
});

const list = endpoint({
  method: 'GET',
  path: '/personal_access_tokens',
  area,
  summary: 'List personal access tokens',
  description: 'Returns your own tokens; for administrators, those of all users.',
  access: signedIn(),
  query: () =>
    p.params({
      user_id: p.integer({ description: 'Return only tokens of the user with this id' }),
      ...filters(),
    }),
  returns: { body: shapes.tokens },
  ...BY_ROWS,
  errors: [
    { status: 401, description: 'Tokens of another user are for administrators only' },
    { status: 404, description: 'The user does not exist' },
  ],
  handle: async ({ actor, query, page }, deps) => {
    const { user_id, ...filters } = query;
    const found = await listTokens(deps, actor, {
      ...counted(page),
      ...filtersOf(filters),
      ...(user_id === undefined ? {} : { userId: user_id }),
    });
    return { ...found, items: found.items.map((record) => token(record, deps.now())) };
  },
});

const own = (actor: Parameters<typeof signedInActor>[0]): TokenRecord => signedInActor(actor).token!;

const getSelf = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/self',
  area,
  summary: 'Get the token that authenticates this request',
  access: signedIn(),
  scopes: [...TOKEN_SCOPES],
  returns: { body: shapes.token },
  handle: ({ actor }, deps) => token(own(actor), deps.now()),
});

const revokeSelf = endpoint({
  method: 'DELETE',
  path: '/personal_access_tokens/self',
  area,
  summary: 'Revoke the token that authenticates this request',
  access: signedIn(),
  scopes: [...TOKEN_SCOPES],
  returns: { status: 204 },
  handle: async ({ actor }, deps) => {
    await revokeToken(deps, actor, own(actor));
    return noContent();
  },
});

const byId = () => p.params({ id: p.integer({ required: true, description: 'Id of the token' }) });

const get = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/:id',
  area,
  summary: 'Get a personal access token',
  access: signedIn(),
  params: byId,
  returns: { body: shapes.token },
  errors: [{ status: 404, description: 'The token does not exist or belongs to another user' }],
  handle: async ({ actor, params }, deps) =>
    token(await readableToken(deps, actor, params.id, 'read'), deps.now()),
});

const revoke = endpoint({
  method: 'DELETE',
  path: '/personal_access_tokens/:id',
  area,
  summary: 'Revoke a personal access token',
  access: signedIn(),
  params: byId,
  returns: { status: 204 },
  errors: [
    { status: 400, description: 'The token does not exist or belongs to another user' },
    { status: 404, description: 'The token does not exist; for administrators' },
  ],
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    const record = await readableToken(deps, actor, params.id, 'revoke');
    unmodifiedSince(record.createdAt);
    await revokeToken(deps, actor, record);
    return noContent();
  },
});

const expiry = () =>
  p.params({
    expires_at: p.date({
      description: 'Date on which the new token expires (`YYYY-MM-DD`); default: in a week',
    }),
  });
const rotation = [
  { status: 400, description: 'The token was already revoked; its successor is revoked too' },
  { status: 409, description: 'The token was rotated by another request at the same time' },
  { status: 422, description: 'The date is in the past or beyond the maximum lifetime' },
];

const rotateSelf = endpoint({
  method: 'POST',
  path: '/personal_access_tokens/self/rotate',
  area,
  summary: 'Rotate the token that authenticates this request',
  description:
    'The response contains the new token. Using a token that was already rotated revokes its successor, too.',
  access: signedIn(),
  rotates: true,
  body: expiry,
  returns: { status: 200, body: shapes.tokenWithText },
  errors: rotation,
  handle: async ({ actor, body }, deps) =>
    withText(await rotateToken(deps, actor, own(actor), body.expires_at), deps.now()),
});

const rotate = endpoint({
  method: 'POST',
  path: '/personal_access_tokens/:id/rotate',
  area,
  summary: 'Rotate a personal access token',
  description: 'Revokes the token and creates a new one with the same name and scopes.',
  access: signedIn(),
  params: byId,
  body: expiry,
  returns: { status: 200, body: shapes.tokenWithText },
  errors: [{ status: 401, description: 'The token does not exist or belongs to another user' }, ...rotation],
  handle: async ({ actor, params, body }, deps) => {
    const record = await readableToken(deps, actor, params.id, 'rotate');
    return withText(await rotateToken(deps, actor, record, body.expires_at), deps.now());
  },
});

export const personalTokenEndpoints = [create, list, getSelf, revokeSelf, rotateSelf, get, revoke, rotate];
