/**
 * Reads the parameters of a request: query string, form, multipart and JSON. Input is limited in size, depth and number
 * of parameters; beyond the limits the answer is 400 or 413.
 */
import { tooLarge } from '../domain/errors.ts';
import { inTurns } from '../git/work.ts';
import { parseForm } from './form.ts';
import { parseJson } from './json-params.ts';
import { bare, type Parameters } from './rack-params.ts';
import { utf8 } from './utf8.ts';

export type { Parameters } from './rack-params.ts';

/** Maximum size of a request body in bytes, unless the endpoint declares another; of a form in any case. */
const DEFAULT_BODY_LIMIT = 10 * 1024 * 1024;

/** Of a larger body no more than this is read before the caller's access is decided. */
export const EARLY_BODY_BYTES = 64 * 1024;

/** Bytes of a body that are put together or parsed at once: a few milliseconds of work. */
const AT_ONCE = 512 * 1024;
/** As {@link parseJson}; a large body is parsed beside other work of the process. */
async function parseJsonBody(bytes: Uint8Array): Promise<Parameters> {
  if (bytes.length <= AT_ONCE) return parseJson(utf8(bytes));
  const { parseLarge } = await import('./large.ts');
  return inTurns(parseLarge(bytes));
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
      if (bytes.length <= AT_ONCE) return parseForm(utf8(bytes));
      const { parseLargeForm } = await import('./large.ts');
      return inTurns(parseLargeForm(bytes));
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
    async read(): Promise<Uint8Array> {
      if (parts.length === 1) return parts[0]!;
      if (length <= AT_ONCE) return Buffer.concat(parts, length);
      const { joined } = await import('./large.ts');
      return inTurns(joined(parts));
    },
  };
}
