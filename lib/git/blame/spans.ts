import type { LineEdit } from '../diff/hunks.ts';
import type { Oid } from '../oid.ts';

/** Consecutive lines that came from one commit. */
export interface BlamedRange {
  readonly commit: Oid;
  /** From 0. */
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/** Lines of the result, and their position in a version of the file. */
export interface Span {
  readonly final: number;
  readonly source: number;
  readonly count: number;
}

export interface SplitSpans {
  /** With their positions in the older version. */
  readonly kept: Span[];
  /** With their positions in the newer version, unchanged. */
  readonly changed: Span[];
}

/**
 * Splits lines of a version into those that an older version also has and those that an edit added.
 *
 * @param spans in order of `source`; a line of a version may occur in the result more than once
 * @param edits from the older version to this one, in order
 */
export function splitSpans(spans: readonly Span[], edits: readonly LineEdit[]): SplitSpans {
  const kept: Span[] = [];
  const changed: Span[] = [];
  let at = 0;
  for (const span of spans) {
    const end = span.source + span.count;
    while (at > 0 && edits[at - 1]!.newEnd > span.source) at--;
    for (let line = span.source; line < end; ) {
      while (at < edits.length && edits[at]!.newEnd <= line) at++;
      const edit = edits[at];
      const inEdit = edit !== undefined && edit.newStart <= line;
      const stop = Math.min(end, edit === undefined ? end : inEdit ? edit.newEnd : edit.newStart);
      const part = { final: span.final + line - span.source, count: stop - line };
      if (inEdit) changed.push({ ...part, source: line });
      else {
        const before = edits[at - 1];
        const shift = before === undefined ? 0 : before.oldEnd - before.newEnd;
        kept.push({ ...part, source: line + shift });
      }
      line = stop;
    }
  }
  return { kept, changed };
}
