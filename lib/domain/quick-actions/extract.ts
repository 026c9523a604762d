/**
 * Finds quick actions in texts: `/name` at the beginning of a line, with what stands behind it. Code, HTML and quotes
 * contain none. A text is read once, in time linear in its length.
 */

import { badRequest, invalid } from '../errors.ts';
import { codeSpans } from '../markdown/prose.ts';
import { mayHaveActions } from './may-have-actions.ts';

/** Quick actions of one text, those in code spans included; their characters together. */
export const MAX_ACTIONS = 100;
export const MAX_ACTION_TEXT = 10_000;

export interface ExtractedAction {
  /** As written, in lower case. */
  readonly name: string;
  /** Trimmed; empty where nothing stands behind the name. */
  readonly argument: string;
}

export interface Extracted {
  /** The text without its quick actions. */
  readonly text: string;
  readonly actions: readonly ExtractedAction[];
}

/** Words that stand for a text: `/shrug well` becomes `well ¯\＿(ツ)＿/¯`. */
const SUBSTITUTIONS: Readonly<Record<string, string>> = {
  shrug: '¯\\＿(ツ)＿/¯',
  tableflip: '(╯°□°)╯︵ ┻━┻',
};

/** Beginnings of lines that matter: of fenced code, of a comment, of HTML, of a quote between `>>>`, of an action. */
const MARK = '^(?: {0,3}(?<fence>`{3,}|~{3,})| {0,3}(?<comment><!--)|<(?=[a-z])|(?<quote>>>>)|(?<slash>/)';
const FENCE = /^ {0,3}(`{3,}|~{3,})[ \t]*$/gm;
const TAG = /^<[^>]+>[ \t]*$/;
const CLOSING_TAG = /^<\/[^>\n]+>[ \t]*$/gm;
const QUOTE = /^>>>[ \t]*$/gm;
const ACTION = /^\/([a-z_]+)(?: (.*)|[ \t]*)$/i;

/** What finds the beginnings of lines that matter where there are quick actions of these names. */
export const patternOf = (names: readonly string[]): RegExp =>
  new RegExp(`${MARK}(?:${[...names, ...Object.keys(SUBSTITUTIONS)].join('|')})(?=[ \\t\\r\\n]|$))`, 'gim');

/**
 * @param pattern of {@link patternOf}; what looks like an action of another name is text
 * @param refuse makes the error for a text with too many quick actions
 * @returns undefined where there are none; then the text stays as it is
 */
export function extractActions(
  text: string,
  pattern: RegExp,
  refuse: (problem: string) => Error,
): Extracted | undefined {
  if (!mayHaveActions(text)) return undefined;
  const source = text.includes('\r') ? text.replaceAll('\r', '') : text;
  const kept: string[] = [];
  const actions: ExtractedAction[] = [];
  let [from, length, found] = [0, 0, false];
  for (const { start, end, isCode } of actionLines(source, pattern)) {
    if (++length > MAX_ACTIONS) throw refuse(`has too many quick actions (maximum is ${MAX_ACTIONS})`);
    const [, written = '', behind = ''] = ACTION.exec(source.slice(start, end)) ?? [];
    if (isCode() || written === '') continue;
    const [name, argument] = [written.toLowerCase(), behind.trim()];
    const substitute = SUBSTITUTIONS[name];
    found = true;
    kept.push(source.slice(from, start));
    from = end;
    if (substitute !== undefined) kept.push(`${argument} ${substitute}`.trim());
    else {
      actions.push({ name, argument });
      from = endOfBlank(source, end);
    }
  }
  if (!found) return undefined;
  const characters = actions.reduce((sum, { name, argument }) => sum + name.length + argument.length, 0);
  if (characters > MAX_ACTION_TEXT)
    throw refuse(`has quick actions that are too long (maximum is ${MAX_ACTION_TEXT} characters)`);
  return { text: [...kept, source.slice(from)].join('').trimEnd(), actions };
}

/** The same of a note. @throws 400 for too many or too long actions */
export const extractFromNote = (note: string, pattern: RegExp): Extracted | undefined =>
  extractActions(note, pattern, (problem) => badRequest(`Note {:note=>["${problem}"]}`));

/** The same of a description. @throws 400 for too many or too long actions */
export const extractFromDescription = (description: string, pattern: RegExp): Extracted | undefined =>
  extractActions(description, pattern, (problem) => invalid({ description: [problem] }));

interface Line {
  readonly start: number;
  readonly end: number;
}

/** A line that begins as an action does. It is code where it stands in a code span. */
interface ActionLine extends Line {
  isCode(): boolean;
}

/** Yields the lines that begin with an action, outside of fenced code, HTML and quotes. */
function* actionLines(text: string, pattern: RegExp): Generator<ActionLine> {
  const mark = new RegExp(pattern);
  const inSpan = spansOf(text);
  // What was not found behind one place is not behind a later one either.
  const without = new Set<RegExp>();
  const next = (pattern: RegExp, from: number): number | undefined => {
    if (without.has(pattern)) return undefined;
    const search = new RegExp(pattern);
    search.lastIndex = from;
    if (search.exec(text) !== null) return search.lastIndex;
    without.add(pattern);
    return undefined;
  };
  for (let match = mark.exec(text); match !== null; match = mark.exec(text)) {
    const { fence, slash, comment, quote } = match.groups!;
    const line = { start: match.index, end: endOfLine(text, match.index) };
    let after: number | undefined = line.end;
    if (slash !== undefined) {
      yield { ...line, isCode: () => inSpan(line.start) };
    } else if (fence !== undefined) {
      const info = text.slice(mark.lastIndex, line.end);
      // The rest of a text behind a fence that nothing closes is code.
      if (fence.startsWith('~') || !info.includes('`')) after = endOfFence(text, line.end, fence);
      if (after === undefined) return;
    } else if (comment !== undefined) {
      const close = text.indexOf('-->', mark.lastIndex);
      if (close < 0) return;
      after = endOfLine(text, close);
    } else if (quote !== undefined) {
      after = next(QUOTE, line.end) ?? line.end;
    } else if (TAG.test(text.slice(line.start, line.end))) {
      after = next(CLOSING_TAG, line.end) ?? line.end;
    }
    mark.lastIndex = after;
  }
}

function endOfFence(text: string, from: number, fence: string): number | undefined {
  const search = new RegExp(FENCE);
  search.lastIndex = from;
  for (let match = search.exec(text); match !== null; match = search.exec(text))
    if (match[1]!.startsWith(fence)) return search.lastIndex;
  return undefined;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** The beginning of the next line with text, from the end of a line. */
function endOfBlank(text: string, end: number): number {
  let from = end;
  for (;;) {
    if (from >= text.length) return text.length;
    const next = endOfLine(text, from + 1);
    if (text.slice(from + 1, next).trim() !== '' || next >= text.length) return from + 1;
    from = next;
  }
}

/** Tells for positions, in rising order, whether they are in a code span, which may go on for lines of a paragraph. */
function spansOf(text: string): (position: number) => boolean {
  let paragraph: Line = { start: 0, end: 0 };
  let spans: readonly (readonly [number, number])[] = [];
  let i = 0;
  return (position) => {
    if (position >= paragraph.end) {
      paragraph = paragraphAt(text, position, paragraph.end);
      spans = codeSpans(text.slice(paragraph.start, paragraph.end));
      i = 0;
    }
    while (i < spans.length && paragraph.start + spans[i]![1] <= position) i++;
    return i < spans.length && paragraph.start + spans[i]![0] < position;
  };
}

/** The lines around a beginning of a line without a blank one among them. @param least where to stop going back */
function paragraphAt(text: string, position: number, least: number): Line {
  let start = position;
  while (start > least) {
    const previous = text.lastIndexOf('\n', start - 2) + 1;
    if (text.slice(previous, start).trim() === '') break;
    start = previous;
  }
  let end = endOfLine(text, position);
  while (end < text.length) {
    const next = endOfLine(text, end + 1);
    if (text.slice(end + 1, next).trim() === '') break;
    end = next;
  }
  return { start, end: Math.max(end, position + 1) };
}
