/** What of a Markdown text is prose: neither code nor, if asked so, a quote. */
import { Effort, type Steps } from '../../git/work.ts';

/**
 * Returns the text without code spans and fenced code, whose places become spaces or empty lines. Takes time linear in
 * the length of the text. Code is found line by line, as nearly all of it is written.
 * @param withQuotes whether block quotes stay
 */
export function* proseOf(text: string, { withQuotes }: { readonly withQuotes: boolean }): Steps<string> {
  // Most texts have neither.
  if (!/[`~]/.test(text) && (withQuotes || !text.includes('>'))) return text;
  const lines: string[] = [];
  const effort = new Effort();
  for (const { line, isCode } of linesOf(text)) {
    if (effort.spend(LINE_EFFORT + line.length)) yield;
    if (isCode || (!withQuotes && /^ {0,3}>/.test(line))) continue;
    lines.push(line.includes('`') ? [...partsOf(line)].map(({ prose }) => prose).join(' ') : line);
  }
  return lines.join('\n');
}

/** Units of {@link Effort} that a line costs. */
const LINE_EFFORT = 100;

/** Returns the text with its prose as `rewrite` makes it, a part of a line at a time; code stays as it is. */
export function rewriteProse(text: string, rewrite: (prose: string) => string): string {
  const lines: string[] = [];
  for (const { line, isCode } of linesOf(text))
    lines.push(isCode ? line : [...partsOf(line)].map(({ prose, code }) => rewrite(prose) + code).join(''));
  return lines.join('\n');
}

function* linesOf(text: string): Generator<{ readonly line: string; readonly isCode: boolean }> {
  let fence: string | undefined;
  for (let at = 0; at <= text.length; ) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end);
    at = end + 1;
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    yield { line, isCode: fence !== undefined || mark !== undefined };
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence)) fence = undefined;
  }
}

/** Yields what is prose of a line, each part with the code span behind it. */
function* partsOf(line: string): Generator<{ readonly prose: string; readonly code: string }> {
  let from = 0;
  for (const [start, end] of codeSpans(line)) {
    yield { prose: line.slice(from, start), code: line.slice(start, end) };
    from = end;
  }
  yield { prose: line.slice(from), code: '' };
}

/**
 * The places of the code spans of a paragraph, backticks included, each between two runs of equally many backticks
 * (CommonMark 0.31, section 6.1).
 */
export function codeSpans(paragraph: string): (readonly [start: number, end: number])[] {
  const last = new Map<number, number>();
  for (let at = paragraph.indexOf('`'); at >= 0; ) {
    const end = endOfRun(paragraph, at);
    last.set(end - at, at);
    at = paragraph.indexOf('`', end);
  }
  const spans: (readonly [number, number])[] = [];
  for (let at = last.size === 0 ? -1 : paragraph.indexOf('`'); at >= 0; ) {
    const start = at;
    let end = endOfRun(paragraph, start);
    const length = end - start;
    const isOpened = last.get(length)! > start;
    // The next run of the same length, which there is.
    for (let found = !isOpened; !found; found = end - at === length) {
      at = paragraph.indexOf('`', end);
      end = endOfRun(paragraph, at);
    }
    if (isOpened) spans.push([start, end]);
    at = paragraph.indexOf('`', end);
  }
  return spans;
}

const BACKTICK = 96;

function endOfRun(text: string, start: number): number {
  let end = start + 1;
  while (text.charCodeAt(end) === BACKTICK) end++;
  return end;
}
