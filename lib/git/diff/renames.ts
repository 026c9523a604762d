import { batchMisses, readAhead } from '../batch-misses.ts';
import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import type { Entry } from '../tree/entry.ts';
import type { RawPath } from '../tree/path.ts';
import { Effort, inTurns, Pace, type Steps } from '../work.ts';
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
/** Comparisons of numbers that take the time of a few lookups by id. */
const LOOKUP = 25;
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
  const { signal } = options;
  const search = new Search(store, changes, options);
  await inTurns(search.collect(), signal);
  if (search.worthwhile) {
    await inTurns(search.matchEqual(), signal);
    await search.matchSimilar();
  }
  return { changes: await inTurns(search.result(), signal), limited: search.limited };
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
  }

  *collect(): Steps<void> {
    const { copies = false, emptyFiles = true } = this.#options;
    const counts = (entry: Entry) => emptyFiles || entry.oid !== EMPTY_BLOB;
    for (const { path, old, new: after } of this.#changes) {
      if (old && (!after || copies) && counts(old)) {
        this.#sources.push({ path, entry: old, users: after ? 1 : 0 });
      }
      if (!old && after && counts(after)) this.#targets.set(path, { path, entry: after });
      yield;
    }
  }

  get worthwhile(): boolean {
    if (this.#sources.length === 0 || this.#targets.size === 0) return false;
    const { guide } = this.#options;
    return guide === undefined || this.#sources.some(({ path }) => guide.matters(path));
  }

  *matchEqual(): Steps<void> {
    const byId = Map.groupBy(this.#sources, (source) => source.entry.oid);
    for (const target of this.#targets.values()) {
      yield;
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
    const { signal } = this.#options;
    const pace = new Pace();
    await this.#readSizes(pace);
    if (!copies) {
      await this.#matchNames(left, pace);
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
    const candidates = await inTurns(this.#allCandidates(targets), signal);
    for (const again of copies ? [false, true] : [false]) {
      for (const { source, target, score } of candidates) {
        if (pace.due()) await pace.rest(signal);
        if (!target.match && (again || source.users === 0)) this.#match(target, source, score);
      }
    }
  }

  *result(): Steps<FileChange[]> {
    const moved = new Set<RawPath>();
    const users = new Map<Source, number>();
    for (const { match } of this.#targets.values()) {
      if (!match) continue;
      moved.add(match.source.path);
      users.set(match.source, match.source.users);
    }
    const result: FileChange[] = [];
    for (const change of this.#changes) {
      yield;
      const match = change.old ? undefined : this.#targets.get(change.path)?.match;
      if (match) {
        // The last file that comes from a deleted file is the rename, the others are copies.
        const left = users.get(match.source)! - 1;
        users.set(match.source, left);
        const to = { path: change.path, entry: change.new! };
        const percent = Math.floor((match.score * 100) / MAX_SCORE);
        result.push(movedChange(left > 0 ? 'C' : 'R', match.source, to, percent));
      } else if (!change.old || change.new || !moved.has(change.path)) result.push(plainChange(change));
    }
    return result;
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
  async #matchNames(left: readonly Source[], pace: Pace): Promise<void> {
    const sources = Map.groupBy(left, (source) => nameOf(source.path));
    if (pace.due()) await pace.rest(this.#options.signal);
    const targets = Map.groupBy(this.#openTargets(), (target) => nameOf(target.path));
    const likely = this.#minimum + SAME_NAME_FACTOR * (MAX_SCORE - this.#minimum);
    for (const source of this.#sources) {
      if (pace.due()) await pace.rest(this.#options.signal);
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

  /** The best of each target, the best of all first. */
  *#allCandidates(targets: readonly Target[]): Steps<Candidate[]> {
    const candidates: Candidate[] = [];
    for (const target of targets) candidates.push(...(yield* this.#candidates(target)));
    // Faster than a sort of all: there are few ranks, or few candidates.
    const byRank = Map.groupBy(candidates, rankOf);
    return [...byRank.keys()].sort((a, b) => b - a).flatMap((rank) => byRank.get(rank)!);
  }

  *#candidates(target: Target): Steps<Candidate[]> {
    const best: Candidate[] = [];
    for (const source of this.#sources) {
      yield;
      if (!this.#mayMatch(source, target)) continue;
      const score = this.#score(source, target);
      if (score < this.#minimum) continue;
      best.push({ source, target, score, sameName: nameOf(source.path) === nameOf(target.path) });
      best.sort((a, b) => rankOf(b) - rankOf(a));
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

  async #readSizes(pace: Pace): Promise<void> {
    const files = [...this.#sources, ...this.#openTargets()].filter(isFile);
    const all = [...new Set(files.map((file) => file.entry.oid))];
    for (let i = 0; i < all.length; i += 1000) {
      if (pace.due()) await pace.rest(this.#options.signal);
      const slice = all.slice(i, i + 1000);
      const sizes = await this.#store.run((objects) => batchMisses(slice, (oid) => objects.header(oid).size));
      for (const [k, size] of sizes.entries()) {
        this.#sizes.set(slice[k]!, size);
        if (size > MAX_FILE_BYTES) this.limited = true;
      }
    }
  }

  *#mayHaveMatch(sources: readonly Source[], targets: readonly Target[]): Steps<ReadonlySet<Oid>> {
    const wanted = new Set<Oid>();
    const effort = new Effort();
    for (const source of sources) {
      for (const target of targets) {
        if (effort.spend(LOOKUP)) yield;
        if (wanted.has(source.entry.oid) && wanted.has(target.entry.oid)) continue;
        if (this.#mayMatch(source, target)) wanted.add(source.entry.oid).add(target.entry.oid);
      }
    }
    return wanted;
  }

  /** Indexes the files that may match one on the other side. */
  async #load(sources: readonly Source[], targets: readonly Target[]): Promise<void> {
    const wanted = await inTurns(this.#mayHaveMatch(sources, targets), this.#options.signal);
    const oids = [...wanted].filter((oid) => !this.#contents.has(oid));
    const pace = new Pace();
    for (let next = 0; next < oids.length; ) {
      this.#options.signal?.throwIfAborted();
      if (pace.due()) await pace.rest(this.#options.signal);
      await this.#store.run((objects) => {
        pace.begin();
        while (next < oids.length) {
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
          next++;
          if (pace.due()) return;
        }
      });
    }
  }
}

/** By score, among equal ones by name. */
function rankOf({ score, sameName }: Candidate): number {
  return 2 * score + Number(sameName);
}

/** Symlinks and submodules are renamed only if they are equal. */
function isFile({ entry }: { readonly entry: Entry }): boolean {
  return isRegular(entry);
}

function nameOf(path: RawPath): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
