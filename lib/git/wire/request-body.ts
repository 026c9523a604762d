import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { WireError } from './error.ts';

export type Body = AsyncIterable<Uint8Array>;

/**
 * The decoded body: decompressed if git sent it with `Content-Encoding: gzip` (as it does for long negotiations), and
 * at most `maxBytes` long after decompression.
 * @throws WireError immediately: `unsupported` for another encoding; while reading: `limit`, `encoding`
 */
export function decodedBody(body: Body, contentEncoding: string | undefined, maxBytes: number): Body {
  const encoding = contentEncoding?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return bounded(body, maxBytes);
  if (encoding === 'gzip' || encoding === 'x-gzip')
    return bounded(gunzipped(bounded(body, maxBytes)), maxBytes);
  throw new WireError('unsupported', 'unsupported content encoding: send gzip or none');
}

async function* bounded(body: Body, maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  let seen = 0;
  for await (const piece of body) {
    // First pass on the allowed part: it contains the capabilities, which determine the form of the answer.
    if (seen + piece.length > maxBytes && seen < maxBytes) yield piece.subarray(0, maxBytes - seen);
    seen += piece.length;
    if (seen > maxBytes)
      throw new WireError('limit', `request exceeds maximum allowed size (${maxBytes} bytes)`);
    yield piece;
  }
}

async function* gunzipped(body: Body): AsyncGenerator<Uint8Array, void, undefined> {
  const source = Readable.from(body, { objectMode: false });
  const gunzip = createGunzip();
  // `pipe` would lose the error of a failed source, and would leave the source open when the pipe fails.
  let sourceFailure: unknown;
  source.on('error', (cause) => {
    sourceFailure = cause;
    gunzip.destroy(cause);
  });
  source.pipe(gunzip);
  try {
    yield* gunzip as AsyncIterable<Uint8Array>;
  } catch (cause) {
    if (sourceFailure !== undefined) throw sourceFailure;
    throw new WireError('encoding', 'the request body is not valid gzip data', { cause });
  } finally {
    gunzip.destroy();
    source.destroy();
  }
}
