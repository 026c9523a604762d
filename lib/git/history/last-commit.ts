import type { SyncObjects } from '../objects.ts';
import type { Oid } from '../oid.ts';
import type { RawPath } from '../tree/path.ts';
import type { CommitNode } from './commit-node.ts';
import type { CommitGraph } from './graph.ts';
import type { KnownAnswers } from './known.ts';
import { LOAD_GRAPH_AFTER_WITH_PATH, type WalkBudget } from './log-query.ts';
import { PathFilter } from './path-filter.ts';

/**
 * Finds the newest commit that changed a path. With git's history simplification, a commit that changed nothing there
 * has one parent to follow: the walk is a single line, and ends at a commit that an earlier walk for the path visited.
 */
export class LastCommit {
  /** Set at the end; undefined when the path never existed. */
  found: CommitNode | undefined;
  readonly #graph: CommitGraph;
  readonly #filter: PathFilter;
  readonly #answers: KnownAnswers;
  readonly #start: Oid;
  readonly #path: RawPath;
  readonly #budget: WalkBudget;
  #at: CommitNode | undefined;

  constructor(graph: CommitGraph, answers: KnownAnswers, start: Oid, path: RawPath, budget: WalkBudget) {
    this.#graph = graph;
    this.#filter = new PathFilter(graph, path);
    this.#answers = answers;
    this.#start = start;
    this.#path = path;
    this.#budget = budget;
  }

  /** Visits one commit. @returns true at the end */
  step(objects: SyncObjects): boolean {
    if (this.#budget.visited >= LOAD_GRAPH_AFTER_WITH_PATH) this.#graph.load();
    const node = (this.#at ??= this.#graph.node(objects, this.#start));
    const known = this.#answers.get(this.#path, node.oid);
    if (known !== undefined) return this.#end(known === null ? undefined : this.#graph.node(objects, known));
    const passed = this.#filter.pass(node);
    if (passed !== undefined) {
      this.#budget.spend(passed.count);
      this.#at = passed.end;
      return false;
    }
    const { follow, same } = this.#filter.simplify(objects, node, false, () => true);
    if (!same) return this.#end(node);
    const [parent] = follow;
    if (parent === undefined) return this.#end(undefined);
    this.#budget.spend();
    this.#at = parent;
    return false;
  }

  #end(found: CommitNode | undefined): true {
    this.found = found;
    this.#answers.add(this.#path, this.#start, found?.oid ?? null);
    return true;
  }
}
