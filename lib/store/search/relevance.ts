/** How well the name or path of a project or group matches a search, for lists sorted by relevance. */
import { folded } from '../row-keys/key.ts';

interface Named {
  readonly name: string;
  readonly path: string;
}

/**
 * The better rank of name and path, ignoring case: 4 equal to the term, 3 begins with it, 2 has a word that begins with
 * it, 1 contains it, 0 otherwise.
 */
export function similarity(term: string, { name, path }: Named): number {
  const searched = folded(term.trim());
  const ranks = [name, path].map((text) => {
    const foldedText = folded(text);
    if (foldedText === searched) return 4;
    if (foldedText.startsWith(searched)) return 3;
    if (foldedText.split(/[\s._/-]+/).some((word) => word.startsWith(searched))) return 2;
    return foldedText.includes(searched) ? 1 : 0;
  });
  return Math.max(...ranks);
}
