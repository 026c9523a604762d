import type { Readable } from 'node:stream';
import { S3Error } from './errors.ts';

/** A request, from an SDK client in this process or over HTTP. */
export interface S3Request {
  method: string;
  /** Percent-encoded, and starting with the bucket: `/bucket/key`. */
  path: string;
  query: ReadonlyMap<string, string>;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: RequestBody;
  signal?: AbortSignal;
}

export type RequestBody = Uint8Array | AsyncIterable<Uint8Array | string> | undefined;

export interface S3Response {
  status: number;
  headers: Record<string, string>;
  body?: string | Uint8Array | Readable;
}

export interface Address {
  bucket: string | undefined;
  key: string | undefined;
}

/**
 * Splits `/bucket/key` and decodes each part once.
 * @throws S3Error InvalidURI when the escapes are not UTF-8, KeyTooLongError above 1024 bytes
 */
export function parseAddress(path: string): Address {
  const slash = path.indexOf('/', 1);
  const bucket = decode(slash === -1 ? path.slice(1) : path.slice(1, slash));
  const key = slash === -1 ? '' : decode(path.slice(slash + 1));
  if (Buffer.byteLength(key) > 1024) {
    throw new S3Error('KeyTooLongError', 'Your key is too long', { MaxSizeAllowed: 1024 });
  }
  return { bucket: bucket || undefined, key: key || undefined };
}

function decode(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new S3Error('InvalidURI', "Couldn't parse the specified URI.", { URI: encoded });
  }
}

/**
 * The name-value pairs of a query string, decoded, in their order.
 * @throws S3Error InvalidURI
 */
export function parseQuery(search: string): [string, string][] {
  return search
    .replace(/^\?/, '')
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      const [name, value] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
      return [decode(name.replaceAll('+', '%20')), decode(value.replaceAll('+', '%20'))];
    });
}

/** Reads a request document; S3's limit for one is 1 MB. */
export async function readDocument(body: RequestBody): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bodyChunks(body)) {
    size += chunk.length;
    if (size > 2 ** 20) throw new S3Error('MalformedXML', 'The XML you provided is larger than 1 MB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A body as a sequence of buffers; a body in memory is one buffer. */
export async function* bodyChunks(body: RequestBody): AsyncGenerator<Buffer> {
  if (body === undefined) return;
  if (body instanceof Uint8Array) {
    yield asBuffer(body);
    return;
  }
  for await (const chunk of body) yield typeof chunk === 'string' ? Buffer.from(chunk) : asBuffer(chunk);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
