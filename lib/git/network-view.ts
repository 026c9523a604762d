import type { Ports } from './commit-changes.ts';
import { repack, repackInto } from './maintenance/repack.ts';
import type { Oid } from './oid.ts';
import { discardContent } from './pack/content.ts';
import type { PackCache } from './pack/pack-cache.ts';
import { PackStore } from './pack/store.ts';
import type { ObjectDatabase, PackDescription, PackSink } from './ports.ts';
import { GitRepository } from './repository.ts';
import { reachableOutside } from './resurrect.ts';
import { LimitExceeded } from './work.ts';

/** Objects that one copy may have. */
const MAX_COPIED = 2_000_000;

/** Two repositories of a fork network, of which one takes commits of the other. */
export interface TwoRepositories {
  /** Where merges end up. Its ports are those of a request or job that may write to it. */
  readonly target: Ports;
  /** Where the commits come from. Only read. */
  readonly source: ObjectDatabase;
  readonly cache: PackCache;
  /** For copies that are too large for memory. Default: a scratch file. */
  readonly packSink?: () => PackSink;
}

/**
 * Reads the objects of two repositories of a fork network as if they were one, without copying any; and copies what the
 * target is to have. Refs are those of the target.
 *
 * Nothing built on this view may be published through it: objects that only the source has are not the target's. Publish
 * through the target's own {@link GitRepository}, with the pack that {@link copy} made.
 */
export class NetworkView {
  /** Merges, comparisons, and whatever else reads. */
  readonly git: GitRepository;
  readonly #both: UnionObjects;
  readonly #store: PackStore;
  readonly #packSink: (() => PackSink) | undefined;

  constructor({ target, source, cache, packSink }: TwoRepositories) {
    this.#both = new UnionObjects(target.objects, source);
    this.#store = new PackStore(this.#both, { cache });
    this.#packSink = packSink;
    this.git = new GitRepository({ objects: this.#both, refs: target.refs, store: this.#store });
  }

  /**
   * Copies what the commits reach, and the target has not, into one pack: stored, but listed only by the transaction that
   * gets it (`packs` of `GitRepository.publish`). Objects that the target has only as garbage are copied too, so the commits
   * need not be among that transaction's `uses`, where the target's own store would not find them.
   *
   * @returns undefined when the target has everything
   * @throws LimitExceeded, ObjectMissing, CorruptData
   */
  async copy(commits: readonly Oid[]): Promise<PackDescription | undefined> {
    const list = await reachableOutside(this.#store, commits, MAX_COPIED + 1, ({ packs }) =>
      this.#both.countOwn(packs.map(({ description }) => description)),
    );
    if (list.count > MAX_COPIED) throw new LimitExceeded(`more than ${MAX_COPIED} objects to copy`);
    if (list.count === 0) return undefined;
    const { newPack } = this.#both;
    if (this.#packSink) {
      const output = { newPack, packSink: this.#packSink };
      return repackInto(output, this.#store, list, 'insert');
    }
    const { content, objectCount } = await repack(this.#store, list);
    try {
      return await newPack(content, { source: 'insert', objectCount });
    } finally {
      await discardContent(content);
    }
  }
}

/** The packs of two repositories, those of the first before those that only the second has. */
class UnionObjects implements ObjectDatabase {
  readonly derived?: NonNullable<ObjectDatabase['derived']>;
  readonly newPack: ObjectDatabase['newPack'];
  readonly rollbackPack: ObjectDatabase['rollbackPack'];
  readonly #own: ObjectDatabase;
  readonly #other: ObjectDatabase;
  /** The packs that only the second lists. */
  #foreign: ReadonlySet<string> = new Set();

  constructor(own: ObjectDatabase, other: ObjectDatabase) {
    this.#own = own;
    this.#other = other;
    this.newPack = own.newPack.bind(own);
    this.rollbackPack = own.rollbackPack.bind(own);
    if (own.derived) this.derived = own.derived;
  }

  async listPacks(options?: { fresh?: boolean }): Promise<readonly PackDescription[]> {
    const [own, other] = await Promise.all([this.#own.listPacks(options), this.#other.listPacks(options)]);
    const live = new Set(own.filter(isLive).map(keyOf));
    // What is garbage in one and live in the other is read as the other's.
    const foreign = other.filter((pack) => isLive(pack) && !live.has(keyOf(pack)));
    this.#foreign = new Set(foreign.map(keyOf));
    const listed = new Set([...live, ...this.#foreign]);
    const garbage = own.filter((pack) => !isLive(pack) && !listed.has(keyOf(pack)));
    return [...own.filter(isLive), ...foreign, ...garbage];
  }

  /** How many of the listed packs, from the first, are live packs of the first repository. */
  countOwn(packs: readonly PackDescription[]): number {
    const end = packs.findIndex((pack) => !isLive(pack) || this.#foreign.has(keyOf(pack)));
    return end < 0 ? packs.length : end;
  }

  open(pack: PackDescription, part: 'pack' | 'index') {
    return (this.#foreign.has(keyOf(pack)) ? this.#other : this.#own).open(pack, part);
  }
}

const isLive = ({ source }: PackDescription): boolean => source !== 'unreachable-garbage';
const keyOf = ({ id, location }: PackDescription): string => `${id} ${location}`;
