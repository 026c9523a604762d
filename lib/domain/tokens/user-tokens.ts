/** Personal access tokens and impersonation tokens. */

import type { TokenRecord } from '../../records/tokens.ts';
import type { UserRecord } from '../../records/users.ts';
import { LimitReached, Missing } from '../../store/errors.ts';
import type { Page } from '../../store/table/paging.ts';
import type { TokenQuery } from '../../store/tokens/tokens.ts';
import { signedIn } from '../access/permissions.ts';
import { isActive, tokenHash } from '../access/token-check.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { recordingRefusals } from '../audit-events/audited-refusals.ts';
import { auditedUser, prepareAudited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { badRequest, forbidden, invalid, notFound, unauthorized, unprocessable } from '../errors.ts';
import { auditedToken, kindOf, openedBy } from './audit.ts';
import { firstSentence, newAccessText, type TokenInput, type ToldToken, tokenProblems } from './tokens.ts';

/** @throws 404 `404 User Not Found`, 422 with a sentence, 403 for a bot, whose tokens belong to its project or group */
export async function createToken(
  deps: Deps,
  actor: Actor,
  userId: number,
  input: TokenInput,
): Promise<ToldToken> {
  return recorded(deps, actor, userId, {}, async () => {
    const problem = firstSentence(await tokenProblems(deps, input));
    if (problem !== undefined) throw unprocessable(problem);
    return make(deps, actor, await personOf(deps, userId), input, {});
  });
}

/** @throws 404 `404 User Not Found`, 400 by field, 403 for a bot */
export async function createImpersonationToken(
  deps: Deps,
  actor: Actor,
  userId: number,
  input: TokenInput,
): Promise<ToldToken> {
  const kind = { impersonation: true, impersonator: signedIn(actor).user.username } as const;
  return recorded(deps, actor, userId, kind, async () => {
    const person = await personOf(deps, userId);
    const problems = await tokenProblems(deps, input);
    if (Object.keys(problems).length > 0) throw invalid(problems);
    return make(deps, actor, person, input, kind);
  });
}

type Kind = Pick<TokenRecord, 'impersonation' | 'impersonator'>;

const recorded = (
  deps: Deps,
  actor: Actor,
  userId: number,
  kind: Kind,
  work: () => Promise<ToldToken>,
): Promise<ToldToken> =>
  recordingRefusals(
    deps,
    actor,
    { entity: () => openedBy(deps, { userId }), what: `create ${kindOf(kind)}` },
    work,
  );

async function make(
  deps: Deps,
  actor: Actor,
  person: UserRecord,
  { name, scopes, expiresAt }: TokenInput,
  kind: Kind,
): Promise<ToldToken> {
  const text = await newAccessText(deps);
  const { user } = signedIn(actor);
  const userId = person.id;
  const record = {
    userId,
    name,
    scopes: [...new Set(scopes)],
    expiresAt,
    hash: tokenHash(text),
    ...(user.id === userId ? {} : { createdById: user.id }),
    ...kind,
  };
  try {
    const event = await prepareAudited(deps, actor);
    const alongside = (created: TokenRecord) => [
      event(auditedToken(auditedUser(person), created, { action: 'Created' })),
    ];
    return { token: await deps.store.tokens.create(record, { now: deps.now(), alongside }), text };
  } catch (error) {
    if (error instanceof Missing) throw notFound('User');
    throw error instanceof LimitReached ? tooMany(error) : error;
  }
}

const tooMany = ({ limit }: LimitReached) => unprocessable(`There are ${limit} tokens: revoke some first`);

async function personOf(deps: Deps, userId: number): Promise<UserRecord> {
  const user = await deps.store.users.get(userId);
  if (user === undefined) throw notFound('User');
  if (user.type !== undefined) throw forbidden();
  return user;
}

/** Filters of a list; dates and times in ISO 8601. */
export interface TokenFilters {
  readonly state?: 'active' | 'inactive';
  readonly revoked?: boolean;
  /** Part of the name, case-insensitive. */
  readonly search?: string;
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly lastUsedAfter?: string;
  readonly lastUsedBefore?: string;
  readonly expiresAfter?: string;
  readonly expiresBefore?: string;
}

type Listed = Omit<TokenQuery, 'of' | 'where'> & TokenFilters;

/** Lists the actor's own tokens; for administrators all tokens, or those of one user. @throws 401, 404 `404 User Not Found` */
export async function listTokens(
  deps: Deps,
  actor: Actor,
  { userId, ...query }: Listed & { readonly userId?: number },
): Promise<Page<TokenRecord>> {
  const { user } = signedIn(actor);
  const narrowedQuery = narrowed(query, deps.now());
  if (!isAdministrator(actor)) {
    if (userId !== undefined && userId !== user.id) throw unauthorized();
    return deps.store.tokens.list({ ...narrowedQuery, of: { userId: user.id } });
  }
  if (userId === undefined) return deps.store.tokens.list(narrowedQuery);
  if ((await deps.store.users.get(userId)) === undefined) throw notFound('User');
  return deps.store.tokens.list({ ...narrowedQuery, of: { userId } });
}

/** @throws 404 `404 User Not Found` */
export async function listImpersonationTokens(
  deps: Deps,
  userId: number,
  query: Listed,
): Promise<Page<TokenRecord>> {
  if ((await deps.store.users.get(userId)) === undefined) throw notFound('User');
  return deps.store.tokens.list({ ...narrowed(query, deps.now()), of: { userId, impersonation: true } });
}

/** @throws 404 `404 User Not Found`, `404 Impersonation Token Not Found` */
export async function impersonationToken(deps: Deps, userId: number, id: number): Promise<TokenRecord> {
  const [user, token] = await Promise.all([deps.store.users.get(userId), deps.store.tokens.get(id)]);
  if (user === undefined) throw notFound('User');
  if (token?.userId !== userId || token.impersonation !== true) throw notFound('Impersonation Token');
  return token;
}

/** The error for a token that does not exist or belongs to another user. */
const REFUSALS = { read: notFound, revoke: badRequest, rotate: unauthorized };

/**
 * Returns one of the actor's own tokens; for administrators any. Tokens of others are treated as absent.
 * An attempt to revoke another user's token is recorded in that user's audit events.
 * @throws for administrators 404; for others 404 on reading, 400 on revoking and 401 on rotating, as clients know it
 */
export async function readableToken(
  deps: Deps,
  actor: Actor,
  id: number,
  purpose: keyof typeof REFUSALS,
): Promise<TokenRecord> {
  const { user } = signedIn(actor);
  const token = await deps.store.tokens.get(id);
  const own = token?.userId === user.id && token.impersonation !== true;
  if (token !== undefined && (own || isAdministrator(actor))) return token;
  if (isAdministrator(actor)) throw notFound();
  const refused = async () => {
    throw REFUSALS[purpose]();
  };
  if (token === undefined || purpose !== 'revoke') return refused();
  const attempt = { entity: () => openedBy(deps, token), what: `revoke ${kindOf(token)} with id ${id}` };
  return recordingRefusals(deps, actor, attempt, refused);
}

/** Combines all filters of the query into one predicate; without filters there is none. */
export function narrowed(query: Listed, now: Date): Omit<TokenQuery, 'of'> {
  const { page, perPage, count, rows, direction } = query;
  const conditions: ((token: TokenRecord) => boolean)[] = [];
  const { state, revoked, search } = query;
  if (state !== undefined) conditions.push((token) => isActive(token, now) === (state === 'active'));
  if (revoked !== undefined) conditions.push((token) => token.revoked === revoked);
  const term = search?.trim().toLowerCase() ?? '';
  if (term !== '') conditions.push(({ name }) => name.toLowerCase().includes(term));
  const between = (
    after: string | undefined,
    before: string | undefined,
    of: (token: TokenRecord) => string | null,
  ) => {
    if (after !== undefined) conditions.push((token) => (of(token) ?? '') > after);
    if (before !== undefined) conditions.push((token) => (of(token) ?? '\uffff') < before);
  };
  between(query.createdAfter, query.createdBefore, ({ createdAt }) => createdAt);
  between(query.lastUsedAfter, query.lastUsedBefore, ({ lastUsedAt }) => lastUsedAt);
  between(query.expiresAfter, query.expiresBefore, ({ expiresAt }) => expiresAt);
  return {
    page,
    perPage,
    ...(count === undefined ? {} : { count }),
    ...(rows === undefined ? {} : { rows }),
    ...(direction === undefined ? {} : { direction }),
    ...(conditions.length === 0
      ? {}
      : { where: (token: TokenRecord) => conditions.every((passes) => passes(token)) }),
  };
}
