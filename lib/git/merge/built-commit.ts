import type { NewObject } from '../edit.ts';
import type { Oid } from '../oid.ts';
import { type CommitInput, encodeCommit, hashObject, type Identity } from '../parse.ts';

/** Who made a commit, and what it says. */
export interface CommitText {
  readonly author: Identity;
  readonly committer: Identity;
  /** Stored as given, except NUL, which git takes for the end of the message. */
  readonly message: string;
}

/** Commits that are not stored yet: `GitRepository.publish` stores them and moves refs to them. */
export interface BuiltCommit {
  readonly kind: 'built';
  /** The last one. */
  readonly commit: Oid;
  readonly tree: Oid;
  /** The objects that may be new, each before those that refer to it. */
  readonly objects: readonly NewObject[];
}

/** A commit of a tree that a merge made. The id is the one that `git commit-tree` gives. */
export function buildCommit(
  { tree, objects }: { readonly tree: Oid; readonly objects: readonly NewObject[] },
  parents: readonly Oid[],
  { author, committer, message }: CommitText,
): BuiltCommit {
  return commitOf({ tree, parents, author, committer, message: message.replaceAll('\0', '') }, objects);
}

/** @param objects of the tree, and of earlier commits */
export function commitOf(input: CommitInput, objects: readonly NewObject[]): BuiltCommit {
  const data = encodeCommit(input);
  const commit: NewObject = { type: 'commit', oid: hashObject('commit', data), data };
  return { kind: 'built', commit: commit.oid, tree: input.tree, objects: [...objects, commit] };
}
