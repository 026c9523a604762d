import type { SyncObjects } from '../objects.ts';
import type { CommitNode } from './commit-node.ts';
import { DateQueue } from './date-queue.ts';
import { type CommitGraph, Marks } from './graph.ts';
import type { WalkBudget } from './log-query.ts';

const SEEN = 1;

/**
 * Without generation numbers: commits to visit that are older than every commit still searched for, in case a clock was
 * wrong. Commits beyond that count as not reachable; such an error keeps a branch as unmerged, never loses one.
 */
const SLOP = 1024;

/** One walk from a commit that finds out which of many others it reaches. */
export class Reachable {
  readonly #graph: CommitGraph;
  readonly #budget: WalkBudget;
  readonly #queue = new DateQueue();
  readonly #marks = new Marks();
  /** Not yet visited, those with the lowest generation last, or else the oldest. */
  readonly #wanted: CommitNode[];
  readonly #byGeneration: boolean;
  #slop = SLOP;

  constructor(graph: CommitGraph, from: CommitNode, wanted: readonly CommitNode[], budget: WalkBudget) {
    this.#graph = graph;
    this.#budget = budget;
    this.#byGeneration = wanted.every((node) => !Number.isNaN(graph.generation(node)));
    const key = (node: CommitNode) => (this.#byGeneration ? node.generation : node.date);
    this.#wanted = [...new Set(wanted)].sort((a, b) => (key(a) < key(b) ? 1 : key(a) > key(b) ? -1 : 0));
    this.#enqueue(from);
  }

  /** @returns true at the end */
  step(objects: SyncObjects): boolean {
    const node = this.#queue.peek();
    const last = this.#lastWanted();
    if (node === undefined || last === undefined || this.#slop === 0) return true;
    const leads = !this.#byGeneration || this.#graph.mayReach(node, last.generation);
    const parents = leads ? this.#graph.parentsOfFirst(objects, node, this.#queue) : [];

    // Nothing is read from here on, so this step will not be repeated.
    this.#queue.pop();
    this.#budget.spend();
    if (!this.#byGeneration && node.date < last.date) this.#slop--;
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

  #lastWanted(): CommitNode | undefined {
    while (this.#wanted.length > 0 && this.reaches(this.#wanted.at(-1)!)) this.#wanted.pop();
    return this.#wanted.at(-1);
  }
}
