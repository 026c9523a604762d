import { CorruptData } from '../corrupt-data.ts';
import type { OpenDerived } from '../derived.ts';
import { type GitObject, ObjectMissing, type ObjectType, type SyncObjects } from '../objects.ts';
import { EMPTY_TREE, type Oid, oidBytes, oidFromBytes } from '../oid.ts';
import { BLOCK_SIZE, BlockMiss } from './block-cache.ts';
import { applyDelta, deltaSizes, isLargeDelta } from './delta.ts';
import { EntryHeader, MAX_ENTRY_HEADER, OFS_DELTA, REF_DELTA, typeName } from './entry.ts';
import { inflateInto, inflateStart, NEED_MORE } from './inflate.ts';
import {
  type DeltaLink,
  DeltaMiss,
  entryKey,
  type Inflated,
  InflateMiss,
  isLargeEntry,
} from './inflate-large.ts';
import { MergedLookup } from './merged-lookup.ts';
import type { Pack, PackCache } from './pack-cache.ts';

/** git's chains are at most 4,095 long (pack.depth), and received packs are checked for that. */
const MAX_CHAIN = 10_000;
/**
 * Of a chain of deltas, the object and every so many-th of its bases are kept: to keep all would take more time than to make
 * a few of them again, and drop what is needed.
 */
const KEPT_LINKS = 8;
/** Bytes of a base that is not kept; larger ones are. */
const PASSING_BYTES = 64 * 1024;
const SLAB = 512 * 1024;
/** Maximum bytes of a dynamic block's code lengths (RFC 1951, 3.2.7), which come before the first literal. */
const MAX_CODE_TABLE = 640;
/** Maximum bytes of the two sizes of a delta. */
const MAX_DELTA_SIZES_BYTES = 20;
const EMPTY: GitObject = { type: 'tree', data: new Uint8Array(0) };

/**
 * Reads objects synchronously from one listing of packs. Every method may throw BlockMiss; see {@link SyncObjects}.
 */
export class PackObjects implements SyncObjects {
  /** Newest first, garbage last. */
  readonly packs: readonly Pack[];
  /** The first `liveCount` packs are not garbage. */
  readonly liveCount: number;
  /** After {@link locate}: the pack with the object. */
  pack!: Pack;
  /** After {@link locate}: the object's position in the pack's index, and offset in the pack; -1 if not known yet. */
  #position = -1;
  #offset = -1;
  /** The name that was located. */
  #name: Uint8Array = EMPTY.data;
  #nameAt = 0;

  readonly #merged: MergedLookup | undefined;
  readonly #tip: OpenDerived | undefined;
  readonly #cache: PackCache;
  readonly #maxObjectSize: number;
  readonly #head = new EntryHeader();
  #last = 0;
  #slab: Buffer = Buffer.alloc(0);
  #slabUsed = SLAB;
  readonly #scratch = Buffer.allocUnsafeSlow(64 * 1024);
  /** See {@link #passing}. */
  readonly #rooms: Buffer[] = [];
  /** Input bytes that the last inflation used. */
  #deflated = 0;

  /** Large entries that the current reader has had inflated; without it they are inflated in place. */
  large: ReadonlyMap<string, Inflated> | undefined;
  /** Objects of large deltas that the current reader has had applied; they are applied in place without {@link large}. */
  made: ReadonlyMap<string, GitObject> | undefined;

  /** See {@link SyncObjects.derived}. */
  readonly derived: NonNullable<SyncObjects['derived']>;

  constructor(
    packs: readonly Pack[],
    cache: PackCache,
    maxObjectSize: number,
    derived: NonNullable<SyncObjects['derived']> = () => undefined,
  ) {
    this.derived = derived;
    this.packs = packs;
    this.liveCount = packs.filter((pack) => pack.description.source !== 'unreachable-garbage').length;
    this.#cache = cache;
    this.#maxObjectSize = maxObjectSize;
    this.#merged = MergedLookup.over(derived('object-index'), packs);
    this.#tip = derived('tip');
  }

  has(oid: Oid): boolean {
    return this.locate(oidBytes(oid), 0) || oid === EMPTY_TREE;
  }

  read(oid: Oid): GitObject {
    if (this.locate(oidBytes(oid), 0)) return this.readAt(this.pack, this.offset);
    if (oid === EMPTY_TREE) return EMPTY;
    throw new ObjectMissing(oid);
  }

  /** The bytes of a tree of the tip listing; undefined for another tree, or without a tip listing. */
  tipTree(oid: Oid): Uint8Array | undefined {
    const source = this.#tip;
    if (!source?.usable) return undefined;
    const { tips } = this.#cache;
    const listed = () => source.attempt(() => tips.get(source).tree(oid));
    if (tips.held(source) !== undefined || source.file.isInMemory) return listed();
    // What a pack in memory has needs no listing. Otherwise both are fetched in the same round trip: the listing may lack it.
    const wanted: BlockMiss['wanted'][number][] = [];
    for (const read of [() => this.#packedTree(oid), listed]) {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof BlockMiss)) throw error;
        wanted.push(...error.wanted);
      }
    }
    throw new BlockMiss(wanted);
  }

  /** Undefined for what is no tree, or absent: whoever asks reads it, and fails, in their own way. */
  #packedTree(oid: Oid): Uint8Array | undefined {
    if (!this.locate(oidBytes(oid), 0)) return undefined;
    const { type, data } = this.readAt(this.pack, this.offset);
    return type === 'tree' ? data : undefined;
  }

  header(oid: Oid): { type: ObjectType; size: number } {
    const known = this.#atTip(oidBytes(oid), 0);
    if (known) return { type: 'blob', size: known.size };
    if (this.locate(oidBytes(oid), 0)) return this.headerAt(this.pack, this.offset);
    if (oid === EMPTY_TREE) return { type: 'tree', size: 0 };
    throw new ObjectMissing(oid);
  }

  /** After {@link locate}: the offset of the object's entry in the pack. */
  get offset(): number {
    return this.#offset >= 0 ? this.#offset : this.pack.index.offset(this.#position);
  }

  /** After {@link locate}: the object's position in the pack's index. */
  get position(): number {
    if (this.#position < 0) {
      this.#position = this.pack.index.find(this.#name, this.#nameAt);
      if (this.#position < 0)
        throw new CorruptData('index-malformed', 'merged index names what its pack lacks');
    }
    return this.#position;
  }

  /**
   * Looks up the 20 bytes at `name[at]`: in the pack of the last hit if its index is in memory, in the merged index,
   * then in every pack that the merged index does not cover.
   * @param count searches only the first `count` packs
   * @returns whether it was found; then `pack`, `offset` and `position` are set
   */
  locate(name: Uint8Array, at: number, count = this.packs.length): boolean {
    const { packs } = this;
    const merged = this.#merged?.usable ? this.#merged : undefined;
    try {
      const last = this.#last < count ? packs[this.#last] : undefined;
      const lastFirst = merged === undefined || last?.index.inMemory || !merged.covers[this.#last];
      if (last && lastFirst && this.#probe(last, name, at)) return true;
      const found = merged?.find(name, at) ?? -1;
      if (found >= 0 && found < count) {
        this.pack = packs[found]!;
        this.#position = -1;
        this.#offset = merged!.offset;
        this.#name = name;
        this.#nameAt = at;
        this.#last = found;
        return true;
      }
      const everywhere = merged === undefined || merged.lost || found >= 0;
      for (let i = 0; i < count; i++) {
        if ((i === this.#last && lastFirst) || !(everywhere || !merged.covers[i])) continue;
        if (!this.#probe(packs[i]!, name, at)) continue;
        this.#last = i;
        return true;
      }
      return false;
    } catch (error) {
      if (error instanceof BlockMiss) {
        const known = this.#atTip(name, at, count);
        if (known) {
          this.pack = known.pack;
          this.#position = -1;
          this.#offset = known.offset;
          this.#name = name;
          this.#nameAt = at;
          return true;
        }
        // One round trip for all packs, because the id may be in any of them.
        const wanted = [...error.wanted];
        merged?.missing(name, at, wanted);
        for (const [i, pack] of packs.entries()) {
          if (merged === undefined || merged.lost || !merged.covers[i]) pack.index.missing(name, at, wanted);
        }
        throw new BlockMiss(wanted);
      }
      if (merged && error instanceof CorruptData && error.code === 'derived-file') {
        merged.markUnusable(error);
        return this.locate(name, at, count);
      }
      throw error;
    }
  }

  /** The object whose entry starts at `offset`, with deltas applied. @throws CorruptData */
  readAt(pack: Pack, offset: number): GitObject {
    const { bases } = this.#cache;
    const head = this.#head;
    const chain: DeltaLink[] = [];
    let at = offset;
    let object: GitObject | undefined;
    for (;;) {
      object = bases.get(pack, at) ?? this.made?.get(entryKey(pack, at));
      if (object) break;
      const baseAt = this.#readHead(pack, at);
      if (baseAt < 0) {
        const dataAt = head.dataAt;
        object = { type: typeName(head.type), data: this.#inflate(pack, dataAt, head.size) };
        bases.put(pack, at, object);
        break;
      }
      if (chain.length >= MAX_CHAIN)
        throw new CorruptData('delta-too-deep', `delta chain at ${offset} does not end`);
      chain.push({ offset: at, dataAt: head.dataAt, size: head.size });
      at = baseAt;
    }
    for (let i = chain.length - 1; i >= 0; i--) {
      const link = chain[i]!;
      const delta = this.#inflate(pack, link.dataAt, link.size, true);
      const sizes = deltaSizes(delta);
      this.#checkSize(sizes.result);
      if (this.large !== undefined && isLargeDelta(delta, sizes)) {
        const base = { type: object.type, data: owned(object.data, PASSING_BYTES) };
        throw new DeltaMiss(pack, base, chain.slice(0, i + 1).reverse());
      }
      const kept = i % KEPT_LINKS === 0 || sizes.result > PASSING_BYTES;
      const data = kept ? this.#allocate(sizes.result) : this.#passing(i & 1, sizes.result);
      applyDelta(object.data, delta, sizes, data);
      object = { type: object.type, data };
      if (kept) bases.put(pack, link.offset, object);
    }
    return object;
  }

  /**
   * Like {@link read}; if the object is not stored as a delta, also returns a copy of its deflate stream (RFC 1951),
   * which is verified to inflate to the object.
   */
  readDeflated(oid: Oid): GitObject & { readonly deflated?: Uint8Array } {
    if (!this.locate(oidBytes(oid), 0)) return this.read(oid);
    const { pack, offset } = this;
    if (this.#readHead(pack, offset) >= 0) return this.readAt(pack, offset);
    const { type, size, dataAt } = this.#head;
    const data = this.#inflate(pack, dataAt, size);
    // Between the two bytes of the zlib header and the four of its checksum (RFC 1950).
    const deflated = Buffer.from(pack.file.slice(dataAt + 2, dataAt + this.#deflated - 4));
    const object = { type: typeName(type), data };
    this.#cache.bases.put(pack, offset, object);
    return { ...object, deflated };
  }

  /** A delta, in memory of its own, that makes no more than an object may have. @throws CorruptData */
  deltaOf(pack: Pack, { dataAt, size }: DeltaLink): Uint8Array {
    const delta = this.#inflate(pack, dataAt, size, true);
    this.#checkSize(deltaSizes(delta).result);
    return owned(delta, this.#scratch.length);
  }

  /** Type and size of the entry at `offset`; reads only headers. @throws CorruptData */
  headerAt(pack: Pack, offset: number): { type: ObjectType; size: number } {
    const cached = this.#cache.bases.get(pack, offset);
    if (cached) return { type: cached.type, size: cached.data.length };
    const head = this.#head;
    let size = -1;
    let at = offset;
    for (let depth = 0; depth <= MAX_CHAIN; depth++) {
      const baseAt = this.#readHead(pack, at);
      if (baseAt < 0) return { type: typeName(head.type), size: size < 0 ? head.size : size };
      if (size < 0) {
        const from = head.dataAt;
        const start = pack.file.slice(from, Math.min(from + MAX_CODE_TABLE + 64, pack.file.size - 20));
        let begin = inflateStart(start, 0, start.length, MAX_DELTA_SIZES_BYTES);
        // Empty blocks may come first; then inflate everything.
        if (begin.length < Math.min(MAX_DELTA_SIZES_BYTES, head.size))
          begin = this.#inflate(pack, from, head.size, true);
        size = deltaSizes(begin).result;
      }
      at = baseAt;
    }
    throw new CorruptData('delta-too-deep', `delta chain at ${offset} does not end`);
  }

  /** Length of the zlib stream at `from` that inflates to `size` bytes. */
  deflatedLength(pack: Pack, from: number, size: number): number {
    this.#inflate(pack, from, size);
    return this.#deflated;
  }

  /** The location of a blob of the tip, if the tip listing is in memory and the pack is listed. */
  #atTip(name: Uint8Array, at: number, count = this.packs.length) {
    const source = this.#tip;
    if (!source?.usable) return undefined;
    const found = source.attempt(() => this.#cache.tips.held(source)?.blob(name, at));
    const pack = found && this.packs.findIndex(({ description }) => description.id === found.pack);
    return pack === undefined || pack < 0 || pack >= count
      ? undefined
      : { ...found!, pack: this.packs[pack]! };
  }

  #probe(pack: Pack, name: Uint8Array, at: number): boolean {
    const position = pack.index.find(name, at);
    if (position < 0) return false;
    this.pack = pack;
    this.#position = position;
    this.#offset = -1;
    return true;
  }

  /** Reads the header at `offset` into #head, `dataAt` as an offset in the pack. @returns the base's offset, or -1 */
  #readHead(pack: Pack, offset: number): number {
    const { file } = pack;
    const number = Math.floor(offset / BLOCK_SIZE);
    const end = file.size - 20;
    let bytes = file.block(number);
    let at = offset - number * BLOCK_SIZE;
    if (at + MAX_ENTRY_HEADER > bytes.length || offset + MAX_ENTRY_HEADER > end) {
      bytes = file.slice(offset, Math.min(offset + MAX_ENTRY_HEADER, end));
      at = 0;
    }
    const head = this.#head;
    if (!head.read(bytes, at)) throw new CorruptData('pack-truncated', `entry at ${offset} is cut short`);
    head.dataAt += offset - at;
    if (head.type === OFS_DELTA) {
      const base = offset - head.distance;
      if (base < 12) throw new CorruptData('delta-base', `base of ${offset} lies before the pack`);
      return base;
    }
    if (head.type === REF_DELTA) {
      const position = pack.index.find(bytes, head.baseAt);
      if (position < 0) {
        throw new CorruptData('delta-base', `base ${oidFromBytes(bytes, head.baseAt)} is not in the pack`);
      }
      return pack.index.offset(position);
    }
    return -1;
  }

  /** @param transient the result is used only until the next call */
  #inflate(pack: Pack, from: number, size: number, transient = false): Uint8Array {
    this.#checkSize(size);
    if (this.large !== undefined && isLargeEntry(size)) {
      const found = this.large.get(entryKey(pack, from));
      if (found === undefined) throw new InflateMiss(pack, from, size);
      this.#deflated = found.deflated;
      return found.data;
    }
    const { file } = pack;
    const out = transient && size < this.#scratch.length ? this.#scratch : this.#allocate(size + 1);
    const number = Math.floor(from / BLOCK_SIZE);
    const start = number * BLOCK_SIZE;
    const limit = file.size - 20;
    const block = file.block(number);
    const end = Math.min(block.length, limit - start);
    this.#deflated = inflateInto(block, from - start, end, out, 0, size);
    if (this.#deflated !== NEED_MORE) return out.subarray(0, size);
    // Stored without compression, which is the most that an encoder makes of it.
    const incompressible = size + (size >>> 8) + 64;
    for (let span = Math.max(BLOCK_SIZE, size >>> 3); ; ) {
      const to = Math.min(from + span, limit);
      const bytes = file.slice(from, to);
      this.#deflated = inflateInto(bytes, 0, bytes.length, out, 0, size);
      if (this.#deflated !== NEED_MORE) return out.subarray(0, size);
      if (to === limit) throw new CorruptData('pack-truncated', `entry data at ${from} do not end`);
      span = span < incompressible ? Math.min(2 * span, incompressible) : 2 * span;
    }
  }

  /** Memory for an object that is only the base of the next one, which is made in the other. */
  #passing(which: number, size: number): Buffer {
    const room = (this.#rooms[which] ??= Buffer.allocUnsafeSlow(PASSING_BYTES));
    return room.subarray(0, size);
  }

  /** Allocates memory for an object; small ones share slabs, because there are hundreds of thousands. */
  #allocate(size: number): Buffer {
    if (size > SLAB / 8) return Buffer.allocUnsafeSlow(size);
    if (this.#slabUsed + size > SLAB) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB);
      this.#slabUsed = 0;
    }
    const room = this.#slab.subarray(this.#slabUsed, this.#slabUsed + size);
    this.#slabUsed += size;
    return room;
  }

  #checkSize(size: number): void {
    if (size > this.#maxObjectSize) {
      throw new CorruptData(
        'object-too-large',
        `object of ${size} bytes; the limit is ${this.#maxObjectSize}`,
      );
    }
  }
}

/** Bytes that stay as they are: a copy of those that may be in memory for the next object. @param most bytes of that memory */
const owned = (bytes: Uint8Array, most: number): Uint8Array =>
  bytes.length <= most ? Uint8Array.from(bytes) : bytes;
