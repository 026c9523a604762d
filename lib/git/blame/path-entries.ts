import type { SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { DIRECTORY, type Entry, findName, readTreeBytes } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';

/** Cached directories, over all levels. */
const MAX_REMEMBERED = 200_000;

/** Looks up a path in many trees, with a cache: most commits leave most directories of the path unchanged. */
export class PathEntries {
  readonly #found = new Map<string, Entry | null>();

  at(objects: SyncObjects, root: Oid, path: RawPath): Entry | undefined {
    const trail: string[] = [];
    let tree = root;
    let rest: string = path;
    let answer: Entry | null = null;
    for (;;) {
      const key = `${tree}${rest}`;
      const known = this.#found.get(key);
      if (known !== undefined) {
        answer = known;
        break;
      }
      trail.push(key);
      const slash = rest.indexOf('/');
      const name = (slash < 0 ? rest : rest.slice(0, slash)) as RawPath;
      const entry = findName(readTreeBytes(objects, tree), name);
      if (slash < 0) {
        answer = entry?.mode === DIRECTORY ? null : (entry ?? null);
        break;
      }
      if (entry?.mode !== DIRECTORY) break;
      tree = entry.oid;
      rest = rest.slice(slash + 1);
    }
    if (this.#found.size > MAX_REMEMBERED) this.#found.clear();
    for (const key of trail) this.#found.set(key, answer);
    return answer ?? undefined;
  }
}
