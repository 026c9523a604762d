/** Tokens of projects and groups. Each acts as a bot: a separate user whose only membership is there. */

import type { AccessLevel, MemberSource } from '../../records/members.ts';
import type { TokenRecord, TokenScope } from '../../records/tokens.ts';
import type { UserRecord } from '../../records/users.ts';
import { LimitReached, Missing, NameTaken, TransactionRefused } from '../../store/errors.ts';
import { checkSourceExists, memberWrite } from '../../store/members/item.ts';
import type { Page } from '../../store/table/paging.ts';
import type { Write } from '../../store/table/write.ts';
import { MAX_TOKENS } from '../../store/tokens/rows.ts';
import { can, canInGroup, signedIn } from '../access/permissions.ts';
import { tokenHash } from '../access/token-check.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { recordingRefusals } from '../audit-events/audited-refusals.ts';
import { prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { badRequest, DomainError, notFound, resourceNotFound, unauthorized } from '../errors.ts';
import { prepareActivity } from '../events/record.ts';
import { entityOf } from '../members/audit.ts';
import { type MembershipResource, sourceOf } from '../members/list.ts';
import { auditedToken } from './audit.ts';
import { firstSentence, newAccessText, type TokenInput, type ToldToken, tokenProblems } from './tokens.ts';
import { narrowed, type TokenFilters } from './user-tokens.ts';

/** Scopes that a bot may have. */
export const BOT_SCOPES = [
  'api',
  'read_api',
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
] as const satisfies readonly TokenScope[];

/** Attempts to find a free username, also while other requests create bots. */
const ATTEMPTS = 5;

/** @throws 400 for invalid input, missing rights, or a level above the actor's own. Failures are recorded too. */
export const createBotToken = (
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  input: TokenInput & { readonly accessLevel: AccessLevel },
): Promise<ToldToken> =>
  recordingRefusals(deps, actor, attempted('create', place), () => create(deps, actor, place, input));

async function create(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  input: TokenInput & { readonly accessLevel: AccessLevel },
): Promise<ToldToken> {
  const source = sourceOf(place);
  const { user } = signedIn(actor);
  if (!mayManage(actor, place) || user.type !== undefined) {
    throw badRequest(`User does not have permission to create ${source.kind} access token`);
  }
  if (!isAdministrator(actor) && input.accessLevel > place.level) {
    throw badRequest(
      "Access level of the token can't be greater the access level of the user who created the token",
    );
  }
  const problem = firstSentence(await tokenProblems(deps, input));
  if (problem !== undefined) throw badRequest(problem);
  const [event, tell] = await Promise.all([
    prepareAudited(deps, actor),
    source.kind === 'project' ? prepareActivity(deps) : undefined,
  ]);
  const recordCreation = (token: TokenRecord): Write[] => {
    const joined = { authorId: token.userId, projectId: source.id, action: 'joined' } as const;
    const recorded = event(auditedToken(entityOf(place), token, { action: 'Created' }));
    return tell === undefined ? [recorded] : [recorded, tell(joined)];
  };
  for (let tries = 0; tries < ATTEMPTS; tries++) {
    try {
      return await createOnce(deps, user, source, input, tries, recordCreation);
    } catch (error) {
      if (error instanceof LimitReached) {
        throw badRequest(`There are ${error.limit} ${source.kind} access tokens: revoke some first`);
      }
      if (error instanceof TransactionRefused && error.has(source.kind)) {
        throw resourceNotFound(source);
      }
      if (!(error instanceof NameTaken || error instanceof TransactionRefused)) throw error;
    }
  }
  throw new DomainError('conflict', '409 Conflict: Resource lock');
}

async function createOnce(
  deps: Deps,
  creator: UserRecord,
  source: MemberSource,
  { name, scopes, expiresAt, accessLevel }: TokenInput & { readonly accessLevel: AccessLevel },
  past: number,
  recordCreation: (token: TokenRecord) => readonly Write[],
): Promise<ToldToken> {
  const now = deps.now();
  const text = await newAccessText(deps);
  const prepared = await deps.store.tokens.prepareOfBot(
    {
      name,
      scopes: [...new Set(scopes)],
      expiresAt,
      hash: tokenHash(text),
      resource: source,
      accessLevel,
      createdById: creator.id,
    },
    now,
  );
  const number = prepared.bots + past;
  const username = `${source.kind}_${source.id}_bot${number === 0 ? '' : number}`;
  let token: TokenRecord | undefined;
  const about = (userId: number) => {
    const { record, writes } = prepared.of(userId);
    token = record;
    const createdAt = now.toISOString();
    const member = {
      source,
      userId,
      accessLevel,
      createdAt,
      expiresAt,
      createdById: creator.id,
      bot: true as const,
    };
    return [...writes, memberWrite(member), checkSourceExists(source), ...recordCreation(record)];
  };
  try {
    await deps.store.users.create(botUser(username, name, creator), { now, about });
  } catch (error) {
    const count = error instanceof TransactionRefused ? error.get('tokens')?.item : undefined;
    if (((count?.['live'] as number | undefined) ?? 0) >= MAX_TOKENS) {
      throw new LimitReached('tokens', MAX_TOKENS);
    }
    throw error;
  }
  return { token: token!, text };
}

const botUser = (username: string, name: string, creator: UserRecord) =>
  ({
    username,
    name,
    // The address receives no mail.
    email: `${username}@noreply.invalid`,
    state: 'active',
    type: 'project_bot',
    admin: false,
    // It sees internal projects only if its creator does.
    external: creator.external,
    privateProfile: false,
    canCreateGroup: false,
    projectsLimit: 0,
    confirmedAt: null,
    lastActivityOn: null,
    passwordHash: null,
    profile: {},
  }) as const;

/** Lists active tokens; replaced ones are left out. @throws 401 */
export async function listBotTokens(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  query: Parameters<typeof narrowed>[0] & TokenFilters,
): Promise<Page<TokenRecord>> {
  demandManager(actor, place);
  return deps.store.tokens.list({ ...narrowed(query, deps.now()), of: { resource: sourceOf(place) } });
}

/**
 * @param options.revokes record an attempt without the rights
 * @param options.replaced also find a replaced token: rotating it again shows that its text has leaked
 * @throws 401, 404
 */
export async function botToken(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  id: number,
  { replaced = false, revokes = false }: { replaced?: boolean; revokes?: boolean } = {},
): Promise<TokenRecord> {
  const { kind, id: sourceId } = sourceOf(place);
  const demanding = async () => demandManager(actor, place);
  if (!revokes) await demanding();
  else await recordingRefusals(deps, actor, attempted('revoke', place, ` with token_id: ${id},`), demanding);
  const token = await deps.store.tokens.get(id);
  const here = token?.resource?.kind === kind && token.resource.id === sourceId;
  if (token === undefined || !here || (token.revoked && !replaced)) {
    throw notFound(`Could not find ${kind} access token with token_id: ${id}`);
  }
  return token;
}

/** Returns the token of the request if it belongs to this project or group. @throws 405 for a person's token, 401 for one of another resource */
export function ownBotToken(actor: Actor, place: MembershipResource): TokenRecord {
  const { token } = signedIn(actor);
  if (token?.resource == null) throw new DomainError('method-not-allowed', '405 Method Not Allowed');
  const { kind, id } = sourceOf(place);
  if (token.resource.kind !== kind || token.resource.id !== id) throw unauthorized();
  return token;
}

/** Deletes the bot of a revoked token. Idempotent. */
export async function removeBot({ store }: Deps, { userId }: { userId: number }): Promise<void> {
  const user = await store.users.get(userId);
  if (user?.type !== 'project_bot') return;
  try {
    await store.users.remove(user);
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
  }
}

const attempted = (verb: 'create' | 'revoke', place: MembershipResource, which = '') => ({
  entity: () => entityOf(place),
  what: `${verb} ${sourceOf(place).kind} access token${which}`,
});

const mayManage = (actor: Actor, place: MembershipResource): boolean =>
  'project' in place ? can(actor, place, 'admin_project') : canInGroup(actor, place, 'admin_group');

function demandManager(actor: Actor, place: MembershipResource): void {
  if (!mayManage(actor, place)) throw unauthorized();
}
