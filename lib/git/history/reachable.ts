import type { SyncObjects } from '../objects.ts';
import { DateQueue } from './date-queue.ts';
import { type CommitGraph, type CommitNode, Marks } from './graph.ts';
import type { Budget } from './log-query.ts';

const SEEN = 1;

/**
 * Commits to visit that are older than every commit still looked for, in case a clock was wrong. What lies
 * further behind counts as not reachable: an error of this kind keeps a branch, never loses one.
 */
const SLOP = 1024;

/** One walk down from a commit that finds out which of many others it reaches. */
export class Reachable {
  readonly #graph: CommitGraph;
  readonly #budget: Budget;
  readonly #queue = new DateQueue();
  readonly #marks = new Marks();
  /** Not yet met, oldest last. */
  readonly #wanted: CommitNode[];
  #slop = SLOP;

  constructor(graph: CommitGraph, from: CommitNode, wanted: readonly CommitNode[], budget: Budget) {
    this.#graph = graph;
    this.#budget = budget;
    this.#wanted = [...new Set(wanted)].sort((a, b) => b.date - a.date);
    this.#enqueue(from);
  }

  /** @returns true at the end */
  step(objects: SyncObjects): boolean {
    const node = this.#queue.peek();
    const oldest = this.#oldestWanted();
    if (node === undefined || oldest === undefined || this.#slop === 0) return true;
    const parents = this.#graph.parentsOfFirst(objects, node, this.#queue);

    // Nothing is read below: the step is not taken twice.
    this.#queue.pop();
    this.#budget.spend();
    if (node.date < oldest.date) this.#slop--;
    else this.#slop = SLOP;
    for (const parent of parents) this.#enqueue(parent);
    return false;
  }

  reaches(node: CommitNode): boolean {
    return this.#marks.has(node, SEEN);
  }

  #enqueue(node: CommitNode): void {
    if (this.#marks.add(node, SEEN)) this.#queue.push(node);
  }

  #oldestWanted(): CommitNode | undefined {
    while (this.#wanted.length > 0 && this.reaches(this.#wanted.at(-1)!)) this.#wanted.pop();
    return this.#wanted.at(-1);
  }
}
