/** Parses large JSON bodies, which are few: a file of its own beside the functions. */
import { randomBytes } from 'node:crypto';
import { Effort, type Steps } from '../git/work.ts';
import { malformed } from './errors.ts';
import { parsed, parseJson } from './json-params.ts';
import { LIMITS, type Parameters } from './rack-params.ts';
import { partOfUtf8, utf8 } from './utf8.ts';

/** Bytes from which a string of a larger body is read apart, and how many of them at once. */
const LONG = 32;
const PIECE = 256 * 1024;
/** Bytes of a larger body without its long strings: more than as many parameters as are taken need. */
const MAX_REST = 6 * 1024 * 1024;
/** Bytes that are looked at between two stops. */
const STRIDE = 64 * 1024;

/** Reads long strings piece by piece, and then the rest at once, in which a name stands for each of them. */
export function* parseLarge(bytes: Uint8Array): Steps<Parameters> {
  const rest = Buffer.allocUnsafe(Math.min(bytes.length, MAX_REST));
  let length = 0;
  const keep = (kept: Uint8Array): void => {
    if (length + kept.length > rest.length) throw malformed('too many parameters');
    rest.set(kept, length);
    length += kept.length;
  };
  const mark = randomBytes(6).toString('base64');
  const long: string[] = [];
  const effort = new Effort();
  for (let at = 0; at < bytes.length; ) {
    const opening = yield* keepToQuote(bytes, at, keep);
    const closing = yield* endOfText(bytes, opening + 1);
    if (closing - opening <= LONG) keep(bytes.subarray(opening, closing + 1));
    else {
      // A parameter has a name and a value.
      if (long.length > 2 * LIMITS.count) throw malformed('too many parameters');
      long.push(yield* longText(bytes, opening + 1, closing));
      keep(Buffer.from(`"${mark}${long.length - 1}`));
      keep(bytes.subarray(closing, closing + 1));
    }
    if (effort.spend(closing + 1 - at)) yield;
    at = closing + 1;
  }
  const whole = (text: string) => (text.startsWith(mark) ? long[Number(text.slice(mark.length))]! : text);
  return parseJson(utf8(rest.subarray(0, length)), LIMITS.depth, whole);
}

/** Keeps what stands before the next string, space once. @returns where that string begins, or the end */
function* keepToQuote(bytes: Uint8Array, from: number, keep: (kept: Uint8Array) => void): Steps<number> {
  let kept = from;
  let at = from;
  let stop = from + STRIDE;
  for (; at < bytes.length && bytes[at] !== 0x22; at++) {
    if (at > from && isSpace(bytes[at]!) && isSpace(bytes[at - 1]!)) {
      if (kept < at) keep(bytes.subarray(kept, at));
      kept = at + 1;
    }
    if (at < stop) continue;
    stop = at + STRIDE;
    yield;
  }
  keep(bytes.subarray(kept, at));
  return at;
}

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** Where the closing quote of a string stands, or the end. */
function* endOfText(bytes: Uint8Array, from: number): Steps<number> {
  let stop = from + STRIDE;
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === 0x5c) at++;
    else if (bytes[at] === 0x22) return at;
    if (at < stop) continue;
    stop = at + STRIDE;
    yield;
  }
  return bytes.length;
}

function* longText(bytes: Uint8Array, from: number, to: number): Steps<string> {
  const pieces: string[] = [];
  for (let at = from; at < to; ) {
    yield;
    const end = at + PIECE < to ? cutBefore(bytes, at, at + PIECE) : to;
    pieces.push(parsed(`"${partOfUtf8(bytes.subarray(at, end))}"`) as string);
    at = end;
  }
  return pieces.join('');
}

/** The last place up to `to` that is in no character and in no escape sequence. */
function cutBefore(bytes: Uint8Array, from: number, to: number): number {
  let end = to;
  while (end > to - 3 && (bytes[end]! & 0xc0) === 0x80) end--;
  for (let at = end - 1; at > end - 6; at--) {
    if (bytes[at] !== 0x5c) continue;
    let first = at;
    while (first > from && bytes[first - 1] === 0x5c) first--;
    const begins = (at - first) % 2 === 0;
    return begins && at + (bytes[at + 1] === 0x75 ? 6 : 2) > end ? at : end;
  }
  return end;
}
