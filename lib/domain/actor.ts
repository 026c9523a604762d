import type { TokenRecord, TokenScope } from '../records/tokens.ts';
import type { UserRecord } from '../records/users.ts';

/** Where a request came from; records of what was done with it tell it. */
export interface Origin {
  /** Of the caller: IPv4 or IPv6. */
  readonly address: string;
  readonly requestId: string;
  /** What links begin with that are made of it, without a trailing slash. */
  readonly baseUrl?: string;
}

/** Who asks. `token` is what they showed; `sudoer` is the administrator behind a `Sudo` request. */
export type Actor =
  | { readonly kind: 'anonymous'; readonly origin?: Origin }
  | {
      readonly kind: 'user';
      readonly origin?: Origin;
      readonly user: UserRecord;
      readonly token: TokenRecord;
      readonly scopes: ReadonlySet<TokenScope>;
      readonly sudoer?: UserRecord;
    };

/** Somebody as far as it decides what they may see: an actor, or a person whom something is shown to unasked. */
export type Viewer = { readonly kind: 'anonymous' } | { readonly kind: 'user'; readonly user: UserRecord };

/** How a caller proved who they are, before anything was looked up. */
export type Credential =
  | { readonly kind: 'none' }
  /** `PRIVATE-TOKEN`, `private_token`, `Authorization: Bearer`, `access_token`, or the password of HTTP Basic. */
  | {
      readonly kind: 'token';
      readonly token: string;
      readonly via: 'private-token' | 'bearer' | 'basic';
      /** The user-id of HTTP Basic. */
      readonly username?: string;
    }
  /** A token that was shown before: what a worker does later is still done with it, or not any more. */
  | { readonly kind: 'known-token'; readonly id: number };

export function isAdministrator(actor: Viewer): boolean {
  return actor.kind === 'user' && actor.user.admin && actor.user.state === 'active';
}
