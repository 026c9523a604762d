import { type Oid, ZERO_OID } from '../oid.ts';
import type { Entry } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import type { Steps } from '../work.ts';
import type { TreeChange } from './tree-diff.ts';

/**
 * Added, deleted, modified (content, mode or both), changed in type (file, symlink, submodule), renamed, copied:
 * the letters of `git diff --name-status`.
 */
type ChangeStatus = 'A' | 'D' | 'M' | 'T' | 'R' | 'C';

/** One file between two trees. */
export interface FileChange {
  readonly status: ChangeStatus;
  /** Equal to `newPath` except for renames and copies. */
  readonly oldPath: RawPath;
  readonly newPath: RawPath;
  /** 0 for an added file. */
  readonly oldMode: number;
  /** 0 for a deleted file. */
  readonly newMode: number;
  /** {@link ZERO_OID} for an added file. */
  readonly oldId: Oid;
  readonly newId: Oid;
  /** For a rename or copy: how much of the larger file is common, in percent, rounded down. */
  readonly similarity?: number;
}

/** A change that is not part of a rename. */
export function plainChange({ path, old, new: after }: TreeChange): FileChange {
  const status = !old ? 'A' : !after ? 'D' : typeOf(old) === typeOf(after) ? 'M' : 'T';
  return { status, oldPath: path, newPath: path, ...sides(old, after) };
}

export function* plainChanges(changes: readonly TreeChange[]): Steps<FileChange[]> {
  const plain: FileChange[] = [];
  for (const change of changes) {
    plain.push(plainChange(change));
    yield;
  }
  return plain;
}

/** A rename or copy. */
export function movedChange(
  status: 'R' | 'C',
  from: { readonly path: RawPath; readonly entry: Entry },
  to: { readonly path: RawPath; readonly entry: Entry },
  similarity: number,
): FileChange {
  return {
    status,
    oldPath: from.path,
    newPath: to.path,
    ...sides(from.entry, to.entry),
    similarity,
  };
}

function sides(old: Entry | undefined, after: Entry | undefined) {
  return {
    oldMode: old?.mode ?? 0,
    newMode: after?.mode ?? 0,
    oldId: old?.oid ?? ZERO_OID,
    newId: after?.oid ?? ZERO_OID,
  };
}

/** The type bits of the mode: file, symlink or submodule. */
export function typeOf(entry: { readonly mode: number }): number {
  return entry.mode & 0o170000;
}

export function isRegular(entry: { readonly mode: number }): boolean {
  return typeOf(entry) === 0o100000;
}
