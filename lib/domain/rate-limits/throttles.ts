/**
 * The throttles of the instance settings that apply to a request. They limit requests regardless of the endpoint:
 * per user if signed in, else per IP address. Limits of single actions are in `action-limits.ts`.
 */
import { network64, parseAddress, unmapped } from '../../outbound/address.ts';
import type { Actor } from '../actor.ts';
import type { InstanceSettings } from '../settings/current.ts';

/** The properties of a request by which throttles are selected. */
export interface ThrottledRequest {
  readonly kind: RequestKind;
  readonly method: string;
  /** As sent, percent-encoded, without the query. */
  readonly path: string;
}

/** `web`: everything outside `/api`: Git, and the pages that mails link to. */
export type RequestKind = 'api' | 'files_api' | 'packages_api' | 'deprecated_api' | 'git_lfs' | 'web';

/** Who is counted. A request with an invalid credential counts for its address. */
export type Caller =
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'user' | 'deploy-token'; readonly id: number };

export interface Throttle {
  /** The value of the `RateLimit-Name` header. */
  readonly name: string;
  readonly limit: number;
  readonly seconds: number;
}

/** More requests than a throttle allows. Its fields are shown to the caller. */
export class Throttled extends Error {
  readonly throttle: Throttle;
  /** Number of requests in this window. */
  readonly observed: number;
  readonly at: Date;
  /** Response text. */
  readonly text: string;

  constructor(throttle: Throttle, observed: number, at: Date, text: string) {
    super(`throttled: ${throttle.name}`);
    this.name = 'Throttled';
    this.throttle = throttle;
    this.observed = observed;
    this.at = at;
    this.text = text;
  }
}

/** The throttles of the settings; each has a switch, a number of requests and a period. */
type Configured =
  | `${'unauthenticated' | 'authenticated'}_${'api' | 'files_api' | 'packages_api' | 'deprecated_api'}`
  | 'unauthenticated'
  | 'authenticated_web'
  | 'authenticated_git_lfs'
  | 'protected_paths';

/**
 * The settings endpoint has a fixed throttle of one request per second for signed-in callers, so that an administrator
 * can correct a limit that is too low.
 */
const SETTINGS = /^\/api\/v4\/application\/settings(?:\.json)?\/?$/;
const OF_SETTINGS: Throttle = { name: 'throttle_authenticated_settings', limit: 60, seconds: 60 };

/** The enabled throttles that apply to the request; none on most instances. */
export function throttlesOf(
  settings: InstanceSettings,
  asked: ThrottledRequest,
  caller: Caller,
): readonly Throttle[] {
  const { kind, method } = asked;
  if (caller.kind === 'user' && SETTINGS.test(asked.path))
    return settings.throttle_authenticated_api_enabled ? [OF_SETTINGS] : [];
  const throttles: Throttle[] = [];
  const add = (configured: Configured, name: string): boolean => {
    const limit = settings[`throttle_${configured}_requests_per_period`];
    const seconds = settings[`throttle_${configured}_period_in_seconds`];
    const on = settings[`throttle_${configured}_enabled`] && limit > 0 && seconds > 0;
    if (on) throttles.push({ name: `throttle_${name}`, limit, seconds });
    return on;
  };
  const who = caller.kind === 'address' ? 'unauthenticated' : 'authenticated';
  const web = kind === 'web' || kind === 'git_lfs';
  if (!web) {
    // An enabled specific throttle replaces the one of the whole API.
    const narrower = kind !== 'api' && add(`${who}_${kind}`, `${who}_${kind}`);
    if (!narrower) add(`${who}_api`, `${who}_api`);
  } else if (who === 'unauthenticated') {
    add('unauthenticated', 'unauthenticated_web');
  } else if (kind === 'web' || !add('authenticated_git_lfs', 'authenticated_git_lfs')) {
    add('authenticated_web', 'authenticated_web');
  }
  if (
    method === 'POST' &&
    settings.protected_paths.some((path) => path !== '' && asked.path.startsWith(path))
  ) {
    const suffix = who === 'unauthenticated' ? '' : web ? '_web' : '_api';
    add('protected_paths', `${who}_protected_paths${suffix}`);
  }
  return throttles;
}

/** The key of limits that count signed-in callers by user and others by IP address. */
export const subjectFor = (actor: Actor, sourceIp: string): string =>
  subjectOf(
    actor.kind === 'user' ? { kind: 'user', id: actor.user.id } : { kind: 'address', address: sourceIp },
  );

/** The key under which a caller is counted. An IPv6 address counts as its /64 network. */
export function subjectOf(caller: Caller): string {
  if (caller.kind !== 'address') return `${caller.kind} ${caller.id}`;
  const parsed = parseAddress(caller.address.split('%')[0]!);
  // Unparsable addresses are counted as they are.
  if (parsed === undefined) return `address ${caller.address}`;
  const address = unmapped(parsed);
  return `address ${address.version === 4 ? address.text : `${network64(address)}::/64`}`;
}
