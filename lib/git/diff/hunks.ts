import { isUtf8 } from 'node:buffer';
import { asBuffer } from '../../bytes/as-buffer.ts';
import { Effort, type Steps } from '../work.ts';
import { compact, nextChange, runEnd } from './compact.ts';
import { type DiffAlgorithm, diffLines, type LineChanges, MAX_DIFF_BYTES, MAX_DIFF_STEPS } from './lines.ts';
import type { StepBudget } from './myers.ts';

/** Replaces lines [oldStart, oldEnd) of the old text by [newStart, newEnd) of the new one. Counted from 0. */
export interface LineEdit {
  readonly oldStart: number;
  readonly oldEnd: number;
  readonly newStart: number;
  readonly newEnd: number;
}

/** Edits with their context lines. */
export interface Hunk extends LineEdit {
  readonly edits: readonly LineEdit[];
}

/** The differences of two texts: edits in order, which never touch each other. */
export interface TextDiff {
  readonly edits: readonly LineEdit[];
  readonly oldStarts: Int32Array;
  readonly newStarts: Int32Array;
  readonly additions: number;
  readonly deletions: number;
}

export interface TextDiffOptions {
  /** Default `myers`, as in `git diff`. */
  readonly algorithm?: DiffAlgorithm;
  /** Default true, as in `git diff`; merges do not use it. */
  readonly indentHeuristic?: boolean;
  /** Shared by the files of one comparison; each takes {@link MAX_DIFF_STEPS} of it at most. */
  readonly budget?: StepBudget;
}

/**
 * Compares two texts line by line, as git does.
 *
 * @returns undefined when they are too large or differ too much: see {@link MAX_DIFF_BYTES} and the limits next to it
 */
export function* diffTexts(
  oldData: Uint8Array,
  newData: Uint8Array,
  options: TextDiffOptions = {},
): Steps<TextDiff | undefined> {
  const { budget, algorithm = 'myers', indentHeuristic = true } = options;
  if (oldData.length + newData.length > MAX_DIFF_BYTES) return undefined;
  const allowed = Math.min(MAX_DIFF_STEPS, budget?.steps ?? MAX_DIFF_STEPS);
  const own = { steps: allowed };
  const changes = yield* diffLines(oldData, newData, own, algorithm);
  if (budget) budget.steps -= allowed - Math.max(0, own.steps);
  if (changes === undefined) return undefined;
  yield* compact(changes, oldData, newData, { indent: indentHeuristic });
  const edits = yield* editsOf(changes);
  let additions = 0;
  let deletions = 0;
  for (const edit of edits) {
    additions += edit.newEnd - edit.newStart;
    deletions += edit.oldEnd - edit.oldStart;
  }
  return { edits, oldStarts: changes.oldStarts, newStarts: changes.newStarts, additions, deletions };
}

function* editsOf({ deleted, inserted }: LineChanges): Steps<LineEdit[]> {
  const effort = new Effort();
  const edits: LineEdit[] = [];
  let [oldAt, newAt] = [0, 0];
  let [nextOld, nextNew] = [nextChange(deleted, 0), nextChange(inserted, 0)];
  while (nextOld < deleted.length || nextNew < inserted.length) {
    const unchanged = Math.min(nextOld - oldAt, nextNew - newAt);
    const [oldStart, newStart] = [oldAt + unchanged, newAt + unchanged];
    oldAt = runEnd(deleted, oldStart);
    newAt = runEnd(inserted, newStart);
    edits.push({ oldStart, oldEnd: oldAt, newStart, newEnd: newAt });
    if (nextOld < oldAt) nextOld = nextChange(deleted, oldAt);
    if (nextNew < newAt) nextNew = nextChange(inserted, newAt);
    if (effort.spend(oldAt - oldStart + newAt - newStart + EDIT_EFFORT)) yield;
  }
  return edits;
}

/** What an edit costs beside its lines. */
const EDIT_EFFORT = 20;

/** Context lines around an edit. */
const CONTEXT = 3;

/** Joins edits whose context lines would touch. */
function* hunksOf(diff: TextDiff, context = CONTEXT): Generator<Hunk, void, undefined> {
  const [oldLines, newLines] = [diff.oldStarts.length - 1, diff.newStarts.length - 1];
  for (let at = 0; at < diff.edits.length; ) {
    const first = diff.edits[at]!;
    let end = at + 1;
    while (end < diff.edits.length && diff.edits[end]!.oldStart - diff.edits[end - 1]!.oldEnd <= 2 * context)
      end++;
    const edits = diff.edits.slice(at, end);
    const last = edits.at(-1)!;
    const before = Math.min(context, first.oldStart);
    yield {
      edits,
      oldStart: first.oldStart - before,
      newStart: first.newStart - before,
      oldEnd: Math.min(oldLines, last.oldEnd + context),
      newEnd: Math.min(newLines, last.newEnd + context),
    };
    at = end;
  }
}

/**
 * The hunks as unified text, from the first `@@` on: the bytes `git diff` prints for a file without attributes.
 *
 * @param maxBytes returns undefined when the text is longer
 */
export function formatHunks(
  diff: TextDiff,
  oldData: Uint8Array,
  newData: Uint8Array,
  options: { readonly context?: number; readonly maxBytes?: number } = {},
): Buffer | undefined {
  const { maxBytes = Number.POSITIVE_INFINITY } = options;
  const { oldStarts, newStarts } = diff;
  const parts: (Buffer | LineRun)[] = [];
  let bytes = 0;
  const add = (part: Buffer): void => {
    parts.push(part);
    bytes += part.length;
  };
  const addLines = (data: Uint8Array, starts: Int32Array, from: number, to: number, sign: number): void => {
    if (from >= to) return;
    parts.push({ data, starts, from, to, sign });
    bytes += starts[to]! - starts[from]! + to - from;
    if (data[starts[to]! - 1] !== NEWLINE) add(NO_NEWLINE);
  };
  let searched = 0;
  let title: Uint8Array = NO_TITLE;
  for (const hunk of hunksOf(diff, options.context)) {
    title = titleBefore(oldData, oldStarts, hunk.oldStart, searched) ?? title;
    searched = hunk.oldStart;
    const ranges = `@@ -${range(hunk.oldStart, hunk.oldEnd)} +${range(hunk.newStart, hunk.newEnd)} @@`;
    add(Buffer.from(title.length > 0 ? `${ranges} ` : ranges));
    add(asBuffer(title));
    add(END_OF_RANGES);
    let at = hunk.oldStart;
    for (const edit of hunk.edits) {
      addLines(oldData, oldStarts, at, edit.oldStart, UNCHANGED);
      addLines(oldData, oldStarts, edit.oldStart, edit.oldEnd, DELETED);
      addLines(newData, newStarts, edit.newStart, edit.newEnd, INSERTED);
      at = edit.oldEnd;
      if (bytes > maxBytes) return undefined;
    }
    addLines(oldData, oldStarts, at, hunk.oldEnd, UNCHANGED);
    if (bytes > maxBytes) return undefined;
  }
  const text = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const part of parts) at += 'sign' in part ? writeLines(part, text, at) : part.copy(text, at);
  return text;
}

/** Lines [from, to) of a text, each behind a sign. */
interface LineRun {
  readonly data: Uint8Array;
  readonly starts: Int32Array;
  readonly from: number;
  readonly to: number;
  readonly sign: number;
}

/** Bytes from which a call of native code copies faster. */
const NATIVE_BYTES = 128;

/** @returns how many bytes were written */
function writeLines({ data, starts, from, to, sign }: LineRun, out: Buffer, outAt: number): number {
  let at = outAt;
  for (let line = from; line < to; line++) {
    const [start, end] = [starts[line]!, starts[line + 1]!];
    out[at++] = sign;
    if (end - start >= NATIVE_BYTES) {
      out.set(data.subarray(start, end), at);
      at += end - start;
    } else for (let i = start; i < end; i++) out[at++] = data[i]!;
  }
  return at - outAt;
}

const [UNCHANGED, DELETED, INSERTED] = Buffer.from(' -+') as unknown as [number, number, number];
const NEWLINE = 0x0a;
const END_OF_RANGES = Buffer.from('\n');
const NO_NEWLINE = Buffer.from('\n\\ No newline at end of file\n');
const NO_TITLE = Buffer.alloc(0);

/** A length of 1 is omitted; an empty range follows the line it names. */
function range(start: number, end: number): string {
  if (end - start === 1) return `${start + 1}`;
  return end === start ? `${start},0` : `${start + 1},${end - start}`;
}

const MAX_TITLE = 80;

/**
 * The title of a hunk header: the nearest line before it that starts like an identifier (gitattributes, "Defining a
 * custom hunk-header": the default).
 */
function titleBefore(
  data: Uint8Array,
  starts: Int32Array,
  line: number,
  searched: number,
): Uint8Array | undefined {
  for (let i = line - 1; i >= searched; i--) {
    const start = starts[i]!;
    if (!beginsTitle(data[start]!)) continue;
    let end = Math.min(starts[i + 1]!, start + MAX_TITLE);
    while (end > start && isSpace(data[end - 1]!)) end--;
    return utf8Prefix(asBuffer(data).subarray(start, end));
  }
  return undefined;
}

/** The text up to the first byte that is not UTF-8: git shows no more, whatever the file's encoding. */
function utf8Prefix(text: Buffer): Buffer {
  if (isUtf8(text)) return text;
  let at = 0;
  for (let length = 1; length <= 4 && at + length <= text.length; length++) {
    if (!isUtf8(text.subarray(at, at + length))) continue;
    at += length;
    length = 0;
  }
  return text.subarray(0, at);
}

/** A letter, `_` or `$`. */
function beginsTitle(byte: number): boolean {
  const lower = byte | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || byte === 0x5f || byte === 0x24;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
