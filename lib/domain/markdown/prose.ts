/** What of a Markdown text is prose: neither code nor, if asked so, a quote. */

/**
 * Returns the text without code spans and fenced code, whose places become spaces or empty lines. Takes time linear in
 * the length of the text. Code is found line by line, as nearly all of it is written.
 * @param withQuotes whether block quotes stay
 */
export function proseOf(text: string, { withQuotes }: { readonly withQuotes: boolean }): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else if (withQuotes || !/^ {0,3}>/.test(line)) lines.push(withoutCode(line));
  }
  return lines.join('\n');
}

/** Replaces code spans, each between two runs of equally many backticks (CommonMark 0.31, section 6.1). */
function withoutCode(line: string): string {
  if (!line.includes('`')) return line;
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
