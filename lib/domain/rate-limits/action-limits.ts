/** Rate limits of single actions, set by administrators; 0: unlimited. */

import type { UserRecord } from '../../records/users.ts';
import type { RateLimit } from '../../store/rate-limits/rate-limits.ts';
import { annotate } from '../../telemetry/correlation.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { type DomainError, tooManyRequests } from '../errors.ts';
import type { InstanceSettings } from '../settings/current.ts';
import { started } from '../started.ts';

export interface ActionLimit {
  readonly kind: string;
  readonly seconds: number;
  readonly limit: (settings: InstanceSettings) => number;
  /** Exempt usernames, case-insensitive. */
  readonly allowlist?: (settings: InstanceSettings) => readonly string[];
  /** The message of the 429, if it is not the usual one. */
  readonly text?: string;
}

/** Per user. */
export const NOTES: ActionLimit = {
  kind: 'note',
  seconds: 60,
  limit: (settings) => settings.notes_create_limit,
  allowlist: (settings) => settings.notes_create_limit_allowlist,
};
/** Per user. */
export const ISSUES: ActionLimit = {
  kind: 'issue',
  seconds: 60,
  limit: (settings) => settings.issues_create_limit,
};
/** Per project and path, for all callers together. */
export const RAW_BLOBS: ActionLimit = {
  kind: 'raw-blob',
  seconds: 60,
  limit: (settings) => settings.raw_blob_request_limit,
};
/** Per project, and user or address of an anonymous caller. */
export const ARCHIVES: ActionLimit = {
  kind: 'archive',
  seconds: 60,
  limit: (settings) => settings.archive_download_limit,
  text: 'This archive has been requested too many times. Try again later.',
};
/** Per user; administrators are exempt. */
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

/** What is counted: a key, or a user, who may be on an allowlist. */
type Subject = string | Pick<UserRecord, 'id' | 'username'>;

/** Counts an action. @throws 429 */
export const requireRate = (deps: Deps, limit: ActionLimit, subject: Subject): Promise<void> =>
  withinRate(deps, limit, subject, async () => {});

/**
 * Runs an action while counting it. An exceeded limit takes precedence over the result; if this process already knows
 * that the limit is exceeded, the action is not started.
 * @throws 429
 */
export async function withinRate<T>(
  deps: Deps,
  action: ActionLimit,
  subject: Subject,
  work: () => Promise<T>,
): Promise<T> {
  const { kind, seconds, limit, allowlist } = action;
  const settings = await deps.settings.current();
  const name = typeof subject === 'string' ? undefined : subject.username.toLowerCase();
  if (allowlist?.(settings).some((allowed) => allowed.toLowerCase() === name) === true) return work();
  const rate: RateLimit = { kind, seconds, limit: Math.max(0, limit(settings)) };
  const { rateLimits } = deps.store;
  const key = typeof subject === 'string' ? subject : String(subject.id);
  const now = deps.now();
  if (rateLimits.isFull(rate, key, now)) throw tooOften(action, now);
  const taken = started(rateLimits.take(rate, key, now));
  let result: T;
  try {
    result = await work();
  } catch (error) {
    if (!(await taken)) throw tooOften(action, now);
    throw error;
  }
  if (!(await taken)) throw tooOften(action, now);
  return result;
}

/** Reads a user by ID, rate-limited for users who are no administrators. @throws 429 */
export const withUserLookupLimit = <T>(deps: Deps, actor: Actor, read: () => Promise<T>): Promise<T> =>
  actor.kind === 'anonymous' || isAdministrator(actor)
    ? read()
    : withinRate(deps, USERS_BY_ID, actor.user, read);

/** To be called before a blob is read. @param size in bytes @throws 429 for too many large blobs */
export async function requireBlobRate(deps: Deps, projectId: number, size: number): Promise<void> {
  if (size > LARGE_BLOB) await requireRate(deps, LARGE_BLOBS, String(projectId));
}

const TOO_OFTEN = 'This endpoint has been requested too many times. Try again later.';

function tooOften({ kind, seconds, text = TOO_OFTEN }: ActionLimit, now: Date): DomainError {
  annotate({ limit: kind });
  return tooManyRequests(text, seconds - (Math.floor(now.getTime() / 1000) % seconds));
}
