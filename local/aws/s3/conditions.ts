import { noSuchKey, notImplemented, preconditionFailed, S3Error } from './errors.ts';
import type { S3Request } from './message.ts';
import type { ObjectMeta } from './object-file.ts';

/** The preconditions of a write ("Conditional writes" in the S3 user guide). */
export interface Conditions {
  ifMatch?: string;
  ifNoneMatch?: string;
}

/** @throws S3Error NotImplemented for an If-None-Match other than `*`, as in S3 for writes */
export function writeConditions(headers: S3Request['headers']): Conditions {
  const conditions: Conditions = {};
  const ifMatch = headers['if-match'];
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined) {
    if (ifNoneMatch !== '*') throw notImplemented('If-None-Match');
    conditions.ifNoneMatch = ifNoneMatch;
  }
  if (ifMatch !== undefined) conditions.ifMatch = ifMatch;
  return conditions;
}

/** @throws S3Error PreconditionFailed; NoSuchKey for If-Match without an object */
export function checkWrite(conditions: Conditions, current: ObjectMeta | undefined, key: string): void {
  if (conditions.ifNoneMatch !== undefined && current !== undefined)
    throw preconditionFailed('If-None-Match');
  if (conditions.ifMatch === undefined) return;
  if (current === undefined) throw noSuchKey(key);
  if (!matches(conditions.ifMatch, current.etag)) throw preconditionFailed('If-Match');
}

/**
 * Checks the preconditions of GetObject and HeadObject, by RFC 9110 section 13.2.2: an ETag condition overrides the date
 * condition of the same kind.
 *
 * @param prefix `x-amz-copy-source-` for the conditions on a copy's source
 * @throws S3Error PreconditionFailed, NotModified
 */
export function checkRead(headers: S3Request['headers'], meta: ObjectMeta, prefix = ''): void {
  const ifMatch = headers[`${prefix}if-match`];
  const ifNoneMatch = headers[`${prefix}if-none-match`];
  // HTTP dates have whole seconds.
  const modified = Math.floor(meta.lastModified / 1000) * 1000;
  const unmodifiedSince = Date.parse(headers[`${prefix}if-unmodified-since`] ?? '');
  const modifiedSince = Date.parse(headers[`${prefix}if-modified-since`] ?? '');

  if (ifMatch !== undefined) {
    if (!matches(ifMatch, meta.etag)) throw preconditionFailed('If-Match');
  } else if (modified > unmodifiedSince) throw preconditionFailed('If-Unmodified-Since');

  if (ifNoneMatch !== undefined ? matches(ifNoneMatch, meta.etag) : modified <= modifiedSince) {
    // A copy has no answer 304: S3 fails it with 412.
    if (prefix !== '')
      throw preconditionFailed(ifNoneMatch !== undefined ? 'If-None-Match' : 'If-Modified-Since');
    throw new S3Error('NotModified', 'Not Modified', { ETag: meta.etag });
  }
}

/** Whether a list of entity tags, quoted or bare, contains this one, or is `*`. */
function matches(list: string, etag: string): boolean {
  const bare = (tag: string) => tag.trim().replace(/^W\//, '').replaceAll('"', '');
  return list.trim() === '*' || list.split(',').some((tag) => bare(tag) === bare(etag));
}
