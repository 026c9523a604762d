import type { Oid } from '../oid.ts';
import type { RawPath } from '../tree/path.ts';
import { LimitExceeded } from '../work.ts';

/** Which commits, in which order: options of `git log`. */
export interface LogQuery {
  /** Commits to start from: one, or those of all refs for `--all`. */
  readonly tips: readonly Oid[];
  /** Excludes these and everything they reach: `exclude..tip`. */
  readonly exclude?: readonly Oid[];
  /** Seconds since 1970, inclusive; the walk stops at older commits, as in git. */
  readonly since?: number;
  /** Seconds since 1970, inclusive; later commits are walked and not shown. */
  readonly until?: number;
  readonly firstParent?: boolean;
  /** Only commits that changed this path, with git's default history simplification. */
  readonly path?: RawPath;
  /** `date`: newest committer date first. `topo`: no parent before its children, lines of history not mixed. */
  readonly order?: 'date' | 'topo';
}

/** Bounds of one walk. */
export interface WalkBounds {
  /** Commits the walk may visit; default 1,000,000. */
  readonly maxCommits?: number;
  readonly signal?: AbortSignal;
}

/** The walk needed more commits than its bounds allow. */
export class HistoryLimit extends LimitExceeded {
  readonly maxCommits: number;
  constructor(maxCommits: number) {
    super(`history walk passed ${maxCommits} commits`);
    this.name = 'HistoryLimit';
    this.maxCommits = maxCommits;
  }
}

const MAX_COMMITS = 1_000_000;

/**
 * Walks fetch the commit-graph file, as a whole, only after visiting this many commits without it: most walks end among
 * the newest commits, which are stored together in one pack.
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
  spend(commits = 1): void {
    this.#visited += commits;
    if (this.#visited > this.#max) throw new HistoryLimit(this.#max);
  }
}
