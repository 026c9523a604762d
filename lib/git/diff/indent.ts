/**
 * How badly a split between two lines reads, after M. Haggerty's measurements of 6,668 groups rated by hand
 * (github.com/mhagger/diff-slider-tools; git's commit "diff: improve positioning of add/delete blocks in diffs"
 * explains them). The weights are the ones found there.
 */
export interface Badness {
  /** Columns; less is better, and counts more than most penalties. */
  readonly indent: number;
  readonly penalty: number;
}

const START_OF_FILE = 1;
const END_OF_FILE = 21;
/** Per blank line around the split. */
const BLANK = -30;
/** Additionally per blank line after the split. */
const BLANK_BEHIND = 6;
/** The next line is indented more than the previous one: start of a block. */
const DEEPER = { plain: -4, besideBlank: 10 };
/** The next line is indented less than the previous one and than the following one: `} else {`. */
const OUTDENT = { plain: 24, besideBlank: 17 };
/** The next line is indented less: end of a block. */
const DEDENT = { plain: 23, besideBlank: 17 };

/** Consecutive blank lines read at most. */
const MAX_BLANKS = 20;
const MAX_INDENT = 200;
/** Bytes of a line read at most: a line that starts with this much white space counts as blank. */
const MAX_LINE_BYTES = 4096;
const TAB = 8;
const NONE = -1;

/** @param line the line after the split; the number of lines for the end of the text */
export function splitBadness(data: Uint8Array, starts: Int32Array, line: number): Badness {
  const lines = starts.length - 1;
  const own = line >= lines ? NONE : indentOf(data, starts, line);
  const before = nearest(data, starts, line - 1, -1);
  const behind = nearest(data, starts, line + 1, 1);

  const blanksBehind = own === NONE ? 1 + behind.blanks : 0;
  const blanks = before.blanks + blanksBehind;
  const indent = own === NONE ? behind.indent : own;
  let penalty = BLANK * blanks + BLANK_BEHIND * blanksBehind;
  if (before.indent === NONE && before.blanks === 0) penalty += START_OF_FILE;
  if (line >= lines) penalty += END_OF_FILE;
  if (indent !== NONE && before.indent !== NONE && indent !== before.indent) {
    const kind = indent > before.indent ? DEEPER : behind.indent > indent ? OUTDENT : DEDENT;
    penalty += blanks === 0 ? kind.plain : kind.besideBlank;
  }
  return { indent, penalty };
}

/** The indentation of the next line that is not blank, and the number of blank lines before it. */
function nearest(
  data: Uint8Array,
  starts: Int32Array,
  from: number,
  step: 1 | -1,
): { indent: number; blanks: number } {
  let blanks = 0;
  for (let line = from; line >= 0 && line < starts.length - 1; line += step) {
    const indent = indentOf(data, starts, line);
    if (indent !== NONE) return { indent, blanks };
    if (++blanks === MAX_BLANKS) return { indent: 0, blanks };
  }
  return { indent: NONE, blanks };
}

/** Columns of white space before the text of a line. */
function indentOf(data: Uint8Array, starts: Int32Array, line: number): number {
  let indent = 0;
  const start = starts[line]!;
  const end = Math.min(starts[line + 1]!, start + MAX_LINE_BYTES);
  for (let i = start; i < end; i++) {
    const byte = data[i];
    if (byte === 0x20) indent++;
    else if (byte === 0x09) indent += TAB - (indent % TAB);
    else if (byte !== 0x0a && byte !== 0x0d) return indent;
    if (indent >= MAX_INDENT) return MAX_INDENT;
  }
  return NONE;
}
