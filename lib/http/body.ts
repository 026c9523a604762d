/**
 * Reads the parameters of a request: query string, form, multipart and JSON. Input is limited in size, depth and number
 * of parameters; beyond the limits the answer is 400 or 413.
 */
import { tooLarge } from '../domain/errors.ts';
import { atOnce, Effort, inTurns, type Steps } from '../git/work.ts';
import { malformed } from './errors.ts';
import { joined } from './joined.ts';
import { parseJson } from './json-params.ts';
import { bare, type Parameters, ParameterTree } from './rack-params.ts';
import { utf8, utf8InSteps } from './utf8.ts';

export type { Parameters } from './rack-params.ts';

/** Maximum size of a request body in bytes, unless the endpoint declares another; of a form in any case. */
const DEFAULT_BODY_LIMIT = 10 * 1024 * 1024;

/** Of a larger body no more than this is read before the caller's access is decided. */
export const EARLY_BODY_BYTES = 64 * 1024;

/** Bytes of JSON that are parsed at once: a few milliseconds of work. */
const AT_ONCE = 512 * 1024;
/** As {@link parseJson}; a large body is parsed beside other work of the process. */
async function parseJsonBody(bytes: Uint8Array): Promise<Parameters> {
  if (bytes.length <= AT_ONCE) return parseJson(utf8(bytes));
  const { parseLarge } = await import('./large-json.ts');
  return inTurns(parseLarge(bytes));
}

/** Parses `application/x-www-form-urlencoded` text; also query strings. `;` is not a separator. */
export const parseForm = (text: string): Parameters => atOnce(formParameters(text));

/** The same beside other work of the process. */
function* formParameters(text: string): Steps<Parameters> {
  const tree = new ParameterTree();
  const effort = new Effort();
  let start = 0;
  while (start <= text.length) {
    const end = text.indexOf('&', start);
    const pair = text.slice(start, end < 0 ? undefined : end);
    start = end < 0 ? text.length + 1 : end + 1;
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    // A name without `=` is null; with `=` and nothing after it, the empty text.
    tree.add(name, equals < 0 ? null : yield* decodeLong(pair.slice(equals + 1)));
    if (effort.spend(FORM_EFFORT * (pair.length + PAIR))) yield;
  }
  return tree.root;
}

/** A body of which at most {@link EARLY_BODY_BYTES} have been read. */
export interface BegunBody {
  /** Whether there is more of it. */
  readonly isLarge: boolean;
  /** Reads the rest. @throws DomainError `too-large`; HttpFailure for a body that cannot be parsed */
  parameters(): Promise<Parameters>;
}

/** The parameters of a request's body; none for content types that have no parameters. */
export const readBody = async (request: Request, limit?: number): Promise<Parameters> =>
  (await beginBody(request, limit)).parameters();

/** A body without parameters, of which nothing has been read: access is decided before the handler reads it. */
export const UNREAD_BODY: BegunBody = { isLarge: true, parameters: async () => bare() };

/** The pieces of a body. @throws DomainError `too-large` as soon as it has more bytes than the limit */
export async function* piecesOf(request: Request, limit = DEFAULT_BODY_LIMIT): AsyncGenerator<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge();
  let size = 0;
  for await (const piece of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += piece.length;
    if (size > limit) throw tooLarge();
    yield piece;
  }
}

/** Begins to read the parameters of a request's body, so that the caller can be refused before a large one is read. */
export async function beginBody(request: Request, limit = DEFAULT_BODY_LIMIT): Promise<BegunBody> {
  const type = request.headers.get('content-type') ?? '';
  const parse = parserOf(type);
  if (request.body === null || parse === undefined) return { isLarge: false, parameters: async () => bare() };
  const declared = Number(request.headers.get('content-length') ?? 0);
  const bytes = readerOf(request.body, limit);
  const isLarge = declared > EARLY_BODY_BYTES || !(await bytes.readBeyond(EARLY_BODY_BYTES));
  return {
    isLarge,
    async parameters() {
      if (declared > limit) throw tooLarge();
      await bytes.readBeyond(limit);
      return parse(await bytes.read());
    },
  };
}

type Parse = (bytes: Uint8Array) => Parameters | Promise<Parameters>;

function parserOf(type: string): Parse | undefined {
  const media = type.split(';')[0]!.trim().toLowerCase();
  if (media === 'application/json' || media.endsWith('+json')) return parseJsonBody;
  if (media === '' || media === 'application/x-www-form-urlencoded')
    return async (bytes) => {
      if (bytes.length > DEFAULT_BODY_LIMIT) throw tooLarge();
      return inTurns(formParameters(await inTurns(utf8InSteps(bytes))));
    };
  if (media !== 'multipart/form-data') return undefined;
  // Most functions never receive multipart bodies: the parser is loaded with the first one.
  return async (bytes) => (await import('./multipart.ts')).readMultipart(bytes, type);
}

/** Reads a body piece by piece. */
function readerOf(body: ReadableStream<Uint8Array>, limit: number) {
  const reader = body.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  let ended = false;
  return {
    /**
     * Reads until the body ends or more than `bytes` have been read. @returns whether it has ended
     * @throws DomainError `too-large` as soon as the body exceeds the limit, whatever `Content-Length` says
     */
    async readBeyond(bytes: number): Promise<boolean> {
      while (!ended && length <= bytes) {
        const { done, value } = await reader.read();
        ended = done;
        if (value === undefined) continue;
        length += value.length;
        if (length > limit) throw tooLarge();
        parts.push(value);
      }
      return ended;
    },
    read: (): Promise<Uint8Array> => inTurns(joined(parts)),
  };
}

/** Units of {@link Effort} for each character of a form, and characters that a pair costs in addition. */
const FORM_EFFORT = 5;
const PAIR = 50;
/** Characters that are decoded at once. */
const DECODED = 64 * 1024;

/** As {@link decode}, a part after another. */
function* decodeLong(text: string): Steps<string> {
  if (text.length <= DECODED) return decode(text);
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = cutBefore(text, at + DECODED);
    parts.push(decode(text.slice(at, end)));
    at = end;
    yield;
  }
  return parts.join('');
}

/** The last place up to `to` that is in no escaped character, which has at most four bytes of three digits each. */
function cutBefore(text: string, to: number): number {
  if (to >= text.length) return text.length;
  for (let end = to; end > to - 12; end--) {
    const begins =
      text[end] === '%' ? /[^89ab]/i.test(text[end + 1] ?? '') : !text.slice(end - 2, end).includes('%');
    if (begins) return end;
  }
  return to;
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
