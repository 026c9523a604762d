/**
 * Substring search with a row per trigram. A row means "this subject's text contains this gram" and stores the folded
 * text, so that most candidates are filtered without loading them. The caller checks the remaining ones against the
 * record itself, because rows are updated later than the records.
 */
import { folded } from '../row-keys/key.ts';

/**
 * Grams of the texts of one subject: `3:` every three consecutive characters; `1:` and `2:` the first one and two
 * characters of each text, for terms too short to have a trigram.
 */
export function gramsOf(texts: readonly string[]): Set<string> {
  const grams = new Set<string>();
  for (const text of texts) {
    const characters = Array.from(folded(text));
    if (characters.length > 0) grams.add(`1:${characters[0]}`);
    if (characters.length > 1) grams.add(`2:${characters[0]}${characters[1]}`);
    for (let i = 0; i + 3 <= characters.length; i++) grams.add(`3:${characters.slice(i, i + 3).join('')}`);
  }
  return grams;
}

/** Words of a search term, each of which must match. At most 8, longest first. */
export function wordsOf(term: string): string[] {
  const words = [
    ...new Set(
      folded(term)
        .split(/\s+/)
        .filter((word) => word !== ''),
    ),
  ];
  return words.toSorted((a, b) => b.length - a.length).slice(0, 8);
}

/** Grams to look up for a search, at most `limit`, spread over the term. */
export function lookupGrams(words: readonly string[], limit = 6): string[] {
  const grams = [...gramsOf(words)].filter((gram) => gram.startsWith('3:'));
  if (grams.length === 0) {
    const characters = Array.from(words[0] ?? '');
    return characters.length === 0 ? [] : [`${characters.length}:${characters.join('')}`];
  }
  const step = Math.max(1, grams.length / limit);
  return Array.from({ length: Math.min(limit, grams.length) }, (_, i) => grams[Math.floor(i * step)]!);
}

/**
 * Whether one of the texts contains every word. A word shorter than three characters must begin the text if it is the
 * only word.
 */
export function matchesWords(words: readonly string[], texts: readonly string[]): boolean {
  return texts.some((text) => {
    const held = folded(text);
    return words.every((word) =>
      Array.from(word).length < 3
        ? held.startsWith(word) || (words.length > 1 && held.includes(word))
        : held.includes(word),
    );
  });
}
