import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import type { CommitLinks } from '../parse.ts';
import { CommitReader } from './commits.ts';

/**
 * Tracks what client and server have in common: a have is common when the store has the object. (Even if no ref reaches
 * it, the client has it too, and so everything that is left out of the pack.)
 */
export class Negotiation {
  readonly #store: ObjectStore;
  readonly #reader: CommitReader;
  readonly #wants: readonly Oid[];
  readonly #common = new Set<Oid>();
  /** Oldest date of the common commits: older commits cannot reach them, if clocks are right. */
  #oldest = Number.POSITIVE_INFINITY;
  #ready = false;
  /** Number of common objects when readiness was last checked. */
  #lookedAt = 0;

  constructor(store: ObjectStore, wants: readonly Oid[], clientShallow: ReadonlySet<Oid>) {
    this.#store = store;
    this.#reader = new CommitReader(store, clientShallow);
    this.#wants = wants;
  }

  get common(): ReadonlySet<Oid> {
    return this.#common;
  }

  /** @returns whether the store has it */
  async have(oid: Oid): Promise<boolean> {
    if (this.#common.has(oid)) return true;
    // Not `store.has`, which reads the listing again on every miss: most haves of an active client are its own commits.
    if (!(await this.#store.run((objects) => objects.has(oid)))) return false;
    this.#common.add(oid);
    const links = await this.#reader.links(await this.#reader.peel(oid));
    if (links !== undefined) this.#oldest = Math.min(this.#oldest, links.committed);
    return true;
  }

  /**
   * Whether every want reaches a common commit, so that more haves would save little (git's `ok_to_give_up`).
   * Once true, it stays true. In the middle of a request, false is cached until twice as much is common, else a client
   * could cause a walk for every line it sends.
   */
  async ready(when: 'midway' | 'at the end'): Promise<boolean> {
    const size = this.#common.size;
    if (this.#ready || size === 0 || size === this.#lookedAt) return this.#ready;
    if (when === 'midway' && size < 2 * this.#lookedAt) return false;
    this.#lookedAt = size;
    this.#ready = await this.#allReachCommon();
    return this.#ready;
  }

  async #allReachCommon(): Promise<boolean> {
    const reaches = new Set<Oid>(this.#common);
    const visited = new Set<Oid>();
    for (const want of this.#wants) {
      const tip = await this.#reader.peel(want);
      const links = await this.#reader.links(tip);
      // Not a commit, but a tagged tree or blob: ignored.
      if (links !== undefined && !(await this.#reachesCommon(tip, reaches, visited))) return false;
    }
    return true;
  }

  /** Depth first; all commits of a path that reaches a common commit are marked, so that the wants share the work. */
  async #reachesCommon(tip: Oid, reaches: Set<Oid>, visited: Set<Oid>): Promise<boolean> {
    if (reaches.has(tip)) return true;
    const path: { oid: Oid; links: CommitLinks; next: number }[] = [];
    let entering: Oid | undefined = tip;
    let arrived = false;
    await this.#reader.walk((read) => {
      if (entering !== undefined) {
        const links = read(entering);
        if (links !== undefined && links.committed >= this.#oldest)
          path.push({ oid: entering, links, next: 0 });
        visited.add(entering);
        entering = undefined;
        return true;
      }
      const top = path.at(-1);
      if (top === undefined) return false;
      const parent = top.links.parents[top.next++];
      if (parent === undefined) path.pop();
      else if (reaches.has(parent)) arrived = true;
      else if (!visited.has(parent)) entering = parent;
      return !arrived;
    });
    if (arrived) for (const { oid } of path) reaches.add(oid);
    return arrived;
  }
}
