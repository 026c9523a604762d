import type { RenameGuide } from '../diff/renames.ts';
import { type RawPath, ROOT } from '../tree/path.ts';
import { parentOf } from './removed-directories.ts';

/** Why a merge wants to know where a removed directory went. */
const ANCESTOR = 1;
/** The other side added files directly in it. */
const SELF = 2;
type Relevance = 0 | typeof ANCESTOR | typeof SELF;

/** Stands for the new directory of a file whose rename is not found yet. */
const UNKNOWN = Symbol('unknown');
type Counts = Map<RawPath | typeof UNKNOWN, number>;

/**
 * Renames of whole directories on one side, judged by those of their files: a directory that is gone went to where most
 * of its files went (git's Documentation/technical/directory-rename-detection). Also tells the search for renames which
 * files matter to this side.
 */
export class DirectoryRenames implements RenameGuide {
  readonly #removed: ReadonlySet<RawPath>;
  readonly #hot: ReadonlySet<RawPath>;
  readonly #contentMatters: (path: RawPath) => boolean;
  readonly #locationMatters: (path: RawPath) => boolean;
  /** For each removed directory, how many of its files went where. */
  readonly #counts = new Map<RawPath, Counts>();
  readonly #guesses = new Map<RawPath, RawPath>();
  /** Directories whose new place is certain, whatever else is found. */
  readonly #decided = new Set<RawPath>();

  /**
   * @param removed directories of the base that this side has not
   * @param hot those of them in which the other side added files
   * @param contentMatters whether the other side changed or deleted a file
   * @param locationMatters whether a file was in a directory that is hot on either side, or below one
   */
  constructor(
    removed: ReadonlySet<RawPath>,
    hot: ReadonlySet<RawPath>,
    contentMatters: (path: RawPath) => boolean,
    locationMatters: (path: RawPath) => boolean,
  ) {
    this.#removed = removed;
    this.#hot = hot;
    this.#contentMatters = contentMatters;
    this.#locationMatters = locationMatters;
  }

  matters(path: RawPath): boolean {
    return this.#contentMatters(path) || this.#locationMatters(path);
  }

  /** Counts the rename for the file's directory, and for directories above as long as the names below are the same. */
  found(from: RawPath, to: RawPath): void {
    let [old, current] = [parentOf(from), parentOf(to)];
    for (let first = true; this.#removed.has(old); first = false) {
      const relevance = this.#relevance(old);
      if (first || relevance === SELF) increment(this.#countsOf(old), current);
      if (relevance === 0 || old === ROOT || current === ROOT) return;
      if (nameOf(old) !== nameOf(current)) return;
      [old, current] = [parentOf(old), parentOf(current)];
    }
  }

  equalFilesFound(): void {
    for (const [old, counts] of this.#counts) {
      let most = 0;
      for (const [to, count] of counts) {
        if (count > most && to !== UNKNOWN) {
          most = count;
          this.#guesses.set(old, to);
        }
      }
    }
  }

  guess(path: RawPath): RawPath | undefined {
    const directory = this.#guesses.get(parentOf(path));
    return directory === undefined || directory === ROOT
      ? undefined
      : (`${directory}/${nameOf(path)}` as RawPath);
  }

  /** Leaves out files that matter by their location only, where the new place of their directory is certain. */
  unsettled(paths: readonly RawPath[]): Set<RawPath> {
    for (const path of paths) {
      for (let old = parentOf(path); old !== ROOT && this.#relevance(old) !== 0; old = parentOf(old)) {
        increment(this.#countsOf(old), UNKNOWN);
      }
    }
    for (const [old, counts] of this.#counts) if (hasMajority(counts)) this.#decided.add(old);
    return new Set(paths.filter((path) => this.#contentMatters(path) || this.#isOpen(path)));
  }

  /** The new directory of each removed one that matters, and the directories that went to several places alike. */
  result(): { readonly renamed: Map<RawPath, RawPath>; readonly split: RawPath[] } {
    const renamed = new Map<RawPath, RawPath>();
    const split: RawPath[] = [];
    for (const [old, counts] of this.#counts) {
      if (this.#relevance(old) === 0) continue;
      counts.delete(UNKNOWN);
      let most = 0;
      for (const count of counts.values()) most = Math.max(most, count);
      const places = [...counts.keys()].filter((to): to is RawPath => counts.get(to) === most);
      if (places.length > 1) split.push(old);
      else if (places[0] !== undefined) renamed.set(old, places[0]);
    }
    return { renamed, split };
  }

  #relevance(directory: RawPath): Relevance {
    if (this.#hot.size === 0 || !this.#removed.has(directory)) return 0;
    if (this.#hot.has(directory) && !this.#decided.has(directory)) return SELF;
    for (let above: RawPath = directory; above !== ROOT; above = parentOf(above)) {
      if (this.#hot.has(above)) return ANCESTOR;
    }
    return 0;
  }

  /** Whether the file's rename may still decide where a directory above it went. */
  #isOpen(path: RawPath): boolean {
    for (let above = parentOf(path); ; above = parentOf(above)) {
      const relevance = this.#relevance(above);
      if (relevance !== ANCESTOR) return relevance === SELF;
    }
  }

  #countsOf(directory: RawPath): Counts {
    let counts = this.#counts.get(directory);
    if (counts === undefined) this.#counts.set(directory, (counts = new Map()));
    return counts;
  }
}

function increment(counts: Counts, to: RawPath | typeof UNKNOWN): void {
  counts.set(to, (counts.get(to) ?? 0) + 1);
}

/** Whether the first place stays the first, even if all files not found yet went to the second. */
function hasMajority(counts: Counts): boolean {
  let [first, second] = [0, 0];
  for (const [to, count] of counts) {
    if (to === UNKNOWN) continue;
    if (count >= first) [first, second] = [count, first];
    else if (count > second) second = count;
  }
  return first > second + (counts.get(UNKNOWN) ?? 0);
}

function nameOf(path: RawPath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
