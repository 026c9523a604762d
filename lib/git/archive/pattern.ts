/** Whether a path below the pattern's own directory matches. Adds the work that took. */
export type Pattern = (path: string, directory: boolean, work?: MatchWork) => boolean;

/** Counts comparisons of a token with a character, or of a name with a part of the path. */
export interface MatchWork {
  steps: number;
}

/**
 * Parses a pattern of `.gitattributes` (gitignore, "pattern format"). Without a slash it is matched against the last
 * component of a path, else against the whole path; `*`, `?` and `[...]` do not match slashes, `**` between slashes
 * does; a pattern that ends in a slash matches directories only. Matching takes time O(pattern × path).
 *
 * @returns undefined for an empty pattern
 */
export function parsePattern(text: string): Pattern | undefined {
  const onlyDirectories = text.endsWith('/');
  const body = onlyDirectories ? text.slice(0, -1) : text;
  if (body === '') return undefined;
  if (!body.includes('/')) {
    const [, any, literal] = /^(\*?)([^*?[\\]+)$/.exec(body) ?? [];
    if (literal !== undefined) {
      // The usual patterns, `name` and `*.ext`: no need to try every position.
      const ends = any === '*';
      return (path, directory) =>
        (directory || !onlyDirectories) &&
        path.endsWith(literal) &&
        (ends || path.length === literal.length || path.at(-1 - literal.length) === '/');
    }
    const name = parseGlob(body);
    return (path, directory, work) =>
      (directory || !onlyDirectories) && matchGlob(name, path.slice(path.lastIndexOf('/') + 1), work);
  }
  const matches = pathPattern(body.replace(/^\//, ''));
  return (path, directory, work) => (directory || !onlyDirectories) && matches(path, directory, work);
}

function pathPattern(text: string): Pattern {
  // Git compares the part before the first wildcard separately: the rest of `a**` is `**`, which matches slashes, and
  // the rest of `a**/b` is `**/b`.
  const [, before, behind] = /^([^*?[\\]*[^*?[\\/])\*{2,}(\/.*)?$/s.exec(text) ?? [];
  if (before !== undefined) {
    const rest = behind === undefined ? () => true : pathPattern(`**${behind}`);
    return (path, directory, work) =>
      path.startsWith(before) && rest(path.slice(before.length), directory, work);
  }
  const names = splitGlob(parseGlob(text));
  // `a/**` matches what is inside `a`. Git matches a directory as `a/`, which counts as inside too.
  const forFiles = isAnyDepth(names.at(-1)!) ? [...names, [RUN] as Glob] : names;
  return (path, directory, work) =>
    wild(
      directory ? names : forFiles,
      namesOf(path),
      isAnyDepth,
      (glob, name) => matchGlob(glob, name, work),
      work,
    );
}

let split: { readonly path: string; readonly names: readonly string[] } = { path: '', names: [''] };

/** The components of a path; the last path's are kept, because many patterns are tried on one path. */
function namesOf(path: string): readonly string[] {
  if (split.path !== path) split = { path, names: path.split('/') };
  return split.names;
}

type Glob = readonly Token[];
/** A literal character, `?`, a run (`*`, or several), or a character class. */
type Token =
  | string
  | typeof ONE
  | typeof RUN
  | typeof LONG_RUN
  | { readonly negated: boolean; readonly holds: (c: string) => boolean };
const ONE = Symbol('?');
const RUN = Symbol('*');
const LONG_RUN = Symbol('**');

const isRun = (token: Token) => token === RUN || token === LONG_RUN;
const isAnyDepth = (name: Glob) => name.length === 1 && name[0] === LONG_RUN;

/** Split at its slashes, but not at those in a class, which match nothing. */
function splitGlob(glob: Glob): Glob[] {
  const names: Token[][] = [[]];
  for (const token of glob) {
    if (token === '/') names.push([]);
    else names.at(-1)!.push(token);
  }
  return names;
}

function matchGlob(glob: Glob, name: string, work?: MatchWork): boolean {
  return wild(
    glob,
    name,
    isRun,
    (token, character) =>
      token === ONE ||
      token === character ||
      (typeof token === 'object' && token.holds(character) !== token.negated),
    work,
  );
}

/**
 * Matches with wildcards for runs. When a match fails, only the last run has to be extended: anything that an
 * earlier run could match, the last one can match as well.
 */
function wild<T, C>(
  pattern: ArrayLike<T>,
  text: ArrayLike<C>,
  isAny: (item: T) => boolean,
  matches: (item: T, of: C) => boolean,
  work?: MatchWork,
): boolean {
  let p = 0;
  let t = 0;
  let runAt = -1;
  let runEnd = 0;
  while (t < text.length) {
    if (work) work.steps++;
    if (p < pattern.length && isAny(pattern[p]!)) {
      runAt = p++;
      runEnd = t;
    } else if (p < pattern.length && matches(pattern[p]!, text[t]!)) {
      p++;
      t++;
    } else if (runAt >= 0) {
      p = runAt + 1;
      t = ++runEnd;
    } else return false;
  }
  while (p < pattern.length && isAny(pattern[p]!)) p++;
  return p === pattern.length;
}

function parseGlob(text: string): Glob {
  const tokens: Token[] = [];
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!;
    if (character === '*') {
      const last = tokens.at(-1);
      if (last !== undefined && isRun(last)) tokens[tokens.length - 1] = LONG_RUN;
      else tokens.push(RUN);
    } else if (character === '?') tokens.push(ONE);
    else if (character === '\\') tokens.push(text[++i] ?? '\\');
    else if (character === '[') {
      const parsed = parseClass(text, i + 1);
      if (parsed === undefined) return [{ negated: false, holds: () => false }];
      tokens.push(parsed.token);
      i = parsed.end;
    } else tokens.push(character);
  }
  return tokens;
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[\x21-\x7e]/,
  lower: /[a-z]/,
  print: /[\x20-\x7e]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[\t-\r ]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** @param start after the bracket @returns undefined when the class has no end, or an unknown name */
function parseClass(text: string, start: number): { token: Token; end: number } | undefined {
  const tests: ((c: string) => boolean)[] = [];
  let i = start;
  const negated = text[i] === '!' || text[i] === '^';
  if (negated) i++;
  for (let first = true; ; first = false) {
    let from = text[i];
    if (from === undefined) return undefined;
    if (from === ']' && !first) break;
    if (from === '[' && text[i + 1] === ':') {
      const end = text.indexOf(':]', i + 2);
      const known = end < 0 ? undefined : CLASSES[text.slice(i + 2, end)];
      if (known === undefined) return undefined;
      tests.push((c) => known.test(c));
      i = end + 2;
      continue;
    }
    if (from === '\\') from = text[++i];
    if (from === undefined) return undefined;
    i++;
    let to = from;
    if (text[i] === '-' && text[i + 1] !== undefined && text[i + 1] !== ']') {
      i++;
      if (text[i] === '\\') i++;
      to = text[i++] ?? from;
    }
    const [low, high] = [from, to];
    tests.push((c) => low <= c && c <= high);
  }
  return { token: { negated, holds: (c) => tests.some((test) => test(c)) }, end: i };
}
