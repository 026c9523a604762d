import { asBuffer } from '../../bytes/as-buffer.ts';
import { diffTexts, type LineEdit } from '../diff/hunks.ts';
import type { StepBudget } from '../diff/myers.ts';
import type { Steps } from '../work.ts';

/** git trims a common tail in pieces of this size, which limits how far down a change can slide. */
const TAIL_PIECE = 1024;
const HEAD_PIECE = 4096;
/** Lines of the common head that are compared all the same, because a change can slide up by that many. */
const CONTEXT = 256;
const NEWLINE = 0x0a;

/**
 * The edits between two versions. The common head and tail are trimmed before lines are numbered: versions of a file
 * mostly differ in a few places, and numbering all lines would cost more than the rest of a blame.
 *
 * @param concerns whether any of these lines of the newer version matters; if no line that may differ does, they are
 *   returned as one edit without a diff
 * @returns undefined when the texts are too large, or `budget` ran out
 */
export function* editsBetween(
  oldData: Uint8Array,
  newData: Uint8Array,
  budget: StepBudget,
  concerns: (start: number, end: number) => boolean = () => true,
): Steps<LineEdit[] | undefined> {
  const tail = commonTail(asBuffer(oldData), asBuffer(newData));
  const [before, after] = [oldData, newData].map((data) =>
    asBuffer(data).subarray(0, data.length - tail),
  ) as [Buffer, Buffer];
  const head = commonHead(before, after);
  const [older, newer] = [before.subarray(head.bytes), after.subarray(head.bytes)];
  const newEnd = head.lines + countLines(newer);
  if (!concerns(head.lines, newEnd)) {
    const oldEnd = head.lines + countLines(older);
    return [{ oldStart: head.lines, oldEnd, newStart: head.lines, newEnd }];
  }
  const diff = yield* diffTexts(older, newer, { budget });
  return diff?.edits.map((edit) => ({
    oldStart: edit.oldStart + head.lines,
    oldEnd: edit.oldEnd + head.lines,
    newStart: edit.newStart + head.lines,
    newEnd: edit.newEnd + head.lines,
  }));
}

/** Length of the common tail in bytes, from the start of a line. */
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

/** The common head: whole lines, without the context. */
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
  for (let context = CONTEXT; bytes > 0; context--) {
    const newline = a.lastIndexOf(NEWLINE, bytes - 1);
    if (newline < 0) return { bytes: 0, lines: 0 };
    if (context < 0) {
      bytes = newline + 1;
      break;
    }
    bytes = newline;
  }
  return { bytes, lines: newlines(a, 0, bytes) };
}

/** Counts a last line without newline too. */
const countLines = (data: Buffer) =>
  newlines(data, 0, data.length) + (data.length > 0 && data.at(-1) !== NEWLINE ? 1 : 0);

function newlines(data: Buffer, start: number, end: number): number {
  let count = 0;
  for (let at = data.indexOf(NEWLINE, start); at >= 0 && at < end; count++)
    at = data.indexOf(NEWLINE, at + 1);
  return count;
}
