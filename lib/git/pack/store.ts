import { DerivedUnusable, type OpenDerived } from '../derived.ts';
import { type GitObject, ObjectMissing, type ObjectStore, type ObjectType } from '../objects.ts';
import { bytesOf, EMPTY_TREE, type Oid, oidBytes, oidFromBytes } from '../oid.ts';
import type { DerivedKind, ObjectDatabase, PackContent, PackDescription, RandomAccess } from '../ports.ts';
import { inTurns, nextTurn, throwIfAbandoned, turnIsOver } from '../work.ts';
import { BlockMiss, BlockPins, type ReadAhead } from './block-cache.ts';
import { withContent } from './content.ts';
import { applied, DeltaMiss, entryKey, type Inflated, InflateMiss, inflateEntry } from './inflate-large.ts';
import { isIndex, type Pack, PackCache } from './pack-cache.ts';
import { PackObjects } from './pack-objects.ts';

/** Maximum inflated bytes of an object that is held in memory. */
export const MAX_OBJECT_SIZE = 128 * 1024 * 1024;

export interface PackStoreOptions {
  /** Share one among the stores of a process. */
  readonly cache?: PackCache;
  /** Default {@link MAX_OBJECT_SIZE}. Larger objects throw CorruptData `object-too-large`. */
  readonly maxObjectSize?: number;
}

/** A pack with its index that no repository lists. */
export interface UnlistedPack {
  readonly description: PackDescription;
  open(part: 'pack' | 'index'): RandomAccess;
}

/**
 * Reads objects of one repository from the packs its database lists. The listing is read once, and again when an object
 * is missing, because another writer may have just listed its pack.
 */
export class PackStore implements ObjectStore {
  readonly database: ObjectDatabase;
  readonly #cache: PackCache;
  readonly #maxObjectSize: number;
  #objects: PackObjects | undefined;
  #misses = 0;
  #opening: Promise<PackObjects> | undefined;
  #listing: Promise<boolean> | undefined;

  constructor(database: ObjectDatabase, options: PackStoreOptions = {}) {
    this.database = database;
    this.#cache = options.cache ?? new PackCache();
    this.#maxObjectSize = options.maxObjectSize ?? MAX_OBJECT_SIZE;
  }

  /**
   * Runs synchronous work, and again from its start each time missing blocks were fetched. The more often that
   * happens, the more blocks around them are fetched: delta bases and subtrees are usually stored nearby.
   * @param ahead what to fetch in addition to the missing blocks
   */
  async run<T>(work: (objects: PackObjects) => T, ahead: ReadAhead = {}): Promise<T> {
    using pins = new BlockPins();
    let relisted = false;
    // Concurrent work counts its own misses.
    let misses = this.#misses;
    let large: Map<string, Inflated> | undefined;
    let made: Map<string, GitObject> | undefined;
    for (;;) {
      throwIfAbandoned();
      if (turnIsOver()) await nextTurn();
      const objects = this.#objects ?? (await this.#first());
      let missing: ObjectMissing | undefined;
      try {
        objects.large = large ?? NOTHING_INFLATED;
        objects.made = made;
        return work(objects);
      } catch (error) {
        if (error instanceof BlockMiss || error instanceof InflateMiss || error instanceof DeltaMiss) {
          try {
            if (error instanceof DeltaMiss) {
              const { pack, offset } = error;
              const { bases } = this.#cache;
              const object = await applied(
                error,
                (link) => this.run((read) => read.deltaOf(pack, link)),
                (link, part) => bases.put(pack, link.offset, part),
              );
              made ??= new Map();
              made.set(entryKey(pack, offset), object);
            } else if (error instanceof InflateMiss) {
              large ??= new Map();
              large.set(entryKey(error.pack, error.from), await this.#inflate(error, pins));
            } else {
              const miss = withSmallPacks(withWholeIndexes(error), objects.packs);
              const whole = withSmallRepository(this.#withLikelyNext(miss, objects.packs), objects.packs);
              const around = Math.max(ahead.around ?? 1, Math.min(2 ** misses++, MAX_BLOCKS_AROUND));
              this.#misses = Math.max(this.#misses, misses);
              await this.#cache.blocks.fetch(whole, pins, { ...ahead, around });
            }
          } catch (failure) {
            if (failure instanceof DerivedUnusable) {
              failure.file.markUnusable(failure.cause);
              continue;
            }
            // The pack was superseded and deleted since the listing was read, which another reader may have read again.
            if (relisted || (this.#objects === objects && !(await this.refresh()))) throw failure;
            relisted = true;
          }
          continue;
        }
        if (!(error instanceof ObjectMissing)) throw error;
        missing = error;
      } finally {
        objects.large = undefined;
        objects.made = undefined;
      }
      if (relisted || !(await this.refresh())) throw missing;
      relisted = true;
    }
  }

  /** Runs a step for each number below `count`, beside other work. One that misses blocks is done again. */
  async runEach(count: number, step: (objects: PackObjects, i: number) => void): Promise<void> {
    for (let i = 0; i < count; ) {
      await this.run((objects) => {
        do {
          step(objects, i);
          i++;
        } while (i < count && !turnIsOver());
      });
    }
  }

  #inflate(miss: InflateMiss, pins: BlockPins): Promise<Inflated> {
    const { file } = miss.pack;
    return inflateEntry(miss, async (start, end) => {
      for (;;) {
        try {
          return file.slice(start, end);
        } catch (error) {
          if (!(error instanceof BlockMiss)) throw error;
          await this.#cache.blocks.fetch(error, pins, { around: MAX_BLOCKS_AROUND });
        }
      }
    });
  }

  /** Reads the listing of packs again. @returns whether it changed. */
  async refresh(): Promise<boolean> {
    this.#listing ??= this.#relist().finally(() => {
      this.#listing = undefined;
    });
    return await this.#listing;
  }

  /** The packs of the current listing, newest first. */
  async packs(): Promise<readonly Pack[]> {
    return (this.#objects ?? (await this.#first())).packs;
  }

  /** A file derived from the packs, according to the current listing. */
  derived(kind: DerivedKind): OpenDerived | undefined {
    return this.#cache.derived.of(this.database, kind);
  }

  /**
   * Prefetches the listing, and what is needed to find some of these objects, for a caller that has to wait for
   * something else first. Packs listed in between are still found: see {@link run}.
   */
  prepare(oids: readonly Oid[] = []): void {
    const some = oids.slice(0, MAX_PREPARED);
    // Errors are thrown to the first reader.
    if (some.length > 0) this.run((objects) => some.map((oid) => objects.has(oid))).catch(() => {});
    else if (this.#objects === undefined) this.#first().catch(() => {});
  }

  /** Adds packs that the caller has just listed, so that the listing need not be read again. */
  listed(packs: readonly PackDescription[]): void {
    if (this.#objects === undefined) return;
    const before = this.#objects.packs.map(({ description }) => description);
    const fresh = packs.filter(({ id }) => !before.some((pack) => pack.id === id));
    if (fresh.length > 0) this.#adopt([...fresh, ...before]);
  }

  /** A pack that is not listed, read through the same cache: its objects are found in it alone. */
  beside({ description, open }: UnlistedPack): Pack {
    return this.#cache.open({ open: (_, part) => open(part) }, [description])[0]!;
  }

  /** Caches a pack that was just stored; its objects are found once it is listed. */
  keep(description: PackDescription, content: PackContent): void {
    this.#cache.keep(this.database, description, content);
  }

  async has(oid: Oid): Promise<boolean> {
    const look = () => this.run((objects) => objects.has(oid));
    return (await look()) || ((await this.refresh()) && (await look()));
  }

  async read(oid: Oid): Promise<GitObject> {
    return await this.run((objects) => objects.read(oid));
  }

  async header(oid: Oid): Promise<{ type: ObjectType; size: number }> {
    return await this.run((objects) => objects.header(oid));
  }

  async resolvePrefix(prefix: string, limit: number): Promise<Oid[]> {
    if (!/^[0-9a-f]{4,40}$/.test(prefix)) return [];
    const low = oidBytes(prefix.padEnd(40, '0') as Oid);
    const high = oidBytes(prefix.padEnd(40, 'f') as Oid);
    const look = () =>
      this.run((objects) => {
        const found = new Set<Oid>();
        for (const pack of objects.packs) {
          const [from, to] = pack.index.range(low, high);
          for (let i = from; i < to && found.size < limit; i++) found.add(pack.index.oid(i));
        }
        return [...found].sort();
      });
    const found = await look();
    return found.length === 0 && (await this.refresh()) ? await look() : found;
  }

  /**
   * The ids of this list that no pack holds.
   * @param names 20 bytes each
   * @param options.garbage whether unreachable-garbage packs count; default true
   * @param options.relist whether to read the listing again for missing objects; default true
   */
  async missing(
    names: Uint8Array,
    options: { readonly garbage?: boolean; readonly relist?: boolean } = {},
  ): Promise<Oid[]> {
    const look = async (from: Uint8Array): Promise<Oid[]> => {
      const absent: Oid[] = [];
      await this.runEach(from.length / 20, (objects, i) => {
        const packs = options.garbage === false ? objects.liveCount : objects.packs.length;
        if (!objects.locate(from, 20 * i, packs)) absent.push(oidFromBytes(from, 20 * i));
      });
      return absent.filter((oid) => oid !== EMPTY_TREE);
    };
    const absent = await look(names);
    if (absent.length === 0 || options.relist === false || !(await this.refresh())) return absent;
    return await look(await inTurns(bytesOf(absent)));
  }

  /**
   * This store plus one unlisted pack in front: the received pack of a push, before it is accepted. Starts with the
   * current listing of this store.
   */
  withContent(content: PackContent, objectCount: number): PackStore {
    const { database } = this;
    const held: ObjectDatabase = {
      listPacks: async (options) =>
        options?.fresh === true
          ? database.listPacks(options)
          : (await this.packs()).map(({ description }) => description),
      open: database.open.bind(database),
      newPack: database.newPack.bind(database),
      rollbackPack: database.rollbackPack.bind(database),
      ...(database.derived === undefined ? {} : { derived: database.derived }),
    };
    return new PackStore(withContent(held, content, objectCount), {
      cache: this.#cache,
      maxObjectSize: this.#maxObjectSize,
    });
  }

  /**
   * A reader that misses an index has just started: also fetches what is most likely read next in the same round trip.
   * That is the start of the packs, where the newest commits are, and small derived files.
   */
  #withLikelyNext(miss: BlockMiss, packs: readonly Pack[]): BlockMiss {
    const index = this.derived('object-index')?.file;
    if (!miss.wanted.some(({ file }) => isIndex(file) || file === index)) return miss;
    const made = READ_FIRST.map((kind) => this.derived(kind)?.file);
    const files = made.filter((file) => file !== undefined && file.size <= SMALL_DERIVED);
    const company = files.flatMap((file) => Array.from(file!.blocks, (_, block) => ({ file: file!, block })));
    const live = packs.filter(({ description }) => description.source !== 'unreachable-garbage');
    for (const { file } of live.slice(0, MAX_FIRST_BLOCKS))
      if (file.blocks.length > 0 && file.blocks.every((block) => block === undefined))
        company.push({ file, block: 0 });
    return new BlockMiss([
      ...miss.wanted,
      ...company.filter(({ file, block }) => file.blocks[block] === undefined),
    ]);
  }

  /** The first listing, read once for all concurrent readers. */
  #first(): Promise<PackObjects> {
    this.#opening ??= this.database
      .listPacks()
      // If the listing was read again meanwhile, that one is newer.
      .then((listed) => this.#objects ?? this.#adopt(listed))
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  async #relist(): Promise<boolean> {
    const before = this.#objects;
    const after = this.#adopt(await this.database.listPacks({ fresh: true }));
    return !before || identity(before.packs) !== identity(after.packs);
  }

  #adopt(listed: readonly PackDescription[]): PackObjects {
    const live = listed.filter((pack) => pack.source !== 'unreachable-garbage');
    const garbage = listed.filter((pack) => pack.source === 'unreachable-garbage');
    const packs = this.#cache.open(this.database, [...live, ...garbage]);
    this.#objects = new PackObjects(packs, this.#cache, this.#maxObjectSize, (kind) => this.derived(kind));
    return this.#objects;
  }
}

const NOTHING_INFLATED: ReadonlyMap<string, Inflated> = new Map();

/** Objects looked up in advance; the first lookup already fetches all indexes. */
const MAX_PREPARED = 4;

function identity(packs: readonly Pack[]): string {
  return packs.map((pack) => `${pack.description.id} ${pack.description.source}`).join();
}

/** Maximum bytes of a small pack, such as that of one commit or a small push. */
const SMALL_PACK = 64 * 1024;
const MAX_SMALL_PACKS = 12;

/**
 * A reader that misses one small pack will need others, because the newest commits are in one small pack each until
 * those are merged: fetches all of them in the same round trip.
 */
function withSmallPacks(miss: BlockMiss, packs: readonly Pack[]): BlockMiss {
  const absent = packs.filter(({ file }) => file.size <= SMALL_PACK && file.blocks[0] === undefined);
  if (!miss.wanted.some(({ file }) => absent.some((pack) => pack.file === file))) return miss;
  const others = absent.slice(0, MAX_SMALL_PACKS).map(({ file }) => ({ file, block: 0 }));
  return new BlockMiss([...miss.wanted, ...others]);
}

/** Maximum blocks fetched around a missing one. */
const MAX_BLOCKS_AROUND = 4;

/** Derived files that are needed to read a commit or a file. */
const READ_FIRST: readonly DerivedKind[] = ['tip', 'commit-graph'];
const SMALL_DERIVED = 512 * 1024;
/** Number of packs whose first block is fetched with their indexes. */
const MAX_FIRST_BLOCKS = 4;

/** A repository of at most this many bytes is fetched whole: saving round trips is worth more than saving bytes. */
const SMALL_REPOSITORY = 2 * 1024 * 1024;

/** Reading a commit, then trees, then files would take a round trip each: fetches a small repository in one. */
function withSmallRepository(miss: BlockMiss, packs: readonly Pack[]): BlockMiss {
  const live = packs.filter(({ description }) => description.source !== 'unreachable-garbage');
  const bytes = live.reduce((sum, { file }) => sum + file.size, 0);
  const ofPacks = miss.wanted.some(({ file }) => isIndex(file) || live.some((pack) => pack.file === file));
  if (bytes > SMALL_REPOSITORY || !ofPacks) return miss;
  const all = live.flatMap(({ file }) => Array.from(file.blocks, (_, block) => ({ file, block })));
  return new BlockMiss([
    ...miss.wanted,
    ...all.filter(({ file, block }) => file.blocks[block] === undefined),
  ]);
}

/** Maximum bytes of an index that is read whole after repeated lookups. */
const WHOLE_INDEX = 16 * 1024 * 1024;
/** One lookup needs the first block and one other; a reader that needs more makes many lookups. */
const BLOCKS_OF_ONE_LOOKUP = 2;

/** Fetches whole indexes for many lookups: block by block, each lookup would be a separate round trip. */
function withWholeIndexes(miss: BlockMiss): BlockMiss {
  const wanted = [...miss.wanted];
  for (const file of new Set(miss.wanted.map(({ file }) => file))) {
    const held = file.blocks.filter((block) => block !== undefined).length;
    if (!isIndex(file) || file.size > WHOLE_INDEX || held < BLOCKS_OF_ONE_LOOKUP) continue;
    for (let block = 0; block < file.blocks.length; block++) wanted.push({ file, block });
  }
  return wanted.length === miss.wanted.length ? miss : new BlockMiss(wanted);
}
