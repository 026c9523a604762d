import type { SyncObjects } from '../objects.ts';
import type { CommitNode } from './commit-node.ts';
import { DateQueue } from './date-queue.ts';
import { type CommitGraph, Marks } from './graph.ts';
import { LOAD_GRAPH_AFTER, LOAD_GRAPH_AFTER_WITH_PATH, type LogQuery, type WalkBudget } from './log-query.ts';
import { PathFilter } from './path-filter.ts';

const SEEN = 1;

/**
 * A log that can show each commit as it leaves the queue: nothing is excluded, and the order is by date. Reads no more
 * history than the caller requests.
 */
export class StreamedLog {
  /** Commits to show, in order. */
  readonly shown: CommitNode[] = [];
  readonly #graph: CommitGraph;
  readonly #query: LogQuery;
  readonly #budget: WalkBudget;
  readonly #filter: PathFilter | undefined;
  readonly #queue = new DateQueue();
  readonly #marks = new Marks();
  /** By position in the commit-graph file: 1 for the commits that were passed. */
  #passed: Uint8Array | undefined;
  #started = false;

  constructor(graph: CommitGraph, query: LogQuery, budget: WalkBudget) {
    this.#graph = graph;
    this.#query = query;
    this.#budget = budget;
    this.#filter = query.path ? new PathFilter(graph, query.path) : undefined;
  }

  /** Takes one commit from the queue. @returns true at the end */
  step(objects: SyncObjects): boolean {
    if (!this.#started) this.#start(objects);
    if (this.#budget.visited >= (this.#filter ? LOAD_GRAPH_AFTER_WITH_PATH : LOAD_GRAPH_AFTER))
      this.#graph.load();
    const node = this.#queue.peek();
    const { since, until, firstParent = false } = this.#query;
    // All other commits in the queue are older still.
    if (node === undefined || (since !== undefined && node.date < since)) return true;
    if (this.#filter && this.#pass(node, this.#filter)) return false;
    const all = this.#graph.parentsOfFirst(objects, node, this.#queue);
    const simplified = this.#filter?.simplify(objects, node, firstParent, () => true);
    const parents = simplified?.follow ?? all;

    // Nothing is read from here on, so this step will not be repeated.
    this.#queue.pop();
    this.#budget.spend();
    for (const parent of firstParent ? parents.slice(0, 1) : parents) this.#enqueue(parent);
    if (!simplified?.same && (until === undefined || node.date <= until)) this.shown.push(node);
    return false;
  }

  /**
   * Passes commits that do not change the path, as long as their parent would be the next to leave the queue.
   * @returns whether the first commit of the queue was one of them
   */
  #pass(node: CommitNode, filter: PathFilter): boolean {
    const { since = Number.NEGATIVE_INFINITY } = this.#query;
    const next = this.#queue.dateOfSecond ?? Number.NEGATIVE_INFINITY;
    const passedNow: number[] = [];
    let isPassed = false;
    const passed = filter.pass(node, (date, child) => {
      // Whoever passed it went on from there.
      isPassed = this.#passed?.[child] === 1;
      passedNow.push(child);
      return !isPassed && date > next && date >= since;
    });
    if (passed === undefined) return false;
    this.#passed ??= new Uint8Array(this.#graph.commitsInFile);
    for (const child of passedNow) this.#passed[child] = 1;
    this.#queue.pop();
    this.#budget.spend(passed.count);
    if (!isPassed) this.#enqueue(passed.end);
    return true;
  }

  #start(objects: SyncObjects): void {
    const tips = this.#query.tips.map((oid) => this.#graph.node(objects, oid));
    for (const tip of tips) this.#enqueue(tip);
    this.#started = true;
  }

  #enqueue(node: CommitNode): void {
    if (this.#marks.add(node, SEEN)) this.#queue.push(node);
  }
}
