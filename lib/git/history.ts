import { batchMisses } from './batch-misses.ts';
import type { BlamedFile, BlamedRange } from './blame.ts';
import type { AuthorCount } from './history/authors.ts';
import type { CommitNode } from './history/commit-node.ts';
import { Descendants } from './history/descendants.ts';
import type { CommitGraph } from './history/graph.ts';
import { KnownHistory } from './history/known.ts';
import { LastCommit } from './history/last-commit.ts';
import { LimitedLog } from './history/limited-log.ts';
import { type LogQuery, type WalkBounds, WalkBudget } from './history/log-query.ts';
import { CommonAncestors } from './history/merge-base.ts';
import { Reachable } from './history/reachable.ts';
import { StreamedLog } from './history/streamed-log.ts';
import { TopoLog } from './history/topo-log.ts';
import type { ObjectStore, SyncObjects } from './objects.ts';
import type { Oid } from './oid.ts';
import { inSlices } from './slices.ts';
import type { RawPath } from './tree/path.ts';

export { BlameLimit } from './blame/blame-limit.ts';
export type { BlamedFile, BlamedRange } from './blame.ts';
export type { AuthorCount } from './history/authors.ts';
export type { CommitNode } from './history/commit-node.ts';
export { CommitGraph } from './history/graph.ts';
export type { KnownHistory } from './history/known.ts';
export { HistoryLimit, type LogQuery, type WalkBounds } from './history/log-query.ts';

/** Commits visited per turn of the event loop; a walk with a path reads trees as well. */
const STEPS_PER_TURN = 2_048;
const STEPS_PER_TURN_WITH_PATH = 256;
/** Commits that one history caches: about 100 MB. */
const MAX_CACHED_COMMITS = 250_000;

/** Answers questions about the commits of one repository, as git does. */
export class History {
  readonly #store: ObjectStore;
  #known: KnownHistory;

  /** @param known results of earlier walks over the same repository: see {@link HistoryCache} */
  constructor(store: ObjectStore, known = new KnownHistory()) {
    this.#store = store;
    this.#known = known;
  }

  /**
   * `git log --skip --max-count`; reads no more history than needed.
   *
   * @throws HistoryLimit, ObjectMissing, CorruptData
   */
  async log(
    query: LogQuery & { skip?: number; limit: number },
    bounds: WalkBounds = {},
  ): Promise<CommitNode[]> {
    const { skip = 0, limit } = query;
    if (limit <= 0) return [];
    const slice = query.path ? STEPS_PER_TURN_WITH_PATH : STEPS_PER_TURN;
    const budget = new WalkBudget(bounds);
    if (!isLimited(query)) {
      const log = new StreamedLog(await this.#current(), query, budget);
      const enough = skip + limit;
      const step = (objects: SyncObjects) => log.shown.length >= enough || log.step(objects);
      await inSlices(this.#store, slice, step, bounds.signal);
      return log.shown.slice(skip, enough);
    }
    const graph = await this.#current();
    const log =
      graph.hasFile && asksOnlyForOrder(query)
        ? new TopoLog(graph, query, budget, skip + limit)
        : new LimitedLog(graph, query, budget);
    await inSlices(this.#store, slice, (objects) => log.step(objects), bounds.signal);
    return log.result().slice(skip, skip + limit);
  }

  /** `git log -1 <commit> -- <path>`: undefined when the path never existed in its history. */
  async lastCommitForPath(
    commit: Oid,
    path: RawPath,
    bounds: WalkBounds = {},
  ): Promise<CommitNode | undefined> {
    const graph = await this.#current();
    const walk = new LastCommit(graph, this.#known.lastCommits, commit, path, new WalkBudget(bounds));
    await inSlices(this.#store, STEPS_PER_TURN_WITH_PATH, (objects) => walk.step(objects), bounds.signal);
    return walk.found;
  }

  /** `git rev-list --count`, at most `max`. */
  async count(query: LogQuery, max: number, bounds: WalkBounds = {}): Promise<number> {
    return (await this.log({ ...query, limit: max }, bounds)).length;
  }

  /** `git merge-base --all`: best common ancestors of `one` and a hypothetical merge of `others`, newest first. */
  async mergeBases(one: Oid, others: readonly Oid[], bounds: WalkBounds = {}): Promise<CommitNode[]> {
    const budget = new WalkBudget(bounds);
    if (others.includes(one)) return [await this.#node(one)];
    const candidates = (await this.#colour(one, others, budget, bounds)).candidates();
    if (candidates.length < 2) return candidates;
    const best: CommitNode[] = [];
    for (const candidate of candidates) {
      const rest = candidates.filter((other) => other !== candidate).map((other) => other.oid);
      const found = await this.#colour(candidate.oid, rest, budget, bounds, (walk) => walk.oneIsAncestor);
      if (!found.oneIsAncestor) best.push(candidate);
    }
    return best;
  }

  /** Whether `descendant` reaches `ancestor`; a commit reaches itself. */
  async isAncestor(ancestor: Oid, descendant: Oid, bounds: WalkBounds = {}): Promise<boolean> {
    if (ancestor === descendant) return true;
    const graph = await this.#current();
    const [one, from] = await this.#nodes(graph, [ancestor, descendant]);
    if (!Number.isNaN(graph.generation(one!))) {
      const walk = new Reachable(graph, from!, [one!], new WalkBudget(bounds));
      await inSlices(this.#store, STEPS_PER_TURN, (objects) => walk.step(objects), bounds.signal);
      return walk.reaches(one!);
    }
    const walk = await this.#colour(
      ancestor,
      [descendant],
      new WalkBudget(bounds),
      bounds,
      (w) => w.oneIsAncestor,
    );
    return walk.oneIsAncestor;
  }

  /** For each tip, whether `into` reaches it (`git branch --merged`), in one walk. */
  async merged(tips: readonly Oid[], into: Oid, bounds: WalkBounds = {}): Promise<boolean[]> {
    const graph = await this.#current();
    const budget = new WalkBudget(bounds);
    await this.#store.run(() => graph.load());
    const [from, ...nodes] = await this.#nodes(graph, [into, ...tips]);
    const walk = new Reachable(graph, from!, nodes, budget);
    await inSlices(this.#store, STEPS_PER_TURN, (objects) => walk.step(objects), bounds.signal);
    return nodes.map((node) => walk.reaches(node));
  }

  /** For each tip, whether it reaches `commit` (`git branch --contains`), in one walk. */
  async containing(tips: readonly Oid[], commit: Oid, bounds: WalkBounds = {}): Promise<boolean[]> {
    const graph = await this.#current();
    const budget = new WalkBudget(bounds);
    await this.#store.run(() => graph.load());
    const [target, ...nodes] = await this.#nodes(graph, [commit, ...tips]);
    const walk = new Descendants(graph, nodes, target!, budget);
    await inSlices(this.#store, STEPS_PER_TURN, (objects) => walk.step(objects), bounds.signal);
    return nodes.map((node) => walk.reaches(node));
  }

  /**
   * `git merge-base --octopus --all`: the best common ancestors of all commits, newest first. Unlike
   * {@link mergeBases} of one and a merge of the others, the answer does not depend on the order.
   */
  async commonAncestors(commits: readonly Oid[], bounds: WalkBounds = {}): Promise<CommitNode[]> {
    const [first, ...others] = new Set(commits);
    if (first === undefined) return [];
    let best = [await this.#node(first)];
    for (const other of others) {
      const found = new Map<Oid, CommitNode>();
      for (const base of best) {
        for (const node of await this.mergeBases(base.oid, [other], bounds)) found.set(node.oid, node);
      }
      best = await this.#independent([...found.values()], bounds);
    }
    return best;
  }

  /**
   * The authors of the commits that `tip` reaches: see {@link CountedAuthors}. The last count is kept; for a later tip
   * only what it adds is read.
   */
  async authors(tip: Oid, bounds: WalkBounds = {}): Promise<AuthorCount[]> {
    const known = this.#known.authors;
    if (known?.tip === tip) return known.list();
    const { CountedAuthors } = await import('./history/authors.ts');
    const counted =
      known !== undefined && (await this.isAncestor(known.tip, tip, bounds))
        ? await known.and(this.#store, tip, await this.#between(known.tip, tip, bounds), bounds)
        : await CountedAuthors.count(this.#store, tip, bounds);
    if (counted.mayBeKept) this.#known.authors = counted;
    return counted.list();
  }

  /** Which commit each line of a file came from: see {@link blame}. Answers for whole files are kept. */
  async blame(commit: Oid, file: BlamedFile, bounds: WalkBounds = {}): Promise<BlamedRange[]> {
    const { blame, KnownBlames } = await import('./blame.ts');
    const graph = await this.#current();
    this.#known.blames ??= new KnownBlames();
    return blame(this.#store, graph, commit, file, this.#known.blames, bounds);
  }

  /** What `tip` reaches and `base` does not. */
  async #between(base: Oid, tip: Oid, bounds: WalkBounds): Promise<Oid[]> {
    const query = { tips: [tip], exclude: [base], limit: Number.POSITIVE_INFINITY };
    return (await this.log(query, bounds)).map(({ oid }) => oid);
  }

  /** The nodes that no other of the nodes reaches, newest first. */
  async #independent(nodes: readonly CommitNode[], bounds: WalkBounds): Promise<CommitNode[]> {
    const kept: CommitNode[] = [];
    for (const node of nodes) {
      const rest = nodes.filter((other) => other !== node).map((other) => other.oid);
      const budget = new WalkBudget(bounds);
      const walk =
        rest.length === 0
          ? undefined
          : await this.#colour(node.oid, rest, budget, bounds, (w) => w.oneIsAncestor);
      if (!walk?.oneIsAncestor) kept.push(node);
    }
    return kept.sort((a, b) => b.date - a.date);
  }

  async #colour(
    one: Oid,
    others: readonly Oid[],
    budget: WalkBudget,
    bounds: WalkBounds,
    enough: (walk: CommonAncestors) => boolean = () => false,
  ): Promise<CommonAncestors> {
    const graph = await this.#current();
    const walk = await this.#store.run((objects) => {
      const nodes = others.map((oid) => graph.node(objects, oid));
      return new CommonAncestors(graph, graph.node(objects, one), nodes, budget);
    });
    await inSlices(
      this.#store,
      STEPS_PER_TURN,
      (objects) => enough(walk) || walk.step(objects),
      bounds.signal,
    );
    return walk;
  }

  async #node(oid: Oid): Promise<CommitNode> {
    const graph = await this.#current();
    return this.#store.run((objects) => graph.node(objects, oid));
  }

  async #nodes(graph: CommitGraph, oids: readonly Oid[]): Promise<CommitNode[]> {
    const nodes: CommitNode[] = [];
    for (let i = 0; i < oids.length; i += STEPS_PER_TURN) {
      const slice = oids.slice(i, i + STEPS_PER_TURN);
      nodes.push(
        ...(await this.#store.run((objects) => batchMisses(slice, (oid) => graph.node(objects, oid)))),
      );
    }
    return nodes;
  }

  /** The cached graph, on top of the commit-graph file that is listed now. */
  async #current(): Promise<CommitGraph> {
    if (this.#known.graph.size > MAX_CACHED_COMMITS) this.#known = new KnownHistory();
    const file = await this.#store.run((objects) => objects.derived?.('commit-graph'));
    return this.#known.graphOf(file);
  }
}

/** Whether a commit visited later may remove one from the result. */
function isLimited(query: LogQuery): boolean {
  return (query.exclude?.length ?? 0) > 0 || query.order === 'topo';
}

/** Whether the query only asks for an order, so that a page does not need the whole history. */
function asksOnlyForOrder({ exclude = [], since, until, path, order }: LogQuery): boolean {
  return order === 'topo' && exclude.length === 0 && since === undefined && until === undefined && !path;
}
