import type { History, WalkBounds } from '../history.ts';
import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import { type BuiltCommit, buildCommit, type CommitText } from './built-commit.ts';
import { type MergeOutcome, mergeCommits } from './commits.ts';
import { type Mergeability, mergeabilityOf, orTooLarge } from './mergeability.ts';
import { type RebaseOutcome, type RebaseRequest, type Replayed, rebase } from './rebase.ts';

export type { BuiltCommit, CommitText } from './built-commit.ts';
export type { Mergeability } from './mergeability.ts';
export type { RebaseOutcome, RebaseRequest, Replayed } from './rebase.ts';

/** Why there is no commit. */
export type NotBuilt = Exclude<Mergeability, { readonly kind: 'mergeable' }>;

/**
 * Merges of a source commit into a target commit, as verdicts and as commits. Writes nothing: `GitRepository.publish`
 * stores what was built. Where a fork's commits are merged, the store is a view of both repositories.
 *
 * All methods throw ObjectMissing and CorruptData where the repository is damaged, and answer `too-large` where a merge
 * would pass the engine's limits.
 */
export class Merging {
  readonly #store: ObjectStore;
  readonly #history: History;

  constructor(store: ObjectStore, history: History) {
    this.#store = store;
    this.#history = history;
  }

  /** `git merge-tree --write-tree target source`: whether the source can be merged, or where it conflicts. */
  check(target: Oid, source: Oid, bounds: WalkBounds = {}): Promise<Mergeability> {
    return orTooLarge(async () => mergeabilityOf(await this.#merge(target, source, bounds), target, source));
  }

  /**
   * A merge commit with the parents target and source, as `git merge --no-ff` makes: also for the ref under which a
   * merge is tried out.
   */
  mergeCommit(
    target: Oid,
    source: Oid,
    text: CommitText,
    bounds: WalkBounds = {},
  ): Promise<BuiltCommit | NotBuilt> {
    return this.#commit(target, source, [target, source], text, bounds);
  }

  /**
   * All changes of the source in one commit on top of `onto`, as `git merge --squash` makes. On top of the merge base, its
   * tree is the source's, and it is merged like any other commit afterwards; on top of the target's head it is the merge.
   */
  squashCommit(
    onto: Oid,
    source: Oid,
    text: CommitText,
    bounds: WalkBounds = {},
  ): Promise<BuiltCommit | NotBuilt> {
    return this.#commit(onto, source, [onto], text, bounds);
  }

  /** `git rebase onto source`, a commit at a time: see {@link rebase}. @returns the outcome as the generator's value */
  rebaseSteps(request: RebaseRequest): AsyncGenerator<Replayed, RebaseOutcome> {
    return rebase(this.#store, this.#history, request);
  }

  /** The same at once. */
  rebase(request: RebaseRequest): Promise<RebaseOutcome> {
    return orTooLarge(async () => {
      const steps = this.rebaseSteps(request);
      for (;;) {
        const step = await steps.next();
        if (step.done) return step.value;
      }
    });
  }

  #commit(
    target: Oid,
    source: Oid,
    parents: readonly Oid[],
    text: CommitText,
    bounds: WalkBounds,
  ): Promise<BuiltCommit | NotBuilt> {
    return orTooLarge(async () => {
      const merged = await this.#merge(target, source, bounds);
      const verdict = mergeabilityOf(merged, target, source);
      return verdict.kind === 'mergeable' ? buildCommit(merged, parents, text) : verdict;
    });
  }

  #merge(target: Oid, source: Oid, bounds: WalkBounds): Promise<MergeOutcome> {
    return mergeCommits(this.#store, this.#history, target, source, { bounds });
  }
}
