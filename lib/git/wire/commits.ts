/** Walks over commits as a client sees them: for shallow clients, they end at the boundary. */
import { asBuffer } from '../../bytes/as-buffer.ts';
import type { ObjectStore, SyncObjects } from '../objects.ts';
import { type Oid, parseOid } from '../oid.ts';
import { type CommitLinks, parseCommitLinks } from '../parse.ts';
import { inSlices } from '../slices.ts';

/** Commits visited per turn of the event loop. */
const STEPS_PER_TURN = 2000;

/** Reads parents and dates of commits, each once. */
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
   * Calls `step` until it returns true; a step may be repeated, see {@link inSlices}.
   */
  async walk(step: (read: (oid: Oid) => CommitLinks | undefined) => boolean): Promise<void> {
    await inSlices(this.#store, STEPS_PER_TURN, (objects) => !step((oid) => this.#read(objects, oid)));
  }

  /** Undefined when the object does not exist or is not a commit. */
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

/** Longest chain of tags that is followed; git has no limit, but real chains are short. */
const MAX_TAG_CHAIN = 100;

/** The object at the end of a chain of tags; `oid` itself when it is not a tag. A missing object ends the chain. */
export function peel(objects: SyncObjects, oid: Oid): Oid {
  let at = oid;
  for (let i = 0; i < MAX_TAG_CHAIN && objects.has(at) && objects.header(at).type === 'tag'; i++) {
    const target = tagTarget(objects.read(at).data);
    if (target === undefined) break;
    at = target;
  }
  return at;
}

/** The object that a tag points to: a tag starts with `object <id>` (git-mktag). */
export function tagTarget(data: Uint8Array): Oid | undefined {
  const line = asBuffer(data).toString('latin1', 0, 47);
  return line.startsWith('object ') ? parseOid(line.slice(7, 47)) : undefined;
}
