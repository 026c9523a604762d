/** Regular expressions that users and administrators write, in RE2's syntax: https://github.com/google/re2/wiki/Syntax */
import type { RE2JS } from 're2js';
import { unfoldedSize } from './unfolded-size.ts';

/** The text is no regular expression in RE2's syntax, or too large a one. The message says what is wrong. */
export class PatternError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PatternError';
  }
}

export interface PatternOptions {
  readonly ignoreCase?: boolean;
}

export interface UserPattern {
  /**
   * The named groups of the first match, those that took part; undefined without a match.
   * @throws RangeError for a text of more than {@link MAX_TEXT} characters
   */
  find(text: string): ReadonlyMap<string, string> | undefined;
  /**
   * The last group of the last match that took part, or the match itself where the pattern has no groups: in as much of the
   * beginning of a text as {@link MAX_STEPS} allow. Undefined without a match.
   */
  last(text: string): string | undefined;
  /** Whether the pattern is found in a text, or in as much of its beginning as {@link MAX_STEPS} allow. */
  matches(text: string): boolean;
}

/** Characters of a text to search: with the largest pattern a search takes a tenth of a second. */
export const MAX_TEXT = 1000;

/** Characters of a text, times instructions of the pattern, that one match looks at: a tenth of a second. */
const MAX_STEPS = 1_500_000;

const MAX_LENGTH = 2000;
/** Instructions of a compiled pattern. */
const MAX_PROGRAM = 1500;
/** The same before it is compiled, when nothing is shared yet between alternatives. */
const MAX_UNFOLDED = 5 * MAX_PROGRAM;
/** Unicode classes (`\pL`), which have hundreds of ranges each: together a tenth of a second. */
const MAX_UNICODE_CLASSES = 100;
/** Ranges that may be so wide that folding the case of their characters one by one takes ten milliseconds each. */
const MAX_FOLDED_RANGES = 10;

/**
 * Compiles a pattern. A search takes time in proportion to the length of the text times that of the pattern.
 * @throws PatternError for one that RE2 does not know (it has no look-around and no back references), or that is too large
 */
export async function userPattern(
  source: string,
  { ignoreCase = false }: PatternOptions = {},
): Promise<UserPattern> {
  refuseLarge(source, ignoreCase);
  // Most requests meet no pattern, and the engine is a sixth of a function's code: it is loaded for the first one.
  const { RE2JS, RE2JSException, RE2JSSyntaxException } = await import('re2js');
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException)
      throw new PatternError(problemOf(error.error, error.input ?? '', source));
    if (error instanceof RE2JSException) throw new PatternError(error.message);
    throw error;
  }
  const size = compiled.programSize();
  if (size > MAX_PROGRAM) throw new PatternError('pattern too large');
  return {
    last: (text) => {
      const matcher = compiled.matcher(text.slice(0, Math.floor(MAX_STEPS / size)));
      let found: string | undefined;
      while (matcher.find()) {
        found = undefined;
        for (let group = matcher.groupCount(); group >= 0 && found === undefined; group--)
          found = matcher.group(group) ?? undefined;
      }
      return found;
    },
    matches: (text) => compiled.test(text.slice(0, Math.floor(MAX_STEPS / size))),
    find: (text) => {
      if (text.length > MAX_TEXT)
        throw new RangeError(`a text of ${text.length} characters is too long to search`);
      const match = compiled.exec(text);
      if (match === null) return undefined;
      const { groups } = match as unknown as RegExpExecArray;
      return new Map(Object.entries({ ...groups }).filter(([, value]) => value !== undefined));
    },
  };
}

/** What takes long to compile is refused before. */
function refuseLarge(source: string, ignoreCase: boolean): void {
  if (source.length > MAX_LENGTH) throw new PatternError(`longer than ${MAX_LENGTH} characters`);
  if (unfoldedSize(source) > MAX_UNFOLDED) throw new PatternError('pattern too large');
  if (countOf(/\\p/gi, source) > MAX_UNICODE_CLASSES) throw new PatternError('too many Unicode classes');
  if (!ignoreCase && !/\(\?[a-zA-Z-]*i/.test(source)) return;
  if (countOf(/-(?:\\|[^\0-\x7f])/g, source) > MAX_FOLDED_RANGES)
    throw new PatternError('too many character ranges beyond ASCII to ignore case');
}

const countOf = (pattern: RegExp, text: string): number => text.match(pattern)?.length ?? 0;

/** Constructs of other engines that RE2 does not have, by how they begin. */
const MISSING: readonly (readonly [begins: RegExp, construct: string])[] = [
  [/^\(\?[=!]/, 'look-ahead is not supported'],
  [/^\(\?<[=!]/, 'look-behind is not supported'],
  [/^(\\[1-9]|\\[kg]|\(\?P=)/, 'back references are not supported'],
  [/^\(\?>/, 'atomic groups are not supported'],
];

/** RE2's own words, where the engine has those of its port to Go. */
const WORDS: Readonly<Record<string, string>> = {
  'missing argument to repetition operator': 'no argument for repetition operator',
  'invalid repeat count': 'invalid repetition size',
  'invalid or unsupported Perl syntax': 'invalid perl operator',
  'trailing backslash at end of expression': 'trailing \\',
};
/** Problems that say nothing without the place they are at. */
const WITH_PLACE: ReadonlySet<string> = new Set([
  'invalid or unsupported Perl syntax',
  'invalid escape sequence',
  'duplicate capture group name',
]);

/** @param input the part of the source that is wrong, or all that follows */
function problemOf(error: string, input: string, source: string): string {
  if (input === '(?P' && source.includes('(?P=')) return problemOf(error, '(?P=', '');
  const missing = MISSING.find(([begins]) => begins.test(input));
  if (missing !== undefined) return `${missing[1]}: ${missing[0].exec(input)![0]}`;
  const words = WORDS[error] ?? error;
  return WITH_PLACE.has(error) ? `${words}: ${input}` : words;
}
