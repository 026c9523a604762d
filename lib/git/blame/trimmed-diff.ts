import { diffTexts, type LineEdit } from '../diff/hunks.ts';
import type { Effort } from '../diff/myers.ts';
import { asBuffer } from '../tree/entry.ts';

/** git leaves out a common end in pieces of this size, which bounds how far down a change may be shown. */
const TAIL_PIECE = 1024;
const HEAD_PIECE = 4096;
/** Lines of a common beginning that are looked at all the same: a change may be shown that much further up. */
const CONTEXT = 256;
const NEWLINE = 0x0a;

/**
 * The edits between two versions. What both begin and end with is left out before any line is looked at: versions
 * of a file mostly differ in a few places, and numbering all lines would cost more than the rest of a blame.
 *
 * @returns undefined when the texts are too large, or `effort` did not suffice
 */
export function editsBetween(
  oldData: Uint8Array,
  newData: Uint8Array,
  effort: Effort,
): LineEdit[] | undefined {
  const [before, after] = [asBuffer(oldData), asBuffer(newData)];
  const tail = commonTail(before, after);
  const head = commonHead(before.subarray(0, before.length - tail), after.subarray(0, after.length - tail));
  const diff = diffTexts(
    before.subarray(head.bytes, before.length - tail),
    after.subarray(head.bytes, after.length - tail),
    { effort },
  );
  return diff?.edits.map(({ oldStart, oldEnd, newStart, newEnd }) => ({
    oldStart: oldStart + head.lines,
    oldEnd: oldEnd + head.lines,
    newStart: newStart + head.lines,
    newEnd: newEnd + head.lines,
  }));
}

/** Bytes, from the beginning of a line on. */
function commonTail(a: Buffer, b: Buffer): number {
  const shorter = Math.min(a.length, b.length);
  let bytes = 0;
  while (bytes + TAIL_PIECE <= shorter) {
    const end = bytes + TAIL_PIECE;
    if (a.compare(b, b.length - end, b.length - bytes, a.length - end, a.length - bytes) !== 0) break;
    bytes = end;
  }
  if (bytes === 0) return 0;
  const newline = a.indexOf(NEWLINE, a.length - bytes);
  return newline < 0 ? 0 : a.length - newline - 1;
}

/** Whole lines, but for the last {@link CONTEXT}. */
function commonHead(a: Buffer, b: Buffer): { bytes: number; lines: number } {
  const shorter = Math.min(a.length, b.length);
  let bytes = 0;
  while (bytes < shorter) {
    const end = Math.min(bytes + HEAD_PIECE, shorter);
    if (a.compare(b, bytes, end, bytes, end) !== 0) break;
    bytes = end;
  }
  const limit = Math.min(bytes + HEAD_PIECE, shorter);
  while (bytes < limit && a[bytes] === b[bytes]) bytes++;
  for (let kept = 0; bytes > 0; kept++) {
    const newline = a.lastIndexOf(NEWLINE, bytes - 1);
    if (newline < 0) return { bytes: 0, lines: 0 };
    if (kept > CONTEXT) {
      bytes = newline + 1;
      break;
    }
    bytes = newline;
  }
  let lines = 0;
  for (let at = a.indexOf(NEWLINE); at >= 0 && at < bytes; at = a.indexOf(NEWLINE, at + 1)) lines++;
  return { bytes, lines };
}
