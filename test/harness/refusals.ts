/** What those are answered who may not, or ask for what is not there: lines of scenarios. */

/** An account, and tokens, that open nothing. */
export const BAD = { blocked: 403, expired: 401, revoked: 401, unknown: 401 } as const;

/** Tokens of scopes that are for something else. */
export const NARROW = { read_user: 403, read_repository: 403, write_repository: 403 } as const;

/** Whoever asks for what administrators alone do. */
export const ADMIN_ONLY = { anonymous: 401, stranger: 403, owner: 403, ...BAD } as const;

/** `404 User Not Found` */
export const absent = (what: string) =>
  ({ status: 404, holds: { message: `404 ${what} Not Found` } }) as const;

/** Of what is looked for in something that is there. */
export const NO_RECORD = { status: 404, holds: { message: '404 Not found' } } as const;
