/** Finds the issues that a text says it closes: `Closes #1, #2 and group/project#3`, `Fixes: <URL of an issue>`. */
import type { Steps } from '../../git/work.ts';
import { proseOf } from './prose.ts';
import { MAX_REFERENCES, type NumberedReference, referencesOf } from './references.ts';

/** A word that closes, at the end of what stands before the first issue. Its end is of bounded length. */
const CLOSES =
  /(?<![A-Za-z0-9_])(?:[Cc]los(?:e[sd]?|ing)|[Ff]ix(?:e[sd]|ing)?|[Rr]esolv(?:e[sd]?|ing)|[Ii]mplement(?:s|ed|ing)?):? {1,20}(?:issues? {1,20})?$/;
/** What stands between two issues of a list. */
const AND = /^ {0,20}(?:,? {0,20}and {1,20}|,? {0,20})(?:issues? {1,20})?$/;
/** Characters before an issue that are looked at: more than any of the two patterns matches. */
const LOOKED_AT = 100;

/**
 * Returns the references to issues that a text closes, each once and in order. What it says in code or quotes closes
 * nothing. Takes time linear in the length of the text.
 * @param baseUrl public base URL of the instance, whose URLs are references too
 */
export function* closesIssues(text: string, baseUrl?: string): Steps<NumberedReference[]> {
  const prose = yield* proseOf(text, { withQuotes: false });
  const closed = new Map<string, NumberedReference>();
  /** Where the latest issue that is closed ends. */
  let end: number | undefined;
  for (const each of referencesOf(prose, baseUrl)) {
    if (each === undefined) {
      yield;
      continue;
    }
    const { reference, index } = each;
    if (reference.kind !== 'issue') continue;
    const goesOn =
      end !== undefined && index - end <= LOOKED_AT && AND.test(prose.slice(end, index)) && index > end;
    end =
      goesOn || CLOSES.test(prose.slice(Math.max(0, index - LOOKED_AT), index))
        ? index + reference.source.length
        : undefined;
    if (end === undefined) continue;
    closed.set(reference.source, reference);
    if (closed.size >= MAX_REFERENCES) break;
  }
  return [...closed.values()];
}
