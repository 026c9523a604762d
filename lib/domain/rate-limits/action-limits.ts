/** How often one may do single things, where an administrator chooses; 0 is as often as one likes. */

import type { UserRecord } from '../../records/users.ts';
import type { RateLimit } from '../../store/rate-limits/rate-limits.ts';
import { annotate } from '../../telemetry/correlation.ts';
import type { Actor } from '../actor.ts';
import { isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { type DomainError, tooManyRequests } from '../errors.ts';
import type { InstanceSettings } from '../settings/current.ts';
import { started } from '../started.ts';

export interface ActionLimit {
  readonly kind: string;
  readonly seconds: number;
  readonly limit: (settings: InstanceSettings) => number;
  /** Usernames that are not counted, without regard to case. */
  readonly allowlist?: (settings: InstanceSettings) => readonly string[];
}

/** Per user. */
export const NOTES: ActionLimit = {
  kind: 'note',
  seconds: 60,
  limit: (settings) => settings.notes_create_limit,
  allowlist: (settings) => settings.notes_create_limit_allowlist,
};
/** Per project and path, whoever asks. */
export const RAW_BLOBS: ActionLimit = {
  kind: 'raw-blob',
  seconds: 60,
  limit: (settings) => settings.raw_blob_request_limit,
};
/** Per user; administrators are not counted. */
const USERS_BY_ID: ActionLimit = {
  kind: 'user-by-id',
  seconds: 600,
  limit: (settings) => settings.users_get_by_id_limit,
  allowlist: (settings) => settings.users_get_by_id_limit_allowlist,
};
/** Per user. */
export const SEARCHES: ActionLimit = {
  kind: 'search',
  seconds: 60,
  limit: (settings) => settings.search_rate_limit,
};
/** Per user. */
export const PROJECT_IMPORTS: ActionLimit = {
  kind: 'project-import',
  seconds: 60,
  limit: (settings) => settings.project_import_limit,
};

/** Bytes above which a blob counts as large. */
const LARGE_BLOB = 10 * 1024 ** 2;
/** Per project. */
const LARGE_BLOBS: ActionLimit = { kind: 'large-blob', seconds: 60, limit: () => 5 };

/** Who or what is counted; of a user, an allow list may have the name. */
type Subject = string | Pick<UserRecord, 'id' | 'username'>;

/** Counts what somebody does. @throws 429 */
export const requireRate = (deps: Deps, limit: ActionLimit, subject: Subject): Promise<void> =>
  withinRate(deps, limit, subject, async () => {});

/**
 * Does something while it is counted. That there have been too many is told whatever comes of it, and where this
 * process knows it, nothing is begun.
 * @throws 429
 */
export async function withinRate<T>(
  deps: Deps,
  { kind, seconds, limit, allowlist }: ActionLimit,
  subject: Subject,
  work: () => Promise<T>,
): Promise<T> {
  const settings = await deps.settings.current();
  const name = typeof subject === 'string' ? undefined : subject.username.toLowerCase();
  if (allowlist?.(settings).some((allowed) => allowed.toLowerCase() === name) === true) return work();
  const rate: RateLimit = { kind, seconds, limit: Math.max(0, limit(settings)) };
  const { rateLimits } = deps.store;
  const who = typeof subject === 'string' ? subject : String(subject.id);
  const now = deps.now();
  if (rateLimits.isFull(rate, who, now)) throw tooOften(kind);
  const taken = started(rateLimits.take(rate, who, now));
  let done: T;
  try {
    done = await work();
  } catch (error) {
    if (!(await taken)) throw tooOften(kind);
    throw error;
  }
  if (!(await taken)) throw tooOften(kind);
  return done;
}

/** Reads somebody by id, as often as one may who is no administrator. @throws 429 */
export const byId = <T>(deps: Deps, actor: Actor, read: () => Promise<T>): Promise<T> =>
  actor.kind === 'anonymous' || isAdministrator(actor)
    ? read()
    : withinRate(deps, USERS_BY_ID, actor.user, read);

/** Before a blob is read whole. @param size in bytes @throws 429 for too many large ones */
export async function requireBlobRate(deps: Deps, projectId: number, size: number): Promise<void> {
  if (size > LARGE_BLOB) await requireRate(deps, LARGE_BLOBS, String(projectId));
}

function tooOften(kind: string): DomainError {
  annotate({ limit: kind });
  return tooManyRequests('This endpoint has been requested too many times. Try again later.');
}
