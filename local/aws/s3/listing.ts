import { S3Error } from './errors.ts';
import type { S3Request, S3Response } from './message.ts';
import { xmlResponse } from './objects.ts';
import type { Bucket } from './store.ts';
import { element, type Markup } from './xml.ts';

/** Entries of a page. */
const MAX_ENTRIES = 1000;

/** ListObjectsV2. The continuation token is the last key or common prefix of the previous page. */
export function listObjectsV2(bucket: Bucket, { query }: S3Request): S3Response {
  const prefix = query.get('prefix') ?? '';
  const delimiter = query.get('delimiter') ?? '';
  const startAfter = query.get('start-after') ?? '';
  const token = query.get('continuation-token');
  const limit = parseMaximum(query.get('max-keys'), 'max-keys');
  const name = nameEncoder(query.get('encoding-type'));
  const after = token === undefined ? startAfter : readToken(token);
  const page = bucket.index.list({ prefix, delimiter, after, limit });

  const contents: Markup[] = [];
  const prefixes: Markup[] = [];
  for (const entry of page.entries) {
    if ('prefix' in entry) {
      prefixes.push(element('CommonPrefixes', [element('Prefix', name(entry.prefix))]));
      continue;
    }
    const meta = bucket.readMeta(entry.key);
    // It may have just been deleted.
    if (meta === undefined) continue;
    contents.push(
      element('Contents', [
        element('Key', name(entry.key)),
        element('LastModified', new Date(meta.lastModified).toISOString()),
        element('ETag', meta.etag),
        ...Object.keys(meta.checksums).map((algorithm) => element('ChecksumAlgorithm', algorithm)),
        element('Size', meta.size),
        element('StorageClass', 'STANDARD'),
      ]),
    );
  }
  const last = page.entries.at(-1);
  return xmlResponse(
    element('ListBucketResult', [
      element('Name', bucket.name),
      element('Prefix', name(prefix)),
      ...(delimiter ? [element('Delimiter', name(delimiter))] : []),
      ...(startAfter ? [element('StartAfter', name(startAfter))] : []),
      ...(token !== undefined ? [element('ContinuationToken', token)] : []),
      ...(query.has('encoding-type') ? [element('EncodingType', 'url')] : []),
      element('KeyCount', contents.length + prefixes.length),
      element('MaxKeys', limit),
      element('IsTruncated', page.truncated),
      ...(page.truncated && last
        ? [element('NextContinuationToken', writeToken('key' in last ? last.key : last.prefix))]
        : []),
      ...contents,
      ...prefixes,
    ]),
  );
}

/** @throws S3Error InvalidArgument */
export function parseMaximum(text: string | undefined, parameter: string): number {
  if (text === undefined) return MAX_ENTRIES;
  if (!/^\d{1,9}$/.test(text)) {
    throw new S3Error('InvalidArgument', `Provided ${parameter} not an integer or within integer range`);
  }
  return Math.min(MAX_ENTRIES, Number(text));
}

/** @throws S3Error InvalidArgument */
export function nameEncoder(encodingType: string | undefined): (name: string) => string {
  if (encodingType === undefined) return (name) => name;
  if (encodingType !== 'url')
    throw new S3Error('InvalidArgument', 'Invalid Encoding Method specified in Request');
  return (name) => encodeURIComponent(name).replaceAll('%2F', '/').replaceAll('%20', '+');
}

const writeToken = (last: string) => `1${Buffer.from(last).toString('base64url')}`;

function readToken(token: string): string {
  if (!/^1[A-Za-z0-9_-]+$/.test(token)) {
    throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect');
  }
  return Buffer.from(token.slice(1), 'base64url').toString('utf8');
}
