import type { KnownBlames } from '../blame/known-blames.ts';
import type { OpenDerived } from '../derived.ts';
import { LruCache } from '../lru-cache.ts';
import type { Oid } from '../oid.ts';
import type { RawPath } from '../tree/path.ts';
import type { CountedAuthors } from './authors.ts';
import { CommitGraph } from './graph.ts';

/** Commits, authors and ranges of lines cached for all repositories of a process together: about 100 MB. */
const MAX_ENTRIES = 250_000;
/** Repositories in the cache. */
const MAX_REPOSITORIES = 256;
/** Approximate bytes of cached answers per repository. */
const ANSWER_BYTES = 2 * 1024 * 1024;

/**
 * Caches results of walks over one repository's history. Commits never change, so it is never stale; but it must only
 * contain commits that the repository has accepted.
 */
export class KnownHistory {
  readonly lastCommits = new KnownAnswers();
  /** As they were counted last. */
  authors: CountedAuthors | undefined;
  blames: KnownBlames | undefined;
  #graph = new CommitGraph();

  /** Commits, authors, and ranges of lines. */
  get size(): number {
    return this.#graph.size + (this.authors?.size ?? 0) + (this.blames?.size ?? 0);
  }

  get graph(): CommitGraph {
    return this.#graph;
  }

  /**
   * Starts a new graph when the commit-graph file has changed, because generations are comparable within one file only.
   * Running walks continue with the old graph.
   */
  graphOf(file: OpenDerived | undefined): CommitGraph {
    if (this.#graph.source !== file) this.#graph = new CommitGraph(file);
    return this.#graph;
  }
}

/** The {@link KnownHistory} of repositories. */
export class HistoryCache {
  readonly #known = new LruCache<KnownHistory>({
    sizeOf: ({ size }) => size,
    maxSize: MAX_ENTRIES,
    maxCount: MAX_REPOSITORIES,
  });

  /** @param repository a key that is unique among the repositories of this process */
  of(repository: string): KnownHistory {
    const known = this.#known.get(repository);
    // A graph that is too large is replaced by an empty one; its current users keep it.
    const fits = known !== undefined && known.size <= MAX_ENTRIES;
    return this.#known.use(repository, fits ? known : new KnownHistory());
  }
}

/** Caches which commit last changed a path, starting from another commit; null for none. Drops the oldest answers. */
export class KnownAnswers {
  readonly #answers = new Map<string, Oid | null>();
  #bytes = 0;

  get(path: RawPath, from: Oid): Oid | null | undefined {
    return this.#answers.get(from + path);
  }

  add(path: RawPath, from: Oid, answer: Oid | null): void {
    const key = from + path;
    if (this.#answers.has(key)) return;
    this.#answers.set(key, answer);
    this.#bytes += bytesOf(key);
    for (const oldest of this.#answers.keys()) {
      if (this.#bytes <= ANSWER_BYTES) break;
      this.#answers.delete(oldest);
      this.#bytes -= bytesOf(oldest);
    }
  }
}

const bytesOf = (key: string) => key.length + 120;
