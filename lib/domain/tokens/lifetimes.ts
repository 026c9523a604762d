/** People's tokens that live longer than an administrator came to allow end some hours after that was said. */

import type { TokenRecord } from '../../records/tokens.ts';
import { MAINTENANCE, messageAt, outboxWrite } from '../../store/outbox/outbox.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Put } from '../../store/table/write.ts';
import { isActive } from '../access/token-check.ts';
import type { Actor } from '../actor.ts';
import { authorIn, type Requester, requesterOf } from '../audit-events/event.ts';
import { dayIn } from '../days.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { revokeToken } from './tokens.ts';

export const LIFETIME_JOB = 'tokens.lifetime';

/** Until then whoever chose too few days may choose others. */
const GRACE_MS = 3 * 3_600_000;
/** Tokens that are read together, and of them revoked together. */
const PAGE = 100;
const AT_ONCE = 10;

export interface LifetimeWalk {
  /** The setting as it was chosen. */
  readonly days: number;
  /** The id of the last token that was looked at; 0: none yet. */
  readonly after: number;
  /** Who chose it. */
  readonly by?: Requester;
}

/** For the transaction that sets the days; null: there is no limit any more. */
export function scheduleLifetimeCheck({ now }: Deps, actor: Actor, days: number | null): Put[] {
  if (days === null) return [];
  const body = { days, by: requesterOf(actor) };
  const at = new Date(now().getTime() + GRACE_MS);
  return [outboxWrite(messageAt(MAINTENANCE, LIFETIME_JOB, body, at))];
}

/**
 * Revokes what ends later than in so many days, or never, while that is still what is allowed. May come twice.
 * @param deadline milliseconds since 1970; no page begins after it
 * @returns where to go on; undefined at the end, and where something else was chosen meanwhile
 */
export async function shortenTokenLifetimes(
  deps: Deps,
  walk: LifetimeWalk,
  deadline: number,
): Promise<LifetimeWalk | undefined> {
  const { days, by } = walk;
  const { max_personal_access_token_lifetime: allowed } = await deps.settings.current();
  if (allowed !== days) return undefined;
  const last = dayIn(deps.now(), days);
  for (let idAfter = walk.after; ; ) {
    if (Date.now() > deadline) return { ...walk, after: idAfter };
    const { items } = await deps.store.tokens.list({ idAfter, page: 1, perPage: PAGE });
    const long = items.filter((token) => isLong(token, last) && isActive(token, deps.now()));
    await mapLimit(AT_ONCE, long, (token) => end(deps, token, days, by === undefined ? {} : { by }));
    const latest = items.at(-1);
    if (latest === undefined) return undefined;
    idAfter = latest.id;
  }
}

/** Of a person, and theirs: bots go with their tokens, and what administrators make to act as others is theirs to end. */
const isLong = ({ resource, impersonation, expiresAt }: TokenRecord, last: string): boolean =>
  resource === undefined && impersonation !== true && (expiresAt === null || expiresAt > last);

async function end(
  deps: Deps,
  token: TokenRecord,
  days: number,
  by: { readonly by?: Requester },
): Promise<void> {
  const why = `: it lived longer than the ${days} days that are allowed`;
  await revokeToken(deps, authorIn(by), token, { why }).catch((error: unknown) => {
    // Gone meanwhile.
    if (!(error instanceof DomainError)) throw error;
  });
}
