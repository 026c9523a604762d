import type { OpenDerived } from '../derived.ts';
import type { Oid } from '../oid.ts';
import type { RawPath } from '../tree/path.ts';
import { CommitGraph } from './graph.ts';

/** Commits that all repositories of a process remember together: about 100 MB. */
const MAX_COMMITS = 250_000;
/** Repositories with something remembered, however little. */
const MAX_REPOSITORIES = 256;
/** Bytes of answers that one repository keeps, about. */
const ANSWER_BYTES = 2 * 1024 * 1024;

/**
 * What walks over one repository's history have found. Commits never change, so it is never stale; but it must
 * only see commits that the repository has accepted.
 */
export class KnownHistory {
  readonly lastCommits = new KnownAnswers();
  #graph = new CommitGraph();

  get graph(): CommitGraph {
    return this.#graph;
  }

  /**
   * Begins the graph anew when another commit-graph file is listed by now: generations are compared within one file.
   * Walks that began with the graph before go on with it.
   */
  graphOf(file: OpenDerived | undefined): CommitGraph {
    if (this.#graph.source !== file) this.#graph = new CommitGraph(file);
    return this.#graph;
  }
}

/** {@link KnownHistory} of the repositories a process has served lately: those not asked for longest go first. */
export class HistoryCache {
  readonly #known = new Map<string, KnownHistory>();

  /** @param repository what tells repositories of this process apart */
  of(repository: string): KnownHistory {
    let known = this.#known.get(repository);
    // A graph too large to keep serves those who hold it; the next one begins anew.
    if (known === undefined || known.graph.size > MAX_COMMITS) known = new KnownHistory();
    this.#known.delete(repository);
    this.#known.set(repository, known);
    let commits = 0;
    for (const { graph } of this.#known.values()) commits += graph.size;
    for (const [key, { graph }] of this.#known) {
      if (commits <= MAX_COMMITS && this.#known.size <= MAX_REPOSITORIES) break;
      if (key === repository) break;
      commits -= graph.size;
      this.#known.delete(key);
    }
    return known;
  }
}

/** Which commit last changed a path, as seen from another; null when none did. The oldest answers are dropped. */
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
