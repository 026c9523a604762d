import type { Entry } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';

/** A file in one side, or in the base. */
export interface Stage extends Entry {
  /** Its path there; paths of one file differ after renames. */
  readonly path: RawPath;
}

export type ConflictKind =
  /** both changed the same lines */
  | 'content'
  /** both added a file at the same path, with different lines */
  | 'add-add'
  /** content that cannot be merged by lines: binary, or too large */
  | 'binary'
  | 'too-large'
  /** one side changed the file, the other deleted it */
  | 'modify-delete'
  /** one side moved the file, the other deleted it */
  | 'rename-delete'
  /** both sides moved the file, to different paths */
  | 'rename-rename'
  /** both sides changed the mode, differently */
  | 'mode'
  | 'symlink'
  | 'submodule'
  /** a file on one side, a symlink or submodule on the other */
  | 'distinct-types'
  /** a file on one side, a directory on the other; the file was stored under another name */
  | 'file-directory'
  /** one side put the file into a directory that the other side renamed; it is in the renamed directory now */
  | 'file-location'
  /** the same, but the side has a file or directory at that place already */
  | 'directory-in-the-way'
  /** the same, but several files would be moved to one place */
  | 'directory-collision'
  /** one side added files to this directory, and the other moved its files to several directories */
  | 'directory-split';

/** A path with a conflict that has to be resolved by a person. */
export interface MergeConflict {
  readonly kind: ConflictKind;
  /** Path in the merged tree. */
  readonly path: RawPath;
  readonly base?: Stage;
  readonly ours?: Stage;
  readonly theirs?: Stage;
}

/** Names of the sides, for conflict markers and for files next to a directory of the same name. */
export interface Labels {
  readonly ours: string;
  readonly theirs: string;
}
