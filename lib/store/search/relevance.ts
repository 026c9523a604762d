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
  const wanted = folded(term.trim());
  const ranks = [name, path].map((text) => {
    const held = folded(text);
    if (held === wanted) return 4;
    if (held.startsWith(wanted)) return 3;
    if (held.split(/[\s._/-]+/).some((word) => word.startsWith(wanted))) return 2;
    return held.includes(wanted) ? 1 : 0;
  });
  return Math.max(...ranks);
}
