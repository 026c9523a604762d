import type { ObjectStore } from '../objects.ts';
import type { Oid } from '../oid.ts';
import type { CommitLinks } from '../parse.ts';
import { CommitReader } from './commits.ts';

/**
 * What client and server have in common, as it becomes known: a have is common when the store holds it. (It may
 * hold it unreached by any ref; then so does the client, and what is left out of the pack it has.)
 */
export class Negotiation {
  readonly #store: ObjectStore;
  readonly #reader: CommitReader;
  readonly #wants: readonly Oid[];
  readonly #common = new Set<Oid>();
  /** Oldest date among the common commits: what is older cannot reach them, clocks permitting. */
  #oldest = Number.POSITIVE_INFINITY;
  #ready = false;
  /** How much was common when readiness was last looked into. */
  #lookedAt = 0;

  constructor(store: ObjectStore, wants: readonly Oid[], clientShallow: ReadonlySet<Oid>) {
    this.#store = store;
    this.#reader = new CommitReader(store, clientShallow);
    this.#wants = wants;
  }

  get common(): ReadonlySet<Oid> {
    return this.#common;
  }

  /** @returns whether the store holds it */
  async have(oid: Oid): Promise<boolean> {
    if (this.#common.has(oid)) return true;
    // Not `store.has`, which reads the listing again on every miss: most haves of a busy client are its own.
    if (!(await this.#store.run((objects) => objects.has(oid)))) return false;
    this.#common.add(oid);
    const links = await this.#reader.links(await this.#reader.peel(oid));
    if (links !== undefined) this.#oldest = Math.min(this.#oldest, links.committed);
    return true;
  }

  /**
   * Whether every want reaches something common, so that more haves would save little (git's `ok_to_give_up`).
   * Once it is so it stays so. In the middle of a request a no is kept until twice as much is common, or a client
   * could make us walk again for every line it sends.
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
      // A tagged tree or blob: ancestry cannot tell.
      if (links !== undefined && !(await this.#reachesCommon(tip, reaches, visited))) return false;
    }
    return true;
  }

  /** Depth first; a path that arrives marks all of itself, so that the wants share their work. */
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
