import { batchMisses, readAhead } from '../batch-misses.ts';
import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import type { Entry } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import { Pace } from '../work.ts';
import { type FileChange, isRegular, movedChange, plainChange } from './changes.ts';
import { type ContentIndex, canReach, indexContent, MAX_SCORE, similarity } from './similarity.ts';
import { MAX_FILE_BYTES } from './stats.ts';
import type { TreeChange } from './tree-diff.ts';

export interface RenameOptions {
  /** Percent of the larger file that both must share; default 50 (`-M50%`). */
  readonly minimum?: number;
  /** Bound for comparing content: sources times targets is at most this number squared. Default 1,000 (`-l1000`). */
  readonly limit?: number;
  /** Also detects copies of modified files (`-C`). */
  readonly copies?: boolean;
  /** Whether empty files can be renamed; default true. */
  readonly emptyFiles?: boolean;
  /** Knows which renames matter; without it, all do. */
  readonly guide?: RenameGuide;
  readonly signal?: AbortSignal;
}

/** What a merge knows of its files, so that only the renames that matter to it are looked for. */
export interface RenameGuide {
  /** Whether it matters where this deleted file went. */
  matters(path: RawPath): boolean;
  /** Called for each rename that was found. */
  found(from: RawPath, to: RawPath): void;
  /** Called once the renames of equal files were found. */
  equalFilesFound(): void;
  /** The likely new path of a file whose name is not unique. */
  guess(path: RawPath): RawPath | undefined;
  /** Called once the renames within equal names were found. @returns which of the files left still matter */
  unsettled(paths: readonly RawPath[]): ReadonlySet<RawPath>;
}

export interface RenamedChanges {
  /** In git's order of new paths. */
  readonly changes: readonly FileChange[];
  /** Some files were not compared by content, because they were too many or too large. */
  readonly limited: boolean;
}

const DEFAULT_LIMIT = 1000;
/** Bytes of files read for comparison. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Comparisons of content chunks; about 300 million a second. */
const MAX_STEPS = 1_000_000_000;
/** A match by file name must score above the minimum by this share of the remaining range. */
const SAME_NAME_FACTOR = 0.5;
/** Candidate sources kept per target. */
const CANDIDATES = 4;
/** Sources with identical content tried per target. */
const MAX_TWINS = 100;
const EMPTY_BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391' as Oid;

/**
 * Finds the added files that were renamed from a deleted file, in git's order (gitdiffcore, "diffcore-rename"): first
 * equal content; then, unless copies are detected, the same file name if it is unique; then the most similar pairs.
 */
export async function detectRenames(
  store: ObjectStore,
  changes: readonly TreeChange[],
  options: RenameOptions = {},
): Promise<RenamedChanges> {
  const search = new Search(store, changes, options);
  if (search.worthwhile) {
    await search.matchEqual();
    await search.matchSimilar();
  }
  return { changes: search.result(), limited: search.limited };
}

interface Source {
  readonly path: RawPath;
  readonly entry: Entry;
  /** How many files of the new tree come from it. */
  users: number;
}

interface Target {
  readonly path: RawPath;
  readonly entry: Entry;
  match?: { readonly source: Source; readonly score: number };
}

interface Candidate {
  readonly source: Source;
  readonly target: Target;
  readonly score: number;
  readonly sameName: boolean;
}

class Search {
  readonly #store: ObjectStore;
  readonly #changes: readonly TreeChange[];
  readonly #options: RenameOptions;
  readonly #minimum: number;
  #sources: Source[] = [];
  readonly #targets = new Map<RawPath, Target>();
  readonly #sizes = new Map<Oid, number>();
  readonly #contents = new Map<Oid, ContentIndex>();
  #bytes = 0;
  #steps = MAX_STEPS;
  limited = false;

  constructor(store: ObjectStore, changes: readonly TreeChange[], options: RenameOptions) {
    this.#store = store;
    this.#changes = changes;
    this.#options = options;
    this.#minimum = ((options.minimum ?? 50) * MAX_SCORE) / 100;
    for (const { path, old, new: after } of changes) {
      const counts = (entry: Entry) => (options.emptyFiles ?? true) || entry.oid !== EMPTY_BLOB;
      if (old && (!after || options.copies) && counts(old)) {
        this.#sources.push({ path, entry: old, users: after ? 1 : 0 });
      }
      if (!old && after && counts(after)) this.#targets.set(path, { path, entry: after });
    }
  }

  get worthwhile(): boolean {
    if (this.#sources.length === 0 || this.#targets.size === 0) return false;
    const { guide } = this.#options;
    return guide === undefined || this.#sources.some(({ path }) => guide.matters(path));
  }

  async matchEqual(): Promise<void> {
    const pace = new Pace();
    const byId = Map.groupBy(this.#sources, (source) => source.entry.oid);
    for (const target of this.#targets.values()) {
      if (pace.due()) await pace.rest(this.#options.signal);
      let best: Source | undefined;
      let bestScore = -1;
      for (const source of (byId.get(target.entry.oid) ?? []).slice(0, MAX_TWINS)) {
        const bothRegular = isRegular(source.entry) && isRegular(target.entry);
        if (!bothRegular && source.entry.mode !== target.entry.mode) continue;
        if (source.users > 0 && !this.#options.copies) continue;
        const score = (source.users > 0 ? 0 : 1) + (nameOf(source.path) === nameOf(target.path) ? 1 : 0);
        if (score > bestScore) [best, bestScore] = [source, score];
      }
      if (best) this.#match(target, best, MAX_SCORE);
    }
  }

  async matchSimilar(): Promise<void> {
    const { copies = false, guide } = this.#options;
    const open = (source: Source) => copies || source.users === 0;
    const matters = ({ path }: Source) => guide === undefined || guide.matters(path);
    const left = this.#sources.filter(open);
    this.#sources = left.filter(matters);
    if (this.#minimum >= MAX_SCORE || this.#sources.length === 0) return;
    guide?.equalFilesFound();
    await this.#readSizes();
    if (!copies) {
      await this.#matchNames(left);
      this.#sources = this.#sources.filter(open);
      const unsettled = guide?.unsettled(this.#sources.map(({ path }) => path));
      if (unsettled) this.#sources = this.#sources.filter(({ path }) => unsettled.has(path));
    }
    const limit = this.#options.limit ?? DEFAULT_LIMIT;
    if (this.#sources.length * this.#openTargets().length > limit * limit) {
      this.limited = true;
      return;
    }
    const targets = this.#openTargets().filter(isFile);
    this.#sources = this.#sources.filter(isFile);
    await this.#load(this.#sources, targets);
    const candidates: Candidate[] = [];
    const pace = new Pace();
    for (const target of targets) {
      candidates.push(...this.#candidates(target));
      if (pace.due()) await pace.rest(this.#options.signal);
    }
    candidates.sort(byScore);
    for (const again of copies ? [false, true] : [false]) {
      for (const { source, target, score } of candidates) {
        if (!target.match && (again || source.users === 0)) this.#match(target, source, score);
      }
    }
  }

  result(): FileChange[] {
    const moved = new Set<RawPath>();
    const users = new Map<Source, number>();
    for (const { match } of this.#targets.values()) {
      if (!match) continue;
      moved.add(match.source.path);
      users.set(match.source, match.source.users);
    }
    return this.#changes.flatMap((change): FileChange[] => {
      const match = change.old ? undefined : this.#targets.get(change.path)?.match;
      if (match) {
        // The last file that comes from a deleted file is the rename, the others are copies.
        const left = users.get(match.source)! - 1;
        users.set(match.source, left);
        const to = { path: change.path, entry: change.new! };
        const percent = Math.floor((match.score * 100) / MAX_SCORE);
        return [movedChange(left > 0 ? 'C' : 'R', match.source, to, percent)];
      }
      return change.old && !change.new && moved.has(change.path) ? [] : [plainChange(change)];
    });
  }

  #match(target: Target, source: Source, score: number): void {
    target.match = { source, score };
    source.users++;
    this.#options.guide?.found(source.path, target.path);
  }

  #openTargets(): Target[] {
    return [...this.#targets.values()].filter((target) => !target.match);
  }

  /**
   * Matches files that moved to another directory, if their name is unique among the remaining files, or if their new
   * path can be guessed.
   * @param left all files that are not matched yet, whether they matter or not
   */
  async #matchNames(left: readonly Source[]): Promise<void> {
    const sources = Map.groupBy(left, (source) => nameOf(source.path));
    const targets = Map.groupBy(this.#openTargets(), (target) => nameOf(target.path));
    const likely = this.#minimum + SAME_NAME_FACTOR * (MAX_SCORE - this.#minimum);
    for (const source of this.#sources) {
      const named = targets.get(nameOf(source.path));
      if (named === undefined) continue;
      const unique = named.length === 1 && sources.get(nameOf(source.path))!.length === 1;
      const guess = unique ? undefined : this.#options.guide?.guess(source.path);
      const target = unique ? named[0] : guess && this.#targets.get(guess);
      if (!target || target.match || !isFile(source) || !isFile(target)) continue;
      if (!this.#mayMatch(source, target)) continue;
      await this.#load([source], [target]);
      const score = this.#score(source, target);
      if (score >= likely) this.#match(target, source, score);
    }
  }

  #candidates(target: Target): Candidate[] {
    const best: Candidate[] = [];
    for (const source of this.#sources) {
      if (!this.#mayMatch(source, target)) continue;
      const score = this.#score(source, target);
      if (score < this.#minimum) continue;
      best.push({ source, target, score, sameName: nameOf(source.path) === nameOf(target.path) });
      best.sort(byScore);
      if (best.length > CANDIDATES) best.pop();
    }
    return best;
  }

  #mayMatch(source: Source, target: Target): boolean {
    const [one, other] = [this.#sizes.get(source.entry.oid)!, this.#sizes.get(target.entry.oid)!];
    return Math.max(one, other) <= MAX_FILE_BYTES && canReach(this.#minimum, one, other);
  }

  #score(source: Source, target: Target): number {
    const [one, other] = [this.#contents.get(source.entry.oid), this.#contents.get(target.entry.oid)];
    if (!one || !other) return 0;
    this.#steps -= one.hashes.length + other.hashes.length + 1;
    if (this.#steps < 0) {
      this.limited = true;
      return 0;
    }
    return similarity(one, other);
  }

  async #readSizes(): Promise<void> {
    const all = [...this.#sources, ...this.#openTargets()].filter(isFile).map((file) => file.entry.oid);
    for (let i = 0; i < all.length; i += 1000) {
      this.#options.signal?.throwIfAborted();
      const slice = all.slice(i, i + 1000);
      const sizes = await this.#store.run((objects) => batchMisses(slice, (oid) => objects.header(oid).size));
      for (const [k, size] of sizes.entries()) {
        this.#sizes.set(slice[k]!, size);
        if (size > MAX_FILE_BYTES) this.limited = true;
      }
    }
  }

  /** Indexes the files that may match one on the other side. */
  async #load(sources: readonly Source[], targets: readonly Target[]): Promise<void> {
    const wanted = new Set<Oid>();
    const pace = new Pace();
    for (const source of sources) {
      if (pace.due()) await pace.rest(this.#options.signal);
      for (const target of targets) {
        if (wanted.has(source.entry.oid) && wanted.has(target.entry.oid)) continue;
        if (this.#mayMatch(source, target)) wanted.add(source.entry.oid).add(target.entry.oid);
      }
    }
    const oids = [...wanted].filter((oid) => !this.#contents.has(oid));
    for (let next = 0; next < oids.length; ) {
      this.#options.signal?.throwIfAborted();
      if (pace.due()) await pace.rest(this.#options.signal);
      await this.#store.run((objects) => {
        pace.begin();
        for (; next < oids.length && !pace.due(); next++) {
          const oid = oids[next]!;
          const ahead = () => oids.slice(next + 1, next + 64);
          const { data } = readAhead(oid, ahead, (one) => objects.read(one));
          this.#bytes += data.length;
          if (this.#bytes > MAX_BYTES) {
            this.limited = true;
            next = oids.length;
            return;
          }
          this.#contents.set(oid, indexContent(data));
        }
      });
    }
  }
}

function byScore(a: Candidate, b: Candidate): number {
  return b.score - a.score || Number(b.sameName) - Number(a.sameName);
}

/** Symlinks and submodules are renamed only if they are equal. */
function isFile({ entry }: { readonly entry: Entry }): boolean {
  return isRegular(entry);
}

function nameOf(path: RawPath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
