import { type Algorithm, checksumHeader } from './checksum.ts';
import { S3Error } from './errors.ts';
import type { S3Request } from './message.ts';
import type { ObjectMeta } from './object-file.ts';

/** System-defined metadata that the client sets and gets back. */
const SYSTEM_HEADERS = [
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
];

const MAX_METADATA_BYTES = 2048;

/**
 * The metadata in an upload's headers.
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
      const stored = codings.filter((coding) => coding !== 'aws-chunked' && coding !== '');
      if (stored.length > 0) system[name] = stored.join(',');
    } else if (SYSTEM_HEADERS.includes(name)) system[name] = value;
  }
  system['content-type'] ??= 'binary/octet-stream';
  const size = Object.entries(metadata).reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value),
    0,
  );
  if (size > MAX_METADATA_BYTES) {
    throw new S3Error('MetadataTooLarge', 'Your metadata headers exceed the maximum allowed metadata size', {
      Size: size,
      MaxSizeAllowed: MAX_METADATA_BYTES,
    });
  }
  return { headers: system, metadata };
}

/** The headers of GetObject and HeadObject, except those of the body. */
export function renderObject(meta: ObjectMeta, request: S3Request): Record<string, string> {
  const headers: Record<string, string> = {
    ...meta.headers,
    'accept-ranges': 'bytes',
    etag: meta.etag,
    'last-modified': new Date(meta.lastModified).toUTCString(),
  };
  for (const [name, value] of Object.entries(meta.metadata)) headers[`x-amz-meta-${name}`] = value;
  for (const name of SYSTEM_HEADERS) {
    const override = request.query.get(`response-${name}`);
    if (override !== undefined) headers[name] = override;
  }
  return headers;
}

/** Checksum headers: sent with a whole object if requested (`x-amz-checksum-mode: ENABLED`, the SDK's default). */
export function renderChecksums(meta: Pick<ObjectMeta, 'checksums' | 'parts'>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [algorithm, value] of Object.entries(meta.checksums)) {
    headers[checksumHeader(algorithm as Algorithm)] = value;
    headers['x-amz-checksum-type'] = meta.parts === undefined ? 'FULL_OBJECT' : 'COMPOSITE';
  }
  return headers;
}
