import type { Steps } from '../git/work.ts';
import { malformed } from './errors.ts';

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
/** Behind the beginning of a text a byte order mark is a character. */
const within = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes that are decoded at once. */
const PIECE = 1024 * 1024;

/** @throws HttpFailure 400 for bytes that are not valid UTF-8 */
export const utf8 = (bytes: Uint8Array): string => decoded(strict, bytes);

/** The same of a part that begins and ends between characters. @throws HttpFailure 400 */
export const partOfUtf8 = (bytes: Uint8Array): string => decoded(within, bytes);

/** As {@link utf8}, beside other work of the process. @throws HttpFailure 400 */
export function* utf8InSteps(bytes: Uint8Array): Steps<string> {
  if (bytes.length <= PIECE) return utf8(bytes);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE) {
    pieces.push(decoded(decoder, bytes.subarray(at, at + PIECE), at + PIECE < bytes.length));
    yield;
  }
  return pieces.join('');
}

function decoded(decoder: TextDecoder, bytes: Uint8Array, stream = false): string {
  try {
    return decoder.decode(bytes, { stream });
  } catch {
    throw malformed('the request is not valid UTF-8');
  }
}
