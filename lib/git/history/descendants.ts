import type { SyncObjects } from '../objects.ts';
import type { CommitNode } from './commit-node.ts';
import { DateQueue } from './date-queue.ts';
import { type CommitGraph, Marks } from './graph.ts';
import type { WalkBudget } from './log-query.ts';

const SEEN = 1;
const REACHES = 2;

/**
 * Without generation numbers: consecutive commits to visit that are older than the target, in case a clock was wrong.
 * Commits beyond that count as not reaching it, as in {@link Reachable}.
 */
const SLOP = 1024;

/** One walk from many tips that finds out which of them reach a commit. */
export class Descendants {
  readonly #graph: CommitGraph;
  readonly #budget: WalkBudget;
  readonly #target: CommitNode;
  readonly #queue = new DateQueue();
  readonly #marks = new Marks();
  /** By commit: its children among the visited commits. */
  readonly #children = new Map<CommitNode, CommitNode[]>();
  /** The target's generation; NaN when not known. */
  readonly #lowest: number;
  #slop = SLOP;

  constructor(graph: CommitGraph, tips: readonly CommitNode[], target: CommitNode, budget: WalkBudget) {
    this.#graph = graph;
    this.#target = target;
    this.#budget = budget;
    this.#lowest = graph.generation(target);
    for (const tip of tips) this.#enqueue(tip);
  }

  /** @returns true at the end, after which {@link reaches} may be called */
  step(objects: SyncObjects): boolean {
    const node = this.#queue.peek();
    if (node === undefined || this.#slop === 0) {
      this.#spread();
      return true;
    }
    // The target's ancestors cannot reach it.
    const parents = node === this.#target ? [] : this.#graph.parentsOfFirst(objects, node, this.#queue);

    // Nothing is read from here on, so this step will not be repeated.
    this.#queue.pop();
    this.#budget.spend();
    if (Number.isNaN(this.#lowest) && node.date < this.#target.date) this.#slop--;
    else this.#slop = SLOP;
    for (const parent of parents) {
      const children = this.#children.get(parent);
      if (children) children.push(node);
      else this.#children.set(parent, [node]);
      this.#enqueue(parent);
    }
    return false;
  }

  reaches(tip: CommitNode): boolean {
    return this.#marks.has(tip, REACHES);
  }

  #enqueue(node: CommitNode): void {
    if (this.#marks.add(node, SEEN) && this.#graph.mayReach(node, this.#lowest)) this.#queue.push(node);
  }

  /** Marks all visited descendants of the target. */
  #spread(): void {
    this.#marks.add(this.#target, REACHES);
    const waiting = [this.#target];
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      for (const child of this.#children.get(node) ?? []) {
        if (this.#marks.add(child, REACHES)) waiting.push(child);
      }
    }
  }
}
