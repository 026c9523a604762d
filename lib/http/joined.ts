import type { Steps } from '../git/work.ts';

/** All pieces as one, beside other work: pages of new memory cost more than their bytes. */
export function* joined(pieces: readonly Uint8Array[]): Steps<Uint8Array> {
  if (pieces.length === 1) return pieces[0]!;
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += PIECE) {
      whole.set(piece.subarray(from, from + PIECE), at + from);
      yield;
    }
    at += piece.length;
  }
  return whole;
}

/** Bytes that are copied at once. */
const PIECE = 1024 * 1024;
