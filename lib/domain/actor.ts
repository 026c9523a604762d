import type { JobRecord } from '../records/pipelines.ts';
import type { TokenRecord, TokenScope } from '../records/tokens.ts';
import type { UserRecord } from '../records/users.ts';
import { requestId } from '../telemetry/correlation.ts';

/** Where a request came from, as audit events record it. */
export interface Origin {
  /** The caller's IP address, IPv4 or IPv6; absent for a worker that acts for a user. */
  readonly address?: string;
  /** What program the caller names, at most 512 characters. */
  readonly userAgent?: string;
  readonly requestId: string;
  /** Base URL of links in mails about the request, without a trailing slash. */
  readonly baseUrl?: string;
}

/**
 * The caller. `token` is the credential of the request, absent for a worker ({@link actingFor}); `sudoer` is the
 * administrator behind a `Sudo` request.
 */
export type Actor =
  | { readonly kind: 'anonymous'; readonly origin?: Origin }
  | {
      readonly kind: 'user';
      readonly origin?: Origin;
      readonly user: UserRecord;
      readonly token?: TokenRecord;
      readonly scopes: ReadonlySet<TokenScope>;
      readonly sudoer?: UserRecord;
      /** The running job whose token the credential is. */
      readonly job?: JobRecord;
    };

/** Whose visibility is being decided: the caller, or the recipient of a notification. */
export type Viewer = { readonly kind: 'anonymous' } | { readonly kind: 'user'; readonly user: UserRecord };

/** The credential of a request, before it is looked up. */
export type Credential =
  | { readonly kind: 'none' }
  /**
   * `PRIVATE-TOKEN`, `private_token`, `Authorization: Bearer`, `access_token`, or the password of HTTP Basic; of a job
   * `JOB-TOKEN` or `job_token`; a deploy token `Deploy-Token`.
   */
  | {
      readonly kind: 'token';
      readonly token: string;
      readonly via: 'private-token' | 'bearer' | 'basic' | 'job-token' | 'deploy-token';
      /** The user-id of HTTP Basic. */
      readonly username?: string;
    }
  /** The token of an earlier request: a worker continues with it, and fails if it has been revoked since. */
  | { readonly kind: 'known-token'; readonly id: number };

/** A user in whose name a worker goes on with what they did. @param baseUrl of links in mails about it */
export const actingFor = (user: UserRecord, baseUrl: string): Extract<Actor, { kind: 'user' }> => ({
  kind: 'user',
  user,
  scopes: new Set(),
  origin: { requestId: requestId() ?? '', baseUrl },
});

export function isAdministrator(actor: Viewer): boolean {
  return actor.kind === 'user' && actor.user.admin && actor.user.state === 'active';
}
