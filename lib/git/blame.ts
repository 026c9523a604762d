import { batchMisses, readAhead } from './batch-misses.ts';
import { BlameLimit } from './blame/blame-limit.ts';
import { type KnownBlames, knownOf } from './blame/known-blames.ts';
import { PathEntries } from './blame/path-entries.ts';
import { type BlamedRange, type Span, type SplitSpans, splitSpans } from './blame/spans.ts';
import { editsBetween } from './blame/trimmed-diff.ts';
import { type BloomKey, pathKeys } from './commit-graph/bloom.ts';
import { countLines } from './diff/line-table.ts';
import type { StepBudget } from './diff/myers.ts';
import { detectRenames } from './diff/renames.ts';
import { diffTrees } from './diff/tree-diff.ts';
import type { CommitNode } from './history/commit-node.ts';
import { DateQueue } from './history/date-queue.ts';
import type { CommitGraph } from './history/graph.ts';
import { LOAD_GRAPH_AFTER_WITH_PATH, type WalkBounds, WalkBudget } from './history/log-query.ts';
import type { ObjectStore, SyncObjects } from './objects.ts';
import type { Oid } from './oid.ts';
import { inSlices } from './slices.ts';
import type { Entry } from './tree/entry.ts';
import type { RawPath } from './tree/path.ts';
import { inTurns, type Steps } from './work.ts';

export { KnownBlames } from './blame/known-blames.ts';
export type { BlamedRange } from './blame/spans.ts';

export interface BlamedFile {
  readonly path: RawPath;
  readonly entry: Entry;
  readonly lines?: { readonly start: number; readonly end: number };
}

/** Diff steps for one answer: about two seconds. */
const MAX_STEPS = 600_000_000;
/** Bytes and lines of the file: a larger one would not fit an answer, and its versions are all read. */
const MAX_BYTES = 8 * 2 ** 20;
const MAX_LINES = 250_000;
/** Bytes of all versions that are compared. */
const MAX_COMPARED = 2 ** 30;
/** Comparisons per turn of the event loop. */
const STEPS_PER_TURN = 32;
/** Commits whose trees are prefetched when the trees of one of them are missing. */
const READ_AHEAD = 32;
/** Paths listed by the tree diff that looks for a rename. */
const MAX_CHANGES = 100_000;

/**
 * Finds the commit that each line of a file came from, as `git blame` does: history is walked newest first, and each
 * commit passes the lines that a parent also has on to that parent. If a commit added the file, detects a rename.
 *
 * @param file.entry the entry at the path in the commit: a file or a symlink
 * @param file.lines only these, counted from 0, `end` exclusive; lines past the end of the file are ignored
 * @param known earlier answers, at which the walk ends; the answer for a whole file is added
 * @throws BlameLimit, HistoryLimit, ObjectMissing, CorruptData
 */
export async function blame(
  store: ObjectStore,
  graph: CommitGraph,
  commit: Oid,
  file: BlamedFile,
  known: KnownBlames,
  bounds: WalkBounds = {},
): Promise<BlamedRange[]> {
  const walk = new BlameWalk(graph, known, new WalkBudget(bounds));
  await store.run((objects) => walk.start(objects, commit, file));
  for (;;) {
    await inSlices(store, STEPS_PER_TURN, (objects) => walk.step(objects), bounds.signal);
    if (walk.hasComparison) {
      await inTurns(walk.compare(), bounds.signal);
      continue;
    }
    const { wantedRename } = walk;
    if (wantedRename === undefined) {
      const ranges = walk.result();
      if (file.lines === undefined)
        for (const from of [walk.unchangedSince, commit]) if (from) known.add(file.path, from, ranges);
      return ranges;
    }
    const changes = await diffTrees(store, wantedRename.parent.tree, wantedRename.child.tree, {
      limit: MAX_CHANGES,
      ...(bounds.signal ? { signal: bounds.signal } : {}),
    });
    const renamed = changes.truncated
      ? []
      : (await detectRenames(store, changes.changes, bounds.signal ? { signal: bounds.signal } : {})).changes;
    const from = renamed.find(({ status, newPath }) => status === 'R' && newPath === wantedRename.path);
    walk.resolveRename(from && { path: from.oldPath, entry: { mode: from.oldMode, oid: from.oldId } });
  }
}

/** A version of the file, with the lines of the result that are known to be in it. */
interface Origin {
  readonly path: RawPath;
  readonly entry: Entry;
  spans: Span[];
}

type Version = Pick<Origin, 'path' | 'entry'>;

interface WantedRename {
  readonly child: CommitNode;
  readonly parent: CommitNode;
  readonly path: RawPath;
}

/** A version of the file, and those of the parents that differ from it and from each other. */
interface Comparison {
  readonly node: CommitNode;
  readonly spans: Span[];
  readonly parents: readonly CommitNode[];
  /** Per parent; undefined where there is nothing to compare. */
  readonly versions: readonly (Version | undefined)[];
  readonly data: Uint8Array;
  /** Of the versions that are not undefined. */
  readonly olds: Uint8Array[];
}

class BlameWalk {
  readonly #graph: CommitGraph;
  readonly #known: KnownBlames;
  readonly #budget: WalkBudget;
  readonly #diffBudget: StepBudget = { steps: MAX_STEPS };
  #compared = 0;
  readonly #queue = new DateQueue();
  /** Of the commits in the queue. */
  readonly #origins = new Map<CommitNode, Origin[]>();
  readonly #entries = new PathEntries();
  readonly #done: BlamedRange[] = [];
  readonly #keys = new Map<RawPath, readonly BloomKey[]>();
  #comparison: Comparison | undefined;
  /** For the current commit and path: per parent that lacks the path, the version it was renamed from. */
  #renames: (Version | undefined)[] = [];
  /** When set, {@link resolveRename} must be called before the next step. */
  wantedRename: WantedRename | undefined;

  /** The commit in which the walk found the file to be changed first: from there on, it is the same. */
  unchangedSince: Oid | undefined;

  constructor(graph: CommitGraph, known: KnownBlames, budget: WalkBudget) {
    this.#graph = graph;
    this.#known = known;
    this.#budget = budget;
  }

  start(objects: SyncObjects, commit: Oid, { path, entry, lines }: BlamedFile): void {
    const node = this.#graph.node(objects, commit);
    const start = lines?.start ?? 0;
    if (objects.header(entry.oid).size > MAX_BYTES) throw new BlameLimit();
    const all = countLines(objects.read(entry.oid).data);
    if (all > MAX_LINES) throw new BlameLimit();
    const count = Math.min(all, lines?.end ?? Infinity) - start;
    if (count > 0) this.#passTo(node, { path, entry }, [{ final: start, source: start, count }]);
  }

  /** Handles one version of the file. @returns true at the end, and when a rename or a comparison has to be made */
  step(objects: SyncObjects): boolean {
    const node = this.#queue.peek();
    if (node === undefined) return true;
    if (this.#budget.visited >= LOAD_GRAPH_AFTER_WITH_PATH) this.#graph.load();
    const origin = this.#origins.get(node)![0]!;
    const known = this.#known.of(origin.path)?.get(node.oid);
    if (known !== undefined) {
      this.#finishFirst(node);
      for (const range of knownOf(origin.spans, known)) this.#done.push(range);
      return false;
    }
    const passed = this.#graph.pass(node, this.#bloomKeys(origin.path));
    if (passed !== undefined) {
      this.#finishFirst(node);
      this.#budget.spend(passed.count - 1);
      this.#passTo(passed.end, origin, origin.spans);
      return false;
    }
    const parents = this.#graph.parentsOfFirst(objects, node, this.#queue);
    const versions = this.#versions(objects, node);
    const whole = parents.findIndex((_, i) => versions[i]?.entry.oid === origin.entry.oid);
    if (whole >= 0) {
      this.#finishFirst(node);
      this.#passTo(parents[whole]!, versions[whole]!, origin.spans);
      return false;
    }
    this.unchangedSince ??= node.oid;
    // Only if no parent has the same content, because a rename costs a diff of whole trees.
    let missing = -1;
    for (const [i, parent] of parents.entries()) {
      if (versions[i] !== undefined) continue;
      if (++missing === this.#renames.length) {
        this.wantedRename = { child: node, parent, path: origin.path };
        return true;
      }
      versions[i] = this.#renames[missing];
      if (versions[i]?.entry.oid !== origin.entry.oid) continue;
      this.#finishFirst(node);
      this.#passTo(parent, versions[i], origin.spans);
      return false;
    }
    this.#comparison = this.#readVersions(objects, node, origin, parents, versions);
    return true;
  }

  /** Whether {@link compare} must be called before the next step. */
  get hasComparison(): boolean {
    return this.#comparison !== undefined;
  }

  /** Answers {@link wantedRename}. */
  resolveRename(version: Version | undefined): void {
    this.#renames.push(version);
    this.wantedRename = undefined;
  }

  result(): BlamedRange[] {
    const ranges: BlamedRange[] = [];
    for (const range of this.#done.sort((a, b) => a.start - b.start)) {
      const last = ranges.at(-1);
      if (last?.commit === range.commit && last.end === range.start)
        ranges[ranges.length - 1] = { ...last, end: range.end };
      else ranges.push(range);
    }
    return ranges;
  }

  #bloomKeys(path: RawPath): readonly BloomKey[] {
    let keys = this.#keys.get(path);
    if (keys === undefined) this.#keys.set(path, (keys = pathKeys(path)));
    return keys;
  }

  /** The entry at the origin's path in each parent. A symlink in place of a file does not count as the same file. */
  #versions(objects: SyncObjects, first: CommitNode): (Version | undefined)[] {
    const read = (node: CommitNode) => {
      const { path, entry } = this.#origins.get(node)![0]!;
      return batchMisses(this.#graph.parents(objects, node), (parent) => {
        const found = this.#entries.at(objects, parent.tree, path);
        return found && kind(found) === kind(entry) ? { path, entry: found } : undefined;
      });
    };
    return readAhead(first, () => this.#queue.some(READ_AHEAD), read);
  }

  #readVersions(
    objects: SyncObjects,
    node: CommitNode,
    origin: Origin,
    parents: readonly CommitNode[],
    versions: readonly (Version | undefined)[],
  ): Comparison {
    const different = versions.map((version, i) =>
      versions.findIndex((other) => other?.entry.oid === version?.entry.oid) === i ? version : undefined,
    );
    const oids = [origin.entry.oid, ...different.flatMap((version) => (version ? [version.entry.oid] : []))];
    const sizes = batchMisses(oids, (oid) => objects.header(oid).size);
    if (sizes.some((size) => size > 2 * MAX_BYTES)) throw new BlameLimit();
    const [data, ...olds] = batchMisses(oids, (oid) => objects.read(oid).data);
    return { node, spans: origin.spans, parents, versions: different, data: data!, olds };
  }

  /** Passes lines on to each parent in turn; the lines that no parent has come from this commit. */
  *compare(): Steps<void> {
    const { node, spans, parents, versions, data, olds } = this.#comparison!;
    this.#comparison = undefined;
    this.#finishFirst(node);
    this.#compared += olds.reduce((sum, old) => sum + old.length, data.length);
    if (this.#compared > MAX_COMPARED) throw new BlameLimit();
    let left = spans;
    for (const [i, version] of versions.entries()) {
      if (version === undefined) continue;
      const old = olds.shift()!;
      if (left.length === 0) continue;
      const edits = yield* editsBetween(old, data, this.#diffBudget, (start, end) =>
        overlaps(left, start, end),
      );
      if (edits === undefined) throw new BlameLimit();
      const split: SplitSpans = splitSpans(left, edits);
      left = split.changed;
      if (split.kept.length > 0) this.#passTo(parents[i]!, version, split.kept);
    }
    for (const { final, count } of left) {
      this.#done.push({ commit: node.oid, start: final, end: final + count });
    }
  }

  #passTo(node: CommitNode, { path, entry }: Version, spans: Span[]): void {
    const origins = this.#origins.get(node);
    if (origins === undefined) {
      this.#origins.set(node, [{ path, entry, spans }]);
      this.#queue.push(node);
      return;
    }
    const same = origins.find((origin) => origin.path === path);
    if (same) same.spans = same.spans.concat(spans).sort((a, b) => a.source - b.source);
    else origins.push({ path, entry, spans });
  }

  /** Removes the commit's first version, which has been handled. */
  #finishFirst(node: CommitNode): void {
    this.#budget.spend();
    this.#renames = [];
    const origins = this.#origins.get(node)!;
    origins.shift();
    if (origins.length > 0) return;
    this.#origins.delete(node);
    this.#queue.pop();
  }
}

const kind = (entry: Entry): number => entry.mode & 0o170000;

const overlaps = (spans: readonly Span[], start: number, end: number): boolean =>
  spans.some(({ source, count }) => source < end && source + count > start);
