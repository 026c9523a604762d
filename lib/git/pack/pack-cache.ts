import { DerivedCache } from '../derived.ts';
import type { GitObject } from '../objects.ts';
import type { ObjectDatabase, PackContent, PackDescription } from '../ports.ts';
import { TipCache } from '../tree/tip-cache.ts';
import { BlockCache, type CachedFile } from './block-cache.ts';
import { PackIndex } from './pack-index.ts';

/** A pack that can be read: its bytes and its index, through the cache. */
export interface Pack {
  readonly description: PackDescription;
  readonly file: CachedFile;
  readonly index: PackIndex;
  /** Unique per process, for cache keys. */
  readonly serial: number;
}

/** What a cache holds if it is not told, in bytes. */
const BYTES = 528 * 2 ** 20;
/** The parts of it: blocks of packs and indexes, inflated objects, whole indexes with their tables, listings of tips. */
const SHARES = { blocks: 16 / 33, bases: 6 / 33, indexes: 8 / 33, tips: 3 / 33 };

/**
 * Caches packs between requests: blocks, loaded indexes, and objects that were delta bases.
 * Share one among all stores of a process.
 */
export class PackCache {
  readonly blocks: BlockCache;
  readonly bases: BaseCache;
  readonly derived: DerivedCache;
  readonly tips: TipCache;
  readonly #packs = new Map<string, Pack>();
  /** Those not opened since {@link dropUnused}. */
  #unopened = new Set<string>();
  readonly #indexBytes: number;
  #serial = 0;

  /**
   * @param options.bytes for all parts together, default 528 MB
   * @param options.blockBytes pack and index blocks
   * @param options.baseBytes inflated objects
   * @param options.indexBytes whole indexes with their tables
   */
  constructor(
    options: {
      readonly bytes?: number;
      readonly blockBytes?: number;
      readonly baseBytes?: number;
      readonly indexBytes?: number;
    } = {},
  ) {
    const { bytes = BYTES } = options;
    this.blocks = new BlockCache({ bytes: options.blockBytes ?? bytes * SHARES.blocks });
    this.derived = new DerivedCache(this.blocks);
    this.bases = new BaseCache(options.baseBytes ?? bytes * SHARES.bases);
    this.#indexBytes = options.indexBytes ?? bytes * SHARES.indexes;
    this.tips = new TipCache(bytes * SHARES.tips);
  }

  /** Opens the packs of a listing. */
  open(database: Pick<ObjectDatabase, 'open'>, listed: readonly PackDescription[]): Pack[] {
    const packs = listed.map((description) => this.#pack(database, description));
    let held = 0;
    for (const pack of this.#packs.values()) held += pack.index.heldBytes;
    for (const [key, pack] of this.#packs) {
      if (held <= this.#indexBytes && this.#packs.size <= 2048) break;
      if (packs.includes(pack)) continue;
      held -= pack.index.heldBytes;
      this.#packs.delete(key);
    }
    return packs;
  }

  /**
   * Drops what nobody used since the last call, and of inflated objects what was not used between the two calls before. For a
   * process that is told of the time when it has nothing to do.
   * @returns bytes
   */
  dropUnused(): number {
    let bytes = this.blocks.dropUnused() + this.bases.age();
    for (const key of this.#unopened) {
      bytes += this.#packs.get(key)?.index.heldBytes ?? 0;
      this.#packs.delete(key);
    }
    this.#unopened = new Set(this.#packs.keys());
    return bytes;
  }

  /** Caches a small pack that was just stored, because its writer reads it next. */
  keep(database: ObjectDatabase, description: PackDescription, content: PackContent): void {
    if (content.kind !== 'bytes') return;
    const { file, index } = this.#files(database, description);
    this.blocks.keep(file, content.pack);
    this.blocks.keep(index, content.index);
  }

  #files(
    database: Pick<ObjectDatabase, 'open'>,
    description: PackDescription,
  ): { file: CachedFile; index: CachedFile } {
    const key = keyOf(description);
    return {
      file: this.blocks.file(`${key} pack`, description.packSize, () => database.open(description, 'pack')),
      index: this.blocks.file(key + INDEX, description.indexSize, () => database.open(description, 'index')),
    };
  }

  #pack(database: Pick<ObjectDatabase, 'open'>, description: PackDescription): Pack {
    const key = keyOf(description);
    const { file, index } = this.#files(database, description);
    let pack = this.#packs.get(key);
    if (!pack || pack.file !== file) {
      pack = {
        description,
        file,
        index: new PackIndex(index, description.objectCount, description.packSize),
        serial: this.#serial++,
      };
    }
    // Maintenance may change the source of a pack; its bytes never change.
    if (pack.description.source !== description.source) pack = { ...pack, description };
    this.#packs.delete(key);
    this.#packs.set(key, pack);
    this.#unopened.delete(key);
    return pack;
  }
}

/** Whether a cached file is the index of a pack. */
export const isIndex = ({ key }: CachedFile): boolean => key.endsWith(INDEX);

const INDEX = ' index';
const keyOf = ({ id, location }: PackDescription) => `${id} ${location}`;

/** Inflated objects by pack and offset. Two generations: objects not used while one fills are dropped. */
export class BaseCache {
  readonly #budget: number;
  #young = new Map<number, GitObject>();
  #old = new Map<number, GitObject>();
  #bytes = 0;
  #oldBytes = 0;

  constructor(budget: number) {
    this.#budget = budget;
  }

  get(pack: Pack, offset: number): GitObject | undefined {
    const key = pack.serial * 2 ** 40 + offset;
    const young = this.#young.get(key);
    if (young) return young;
    const old = this.#old.get(key);
    if (old) this.#add(key, old);
    return old;
  }

  put(pack: Pack, offset: number, object: GitObject): void {
    if (object.data.length <= this.#budget / 8) this.#add(pack.serial * 2 ** 40 + offset, object);
  }

  /** Begins a generation. @returns bytes of the one that is dropped */
  age(): number {
    const bytes = this.#oldBytes;
    this.#old = this.#young;
    this.#oldBytes = this.#bytes;
    this.#young = new Map();
    this.#bytes = 0;
    return bytes;
  }

  #add(key: number, object: GitObject): void {
    const bytes = object.data.length + 128;
    if (this.#bytes + bytes > this.#budget / 2) this.age();
    this.#young.set(key, object);
    this.#bytes += bytes;
  }
}
