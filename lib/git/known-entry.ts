import type { ObjectStore } from './objects.ts';
import type { Oid } from './oid.ts';
import { BlockMiss } from './pack/block-cache.ts';
import { parseCommit } from './parse.ts';
import { peelToCommit } from './revision.ts';
import { entryAtPath } from './tree/entry.ts';
import { lookupPath } from './tree/path.ts';

/**
 * Whether a commit has an entry at a path, as far as that is known without reading storage.
 * @param oid of the commit, or of a tag of it
 * @returns undefined when it is not known
 */
export function hasKnownEntry(store: ObjectStore, oid: Oid, path: string): Promise<boolean | undefined> {
  return store.run((objects) => {
    try {
      const commit = peelToCommit(objects, oid)?.commit;
      const raw = lookupPath(path);
      if (commit === undefined || raw === undefined) return false;
      return entryAtPath(objects, parseCommit(objects.read(commit).data).tree, raw) !== undefined;
    } catch (error) {
      // Fetching it would take a round trip.
      if (error instanceof BlockMiss) return undefined;
      throw error;
    }
  });
}
