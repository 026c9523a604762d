import { signedIn as signedInActor } from '../../domain/access/permissions.ts';
import { revokeToken, rotateToken, type ToldToken } from '../../domain/tokens/tokens.ts';
import { createToken, listTokens, readableToken } from '../../domain/tokens/user-tokens.ts';
import { administrator, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { TOKEN_SCOPES, type TokenRecord } from '../../records/tokens.ts';
import { counted, endpoint } from '../endpoint.ts';
import { filters, filtersOf } from './filters.ts';
import { token } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'tokens';

const told = ({ token: record, text }: ToldToken, now: Date) => ({ ...token(record, now), token: text });

const create = endpoint({
  method: 'POST',
  path: '/users/:user_id/personal_access_tokens',
  area,
  summary: 'Create a personal access token for a user',
  description: 'The text of the token is in this answer and never shown again.',
  access: administrator(),
  params: () => p.params({ user_id: p.routeInteger({ description: 'Id of the user' }) }),
  body: () =>
    p.params({
      name: p.string({ required: true, maxLength: 255 }),
      scopes: p.list(p.oneOf(TOKEN_SCOPES), { required: true, blank: false }),
      expires_at: p.date({ nullable: true, description: 'The token ends at the start of this day, UTC' }),
    }),
  returns: { body: shapes.tokenWithText },
  errors: [
    { status: 404, description: 'No such user' },
    { status: 422, description: 'A blank name, or a day in the past' },
  ],
  handle: async ({ actor, params, body }, deps) => {
    const { name, scopes, expires_at } = body;
    const input = { name, scopes, expiresAt: expires_at ?? null };
    return told(await createToken(deps, actor, params.user_id, input), deps.now());
  },
});

const list = endpoint({
  method: 'GET',
  path: '/personal_access_tokens',
  area,
  summary: 'List personal access tokens: your own; administrators, all',
  access: signedIn(),
  query: () => p.params({ user_id: p.integer({ description: 'Only tokens of this user' }), ...filters() }),
  returns: { body: shapes.tokens },
  paginate: 'offset',
  errors: [{ status: 401, description: "Another user's, without being an administrator" }],
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

const own = (actor: Parameters<typeof signedInActor>[0]): TokenRecord => signedInActor(actor).token;

const getSelf = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/self',
  area,
  summary: 'Get the token this request was made with',
  access: signedIn(),
  scopes: [...TOKEN_SCOPES],
  returns: { body: shapes.token },
  handle: ({ actor }, deps) => token(own(actor), deps.now()),
});

const revokeSelf = endpoint({
  method: 'DELETE',
  path: '/personal_access_tokens/self',
  area,
  summary: 'Revoke the token this request was made with',
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
  errors: [{ status: 404, description: 'Absent, or another user’s' }],
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
    { status: 400, description: 'Absent, or another user’s' },
    { status: 404, description: 'Absent; for administrators' },
  ],
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    const record = await readableToken(deps, actor, params.id, 'revoke');
    unmodifiedSince(record.createdAt);
    await revokeToken(deps, actor, record);
    return noContent();
  },
});

const expiry = () =>
  p.params({ expires_at: p.date({ description: 'Of the new token; in a week when not given' }) });
const rotation = [
  { status: 400, description: 'It was revoked already; what took its place is revoked too' },
  { status: 409, description: 'It was rotated at the same moment' },
  { status: 422, description: 'A day in the past' },
];

const rotateSelf = endpoint({
  method: 'POST',
  path: '/personal_access_tokens/self/rotate',
  area,
  summary: 'Revoke the token this request was made with, and create one in its place',
  description: 'With a token that was rotated before, what took its place is revoked too.',
  access: signedIn(),
  rotates: true,
  body: expiry,
  returns: { status: 200, body: shapes.tokenWithText },
  errors: rotation,
  handle: async ({ actor, body }, deps) =>
    told(await rotateToken(deps, actor, own(actor), body.expires_at), deps.now()),
});

const rotate = endpoint({
  method: 'POST',
  path: '/personal_access_tokens/:id/rotate',
  area,
  summary: 'Revoke a personal access token, and create one in its place',
  access: signedIn(),
  params: byId,
  body: expiry,
  returns: { status: 200, body: shapes.tokenWithText },
  errors: [{ status: 401, description: 'Absent, or another user’s' }, ...rotation],
  handle: async ({ actor, params, body }, deps) => {
    const record = await readableToken(deps, actor, params.id, 'rotate');
    return told(await rotateToken(deps, actor, record, body.expires_at), deps.now());
  },
});

export const personalTokenEndpoints = [create, list, getSelf, revokeSelf, rotateSelf, get, revoke, rotate];
