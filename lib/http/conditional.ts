/** Conditional requests (RFC 9110 §13): `If-None-Match` and `If-Unmodified-Since`. */
import { createHash } from 'node:crypto';
import { preconditionFailed } from '../domain/errors.ts';

export const REVALIDATE = 'max-age=0, private, must-revalidate';

/** A weak entity tag of a whole body. */
export const weakEtag = (body: string | Uint8Array): string =>
  etagOf(createHash('sha256').update(body).digest());

/** The same by the SHA-256 of the body. */
export const etagOf = (digest: Buffer): string => `W/"${digest.toString('hex').slice(0, 32)}"`;

/** Whether `If-None-Match` matches the entity tag by weak comparison (RFC 9110 §13.1.2). */
export function matches(headers: Headers, etag: string): boolean {
  const ifNoneMatch = headers.get('if-none-match');
  if (ifNoneMatch === null) return false;
  const opaque = etag.replace(/^W\//, '');
  return ifNoneMatch.split(',').some((candidate) => {
    const one = candidate.trim();
    return one === '*' || one.replace(/^W\//, '') === opaque;
  });
}

/**
 * @throws DomainError `precondition-failed` (412) when `changed` is later than `If-Unmodified-Since`. An invalid date in
 * the header is ignored; HTTP dates have whole seconds, so fractions of a second are not compared.
 */
export function requireUnmodifiedSince(headers: Headers, changed: Date | string): void {
  const since = Date.parse(headers.get('if-unmodified-since') ?? '');
  const at = new Date(changed).getTime();
  if (Number.isNaN(since) || Number.isNaN(at)) return;
  if (Math.floor(at / 1000) > Math.floor(since / 1000)) throw preconditionFailed();
}
