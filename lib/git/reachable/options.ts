import type { Oid } from '../oid.ts';

export interface EnumerateOptions {
  /** What must be complete: commits, tags, trees or blobs. */
  readonly include: readonly Oid[];
  /** What the receiver has, with all that it reaches. Ids that are not stored are passed over. */
  readonly exclude?: readonly Oid[];
  /** Commits whose parents are not to be sent. */
  readonly shallow?: ReadonlySet<Oid>;
  /** Commits below `exclude` whose parents the receiver does not have. */
  readonly excludeShallow?: ReadonlySet<Oid>;
  /** Objects to leave out (git-rev-list, `--filter`); what `include` names itself is sent all the same. */
  readonly filter?: ObjectFilter;
  readonly onProgress?: (objects: number) => void;
}

export type ObjectFilter =
  | { readonly kind: 'blob:none' }
  /** Blobs of `bytes` or more are left out. */
  | { readonly kind: 'blob:limit'; readonly bytes: number }
  /** Trees and blobs `depth` or more levels below a commit are left out; its root tree is at level 0. */
  | { readonly kind: 'tree'; readonly depth: number };
