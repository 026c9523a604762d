import type { LineEdit } from './hunks.ts';

/** A line of a comparison by its number on each side, counted from 1; null on the side that does not have it. */
export interface ComparedLine {
  readonly oldLine: number | null;
  readonly newLine: number | null;
}

/** Which lines of two versions of a text are the same: the edits of their diff, seen line by line. */
export class LineMap {
  readonly #edits: readonly LineEdit[];
  readonly #lines: { readonly old: number; readonly after: number };

  /** @param edits in order. @param lines numbers of lines of the two texts */
  constructor(edits: readonly LineEdit[], lines: { readonly old: number; readonly after: number }) {
    this.#edits = edits;
    this.#lines = lines;
  }

  /** The number that a line of the old text has in the new one; undefined for one that is deleted, or is not there. */
  newLineOf(oldLine: number): number | undefined {
    if (oldLine < 1 || oldLine > this.#lines.old) return undefined;
    const edit = this.#lastBefore(oldLine, 'oldStart');
    if (edit === undefined) return oldLine;
    return oldLine <= edit.oldEnd ? undefined : oldLine - edit.oldEnd + edit.newEnd;
  }

  /** The number that a line of the new text has in the old one; undefined for one that is added, or is not there. */
  oldLineOf(newLine: number): number | undefined {
    if (newLine < 1 || newLine > this.#lines.after) return undefined;
    const edit = this.#lastBefore(newLine, 'newStart');
    if (edit === undefined) return newLine;
    return newLine <= edit.newEnd ? undefined : newLine - edit.newEnd + edit.oldEnd;
  }

  /**
   * The numbers of a line as a unified diff counts them on its way: of a deleted line also the next one of the new text,
   * of an added line the next one of the old, which is 0 where that has no lines. @returns undefined for a line that the comparison does not have
   */
  numbersOf({ oldLine, newLine }: ComparedLine): readonly [old: number, after: number] | undefined {
    if (oldLine !== null && newLine !== null)
      return this.newLineOf(oldLine) === newLine ? [oldLine, newLine] : undefined;
    if (newLine !== null) {
      const isAdded = newLine >= 1 && newLine <= this.#lines.after && this.oldLineOf(newLine) === undefined;
      if (!isAdded) return undefined;
      return [this.#lines.old === 0 ? 0 : this.#lastBefore(newLine, 'newStart')!.oldEnd + 1, newLine];
    }
    if (oldLine === null) return undefined;
    const isDeleted = oldLine >= 1 && oldLine <= this.#lines.old && this.newLineOf(oldLine) === undefined;
    if (!isDeleted) return undefined;
    return [oldLine, this.#lines.after === 0 ? 0 : this.#lastBefore(oldLine, 'oldStart')!.newStart + 1];
  }

  /** The last edit that begins before a line, on one side. */
  #lastBefore(line: number, side: 'oldStart' | 'newStart'): LineEdit | undefined {
    let [from, to] = [0, this.#edits.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#edits[middle]![side] < line) from = middle + 1;
      else to = middle;
    }
    return this.#edits[from - 1];
  }
}

/** The comparisons through which a line is traced: of heads, of bases, and of the later base with the later head. */
export interface Tracing {
  readonly heads: LineMap;
  readonly bases: LineMap;
  readonly later: LineMap;
}

/**
 * Traces a line of one comparison to a later one of the same file. A line of the new version is followed there: it may
 * have become an unchanged one, as the base has it by then, or an added one. A deleted line stays one.
 * @returns undefined where the line is gone, or a deleted one came back
 */
export function traced({ oldLine, newLine }: ComparedLine, { heads, bases, later }: Tracing) {
  const old = oldLine === null ? undefined : bases.newLineOf(oldLine);
  if (newLine === null) {
    const found: ComparedLine = { oldLine: old ?? 0, newLine: null };
    return later.numbersOf(found) === undefined ? undefined : found;
  }
  const line = heads.newLineOf(newLine);
  if (line === undefined) return undefined;
  const found: ComparedLine = { oldLine: later.oldLineOf(line) ?? null, newLine: line };
  // Both sides of an unchanged line are there, and are not the same line any more.
  return old !== undefined && found.oldLine !== old ? undefined : found;
}
