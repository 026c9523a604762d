import { readAhead } from '../batch-misses.ts';
import { CorruptData } from '../corrupt-data.ts';
import { sealDerived } from '../derived.ts';
import type { DeriveContext, DerivedBuilder } from '../maintenance/derived-builder.ts';
import { objectsIn, UNFINISHED } from '../maintenance/due.ts';
import type { SyncObjects } from '../objects.ts';
import { EMPTY_TREE, type Oid } from '../oid.ts';
import { resized } from '../pack/entry-table.ts';
import type { PackStore } from '../pack/store.ts';
import { parseCommitLinks } from '../parse.ts';
import { peeledOid, refTips } from '../ref-tips.ts';
import { inSlices } from '../slices.ts';
import { nextTurn } from '../work.ts';
import { ChangedPaths, type FilterSteps } from './changed-paths.ts';
import { CommitTable, type Generations, generations, NONE } from './commit-table.ts';
import { CommitGraphFile } from './read.ts';
import { type Filters, writeCommitGraph } from './write.ts';

/** Each takes about 200 bytes of memory. */
const MAX_COMMITS = 1_500_000;
const STEPS_PER_TURN = 2048;
/** Filters are computed for at least this time, so that each run makes progress. */
const MIN_FILTER_MS = 10_000;
/** Commits prefetched when one is missing. */
const READ_AHEAD = 64;

/**
 * Builds the commit-graph of everything that refs reach, with changed-path filters. Commits of the previous graph are
 * copied from it. If the deadline passes before all filters are computed, the newest commits have theirs, and the note
 * says that the file is unfinished.
 */
export const commitGraphBuilder: DerivedBuilder = {
  kind: 'commit-graph',
  build: async (context) => {
    const { store } = context;
    const old = await openGraph(store);
    const commits = await reachableCommits(context, old);
    const numbers = generations(commits);
    await nextTurn();
    const { filters, missing } = await makeFilters(context, commits, numbers, old);
    const content = sealDerived(writeCommitGraph(commits, numbers, filters));
    return { content, note: missing > 0 ? `${UNFINISHED}, ${missing} filters` : '' };
  },
};

/** The current graph, loaded into memory. */
async function openGraph(store: PackStore): Promise<CommitGraphFile | undefined> {
  return store.run((objects) => {
    const derived = objects.derived('commit-graph');
    return derived?.attempt(() => {
      const graph = derived.parsed((file) => new CommitGraphFile(file));
      graph.load();
      return graph;
    });
  });
}

/** @throws CorruptData `limit` when there are too many */
async function reachableCommits(
  { store, refs }: DeriveContext,
  old: CommitGraphFile | undefined,
): Promise<CommitTable> {
  const commits = new CommitTable();
  const waiting: number[] = [];
  const name = (oid: Oid): number => {
    const before = commits.count;
    const number = commits.number(oid);
    if (number === before) waiting.push(number);
    return number;
  };
  const ends = await refTips((await refs.view()).refs(), peeledOid);
  for (const tip of await commitTips(store, ends)) name(tip);
  const read = (objects: SyncObjects, oid: Oid) => {
    const position = old?.find(oid) ?? -1;
    if (old && position >= 0) {
      const { tree, date, parents } = old.commit(position);
      return { tree, parents: parents.map((parent) => old.oid(parent)), committed: date };
    }
    const { type, data } = objects.read(oid);
    if (type !== 'commit') throw new CorruptData('object-malformed', `${oid} is a ${type}, not a commit`);
    return parseCommitLinks(data);
  };
  await inSlices(store, STEPS_PER_TURN, (objects) => {
    const number = waiting.at(-1);
    if (number === undefined) return true;
    if (commits.count > MAX_COMMITS) throw new CorruptData('limit', 'too many commits');
    const next = () => waiting.slice(-READ_AHEAD);
    const { tree, parents, committed } = readAhead(number, next, (it) => read(objects, commits.oid(it)));
    waiting.pop();
    commits.add(number, tree, committed, parents.map(name));
    return false;
  });
  return commits;
}

/** The tips that are commits; a tag may also point to something else. */
async function commitTips(store: PackStore, from: ReadonlySet<Oid>): Promise<Set<Oid>> {
  const ends = [...from];
  const tips = new Set<Oid>();
  let i = 0;
  await inSlices(store, STEPS_PER_TURN, (objects) => {
    const oid = ends[i];
    if (oid === undefined) return true;
    const next = () => ends.slice(i, i + READ_AHEAD);
    const { type } = readAhead(oid, next, (it) => objects.header(it));
    if (type === 'commit') tips.add(oid);
    i++;
    return false;
  });
  return tips;
}

/** Newest first, because those are used most. */
async function makeFilters(
  { store, deadline, stopsAt, packs, brought }: DeriveContext,
  commits: CommitTable,
  { levels, corrected }: Generations,
  old: CommitGraphFile | undefined,
): Promise<{ filters: Filters; missing: number }> {
  const made = new FilterBuffer(commits.count);
  const todo: number[] = [];
  await store.run(() => {
    todo.length = 0;
    for (let number = 0; number < commits.count; number++) {
      if (levels[number] === 0) continue;
      const position = old?.find(commits.oid(number)) ?? -1;
      const filter = old && position >= 0 ? old.filter(position) : undefined;
      if (filter === undefined || filter.length === 0) todo.push(number);
      else made.put(number, filter);
    }
  });
  todo.sort((a, b) => corrected[b]! - corrected[a]!);
  // It must be known of all commits.
  if (todo.length === commits.count) brought?.begin(commits, objectsIn(packs));
  const paths = new ChangedPaths();
  const atLeast = Date.now() + MIN_FILTER_MS;
  // What was noted is lost with this run, and worth more than a slice of it.
  const until = () => Math.max(brought?.commits === undefined ? deadline : stopsAt, atLeast);
  let i = 0;
  let steps: FilterSteps | undefined;
  const step = (objects: SyncObjects): boolean => {
    const number = todo[i];
    if (number === undefined || Date.now() >= until()) return true;
    if (steps === undefined) {
      const parent = commits.firstParent(number);
      const parentTree = parent === NONE ? EMPTY_TREE : commits.tree(parent);
      steps = paths.of(commits.tree(number), parentTree, brought?.of(number));
    }
    const filter = steps(objects);
    if (filter === undefined) return false;
    made.put(number, filter);
    brought?.end(number);
    steps = undefined;
    i++;
    return false;
  };
  await inSlices(store, Number.POSITIVE_INFINITY, step, undefined, { around: 8 });
  return { filters: made.filters, missing: todo.length - i };
}

/** All filters in one buffer. */
class FilterBuffer {
  readonly #starts: Uint32Array;
  readonly #lengths: Uint32Array;
  #bytes = new Uint8Array(1 << 16);
  #used = 0;

  constructor(count: number) {
    this.#starts = new Uint32Array(count);
    this.#lengths = new Uint32Array(count);
  }

  get filters(): Filters {
    return { bytes: this.#bytes, starts: this.#starts, lengths: this.#lengths };
  }

  put(number: number, filter: Uint8Array): void {
    if (this.#used + filter.length > this.#bytes.length) {
      this.#bytes = resized(this.#bytes, 2 * (this.#used + filter.length));
    }
    this.#bytes.set(filter, this.#used);
    this.#starts[number] = this.#used;
    this.#lengths[number] = filter.length;
    this.#used += filter.length;
  }
}
