import { DerivedUnusable, type OpenDerived } from '../derived.ts';
import { type GitObject, ObjectMissing, type ObjectStore, type ObjectType } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidBytes, oidFromBytes } from '../oid.ts';
import type { DerivedKind, ObjectDatabase, PackContent, PackDescription } from '../ports.ts';
import { BlockMiss, BlockPins, type ReadAhead } from './block-cache.ts';
import { withContent } from './content.ts';
import { isIndex, type Pack, PackCache } from './pack-cache.ts';
import { PackObjects } from './pack-objects.ts';

/** Inflated bytes of one object that may be held in memory. */
export const MAX_OBJECT_SIZE = 128 * 1024 * 1024;

export interface PackStoreOptions {
  /** Share one among the stores of a process. */
  readonly cache?: PackCache;
  /** Default {@link MAX_OBJECT_SIZE}. Larger objects throw CorruptData `object-too-large`. */
  readonly maxObjectSize?: number;
}

/**
 * Objects of one repository, read from the packs its database lists. The listing is read once, and once
 * more when an object is missing from it: another writer may just have added its pack.
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
   * Runs synchronous work, again from its start each time after bytes it missed were fetched. The more often that
   * has happened, the more of the neighbourhood comes along: bases of deltas and trees of trees are seldom far.
   * @param ahead fetch more than what was missed
   */
  async run<T>(work: (objects: PackObjects) => T, ahead: ReadAhead = {}): Promise<T> {
    using pins = new BlockPins();
    let relisted = false;
    // Work that runs beside other work counts its own.
    let misses = this.#misses;
    for (;;) {
      const objects = this.#objects ?? (await this.#first());
      let missing: ObjectMissing | undefined;
      try {
        return work(objects);
      } catch (error) {
        if (error instanceof BlockMiss) {
          try {
            const miss = withSmallPacks(withWholeIndexes(error), objects.packs);
            const whole = withSmallRepository(this.#withLikelyNext(miss, objects.packs), objects.packs);
            const around = Math.max(ahead.around ?? 1, Math.min(2 ** misses++, MAX_BLOCKS_AROUND));
            this.#misses = Math.max(this.#misses, misses);
            await this.#cache.blocks.fetch(whole, pins, { ...ahead, around });
          } catch (failure) {
            if (failure instanceof DerivedUnusable) {
              failure.file.markUnusable(failure.cause);
              continue;
            }
            // A pack that was superseded and deleted since the listing was read.
            if (relisted || !(await this.refresh())) throw failure;
            relisted = true;
          }
          continue;
        }
        if (!(error instanceof ObjectMissing)) throw error;
        missing = error;
      }
      if (relisted || !(await this.refresh())) throw missing;
      relisted = true;
    }
  }

  /** Reads the listing of packs again. @returns whether it changed. */
  async refresh(): Promise<boolean> {
    this.#listing ??= this.#relist().finally(() => {
      this.#listing = undefined;
    });
    return await this.#listing;
  }

  /** Packs in the listing now held, newest first. */
  async packs(): Promise<readonly Pack[]> {
    return (this.#objects ?? (await this.#first())).packs;
  }

  /** A file that maintenance made of the packs, as the listing now held tells of it. */
  derived(kind: DerivedKind): OpenDerived | undefined {
    return this.#cache.derived.of(this.database, kind);
  }

  /**
   * Begins to read the listing, and what is needed to find some of these objects, for a caller that has something else
   * to wait for first. What is listed in between is found all the same: see {@link run}.
   */
  prepare(oids: readonly Oid[] = []): void {
    const some = oids.slice(0, MAX_PREPARED);
    // What goes wrong is told to the first who reads.
    if (some.length > 0) this.run((objects) => some.map((oid) => objects.has(oid))).catch(() => {});
    else if (this.#objects === undefined) this.#first().catch(() => {});
  }

  /** Packs that the caller has just listed: they are found without reading the listing again. */
  listed(packs: readonly PackDescription[]): void {
    if (this.#objects === undefined) return;
    const before = this.#objects.packs.map(({ description }) => description);
    const fresh = packs.filter(({ id }) => !before.some((pack) => pack.id === id));
    if (fresh.length > 0) this.#adopt([...fresh, ...before]);
  }

  /** Has in memory what was just stored; it is found when it is listed. */
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
   * Which of these ids no pack holds.
   * @param names 20 bytes each
   * @param options.garbage whether packs of unreachable objects count; default true
   * @param options.relist whether what was listed meanwhile counts; default true
   */
  async missing(
    names: Uint8Array,
    options: { readonly garbage?: boolean; readonly relist?: boolean } = {},
  ): Promise<Oid[]> {
    const look = async (from: Uint8Array): Promise<Oid[]> => {
      const absent: Oid[] = [];
      let at = 0;
      await this.run((objects) => {
        const packs = options.garbage === false ? objects.liveCount : objects.packs.length;
        for (; at < from.length; at += 20) {
          if (!objects.locate(from, at, packs)) absent.push(oidFromBytes(from, at));
        }
      });
      return absent.filter((oid) => oid !== EMPTY_TREE);
    };
    const absent = await look(names);
    if (absent.length === 0 || options.relist === false || !(await this.refresh())) return absent;
    return await look(Buffer.concat(absent.map(oidBytes)));
  }

  /**
   * This store with one more pack in front that is not listed: what a push brought, before it is accepted. It begins
   * with the listing that this one holds.
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
   * Whoever misses an index has only just come: what is most likely read next comes in the same trip. That is the
   * beginning of the packs asked, where the newest commits lie, and what maintenance made of them, where it is small.
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

  /** The first listing, read once for all who wait for it. */
  #first(): Promise<PackObjects> {
    this.#opening ??= this.database
      .listPacks()
      // A listing that was read again meanwhile is newer.
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

/** Objects that are looked for in advance: all indexes come with the first of them. */
const MAX_PREPARED = 4;

function identity(packs: readonly Pack[]): string {
  return packs.map((pack) => `${pack.description.id} ${pack.description.source}`).join();
}

/** Bytes of a pack such as one commit or a small push leaves. */
const SMALL_PACK = 64 * 1024;
const MAX_SMALL_PACKS = 12;

/**
 * Whoever misses one of the small packs goes on to others: the newest commits lie in one each until they are merged.
 * All of them come in the trip that brings the first.
 */
function withSmallPacks(miss: BlockMiss, packs: readonly Pack[]): BlockMiss {
  const absent = packs.filter(({ file }) => file.size <= SMALL_PACK && file.blocks[0] === undefined);
  if (!miss.wanted.some(({ file }) => absent.some((pack) => pack.file === file))) return miss;
  const others = absent.slice(0, MAX_SMALL_PACKS).map(({ file }) => ({ file, block: 0 }));
  return new BlockMiss([...miss.wanted, ...others]);
}

/** Blocks. */
const MAX_BLOCKS_AROUND = 4;

/** Derived files that whoever reads a commit or a file asks for. */
const READ_FIRST: readonly DerivedKind[] = ['tip', 'commit-graph'];
const SMALL_DERIVED = 512 * 1024;
/** Packs of which the first block comes with their indexes. */
const MAX_FIRST_BLOCKS = 4;

/** Bytes of packs that are brought as a whole: fewer trips are worth more than what they spare of it. */
const SMALL_REPOSITORY = 2 * 1024 * 1024;

/** Commits lead to trees and those to files, each a trip later: of a small repository all come in the first. */
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

/** Bytes of an index that is read whole when it is asked for again and again. */
const WHOLE_INDEX = 16 * 1024 * 1024;
/** The first block leads to every name, another holds one: whoever asks on asks for many. */
const BLOCKS_OF_ONE_LOOKUP = 2;

/** Names lie anywhere in an index: by its blocks, each of many lookups would be a read that waits for the one before. */
function withWholeIndexes(miss: BlockMiss): BlockMiss {
  const wanted = [...miss.wanted];
  for (const file of new Set(miss.wanted.map(({ file }) => file))) {
    const held = file.blocks.filter((block) => block !== undefined).length;
    if (!isIndex(file) || file.size > WHOLE_INDEX || held < BLOCKS_OF_ONE_LOOKUP) continue;
    for (let block = 0; block < file.blocks.length; block++) wanted.push({ file, block });
  }
  return wanted.length === miss.wanted.length ? miss : new BlockMiss(wanted);
}
