/** How well something's name answers a search, for lists that show the best first. */
import { folded } from '../row-keys/key.ts';

interface Named {
  readonly name: string;
  readonly path: string;
}

/** From 0, found somehow, to 4, called so. The path counts as much as the name. */
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
