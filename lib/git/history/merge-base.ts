import type { SyncObjects } from '../objects.ts';
import type { CommitNode } from './commit-node.ts';
import { DateQueue } from './date-queue.ts';
import { type CommitGraph, Marks } from './graph.ts';
import { LOAD_GRAPH_AFTER, type WalkBudget } from './log-query.ts';

const ONE = 1;
const OTHERS = 2;
/** an ancestor of a common ancestor already found */
const STALE = 4;
const FOUND = 8;
const QUEUED = 16;

/**
 * Paints the ancestors of one commit and those of others in two colours, newest first, until all commits left to visit
 * are ancestors of a commit that has both colours. Those commits are the candidates: exactly the merge bases if commit
 * dates are right; if they are wrong, some may be ancestors of others.
 */
export class CommonAncestors {
  readonly #graph: CommitGraph;
  readonly #budget: WalkBudget;
  readonly #queue = new DateQueue();
  readonly #marks = new Marks();
  readonly #found: CommitNode[] = [];
  readonly #one: CommitNode;
  /** Commits in the queue that are not stale. */
  #open = 0;

  constructor(graph: CommitGraph, one: CommitNode, others: readonly CommitNode[], budget: WalkBudget) {
    this.#graph = graph;
    this.#budget = budget;
    this.#one = one;
    this.#colour(one, ONE);
    for (const other of others) this.#colour(other, OTHERS);
  }

  /** @returns true at the end */
  step(objects: SyncObjects): boolean {
    const node = this.#queue.peek();
    if (node === undefined || this.#open === 0) return true;
    if (this.#budget.visited === LOAD_GRAPH_AFTER) this.#graph.load();
    const parents = this.#graph.parentsOfFirst(objects, node, this.#queue);

    // Nothing is read from here on, so this step will not be repeated.
    this.#queue.pop();
    this.#budget.spend();
    let colours = this.#marks.get(node) & (ONE | OTHERS | STALE);
    if ((colours & STALE) === 0) this.#open--;
    this.#marks.clear(node, QUEUED);
    if (colours === (ONE | OTHERS)) {
      if (this.#marks.add(node, FOUND)) this.#found.push(node);
      colours |= STALE;
    }
    for (const parent of parents) this.#colour(parent, colours);
    return false;
  }

  /** Newest first. */
  candidates(): CommitNode[] {
    return this.#found.filter((node) => !this.#marks.has(node, STALE)).sort((a, b) => b.date - a.date);
  }

  /** Whether `one` is an ancestor of the others, or one of them. May be true before the end. */
  get oneIsAncestor(): boolean {
    return this.#marks.has(this.#one, OTHERS);
  }

  #colour(node: CommitNode, colours: number): void {
    const before = this.#marks.get(node);
    if (!this.#marks.add(node, colours)) return;
    if ((before & QUEUED) !== 0) {
      if ((before & STALE) === 0 && (colours & STALE) !== 0) this.#open--;
      return;
    }
    this.#marks.add(node, QUEUED);
    this.#queue.push(node);
    if (((before | colours) & STALE) === 0) this.#open++;
  }
}
