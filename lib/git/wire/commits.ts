/** Walks over commits as a client may see them: a shallow one's end early. */
import type { ObjectStore, SyncObjects } from '../objects.ts';
import { type Oid, parseOid } from '../oid.ts';
import { type CommitLinks, parseCommitLinks } from '../parse.ts';
import { inSlices } from '../slices.ts';

/** Commits visited between two turns of the event loop. */
const STEPS_PER_TURN = 2000;

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
   * Calls `step` until it says there is no more to do; it is repeated as {@link inSlices} says.
   */
  async walk(step: (read: (oid: Oid) => CommitLinks | undefined) => boolean): Promise<void> {
    await inSlices(this.#store, STEPS_PER_TURN, (objects) => !step((oid) => this.#read(objects, oid)));
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
