import type { SyncObjects } from '../objects.ts';
import type { CommitNode } from './commit-node.ts';
import { DateQueue } from './date-queue.ts';
import { type CommitGraph, Marks } from './graph.ts';
import { LOAD_GRAPH_AFTER, LOAD_GRAPH_AFTER_WITH_PATH, type LogQuery, type WalkBudget } from './log-query.ts';
import { PathFilter } from './path-filter.ts';
import { topoOrder } from './topo-order.ts';

const SEEN = 1;
/** reached from an excluded commit, or from one that is too old */
const EXCLUDED = 2;
const DONE = 4;
const SAME = 8;
/** excluded by the caller by id: still counts as a parent in history simplification */
const BOUNDARY = 16;

/**
 * How many excluded commits git visits after the last one that could matter, in case a clock was wrong. With the
 * same number, the result is the same as git's.
 */
const SLOP = 5;

/**
 * A log that cannot show any commit before the walk has ended, because a commit visited later may exclude it:
 * `a..b`, and the topological order.
 */
export class LimitedLog {
  readonly #graph: CommitGraph;
  readonly #query: LogQuery;
  readonly #budget: WalkBudget;
  readonly #filter: PathFilter | undefined;
  readonly #queue = new DateQueue();
  readonly #marks = new Marks();
  readonly #collected: CommitNode[] = [];
  /** The parents left by history simplification; kept for the topological order. */
  readonly #followed = new Map<CommitNode, readonly CommitNode[]>();
  /** Commits in the queue that are not excluded. */
  #open = 0;
  #slop = SLOP;
  #lastDate = Number.POSITIVE_INFINITY;
  #started = false;

  constructor(graph: CommitGraph, query: LogQuery, budget: WalkBudget) {
    this.#graph = graph;
    this.#query = query;
    this.#budget = budget;
    this.#filter = query.path ? new PathFilter(graph, query.path) : undefined;
  }

  /** Takes one commit from the queue. @returns true at the end; {@link result} holds the answer then */
  step(objects: SyncObjects): boolean {
    if (!this.#started) this.#start(objects);
    if (this.#budget.visited === (this.#filter ? LOAD_GRAPH_AFTER_WITH_PATH : LOAD_GRAPH_AFTER))
      this.#graph.load();
    const node = this.#queue.peek();
    if (node === undefined) return true;
    const { since, until, firstParent = false } = this.#query;
    const excluded = this.#marks.has(node, EXCLUDED) || (since !== undefined && node.date < since);
    const parents = this.#graph.parentsOfFirst(objects, node, this.#queue);
    const grandparents = excluded ? parents.flatMap((parent) => this.#graph.parents(objects, parent)) : [];
    const simplified = excluded
      ? undefined
      : this.#filter?.simplify(objects, node, firstParent, (parent) => this.#counts(parent));

    // Nothing is read from here on, so this step will not be repeated.
    this.#queue.pop();
    this.#budget.spend();
    if (!this.#marks.has(node, EXCLUDED)) this.#open--;
    this.#marks.add(node, excluded ? DONE | EXCLUDED : DONE);
    if (excluded) {
      this.#exclude(parents);
      this.#exclude(grandparents);
      for (const parent of parents) this.#enqueue(parent);
      return this.#ended();
    }
    const followed = firstParent
      ? (simplified?.follow ?? parents).slice(0, 1)
      : (simplified?.follow ?? parents);
    if (simplified?.same) this.#marks.add(node, SAME);
    if (this.#query.order === 'topo') this.#followed.set(node, followed);
    for (const parent of followed) this.#enqueue(parent);
    if (until === undefined || node.date <= until) {
      this.#lastDate = node.date;
      this.#collected.push(node);
    }
    return false;
  }

  /** The commits to show, in order. */
  result(): CommitNode[] {
    const ordered =
      this.#query.order === 'topo'
        ? topoOrder(this.#collected, (node) => this.#followed.get(node) ?? [])
        : this.#collected;
    return ordered.filter((node) => (this.#marks.get(node) & (EXCLUDED | SAME)) === 0);
  }

  #start(objects: SyncObjects): void {
    const excluded = (this.#query.exclude ?? []).map((oid) => this.#graph.node(objects, oid));
    const tips = this.#query.tips.map((oid) => this.#graph.node(objects, oid));
    const parents = excluded.flatMap((node) => this.#graph.parents(objects, node));
    for (const node of excluded) {
      this.#marks.add(node, EXCLUDED | BOUNDARY);
      this.#enqueue(node);
    }
    for (const node of tips) this.#enqueue(node);
    this.#exclude(parents);
    this.#started = true;
  }

  #enqueue(node: CommitNode): void {
    if (!this.#marks.add(node, SEEN)) return;
    this.#queue.push(node);
    if (!this.#marks.has(node, EXCLUDED)) this.#open++;
  }

  /** Marks all ancestors that were already visited as excluded. */
  #exclude(parents: readonly CommitNode[]): void {
    const reached = [...parents];
    for (let node = reached.pop(); node !== undefined; node = reached.pop()) {
      const waiting = (this.#marks.get(node) & (SEEN | DONE)) === SEEN;
      if (!this.#marks.add(node, EXCLUDED)) continue;
      if (waiting) this.#open--;
      if (!this.#marks.has(node, SEEN)) continue;
      for (const oid of node.parentIds) {
        const parent = this.#graph.known(oid);
        if (parent) reached.push(parent);
      }
    }
  }

  #ended(): boolean {
    const next = this.#queue.peek();
    if (next === undefined) return true;
    if (this.#open > 0 || this.#lastDate <= next.date) this.#slop = SLOP;
    else this.#slop--;
    return this.#slop <= 0;
  }

  #counts(parent: CommitNode): boolean {
    return (this.#marks.get(parent) & (EXCLUDED | BOUNDARY)) !== EXCLUDED;
  }
}
