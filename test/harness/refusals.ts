/** Expected answers that many scenarios share. */

/** A blocked account and invalid tokens. */
export const BAD = { blocked: 403, expired: 401, revoked: 401, unknown: 401 } as const;

/** Tokens of scopes that do not permit the request. */
export const NARROW = { read_user: 403, read_repository: 403, write_repository: 403 } as const;

/** Requests that only administrators may make. */
export const ADMIN_ONLY = { anonymous: 401, stranger: 403, owner: 403, ...BAD } as const;

/** Every member of a project, who may read it. */
export const MEMBERS = { guest: 200, reporter: 200, developer: 200, maintainer: 200, owner: 200 } as const;

/** The answer for an absent object: `404 User Not Found`. */
export const absent = (what: string) =>
  ({ status: 404, holds: { message: `404 ${what} Not Found` } }) as const;

/** The answer for an absent record of an existing project or group. */
export const NO_RECORD = { status: 404, holds: { message: '404 Not found' } } as const;
