import type { Oid } from '../oid.ts';
import type { RawPath } from '../tree/path.ts';

/** Which commits, in which order: the options of `git log` by other names. */
export interface LogQuery {
  /** Commits to start from: one, or every ref's for "all". */
  readonly tips: readonly Oid[];
  /** Leaves out these and all they reach: `exclude..tip`. */
  readonly exclude?: readonly Oid[];
  /** Seconds since 1970, inclusive; a commit before it ends its line of history, as in git. */
  readonly since?: number;
  /** Seconds since 1970, inclusive; later commits are walked and not shown. */
  readonly until?: number;
  readonly firstParent?: boolean;
  /** Only what changed here, with git's default simplification of history. */
  readonly path?: RawPath;
  /** `date`: newest committer's time first. `topo`: no parent before its children, lines not mixed. */
  readonly order?: 'date' | 'topo';
}

/** Bounds of one walk. */
export interface WalkBounds {
  /** Commits the walk may visit; default 1,000,000. */
  readonly maxCommits?: number;
  readonly signal?: AbortSignal;
}

/** The walk would have visited more commits than its bounds allow. */
export class HistoryLimit extends Error {
  readonly maxCommits: number;
  constructor(maxCommits: number) {
    super(`history walk passed ${maxCommits} commits`);
    this.name = 'HistoryLimit';
    this.maxCommits = maxCommits;
  }
}

const MAX_COMMITS = 1_000_000;

/**
 * A commit-graph file is fetched as a whole, so only by walks that have gone so far without it: what most of them look
 * for is among the newest commits, which lie together in one pack.
 */
export const LOAD_GRAPH_AFTER = 64;
/** The same for a walk that reads trees. */
export const LOAD_GRAPH_AFTER_WITH_PATH = 16;

/** Counts the commits of one walk. */
export class WalkBudget {
  readonly #max: number;
  #visited = 0;
  constructor(bounds: WalkBounds) {
    this.#max = bounds.maxCommits ?? MAX_COMMITS;
  }

  get visited(): number {
    return this.#visited;
  }

  /** @throws HistoryLimit */
  spend(): void {
    if (++this.#visited > this.#max) throw new HistoryLimit(this.#max);
  }
}
