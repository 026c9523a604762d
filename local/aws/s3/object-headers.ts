import { type Algorithm, checksumHeader } from './checksum.ts';
import { S3Error } from './errors.ts';
import type { S3Request } from './message.ts';
import type { ObjectMeta } from './object-file.ts';

/** System-defined metadata that the client controls and gets back. */
const kept = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];

const maxMetadata = 2048;

/**
 * What an upload's headers say about the object.
 * @throws S3Error MetadataTooLarge above 2 KB of user metadata
 */
export function describeObject(headers: S3Request['headers']): Pick<ObjectMeta, 'headers' | 'metadata'> {
  const system: Record<string, string> = {};
  const metadata: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    if (name.startsWith('x-amz-meta-')) metadata[name.slice('x-amz-meta-'.length)] = value;
    else if (name === 'content-encoding') {
      const codings = value.split(',').map((coding) => coding.trim());
      const own = codings.filter((coding) => coding !== 'aws-chunked' && coding !== '');
      if (own.length > 0) system[name] = own.join(',');
    } else if (kept.includes(name)) system[name] = value;
  }
  system['content-type'] ??= 'binary/octet-stream';
  const size = Object.entries(metadata).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
  if (size > maxMetadata) {
    throw new S3Error('MetadataTooLarge', 'Your metadata headers exceed the maximum allowed metadata size', {
      Size: size,
      MaxSizeAllowed: maxMetadata,
    });
  }
  return { headers: system, metadata };
}

/** The headers of GetObject and HeadObject, without those of the body. */
export function renderObject(meta: ObjectMeta, request: S3Request): Record<string, string> {
  const headers: Record<string, string> = {
    ...meta.headers,
    'accept-ranges': 'bytes',
    etag: meta.etag,
    'last-modified': new Date(meta.lastModified).toUTCString(),
  };
  for (const [name, value] of Object.entries(meta.metadata)) headers[`x-amz-meta-${name}`] = value;
  for (const name of kept) {
    const override = request.query.get(`response-${name}`);
    if (override !== undefined) headers[name] = override;
  }
  return headers;
}

/** Sent when asked for (`x-amz-checksum-mode: ENABLED`, the SDK's default) and the whole object is. */
export function renderChecksums(meta: Pick<ObjectMeta, 'checksums' | 'parts'>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [algorithm, value] of Object.entries(meta.checksums)) {
    headers[checksumHeader(algorithm as Algorithm)] = value;
    headers['x-amz-checksum-type'] = meta.parts === undefined ? 'FULL_OBJECT' : 'COMPOSITE';
  }
  return headers;
}
