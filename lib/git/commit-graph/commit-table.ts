import { type Oid, oidBytes, oidFromBytes } from '../oid.ts';
import { resized } from '../pack/entry-table.ts';
import { NameTable } from '../pack/name-table.ts';
import { DATE_LIMIT, MAX_LEVEL } from './format.ts';

/** More parents than two, in `others`. */
const MANY = -2;
export const NONE = -1;

/** Commits in columns, numbered as they are met: about 90 bytes each. */
export class CommitTable {
  readonly #table = new NameTable();
  /** 20 bytes each. */
  trees = new Uint8Array(20 * 256);
  dates = new Float64Array(256);
  /** Numbers of the first two parents; {@link NONE}, or MANY where `#others` has them all. */
  #first = new Int32Array(256);
  #second = new Int32Array(256);
  readonly #others = new Map<number, readonly number[]>();
  /** Of those that {@link add} has filled in. */
  #known = new Uint8Array(256);

  /** Commits that were named: filled in, or not yet. */
  get count(): number {
    return this.#table.count;
  }

  /** 20 bytes each. */
  get names(): Uint8Array {
    return this.#table.names;
  }

  oid(number: number): Oid {
    return oidFromBytes(this.names, 20 * number);
  }

  tree(number: number): Oid {
    return oidFromBytes(this.trees, 20 * number);
  }

  /** @returns its number, a new one when it was not named before */
  number(oid: Oid): number {
    return this.#table.add(oidBytes(oid), 0);
  }

  /** Fills in a commit that was named. */
  add(number: number, tree: Oid, date: number, parents: readonly number[]): void {
    if (this.#known.length < this.#table.count) this.#grow();
    this.trees.set(oidBytes(tree), 20 * number);
    this.dates[number] = date;
    this.#first[number] = parents[0] ?? NONE;
    this.#second[number] = parents.length > 2 ? MANY : (parents[1] ?? NONE);
    if (parents.length > 2) this.#others.set(number, parents);
    this.#known[number] = 1;
  }

  firstParent(number: number): number {
    return this.#first[number]!;
  }

  parents(number: number): readonly number[] {
    const [first, second] = [this.#first[number]!, this.#second[number]!];
    if (second === MANY) return this.#others.get(number)!;
    return first === NONE ? NO_PARENTS : second === NONE ? [first] : [first, second];
  }

  #grow(): void {
    const size = 2 * this.#table.count;
    this.trees = resized(this.trees, 20 * size);
    this.dates = resized(this.dates, size);
    this.#first = resized(this.#first, size);
    this.#second = resized(this.#second, size);
    this.#known = resized(this.#known, size);
  }
}

const NO_PARENTS: readonly number[] = [];

export interface Generations {
  /** Topological levels: 1 for a root; 0 for a commit that no graph can hold. */
  readonly levels: Uint32Array;
  /** Corrected commit dates: at least the commit's own, and above those of its parents. */
  readonly corrected: Float64Array;
}

/**
 * Both kinds of generation numbers (git's technical notes on commit-graph). A commit whose date does not fit the
 * format is left out with everything that reaches it, because a graph holds the parents of what it holds.
 */
export function generations(commits: CommitTable): Generations {
  const levels = new Uint32Array(commits.count);
  const corrected = new Float64Array(commits.count);
  const done = new Uint8Array(commits.count);
  const waiting: number[] = [];
  for (let start = 0; start < commits.count; start++) {
    waiting.push(start);
    for (let at = waiting.at(-1); at !== undefined; at = waiting.at(-1)) {
      if (done[at] === 1) {
        waiting.pop();
        continue;
      }
      const parents = commits.parents(at);
      const before = waiting.length;
      for (const parent of parents) if (done[parent] === 0) waiting.push(parent);
      if (waiting.length > before) continue;
      done[at] = 1;
      waiting.pop();
      const date = commits.dates[at]!;
      if (!(date >= 0 && date < DATE_LIMIT) || parents.some((parent) => levels[parent] === 0)) continue;
      let level = 0;
      let newest = 0;
      for (const parent of parents) {
        level = Math.max(level, levels[parent]!);
        newest = Math.max(newest, corrected[parent]!);
      }
      levels[at] = Math.min(level + 1, MAX_LEVEL);
      corrected[at] = Math.max(date, newest + 1);
    }
  }
  return { levels, corrected };
}
