/** JSON of large values, made beside other work of the process. */
import { createHash } from 'node:crypto';
import { inTurns, type Steps } from '../git/work.ts';
import { etagOf } from './conditional.ts';
import { AT_ONCE, isLarge, Reply } from './reply.ts';

/**
 * As `json`, beside other work of the process; the text is sent in pieces.
 * @param options.tagged whether the answer has the entity tag of the text
 */
export async function largeJson(
  value: unknown,
  {
    status,
    headers,
    tagged,
  }: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly tagged: boolean;
  },
): Promise<Reply> {
  const { pieces, digest } = await inTurns(jsonPieces(value));
  const body = (async function* () {
    yield* pieces;
  })();
  const told = { 'Content-Type': 'application/json', ...headers, ...(tagged && { ETag: etagOf(digest) }) };
  return new Reply(status, told, body);
}

interface JsonPieces {
  readonly pieces: readonly Uint8Array[];
  /** SHA-256 of all of them. */
  readonly digest: Buffer;
}

/** What `JSON.stringify` makes of plain data, as UTF-8 in pieces. */
export function* jsonPieces(value: unknown): Steps<JsonPieces> {
  const pieces: Uint8Array[] = [];
  const hash = createHash('sha256');
  let waiting = '';
  for (const text of textsOf(value)) {
    waiting += text;
    if (waiting.length < AT_ONCE / 2) continue;
    yield;
    pieces.push(Buffer.from(waiting));
    hash.update(pieces.at(-1)!);
    waiting = '';
    yield;
  }
  pieces.push(Buffer.from(waiting));
  return { pieces, digest: hash.update(pieces.at(-1)!).digest() };
}

function* textsOf(value: unknown): Generator<string> {
  if (!isLarge(value)) yield JSON.stringify(value) ?? 'null';
  else if (typeof value === 'string') yield* textsOfString(value);
  else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      yield i === 0 ? '[' : ',';
      yield* textsOf(item);
    }
    yield ']';
  } else {
    let before = '{';
    for (const [key, member] of Object.entries(value as object)) {
      if (member === undefined) continue;
      yield `${before}${JSON.stringify(key)}:`;
      yield* textsOf(member);
      before = ',';
    }
    yield '}';
  }
}

function* textsOfString(text: string): Generator<string> {
  yield '"';
  for (let at = 0; at < text.length; ) {
    const next = text.charCodeAt(at + AT_ONCE);
    // Not within a pair of surrogates.
    const end = at + AT_ONCE - (next >= 0xdc00 && next <= 0xdfff ? 1 : 0);
    yield JSON.stringify(text.slice(at, end)).slice(1, -1);
    at = end;
  }
  yield '"';
}
