import type { NewObject } from '../edit.ts';
import type { Oid } from '../oid.ts';
import type { RawPath } from '../tree/path.ts';
import { LimitExceeded } from '../work.ts';
import type { MergeOutcome } from './commits.ts';
import type { ConflictKind, MergeConflict } from './conflict.ts';

export interface PathConflict {
  /** As stored in trees: one character per byte. See {@link decodePath}. */
  readonly path: RawPath;
  readonly kind: ConflictKind;
}

/** Whether a source commit can be merged into a target commit: what `git merge-tree --write-tree` says. */
export type Mergeability =
  | {
      readonly kind: 'mergeable';
      /** The merged tree. It is stored when a commit of it is published. */
      readonly tree: Oid;
      /** Blobs and trees of it that may be new. */
      readonly objects: readonly NewObject[];
      /** The target is an ancestor of the source, so that its branch may simply move. */
      readonly fastForward: boolean;
      /** The merge bases, newest first; none for unrelated histories. */
      readonly bases: readonly Oid[];
    }
  /** The target reaches the source: there is nothing to merge. */
  | { readonly kind: 'contained' }
  | {
      readonly kind: 'conflict';
      /** Sorted by path; one for each pair of path and kind. */
      readonly conflicts: readonly PathConflict[];
      readonly bases: readonly Oid[];
    }
  | TooLarge;

/** The answer would take more work than one request may cause. */
export interface TooLarge {
  readonly kind: 'too-large';
  /** May be shown to the caller. */
  readonly message: string;
}

/** What a merge found. */
export function mergeabilityOf(
  { tree, objects, conflicts, bases }: MergeOutcome,
  target: Oid,
  source: Oid,
): Mergeability {
  if (bases.includes(source)) return { kind: 'contained' };
  if (conflicts.length === 0) {
    return { kind: 'mergeable', tree, objects, fastForward: bases.includes(target), bases };
  }
  return { kind: 'conflict', conflicts: conflictsOf(conflicts), bases };
}

/** Sorted by path; one for each pair of path and kind. */
export function conflictsOf(conflicts: readonly MergeConflict[]): PathConflict[] {
  const distinct = new Map(conflicts.map(({ path, kind }) => [`${path}\0${kind}`, { path, kind }]));
  return [...distinct].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, conflict]) => conflict);
}

/** Turns the engine's limits into an answer. @throws every other error */
export async function orTooLarge<T>(work: () => Promise<T>): Promise<T | TooLarge> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LimitExceeded)) throw error;
    return { kind: 'too-large', message: error.message };
  }
}
