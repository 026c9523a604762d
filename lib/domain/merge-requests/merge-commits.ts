/** The commits of a merge, by the project's method. They are not stored yet. */

import type { NewObject } from '../../git/edit.ts';
import type { Oid } from '../../git/oid.ts';
import type { Identity } from '../../git/parse.ts';
import type { GitRepository } from '../../git/repository.ts';
import type { MergeMethod } from './merge-settings.ts';

export interface MergePlan {
  readonly method: MergeMethod;
  readonly target: Oid;
  readonly head: Oid;
  /** The merge base of both. */
  readonly base: Oid;
  readonly mergeMessage: string;
  /** Undefined: the commits stay as they are. */
  readonly squashMessage: string | undefined;
  /** Of a squashed commit. */
  readonly author: Identity;
  /** Who merges. */
  readonly committer: Identity;
}

export interface BuiltMerge {
  /** What the target's branch moves to. */
  readonly tip: Oid;
  /** Undefined: the branch moves to the head or the squashed commit. */
  readonly mergeCommit: Oid | undefined;
  readonly squashCommit: Oid | undefined;
  readonly objects: readonly NewObject[];
}

/** @returns undefined where the commits cannot be merged */
export async function buildMerge(git: GitRepository, plan: MergePlan): Promise<BuiltMerge | undefined> {
  const { method, target, head, base, committer } = plan;
  const [merging, { commitOf }] = await Promise.all([
    git.merging(),
    import('../../git/merge/built-commit.ts'),
  ]);
  const squash =
    plan.squashMessage === undefined
      ? undefined
      : await merging.squashCommit(base, head, {
          author: plan.author,
          committer,
          message: plan.squashMessage,
        });
  if (squash !== undefined && squash.kind !== 'built') return undefined;
  const squashed = { squashCommit: squash?.commit, objects: squash?.objects ?? [] };
  if (method === 'ff') return { tip: squash?.commit ?? head, mergeCommit: undefined, ...squashed };
  const text = { author: committer, committer, message: plan.mergeMessage };
  const merged = await merging.mergeCommit(target, head, text);
  if (merged.kind !== 'built') return undefined;
  if (squash === undefined)
    return { tip: merged.commit, mergeCommit: merged.commit, ...squashed, objects: merged.objects };
  // The same tree as of the merge with the head, whose commit is the last object.
  const { tree } = merged;
  const message = plan.mergeMessage.replaceAll('\0', '');
  const { commit, objects } = commitOf(
    { tree, parents: [target, squash.commit], author: committer, committer, message },
    [...merged.objects.slice(0, -1), ...squash.objects],
  );
  return { tip: commit, mergeCommit: commit, squashCommit: squash.commit, objects };
}
