/** Reads what Sentry's clients send: an event, or an envelope with several things. Its size and work are limited. */
import { type Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { unreadable } from '../../domain/error-tracking/sent-errors.ts';
import { DomainError, tooLarge } from '../../domain/errors.ts';
import { HttpFailure } from '../../http/errors.ts';
import { parseJson } from '../../http/json-params.ts';
import { utf8 } from '../../http/utf8.ts';

/** Bytes as they are sent. */
export const MAX_BODY = 4 * 1024 * 1024;
/** Bytes when they are no longer compressed: an envelope has attachments too. */
const MAX_INFLATED = 16 * 1024 * 1024;
/** Bytes of one event. */
const MAX_EVENT = 1024 * 1024;
/** Things in an envelope, and events among them. */
const MAX_ITEMS = 100;
const MAX_EVENTS = 10;
const MAX_HEADER = 16 * 1024;

type Fields = Readonly<Record<string, unknown>>;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** @throws 400 for what cannot be read, or is compressed more than once; 413 above the limits */
export async function inflated(content: AsyncIterable<Uint8Array>, encoding: string | null): Promise<Buffer> {
  const name = (encoding ?? '').trim().toLowerCase();
  const plain = name === '' || name === 'identity';
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]!() : undefined;
  if (decoder === undefined && !plain) throw unreadable();
  const pieces: Buffer[] = [];
  let size = 0;
  const into = new Writable({
    write(piece: Buffer, _encoding, done) {
      size += piece.length;
      if (size <= MAX_INFLATED) pieces.push(piece);
      done(size <= MAX_INFLATED ? null : tooLarge());
    },
  });
  try {
    await (decoder === undefined ? pipeline(content, into) : pipeline(content, decoder, into));
  } catch (error) {
    const code = (error as { code?: unknown }).code;
    const isDamaged = typeof code === 'string' && /^(?:Z_|ERR_)/.test(code);
    throw isDamaged && !(error instanceof DomainError) ? unreadable() : error;
  }
  return Buffer.concat(pieces, size);
}

/** The one event of a body. @throws 400; 413 */
export function eventOf(body: Uint8Array): Fields {
  if (body.length > MAX_EVENT) throw tooLarge();
  return json(body);
}

/**
 * The events of an envelope: a line about it, then for each thing a line with its type and length, and the thing. What is
 * no event (sessions, reports, attachments) is skipped.
 * @throws 400 for one that is cut or cannot be read; 413
 */
export function eventsOf(envelope: Buffer): Fields[] {
  const lineAt = (from: number): number => {
    const end = envelope.indexOf(0x0a, from);
    return end < 0 ? envelope.length : end;
  };
  const header = (from: number, to: number): Fields => {
    if (to - from > MAX_HEADER) throw unreadable();
    return json(envelope.subarray(from, to));
  };
  const events: Fields[] = [];
  let at = lineAt(0);
  header(0, at);
  for (let items = 0; ; items++) {
    at++;
    while (envelope[at] === 0x0a) at++;
    if (at >= envelope.length) return events;
    if (items === MAX_ITEMS) throw tooLarge();
    const end = lineAt(at);
    const { type, length } = header(at, end);
    if (typeof type !== 'string') throw unreadable();
    const from = Math.min(end + 1, envelope.length);
    const sized = typeof length === 'number' && Number.isSafeInteger(length) && length >= 0;
    const to = sized ? from + length : lineAt(from);
    if (to > envelope.length) throw unreadable();
    if (type === 'event' && events.push(eventOf(envelope.subarray(from, to))) > MAX_EVENTS) throw tooLarge();
    at = to;
    if (sized && at < envelope.length && envelope[at] !== 0x0a) throw unreadable();
  }
}

/** @throws 400 unless it is a JSON object of a reasonable depth */
function json(bytes: Uint8Array): Fields {
  try {
    const text = utf8(bytes);
    if (!/^\s*\{/.test(text)) throw unreadable();
    return parseJson(text);
  } catch (error) {
    throw error instanceof HttpFailure ? unreadable() : error;
  }
}
