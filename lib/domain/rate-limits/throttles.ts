/**
 * Which throttles of the settings a request falls under. They limit requests as such, whatever these do: signed-in
 * callers by who they are, all others by where they come from. Limits of single actions are in `action-limits.ts`.
 */
import { network64, parseAddress, unmapped } from '../../outbound/address.ts';
import type { Actor } from '../actor.ts';
import type { InstanceSettings } from '../settings/current.ts';

/** A request as throttles tell requests apart. */
export interface Asked {
  readonly kind: AskedKind;
  readonly method: string;
  /** As it was sent, percent-encoded, without a query. */
  readonly path: string;
}

/** `web`: everything outside `/api`, which is Git and the pages of mails' links. */
export type AskedKind = 'api' | 'files_api' | 'packages_api' | 'deprecated_api' | 'git_lfs' | 'web';

/** Who is counted. A credential that is not good is none. */
export type Caller =
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'user' | 'deploy-token'; readonly id: number };

export interface Throttle {
  /** As the `RateLimit-Name` header tells it. */
  readonly name: string;
  readonly limit: number;
  readonly seconds: number;
}

/** More requests than a throttle allows. What it tells is for the caller. */
export class Throttled extends Error {
  readonly throttle: Throttle;
  /** How many requests there were in this window. */
  readonly observed: number;
  readonly at: Date;
  /** What the answer says. */
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

/** The throttles of the settings: each has a switch, a number of requests and a period. */
type Configured =
  | `${'unauthenticated' | 'authenticated'}_${'api' | 'files_api' | 'packages_api' | 'deprecated_api'}`
  | 'unauthenticated'
  | 'authenticated_web'
  | 'authenticated_git_lfs'
  | 'protected_paths';

/**
 * Open to whoever is signed in once a second at least: an administrator who chose too low a limit could not choose
 * another, and who is no administrator is not to ask there for ever.
 */
const SETTINGS = /^\/api\/v4\/application\/settings(?:\.json)?\/?$/;
const OF_SETTINGS: Throttle = { name: 'throttle_authenticated_settings', limit: 60, seconds: 60 };

/** Those that are switched on and cover the request; none for most instances. */
export function throttlesOf(settings: InstanceSettings, asked: Asked, caller: Caller): readonly Throttle[] {
  const { kind, method } = asked;
  if (caller.kind === 'user' && SETTINGS.test(asked.path))
    return settings.throttle_authenticated_api_enabled ? [OF_SETTINGS] : [];
  const found: Throttle[] = [];
  const add = (configured: Configured, name: string): boolean => {
    const limit = settings[`throttle_${configured}_requests_per_period`];
    const seconds = settings[`throttle_${configured}_period_in_seconds`];
    const on = settings[`throttle_${configured}_enabled`] && limit > 0 && seconds > 0;
    if (on) found.push({ name: `throttle_${name}`, limit, seconds });
    return on;
  };
  const who = caller.kind === 'address' ? 'unauthenticated' : 'authenticated';
  const web = kind === 'web' || kind === 'git_lfs';
  if (!web) {
    // The narrower one takes the place of that for the whole interface, once it is switched on.
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
  return found;
}

/** Of limits that count people by name and all others by where they come from. */
export const subjectFor = (actor: Actor, sourceIp: string): string =>
  subjectOf(
    actor.kind === 'user' ? { kind: 'user', id: actor.user.id } : { kind: 'address', address: sourceIp },
  );

/** Under which name a caller is counted. Whoever has one IPv6 address has as many as the network they stand in. */
export function subjectOf(caller: Caller): string {
  if (caller.kind !== 'address') return `${caller.kind} ${caller.id}`;
  const parsed = parseAddress(caller.address.split('%')[0]!);
  // Who comes from nowhere is counted as one.
  if (parsed === undefined) return `address ${caller.address}`;
  const address = unmapped(parsed);
  return `address ${address.version === 4 ? address.text : `${network64(address)}::/64`}`;
}
