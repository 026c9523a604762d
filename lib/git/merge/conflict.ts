import type { Entry } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';

/** What one side, or the base, has of a file. */
export interface Stage extends Entry {
  /** Where it stands there: renames make the paths of one file differ. */
  readonly path: RawPath;
}

export type ConflictKind =
  /** both changed the same lines */
  | 'content'
  /** both added a file at the same path, with different lines */
  | 'add-add'
  /** content that is not merged by lines: binary, or too large to compare */
  | 'binary'
  | 'too-large'
  /** one changed what the other deleted */
  | 'modify-delete'
  /** one moved what the other deleted */
  | 'rename-delete'
  /** both moved the same file, to different places */
  | 'rename-rename'
  /** both changed the mode, differently */
  | 'mode'
  | 'symlink'
  | 'submodule'
  /** a file against a symlink, or a submodule */
  | 'distinct-types'
  /** a file stands where the other side has a directory; it was put beside */
  | 'file-directory';

/** A path that somebody has to decide about. */
export interface MergeConflict {
  readonly kind: ConflictKind;
  /** In the tree of the merge. */
  readonly path: RawPath;
  readonly base?: Stage;
  readonly ours?: Stage;
  readonly theirs?: Stage;
}

/** Names of the sides, for markers and for files put beside a directory. */
export interface Labels {
  readonly ours: string;
  readonly theirs: string;
}
