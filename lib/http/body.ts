/**
 * Reads the parameters of a request: query string, form, multipart and JSON. Input is limited in size, depth and number
 * of parameters; beyond the limits the answer is 400 or 413.
 */
import { tooLarge } from '../domain/errors.ts';
import { malformed } from './errors.ts';
import { parseJson } from './json-params.ts';
import { bare, type Parameters, ParameterTree } from './rack-params.ts';
import { utf8 } from './utf8.ts';

export type { Parameters } from './rack-params.ts';

/** Maximum size of a request body in bytes, unless the endpoint declares another. */
const DEFAULT_BODY_LIMIT = 32 * 1024 * 1024;

/** Parses `application/x-www-form-urlencoded` text; also query strings. `;` is not a separator. */
export function parseForm(text: string): Parameters {
  const tree = new ParameterTree();
  let start = 0;
  while (start <= text.length) {
    const end = text.indexOf('&', start);
    const pair = text.slice(start, end < 0 ? undefined : end);
    start = end < 0 ? text.length + 1 : end + 1;
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    // A name without `=` is null; with `=` and nothing after it, the empty text.
    tree.add(name, equals < 0 ? null : decode(pair.slice(equals + 1)));
  }
  return tree.root;
}

/** The parameters of a request's body; none for content types that have no parameters. */
export async function readBody(request: Request, limit = DEFAULT_BODY_LIMIT): Promise<Parameters> {
  if (request.body === null) return bare();
  const type = request.headers.get('content-type') ?? '';
  const media = type.split(';')[0]!.trim().toLowerCase();
  switch (media) {
    case 'application/json':
      return parseJson(utf8(await readBytes(request, limit)));
    case '':
    case 'application/x-www-form-urlencoded':
      return parseForm(utf8(await readBytes(request, limit)));
    case 'multipart/form-data': {
      // Most functions never receive multipart bodies: the parser is loaded with the first one.
      const { readMultipart } = await import('./multipart.ts');
      return readMultipart(await readBytes(request, limit), type);
    }
    default:
      if (media.endsWith('+json')) return parseJson(utf8(await readBytes(request, limit)));
      return bare();
  }
}

/** @throws DomainError `too-large` as soon as the body exceeds `limit` bytes, whatever `Content-Length` says. */
async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.length;
    if (length > limit) throw tooLarge();
    parts.push(part);
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts, length);
}

function decode(text: string): string {
  let decoded = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (decoded.includes('%')) {
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      throw malformed('invalid %-encoding');
    }
  }
  if (decoded.includes('\0')) throw malformed('parameters may not contain NUL');
  return decoded;
}
