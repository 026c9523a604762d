/** Parses mentions of users and groups in Markdown. */

/** Maximum number of names of one text; further ones are ignored. */
export const MAX_MENTIONS = 100;
/** Mentions all members of the project. */
export const EVERYBODY = 'all';

/**
 * Returns the names that a Markdown text mentions, `@name` or `@group/subgroup`, each once and as written first. Code,
 * quotes and email addresses contain no mentions. Takes time linear in the length of the text.
 */
export function mentionsIn(text: string): string[] {
  const found = new Map<string, string>();
  for (const line of unquotedLines(text)) {
    for (const [, name] of withoutCode(line).matchAll(MENTION)) {
      const mentioned = name!.replace(/[.-]+$/, '');
      if (!found.has(mentioned.toLowerCase())) found.set(mentioned.toLowerCase(), mentioned);
      if (found.size >= MAX_MENTIONS) return [...found.values()];
    }
  }
  return [...found.values()];
}

/** Not after a letter, as in an email address; a name begins with a letter, a digit or `_`. */
const MENTION = /(?<![A-Za-z0-9@./`+-])@([A-Za-z0-9_][\w.-]{0,254}(?:\/[A-Za-z0-9_][\w.-]{0,254}){0,19})/g;
/** Removes code spans, each between two runs of equally many backticks (CommonMark 0.31, section 6.1). */
function withoutCode(line: string): string {
  const runs = [...line.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ index, length }));
  // For each run, the index of the next run of the same length.
  const closing = new Array<number | undefined>(runs.length);
  const next = new Map<number, number>();
  for (let i = runs.length - 1; i >= 0; i--) {
    closing[i] = next.get(runs[i]!.length);
    next.set(runs[i]!.length, i);
  }
  const text: string[] = [];
  let from = 0;
  for (let i = 0; i < runs.length; i++) {
    const close = closing[i];
    if (close === undefined) continue;
    text.push(line.slice(from, runs[i]!.index));
    from = runs[close]!.index + runs[close]!.length;
    i = close;
  }
  return [...text, line.slice(from)].join(' ');
}

/** Yields the lines that are neither quoted nor in fenced code. */
function* unquotedLines(text: string): Generator<string> {
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else if (!/^ {0,3}>/.test(line)) yield line;
  }
}
