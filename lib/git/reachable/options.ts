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

export type ObjectFilter =
  | { readonly kind: 'blob:none' }
  /** Blobs of `bytes` or more are left out. */
  | { readonly kind: 'blob:limit'; readonly bytes: number }
  /** Trees and blobs `depth` or more levels below a commit are left out; its root tree is at level 0. */
  | { readonly kind: 'tree'; readonly depth: number };
