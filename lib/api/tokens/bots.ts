import { MAINTAINER } from '../../domain/access/permissions.ts';
import { entityOf } from '../../domain/members/audit.ts';
import type { MemberPlace } from '../../domain/members/list.ts';
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
import { counted, endpoint } from '../endpoint.ts';
import { filters, filtersOf } from './filters.ts';
import * as present from './present.ts';
import * as shapes from './shapes.ts';

const area = 'tokens';

/** The same for both. Who sees it and may not manage its tokens is told so by the rules, as clients know it. */
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

/** What the access rule found. */
const placeOf = (found: {
  project?: MemberPlace | undefined;
  group?: MemberPlace | undefined;
}): MemberPlace => (found.project ?? found.group)!;

const errors = (kind: Kind) => [
  { status: 401, description: `Without the right to manage tokens of the ${kind}` },
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
      const wanted = { ...counted(page), ...filtersOf(query) };
      const tokens = await listBotTokens(deps, actor, placeOf(found), wanted);
      return { ...tokens, items: tokens.items.map((record) => present.botToken(record, deps.now())) };
    },
  });

const create = (kind: Kind) =>
  endpoint({
    method: 'POST',
    path: KINDS[kind].base,
    area,
    summary: `Create an access token of a ${kind}, with a bot that is a member there`,
    description: 'The text of the token is in this answer and never shown again.',
    access: KINDS[kind].access,
    body: () =>
      p.params({
        name: p.string({ required: true, maxLength: 255 }),
        scopes: p.list(p.oneOf(BOT_SCOPES), { required: true, blank: false }),
        access_level: p.oneOf(KINDS[kind].levels, {
          default: String(MAINTAINER) as '40',
          description: 'Of the bot; not above your own',
        }),
        expires_at: p.date({ nullable: true, description: 'The token ends at the start of this day, UTC' }),
      }),
    returns: { body: shapes.botTokenWithText },
    errors: [{ status: 400, description: 'Without the right, or with a higher level than your own' }],
    handle: async ({ actor, body, ...found }, deps) => {
      const { name, scopes, expires_at } = body;
      const accessLevel = Number(body.access_level) as AccessLevel;
      const input = { name, scopes, accessLevel, expiresAt: expires_at ?? null };
      const { token, text } = await createBotToken(deps, actor, placeOf(found), input);
      return { ...present.botToken(token, deps.now()), token: text };
    },
  });

const byId = () => p.params({ token_id: p.integer({ required: true, description: 'Id of the token' }) });
const absent = { status: 404, description: 'No such token' };

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
      present.botToken(await botToken(deps, actor, placeOf(found), params.token_id), deps.now()),
  });

const revoke = (kind: Kind) =>
  endpoint({
    method: 'DELETE',
    path: `${KINDS[kind].base}/:token_id`,
    area,
    summary: `Revoke an access token of a ${kind}; its bot goes with it`,
    access: KINDS[kind].access,
    params: byId,
    returns: { status: 204 },
    errors: [...errors(kind), absent],
    handle: async ({ actor, params, unmodifiedSince, ...found }, deps) => {
      const place = placeOf(found);
      const record = await botToken(deps, actor, place, params.token_id, { revokes: true });
      unmodifiedSince(record.createdAt);
      await revokeToken(deps, actor, record, { entity: entityOf(place) });
      return noContent();
    },
  });

const rotate = (kind: Kind) =>
  endpoint({
    method: 'POST',
    path: `${KINDS[kind].base}/:token_id/rotate`,
    area,
    summary: `Revoke an access token of a ${kind}, and create one for the same bot in its place`,
    access: KINDS[kind].access,
    params: byId,
    body: () =>
      p.params({ expires_at: p.date({ description: 'Of the new token; in a week when not given' }) }),
    returns: { status: 200, body: shapes.botTokenWithText },
    errors: [
      ...errors(kind),
      absent,
      { status: 400, description: 'It was revoked already; what took its place is revoked too' },
      { status: 409, description: 'It was rotated at the same moment' },
      { status: 422, description: 'A day in the past' },
    ],
    handle: async ({ actor, params, body, ...found }, deps) => {
      const place = placeOf(found);
      const record = await botToken(deps, actor, place, params.token_id, { replaced: true });
      const { token, text } = await rotateToken(deps, actor, record, body.expires_at, entityOf(place));
      return { ...present.botToken(token, deps.now()), token: text };
    },
  });

const rotateSelf = (kind: Kind) =>
  endpoint({
    method: 'POST',
    path: `${KINDS[kind].base}/self/rotate`,
    area,
    summary: `Revoke the access token of a ${kind} that this request was made with, and create one in its place`,
    description: 'With a token that was rotated before, what took its place is revoked too.',
    access: KINDS[kind].access,
    rotates: true,
    body: () =>
      p.params({ expires_at: p.date({ description: 'Of the new token; in a week when not given' }) }),
    returns: { status: 200, body: shapes.botTokenWithText },
    errors: [
      { status: 401, description: `A token of another ${kind}` },
      { status: 405, description: 'A token of a person' },
      { status: 409, description: 'It was rotated at the same moment' },
      { status: 422, description: 'A day in the past' },
    ],
    handle: async ({ actor, body, ...found }, deps) => {
      const place = placeOf(found);
      const record = ownBotToken(actor, place);
      const { token, text } = await rotateToken(deps, actor, record, body.expires_at, entityOf(place));
      return { ...present.botToken(token, deps.now()), token: text };
    },
  });

// A literal segment goes before an id.
const of = (kind: Kind) => [
  list(kind),
  create(kind),
  get(kind),
  revoke(kind),
  rotateSelf(kind),
  rotate(kind),
];

export const botTokenEndpoints = [...of('project'), ...of('group')];
