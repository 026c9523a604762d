import { MAX_DIFF_STEPS } from '../diff/lines.ts';
import type { StepBudget } from '../diff/myers.ts';
import type { NewObject } from '../edit.ts';
import type { History, WalkBounds } from '../history.ts';
import type { ObjectStore } from '../objects.ts';
import { EMPTY_TREE, type Oid } from '../oid.ts';
import { parseCommitLinks } from '../parse.ts';
import { LimitExceeded } from '../work.ts';
import type { Labels, MergeConflict } from './conflict.ts';
import { Overlay } from './overlay.ts';
import { mergeTrees } from './trees.ts';

export interface MergeOutcome {
  /** The merged tree; with conflict markers where there are conflicts, as git would leave it. */
  readonly tree: Oid;
  /** Blobs and trees of the merged tree that may be new. */
  readonly objects: readonly NewObject[];
  /** Empty when the merge is clean. */
  readonly conflicts: readonly MergeConflict[];
  /** The merge bases, newest first; none for unrelated histories. */
  readonly bases: readonly Oid[];
}

export interface MergeOptions {
  /** Names of the sides in conflict markers; default their ids. */
  readonly labels?: Labels;
  readonly bounds?: WalkBounds;
}

/** Merges of merge bases, and of theirs: real histories need some 30, and crafted ones more than anyone can wait for. */
const MAX_BASE_MERGES = 500;
/** Steps for aligning all files of a merge. */
const MAX_STEPS = 3 * MAX_DIFF_STEPS;

/**
 * Merges two commits without touching refs. The tree is the one of `git merge-tree --write-tree`. Several merge bases are
 * merged into one first, as git does.
 *
 * @throws ObjectMissing, CorruptData, LimitExceeded
 */
export async function mergeCommits(
  store: ObjectStore,
  history: History,
  ours: Oid,
  theirs: Oid,
  options: MergeOptions = {},
): Promise<MergeOutcome> {
  const { labels = { ours, theirs }, bounds = {} } = options;
  const merge = new RecursiveMerge(store, history, bounds);
  const bases = (await history.mergeBases(ours, [theirs], bounds)).map((node) => node.oid);
  const base = await merge.virtualBase(bases, 1);
  const trees = { base, ours: await merge.treeOf(ours), theirs: await merge.treeOf(theirs) };
  const budget = merge.budget;
  const merged = await mergeTrees(merge.store, trees, { depth: 0, labels, budget }, bounds.signal);
  return { ...merged, objects: merge.store.neededBy(merged.tree), bases };
}

/** Merges two trees with a given base: for cherry-picks and reverts. */
export async function mergeThreeTrees(
  store: ObjectStore,
  trees: { readonly base: Oid; readonly ours: Oid; readonly theirs: Oid },
  labels: Labels,
  signal?: AbortSignal,
): Promise<Omit<MergeOutcome, 'bases'>> {
  return mergeOver(new Overlay(store), trees, labels, signal);
}

/** The same over a store that may have the results of earlier merges. */
export async function mergeOver(
  overlay: Overlay,
  trees: { readonly base: Oid; readonly ours: Oid; readonly theirs: Oid },
  labels: Labels,
  signal?: AbortSignal,
): Promise<Omit<MergeOutcome, 'bases'>> {
  const level = { depth: 0, labels, budget: { steps: MAX_STEPS } };
  const merged = await mergeTrees(overlay, trees, level, signal);
  return { ...merged, objects: overlay.neededBy(merged.tree) };
}

const VIRTUAL: Labels = { ours: 'Temporary merge branch 1', theirs: 'Temporary merge branch 2' };

class RecursiveMerge {
  readonly store: Overlay;
  readonly budget: StepBudget = { steps: MAX_STEPS };
  readonly #history: History;
  readonly #bounds: WalkBounds;
  #baseMerges = 0;

  constructor(store: ObjectStore, history: History, bounds: WalkBounds) {
    this.store = new Overlay(store);
    this.#history = history;
    this.#bounds = bounds;
  }

  /** The tree of all bases merged, oldest first, including conflict markers. */
  async virtualBase(bases: readonly Oid[], depth: number): Promise<Oid> {
    const [first, ...rest] = [...bases].reverse();
    if (first === undefined) return EMPTY_TREE;
    let tree = await this.treeOf(first);
    const merged = [first];
    for (const next of rest) {
      if (++this.#baseMerges > MAX_BASE_MERGES)
        throw new LimitExceeded(`more than ${MAX_BASE_MERGES} merges of merge bases`);
      const common = await this.#history.mergeBases(next, merged, this.#bounds);
      const trees = {
        base: await this.virtualBase(
          common.map((node) => node.oid),
          depth + 1,
        ),
        ours: tree,
        theirs: await this.treeOf(next),
      };
      const level = { depth, labels: VIRTUAL, budget: this.budget };
      tree = (await mergeTrees(this.store, trees, level, this.#bounds.signal)).tree;
      merged.push(next);
    }
    return tree;
  }

  treeOf(commit: Oid): Promise<Oid> {
    return this.store.run((objects) => parseCommitLinks(objects.read(commit).data).tree);
  }
}
