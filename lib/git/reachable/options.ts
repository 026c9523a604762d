import type { ObjectType } from '../objects.ts';
import type { Oid } from '../oid.ts';

export interface EnumerateOptions {
  /** Commits, tags, trees or blobs to list with everything they reach. */
  readonly include: readonly Oid[];
  /** Objects that the receiver has, with everything they reach. Ids that do not exist are ignored. */
  readonly exclude?: readonly Oid[];
  /** Commits whose parents must not be sent. */
  readonly shallow?: ReadonlySet<Oid>;
  /** Commits reachable from `exclude` whose parents the receiver does not have. */
  readonly excludeShallow?: ReadonlySet<Oid>;
  /** Objects to leave out (git-rev-list, `--filter`); does not apply to the objects in `include` themselves. */
  readonly filter?: ObjectFilter;
  readonly onProgress?: (objects: number) => void;
}

/** What is left out: everything that one of these members says. */
export interface ObjectFilter {
  /** Blobs of that many bytes or more; 0: all blobs. */
  readonly blobLimit?: number;
  /** Trees and blobs that many or more levels below a commit; its root tree is at level 0. */
  readonly treeDepth?: number;
  /** Objects of these types. What they refer to is not left out with them. */
  readonly omit?: ReadonlySet<ObjectType>;
}
