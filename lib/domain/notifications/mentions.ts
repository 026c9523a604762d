/** People and groups that a text calls by name. */

/** Names of one text that are looked up; the rest call nobody. */
export const MAX_MENTIONS = 100;
/** Everybody who is a member of the project. */
export const EVERYBODY = 'all';

/**
 * Names that Markdown of this kind calls, `@name` or `@group/subgroup`, each once and as it is written first. What is
 * code, quoted from somebody else, or an address in mail calls nobody. Linear in the text.
 */
export function mentionsIn(text: string): string[] {
  const found = new Map<string, string>();
  for (const line of spoken(text)) {
    for (const [, name] of withoutCode(line).matchAll(MENTION)) {
      const called = name!.replace(/[.-]+$/, '');
      if (!found.has(called.toLowerCase())) found.set(called.toLowerCase(), called);
      if (found.size >= MAX_MENTIONS) return [...found.values()];
    }
  }
  return [...found.values()];
}

/** Not behind a letter, as in an address; a name begins with a letter, a digit or `_`. */
const MENTION = /(?<![A-Za-z0-9@./`+-])@([A-Za-z0-9_][\w.-]{0,254}(?:\/[A-Za-z0-9_][\w.-]{0,254}){0,19})/g;
/** A line without its code spans, each between two runs of as many backticks (CommonMark 0.31, section 6.1). */
function withoutCode(line: string): string {
  const runs = [...line.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ index, length }));
  // For each run the next of its length.
  const closing = new Array<number | undefined>(runs.length);
  const next = new Map<number, number>();
  for (let i = runs.length - 1; i >= 0; i--) {
    closing[i] = next.get(runs[i]!.length);
    next.set(runs[i]!.length, i);
  }
  const spoken: string[] = [];
  let from = 0;
  for (let i = 0; i < runs.length; i++) {
    const close = closing[i];
    if (close === undefined) continue;
    spoken.push(line.slice(from, runs[i]!.index));
    from = runs[close]!.index + runs[close]!.length;
    i = close;
  }
  return [...spoken, line.slice(from)].join(' ');
}

/** Lines that are neither quoted nor within a fence of code. */
function* spoken(text: string): Generator<string> {
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else if (!/^ {0,3}>/.test(line)) yield line;
  }
}
