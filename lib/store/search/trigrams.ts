/**
 * Substring search over rows per trigram. A row stands for "this subject's text holds this gram" and
 * carries the folded text, so that most candidates are judged without loading them; a caller judges the
 * rest on the record itself, because rows follow the records with a delay.
 */
import { folded } from '../row-keys/key.ts';

/**
 * Grams of the texts of one subject: `3:` every three characters in a row; `1:` and `2:` how each text
 * begins, for terms too short to have a trigram.
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

/** Words of a search: each must be found. At most 8, as long words first. */
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

/** Whether one of the texts holds every word; words below three characters must begin it. */
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
