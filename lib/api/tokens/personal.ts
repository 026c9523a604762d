import { signedIn as signedInActor } from '../../domain/permissions.ts';
import * as tokens from '../../domain/tokens.ts';
import { administrator, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import { TOKEN_SCOPES, type TokenRecord } from '../../store/records.ts';
import { counted, endpoint } from '../endpoint.ts';
import { token } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'tokens';

const createToken = endpoint({
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
  handle: async ({ params, body }, deps) => {
    const made = await tokens.createToken(deps, {
      userId: params.user_id,
      name: body.name,
      scopes: body.scopes,
      expiresAt: body.expires_at ?? null,
    });
    return { ...token(made.token, deps.now()), token: made.text };
  },
});

const listTokens = endpoint({
  method: 'GET',
  path: '/personal_access_tokens',
  area,
  summary: 'List personal access tokens: your own; administrators, all',
  access: signedIn(),
  query: () => p.params({ user_id: p.integer({ description: 'Only tokens of this user' }) }),
  returns: { body: shapes.tokens },
  paginate: 'offset',
  errors: [{ status: 401, description: "Another user's, without being an administrator" }],
  handle: async ({ actor, query, page }, deps) => {
    const found = await tokens.listTokens(deps, actor, {
      ...counted(page),
      ...(query.user_id === undefined ? {} : { userId: query.user_id }),
    });
    return { ...found, items: found.items.map((record) => token(record, deps.now())) };
  },
});

const ownToken = (actor: Parameters<typeof signedInActor>[0]): TokenRecord => signedInActor(actor).token;

const getOwnToken = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/self',
  area,
  summary: 'Get the token this request was made with',
  access: signedIn(),
  scopes: [...TOKEN_SCOPES],
  returns: { body: shapes.token },
  handle: ({ actor }, deps) => token(ownToken(actor), deps.now()),
});

const revokeOwnToken = endpoint({
  method: 'DELETE',
  path: '/personal_access_tokens/self',
  area,
  summary: 'Revoke the token this request was made with',
  access: signedIn(),
  scopes: [...TOKEN_SCOPES],
  returns: { status: 204 },
  handle: async ({ actor }, deps) => {
    await tokens.revokeToken(deps, ownToken(actor));
    return noContent();
  },
});

const tokenId = () => p.params({ id: p.integer({ required: true, description: 'Id of the token' }) });

const getToken = endpoint({
  method: 'GET',
  path: '/personal_access_tokens/:id',
  area,
  summary: 'Get a personal access token',
  access: signedIn(),
  params: tokenId,
  returns: { body: shapes.token },
  errors: [{ status: 404, description: 'Absent, or another user’s' }],
  handle: async ({ actor, params }, deps) =>
    token(await tokens.readableToken(deps, actor, params.id, 'read'), deps.now()),
});

const revokeToken = endpoint({
  method: 'DELETE',
  path: '/personal_access_tokens/:id',
  area,
  summary: 'Revoke a personal access token',
  access: signedIn(),
  params: tokenId,
  returns: { status: 204 },
  errors: [
    { status: 400, description: 'Absent, or another user’s' },
    { status: 404, description: 'Absent; for administrators' },
  ],
  handle: async ({ actor, params, unmodifiedSince }, deps) => {
    const record = await tokens.readableToken(deps, actor, params.id, 'revoke');
    unmodifiedSince(record.createdAt);
    await tokens.revokeToken(deps, record);
    return noContent();
  },
});

export const personalTokenEndpoints = [
  createToken,
  listTokens,
  getOwnToken,
  revokeOwnToken,
  getToken,
  revokeToken,
];
