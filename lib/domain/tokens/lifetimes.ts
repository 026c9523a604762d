/** Revokes personal tokens that exceed a new maximum lifetime, some hours after the setting was changed. */

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

/** Delay in which an administrator can correct the setting. */
const GRACE_MS = 3 * 3_600_000;
/** Tokens read together, and tokens revoked together. */
const PAGE = 100;
const CONCURRENT_CHANGES = 10;

export interface LifetimeWalk {
  /** The new value of the setting. */
  readonly days: number;
  /** ID of the last token processed; 0 at the start. */
  readonly after: number;
  /** Who changed the setting. */
  readonly by?: Requester;
}

/** For the transaction that changes the setting; null removes the limit. */
export function scheduleLifetimeCheck({ now }: Deps, actor: Actor, days: number | null): Put[] {
  if (days === null) return [];
  const body = { days, by: requesterOf(actor) };
  const at = new Date(now().getTime() + GRACE_MS);
  return [outboxWrite(messageAt(MAINTENANCE, LIFETIME_JOB, body, at))];
}

/**
 * Revokes tokens that expire later than the limit or never, while the setting still has that value. Idempotent.
 * @param deadline milliseconds since 1970; no page is started after it
 * @returns where to continue; undefined at the end, or when the setting has changed
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
    await mapLimit(CONCURRENT_CHANGES, long, (token) =>
      end(deps, token, days, by === undefined ? {} : { by }),
    );
    const latest = items.at(-1);
    if (latest === undefined) return undefined;
    idAfter = latest.id;
  }
}

/** Whether the rule applies: personal tokens of people only, not tokens of bots or impersonation tokens. */
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
    // Deleted concurrently.
    if (!(error instanceof DomainError)) throw error;
  });
}
