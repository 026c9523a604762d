import { type Ports, publish } from './commit-changes.ts';
import type { NewObject } from './edit.ts';
import type { Oid } from './oid.ts';
import { encodeCommit, hashObject, type Identity } from './parse.ts';
import type { RefName } from './refname.ts';

/** A commit of a given tree, such as the result of a merge or a cherry-pick. */
export interface TreeCommit {
  readonly branch: RefName;
  /** What the branch must point to; ZERO_OID when it must not exist. */
  readonly expected: Oid;
  readonly parents: readonly Oid[];
  readonly tree: Oid;
  /** Commits other than the parents that the tree takes content from: the commit that was cherry-picked. */
  readonly uses?: readonly Oid[];
  /** Objects of the tree that the repository may not have. */
  readonly objects: readonly NewObject[];
  readonly author: Identity;
  readonly committer: Identity;
  readonly message: string;
}

/**
 * Makes the commit and moves the branch to it: one pack stored, then one compare-and-swap.
 *
 * @throws UnsoundObjects; RefConflict when the branch was moved meanwhile; ObjectMissing. Nothing is changed then.
 */
export async function commitTree(ports: Ports, request: TreeCommit): Promise<Oid> {
  const { tree, parents, author, committer, branch, expected } = request;
  const message = request.message.replaceAll('\0', '');
  const data = encodeCommit({ tree, parents, author, committer, message });
  const commit: NewObject = { type: 'commit', oid: hashObject('commit', data), data };
  const uses = [...parents.filter((parent) => parent !== expected), ...(request.uses ?? [])];
  const update = { name: branch, from: expected, to: commit.oid, committed: committer.seconds };
  await publish(ports, [...request.objects, commit], [update], { uses });
  return commit.oid;
}
