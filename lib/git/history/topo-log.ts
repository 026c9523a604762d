import { batchMisses } from '../batch-misses.ts';
import type { SyncObjects } from '../objects.ts';
import type { CommitNode } from './commit-node.ts';
import { GenerationQueue } from './generation-queue.ts';
import { type CommitGraph, Marks } from './graph.ts';
import type { LogQuery, WalkBudget } from './log-query.ts';

const SEEN = 1;

/**
 * The topological order of everything that tips reach, computed incrementally. A commit is placed after all its
 * children. Those have higher generations, so its children are all counted once no unvisited commit has a higher one
 * (git's technical notes on commit-graph). {@link topoOrder} gives the same order for commits that are all known.
 */
export class TopoLog {
  readonly #graph: CommitGraph;
  readonly #query: LogQuery;
  readonly #budget: WalkBudget;
  readonly #enough: number;
  /** Newest first. */
  #tips: readonly CommitNode[] | undefined;
  /** Lowest generation of a tip; NaN if one is not known. */
  #lowest = Number.NaN;
  readonly #marks = new Marks();
  /** Commits that are not yet counted as children of their parents, by generation. */
  readonly #uncounted = new GenerationQueue();
  /** Number of children that are not placed yet; absent for none. */
  readonly #children = new Map<CommitNode, number>();
  /** Commits all of whose children are placed, the next one last. */
  #ready: CommitNode[] | undefined;
  readonly #placed: CommitNode[] = [];

  /** @param enough maximum number of commits to place */
  constructor(graph: CommitGraph, query: LogQuery, budget: WalkBudget, enough: number) {
    this.#graph = graph;
    this.#query = query;
    this.#budget = budget;
    this.#enough = enough;
  }

  /** Counts the parents of one commit, or places one. @returns true at the end */
  step(objects: SyncObjects): boolean {
    if (this.#placed.length >= this.#enough) return true;
    if (this.#ready === undefined) {
      this.#tips ??= this.#start(objects);
      if (this.#isCounted(this.#lowest)) this.#begin(this.#tips);
      else this.#count(objects);
      return false;
    }
    const node = this.#ready.at(-1);
    if (node === undefined) return true;
    const parents = this.#parents(objects, node);
    if (parents.some((parent) => !this.#isCounted(this.#graph.generation(parent)))) {
      this.#count(objects);
      return false;
    }
    this.#ready.pop();
    this.#placed.push(node);
    for (const parent of parents) {
      const count = this.#children.get(parent)! - 1;
      this.#children.set(parent, count);
      if (count === 0) this.#ready.push(parent);
    }
    return false;
  }

  result(): readonly CommitNode[] {
    return this.#placed;
  }

  #start(objects: SyncObjects): CommitNode[] {
    this.#graph.load();
    const tips = [...new Set(batchMisses(this.#query.tips, (oid) => this.#graph.node(objects, oid)))];
    for (const tip of tips) this.#meet(tip);
    this.#lowest = Math.min(...tips.map((tip) => this.#graph.generation(tip)));
    return tips.sort((a, b) => b.date - a.date);
  }

  #begin(tips: readonly CommitNode[]): void {
    this.#ready = tips.filter((tip) => !this.#children.has(tip)).reverse();
  }

  /** Whether all children of a commit with that generation are counted. */
  #isCounted(generation: number): boolean {
    const highest = this.#uncounted.highest;
    if (highest === undefined) return true;
    return generation === Number.POSITIVE_INFINITY ? highest < generation : highest <= generation;
  }

  /** Counts the commit with the highest generation as a child of its parents. */
  #count(objects: SyncObjects): void {
    const node = this.#uncounted.peek()!;
    const parents = this.#parents(objects, node);
    // Nothing is read from here on, so this step will not be repeated.
    this.#uncounted.pop();
    this.#budget.spend();
    for (const parent of parents) {
      this.#children.set(parent, (this.#children.get(parent) ?? 0) + 1);
      this.#meet(parent);
    }
  }

  #meet(node: CommitNode): void {
    if (!this.#marks.add(node, SEEN)) return;
    const generation = this.#graph.generation(node);
    // A commit of unknown generation is counted first, which is always correct.
    this.#uncounted.push(node, Number.isNaN(generation) ? Number.POSITIVE_INFINITY : generation);
  }

  #parents(objects: SyncObjects, node: CommitNode): readonly CommitNode[] {
    const parents = this.#graph.parents(objects, node);
    return this.#query.firstParent ? parents.slice(0, 1) : parents;
  }
}
