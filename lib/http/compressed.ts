import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { matches, REVALIDATE, weakEtag } from './conditional.ts';
import type { RequestFacts } from './endpoint.ts';
import { json, type Reply, reply } from './reply.ts';

const compress = promisify(gzip);
const VARY = { Vary: 'Accept-Encoding' };

/**
 * A long JSON value, compressed for a caller that accepts gzip. Either form has the same weak validator, which is that of
 * the text.
 */
export async function compressedJson(
  value: unknown,
  { headers }: Pick<RequestFacts, 'headers'>,
): Promise<Reply> {
  if (!acceptsGzip(headers)) return json(value, { headers: VARY });
  const text = JSON.stringify(value);
  const etag = weakEtag(text);
  const validators = { ...VARY, ETag: etag, 'Cache-Control': REVALIDATE };
  if (matches(headers, etag)) return reply({ status: 304, headers: validators });
  return reply({
    body: await compress(text),
    type: 'application/json',
    headers: { ...validators, 'Content-Encoding': 'gzip' },
  });
}

/** `gzip` in Accept-Encoding, unless its weight is zero (RFC 9110 §12.5.3). */
function acceptsGzip(headers: Headers): boolean {
  return (headers.get('accept-encoding') ?? '').split(',').some((given) => {
    const [, weight] = /^\s*gzip\s*(?:;\s*q\s*=\s*([\d.]+)\s*)?$/i.exec(given) ?? [undefined, '0'];
    return Number(weight ?? 1) > 0;
  });
}
