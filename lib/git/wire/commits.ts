/** Walks over commits for negotiation and pushes: parents and dates only, read through the sync store. */
import type { ObjectStore, SyncObjects } from '../objects.ts';
import { type Oid, parseOid } from '../oid.ts';
import { type CommitLinks, parseCommitLinks } from '../parse.ts';

/** Commits visited between two turns of the event loop. */
const STRIDE = 2000;

/** Parents and dates of commits, each read once. */
export class CommitReader {
  readonly #store: ObjectStore;
  readonly #known = new Map<Oid, CommitLinks | undefined>();
  readonly #cut: ReadonlySet<Oid>;

  /** @param cut commits whose parents are to be ignored (a shallow boundary) */
  constructor(store: ObjectStore, cut: ReadonlySet<Oid> = new Set()) {
    this.#store = store;
    this.#cut = cut;
  }

  /**
   * Calls `step` until it says there is no more to do, giving way to other requests now and then. A step reads
   * first and changes its state after: it is called again from its start when bytes were not at hand.
   */
  async walk(step: (read: (oid: Oid) => CommitLinks | undefined) => boolean): Promise<void> {
    for (let more = true; more; ) {
      more = await this.#store.run((objects) => {
        const read = (oid: Oid) => this.#read(objects, oid);
        for (let i = 0; i < STRIDE; i++) if (!step(read)) return false;
        return true;
      });
      if (more) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** undefined when the object is no commit or is absent. */
  async links(oid: Oid): Promise<CommitLinks | undefined> {
    return this.#store.run((objects) => this.#read(objects, oid));
  }

  /** The object at the end of a chain of tags. */
  async peel(oid: Oid): Promise<Oid> {
    return this.#store.run((objects) => peel(objects, oid));
  }

  #read(objects: SyncObjects, oid: Oid): CommitLinks | undefined {
    const known = this.#known.get(oid);
    if (known !== undefined || this.#known.has(oid)) return known;
    let links: CommitLinks | undefined;
    if (objects.has(oid)) {
      const object = objects.read(oid);
      if (object.type === 'commit') links = parseCommitLinks(object.data);
      if (links !== undefined && this.#cut.has(oid)) links = { ...links, parents: [] };
    }
    this.#known.set(oid, links);
    return links;
  }
}

/** Longest chain of tags that tag tags followed; git itself has no limit, and nobody has such chains. */
const MAX_TAG_CHAIN = 100;

/** The object at the end of a chain of tags, `oid` itself when it is no tag; what is absent ends the chain. */
export function peel(objects: SyncObjects, oid: Oid): Oid {
  let at = oid;
  for (let i = 0; i < MAX_TAG_CHAIN && objects.has(at) && objects.header(at).type === 'tag'; i++) {
    const target = tagTarget(objects.read(at).data);
    if (target === undefined) break;
    at = target;
  }
  return at;
}

/** A tag begins with `object <id>` (git-mktag). */
export function tagTarget(data: Uint8Array): Oid | undefined {
  const line = Buffer.from(data.buffer, data.byteOffset, Math.min(data.length, 47)).toString('latin1');
  return line.startsWith('object ') ? parseOid(line.slice(7, 47)) : undefined;
}

/** Commits in order of date, newest first: a binary heap. */
export class DateQueue {
  readonly #heap: { oid: Oid; time: number }[] = [];

  get size(): number {
    return this.#heap.length;
  }

  peek(): Oid | undefined {
    return this.#heap[0]?.oid;
  }

  push(oid: Oid, time: number): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push({ oid, time });
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.time >= time) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = { oid, time };
  }

  pop(): Oid | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top?.oid;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.time > heap[child]!.time) child++;
      if (heap[child]!.time <= last.time) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return top.oid;
  }
}
