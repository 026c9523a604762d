import { MAINTAINER } from '../../domain/access/levels.ts';
import { entityOf } from '../../domain/members/audit.ts';
import {
  BOT_SCOPES,
  botToken,
  createBotToken,
  listBotTokens,
  ownBotToken,
} from '../../domain/tokens/bots.ts';
import { revokeToken, rotateToken } from '../../domain/tokens/tokens.ts';
import { group, project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { noContent } from '../../http/reply.ts';
import type { AccessLevel } from '../../records/members.ts';
import { accessOf } from '../container-access.ts';
import { counted, endpoint } from '../endpoint.ts';
import { filters, filtersOf } from './filters.ts';
import * as present from './present.ts';
import * as shapes from './shapes.ts';

const area = 'tokens';

/**
 * Projects and groups have the same endpoints. They require only read access: callers who may not manage tokens get the
 * status that clients expect from the domain rules, not the usual 403.
 */
const KINDS = {
  project: {
    base: '/projects/:id/access_tokens',
    access: project('read_project'),
    levels: ['10', '20', '30', '40'],
  },
  group: {
    base: '/groups/:id/access_tokens',
    access: group('read_group'),
    levels: ['10', '20', '30', '40', '50'],
  },
} as const;

type Kind = keyof typeof KINDS;

const errors = (kind: Kind) => [
  { status: 401, description: `The caller may not manage the access tokens of the ${kind}` },
];

const list = (kind: Kind) =>
  endpoint({
    method: 'GET',
    path: KINDS[kind].base,
    area,
    summary: `List the access tokens of a ${kind}`,
    access: KINDS[kind].access,
    query: () => p.params(filters()),
    returns: { body: shapes.botTokens },
    paginate: 'offset',
    errors: errors(kind),
    handle: async ({ actor, query, page, ...found }, deps) => {
      const options = { ...counted(page), ...filtersOf(query) };
      const tokens = await listBotTokens(deps, actor, accessOf(found), options);
      return { ...tokens, items: tokens.items.map((record) => present.botToken(record, deps.now())) };
    },
  });

const create = (kind: Kind) =>
  endpoint({
    method: 'POST',
    path: KINDS[kind].base,
    area,
    summary: `Create an access token of a ${kind}`,
    description:
      'The token acts as a bot user that becomes a member. The response is the only one that contains the text of the token.',
    access: KINDS[kind].access,
    body: () =>
      p.params({
        name: p.string({ required: true, maxLength: 255, description: 'Name of the token' }),
        scopes: p.list(p.oneOf(BOT_SCOPES), {
          required: true,
          blank: false,
          description: 'Scopes of the token',
        }),
        access_level: p.oneOf(KINDS[kind].levels, {
          default: String(MAINTAINER) as '40',
          description: 'Access level of the bot user, at most your own',
        }),
        expires_at: p.date({
          nullable: true,
          description: 'Date on which the token expires, at 00:00 UTC (`YYYY-MM-DD`)',
        }),
      }),
    returns: { body: shapes.botTokenWithText },
    errors: [
      {
        status: 400,
        description: 'The caller may not create tokens, or the access level is above their own',
      },
    ],
    handle: async ({ actor, body, ...found }, deps) => {
      const { name, scopes, expires_at } = body;
      const accessLevel = Number(body.access_level) as AccessLevel;
      const input = { name, scopes, accessLevel, expiresAt: expires_at ?? null };
      const { token, text } = await createBotToken(deps, actor, accessOf(found), input);
      return { ...present.botToken(token, deps.now()), token: text };
    },
  });

const byId = () => p.params({ token_id: p.integer({ required: true, description: 'Id of the token' }) });
const absent = { status: 404, description: 'The token does not exist' };

const get = (kind: Kind) =>
  endpoint({
    method: 'GET',
    path: `${KINDS[kind].base}/:token_id`,
    area,
    summary: `Get an access token of a ${kind}`,
    access: KINDS[kind].access,
    params: byId,
    returns: { body: shapes.botToken },
    errors: [...errors(kind), absent],
    handle: async ({ actor, params, ...found }, deps) =>
      present.botToken(await botToken(deps, actor, accessOf(found), params.token_id), deps.now()),
  });

const revoke = (kind: Kind) =>
  endpoint({
    method: 'DELETE',
    path: `${KINDS[kind].base}/:token_id`,
    area,
    summary: `Revoke an access token of a ${kind}`,
    description: 'Also deletes the bot user of the token.',
    access: KINDS[kind].access,
    params: byId,
    returns: { status: 204 },
    errors: [...errors(kind), absent],
    handle: async ({ actor, params, unmodifiedSince, ...found }, deps) => {
      const resource = accessOf(found);
      const record = await botToken(deps, actor, resource, params.token_id, { revokes: true });
      unmodifiedSince(record.createdAt);
      await revokeToken(deps, actor, record, { entity: entityOf(resource) });
      return noContent();
    },
  });

const rotate = (kind: Kind) =>
  endpoint({
    method: 'POST',
    path: `${KINDS[kind].base}/:token_id/rotate`,
    area,
    summary: `Rotate an access token of a ${kind}`,
    description: 'Revokes the token and creates a new one for the same bot user.',
    access: KINDS[kind].access,
    params: byId,
    body: () =>
      p.params({
        expires_at: p.date({
          description: 'Date on which the new token expires (`YYYY-MM-DD`); default: in a week',
        }),
      }),
    returns: { status: 200, body: shapes.botTokenWithText },
    errors: [
      ...errors(kind),
      absent,
      { status: 400, description: 'The token was already revoked; its successor is revoked too' },
      { status: 409, description: 'The token was rotated by another request at the same time' },
      { status: 422, description: 'The date is in the past or beyond the maximum lifetime' },
    ],
    handle: async ({ actor, params, body, ...found }, deps) => {
      const resource = accessOf(found);
      const record = await botToken(deps, actor, resource, params.token_id, { replaced: true });
      const { token, text } = await rotateToken(deps, actor, record, body.expires_at, entityOf(resource));
      return { ...present.botToken(token, deps.now()), token: text };
    },
  });

const rotateSelf = (kind: Kind) =>
  endpoint({
    method: 'POST',
    path: `${KINDS[kind].base}/self/rotate`,
    area,
    summary: `Rotate the access token of a ${kind} that authenticates this request`,
    description:
      'The response contains the new token. Using a token that was already rotated revokes its successor, too.',
    access: KINDS[kind].access,
    rotates: true,
    body: () =>
      p.params({
        expires_at: p.date({
          description: 'Date on which the new token expires (`YYYY-MM-DD`); default: in a week',
        }),
      }),
    returns: { status: 200, body: shapes.botTokenWithText },
    errors: [
      { status: 401, description: `The token belongs to another ${kind}` },
      { status: 405, description: 'The token is a personal access token' },
      { status: 409, description: 'The token was rotated by another request at the same time' },
      { status: 422, description: 'The date is in the past or beyond the maximum lifetime' },
    ],
    handle: async ({ actor, body, ...found }, deps) => {
      const resource = accessOf(found);
      const record = ownBotToken(actor, resource);
      const { token, text } = await rotateToken(deps, actor, record, body.expires_at, entityOf(resource));
      return { ...present.botToken(token, deps.now()), token: text };
    },
  });

// `self` must be declared before `:token_id`.
const of = (kind: Kind) => [
  list(kind),
  create(kind),
  get(kind),
  revoke(kind),
  rotateSelf(kind),
  rotate(kind),
];

export const botTokenEndpoints = [...of('project'), ...of('group')];
