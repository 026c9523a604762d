/** Parses mentions of users and groups in Markdown. */
import type { Steps } from '../../git/work.ts';
import { proseOf } from '../markdown/prose.ts';
import { referencesOf } from '../markdown/references.ts';

/** Maximum number of names of one text; further ones are ignored. */
export const MAX_MENTIONS = 100;
/** Mentions all members of the project. */
export const EVERYBODY = 'all';

/**
 * Returns the names that a Markdown text mentions, `@name` or `@group/subgroup`, each once and as written first. Code,
 * quotes and email addresses contain no mentions. Takes time linear in the length of the text.
 */
export function* mentionsIn(text: string): Steps<string[]> {
  const found = new Map<string, string>();
  for (const each of referencesOf(yield* proseOf(text, { withQuotes: false }))) {
    if (each === undefined) yield;
    if (each?.reference.kind !== 'mention') continue;
    const { name } = each.reference;
    if (!found.has(name.toLowerCase())) found.set(name.toLowerCase(), name);
    if (found.size >= MAX_MENTIONS) break;
  }
  return [...found.values()];
}
