import { CorruptData } from '../corrupt-data.ts';
import type { RandomAccess } from '../ports.ts';

/** Bytes per cached block. */
export const BLOCK_SIZE = 256 * 1024;
const BLOCKS_PER_READ = 32;
const MAX_CONCURRENT_READS = 16;
/** Blocks that a scan fetches around a missing block, and again after those. */
const SCAN_BLOCKS = 16;

/**
 * Thrown by synchronous readers when bytes are not in memory; {@link BlockCache.fetch} reads them.
 * Not an Error: it is control flow, and a stack trace costs more than a cached read.
 */
export class BlockMiss {
  readonly wanted: readonly { readonly file: CachedFile; readonly block: number }[];
  constructor(wanted: readonly { file: CachedFile; block: number }[]) {
    this.wanted = wanted;
  }
}

interface Block {
  readonly file: CachedFile;
  readonly index: number;
  readonly bytes: Uint8Array;
  used: boolean;
  pins: number;
}

/** How much a fetch reads in addition to the missing blocks. */
export interface ReadAhead {
  /** Reads 4 MB around the block and 4 MB after those, for readers that go through the file in order. */
  readonly scan?: boolean;
  /** Reads this many blocks, aligned, around each missing one, for readers that stay nearby. */
  readonly around?: number;
}

/**
 * Caches blocks of immutable files in memory, up to a budget, with CLOCK eviction. One per process: a pack's blocks are
 * shared by all repositories that list it. Never invalidated, because packs do not change.
 */
export class BlockCache {
  readonly #budget: number;
  readonly #files = new Map<string, CachedFile>();
  #ring: Block[] = [];
  #hand = 0;
  #bytes = 0;
  #reading = 0;
  readonly #queue: (() => void)[] = [];

  /** @param options.bytes size of the cache, default 256 MB */
  constructor(options: { readonly bytes?: number } = {}) {
    this.#budget = options.bytes ?? 256 * 1024 * 1024;
  }

  /** Bytes held now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The file known by `key`, opened at its first read. Keys must name immutable content. */
  file(key: string, size: number, open: () => RandomAccess): CachedFile {
    let file = this.#files.get(key);
    if (!file || file.size !== size) {
      file = new CachedFile(key, size, open);
      this.#files.set(key, file);
    }
    file.reopen(open);
    return file;
  }

  /** Adds a whole file that the caller has in memory. */
  keep(file: CachedFile, bytes: Uint8Array): void {
    using pins = new BlockPins();
    // Each block has its own memory, so that evicting it frees that.
    for (let i = 0; i < file.blocks.length; i++)
      this.#insert(file, i, bytes.slice(i * BLOCK_SIZE, (i + 1) * BLOCK_SIZE), pins);
  }

  /** Fetches missing blocks: adjacent blocks in one read, sharing reads in flight. */
  async fetch(miss: BlockMiss, pins: BlockPins, options: ReadAhead = {}): Promise<void> {
    const byFile = new Map<CachedFile, Set<number>>();
    for (const { file, block } of miss.wanted) {
      let blocks = byFile.get(file);
      if (!blocks) byFile.set(file, (blocks = new Set()));
      blocks.add(block);
      const around = options.scan ? SCAN_BLOCKS : (options.around ?? 1);
      // The reader that missed it first already reads the blocks around it.
      if (around === 1 || (!options.scan && file.pending.has(block))) continue;
      const first = block - (block % around);
      const last = Math.min(first + (options.scan ? 2 : 1) * around, file.blocks.length);
      for (let i = first; i < last; i++) blocks.add(i);
    }
    const reads: Promise<void>[] = [];
    for (const [file, blocks] of byFile) {
      const missing = [...blocks].filter((index) => !file.blocks[index]).sort((a, b) => a - b);
      let start = 0;
      for (let i = 0; i < missing.length; i++) {
        const pending = file.pending.get(missing[i]!);
        if (pending) {
          reads.push(pending);
          start = i + 1;
          continue;
        }
        const next = missing[i + 1];
        const runs = next === missing[i]! + 1 && i + 1 - start < BLOCKS_PER_READ && !file.pending.has(next);
        if (runs) continue;
        reads.push(this.#read(file, missing[start]!, missing[i]! + 1, pins));
        start = i + 1;
      }
    }
    await Promise.all(reads);
    for (const { file, block } of miss.wanted) {
      const held = file.blocks[block];
      if (held) pins.hold(held);
    }
    pins.trim(miss.wanted.length);
  }

  /** Drops what was not read since the last call. @returns bytes */
  dropUnused(): number {
    const before = this.#bytes;
    this.#ring = this.#ring.filter((block) => {
      const { file, index, bytes, used, pins } = block;
      block.used = false;
      if (used || pins > 0) return true;
      file.blocks[index] = undefined;
      this.#bytes -= bytes.length;
      return false;
    });
    return before - this.#bytes;
  }

  #read(file: CachedFile, first: number, end: number, pins: BlockPins): Promise<void> {
    const reading = this.#load(file, first, end, pins);
    for (let i = first; i < end; i++) file.pending.set(i, reading);
    return reading;
  }

  async #load(file: CachedFile, first: number, end: number, pins: BlockPins): Promise<void> {
    try {
      while (this.#reading >= MAX_CONCURRENT_READS)
        await new Promise<void>((resolve) => this.#queue.push(resolve));
      this.#reading++;
      try {
        const from = first * BLOCK_SIZE;
        const length = Math.min(end * BLOCK_SIZE, file.size) - from;
        const bytes = await file.access().read(from, length);
        if (bytes.length !== length)
          throw new CorruptData('pack-truncated', `${file.key}: fewer bytes than listed`);
        for (let i = first; i < end; i++) {
          const at = (i - first) * BLOCK_SIZE;
          // Each block has its own memory, so that evicting it frees that.
          const own = end - first === 1 ? bytes : bytes.slice(at, at + BLOCK_SIZE);
          this.#insert(file, i, own, pins);
        }
      } finally {
        this.#reading--;
        this.#queue.shift()?.();
      }
    } finally {
      for (let i = first; i < end; i++) file.pending.delete(i);
    }
  }

  #insert(file: CachedFile, index: number, bytes: Uint8Array, pins: BlockPins): void {
    if (file.blocks[index]) return;
    this.#evict(bytes.length);
    const block: Block = { file, index, bytes, used: true, pins: 0 };
    file.blocks[index] = block;
    this.#ring.push(block);
    this.#bytes += bytes.length;
    pins.hold(block);
  }

  #evict(room: number): void {
    let looked = 0;
    while (this.#bytes + room > this.#budget && looked < 2 * this.#ring.length) {
      if (this.#hand >= this.#ring.length) this.#hand = 0;
      const block = this.#ring[this.#hand]!;
      looked++;
      if (block.pins > 0 || block.used) {
        block.used = false;
        this.#hand++;
        continue;
      }
      block.file.blocks[block.index] = undefined;
      this.#bytes -= block.bytes.length;
      this.#ring[this.#hand] = this.#ring[this.#ring.length - 1]!;
      this.#ring.pop();
    }
    if (this.#files.size > 4096) this.#forgetEmpty();
  }

  #forgetEmpty(): void {
    const held = new Set(this.#ring.map((block) => block.file));
    for (const [key, file] of this.#files)
      if (!held.has(file) && file.pending.size === 0) this.#files.delete(key);
  }
}

/** A file read through the cache. The synchronous methods throw {@link BlockMiss}. */
export class CachedFile {
  readonly key: string;
  readonly size: number;
  readonly blocks: (Block | undefined)[];
  readonly pending = new Map<number, Promise<void>>();
  #open: () => RandomAccess;
  #access: RandomAccess | undefined;

  constructor(key: string, size: number, open: () => RandomAccess) {
    this.key = key;
    this.size = size;
    this.#open = open;
    this.blocks = new Array<Block | undefined>(Math.ceil(size / BLOCK_SIZE)).fill(undefined);
  }

  access(): RandomAccess {
    return (this.#access ??= this.#open());
  }

  /** Replaces the way to read the bytes by that of the newest user, since older credentials may expire. */
  reopen(open: () => RandomAccess): void {
    this.#open = open;
    this.#access = undefined;
  }

  /** Whether all of it is. */
  get isInMemory(): boolean {
    return this.blocks.every((block) => block !== undefined);
  }

  /** The block with this number: bytes from `number * BLOCK_SIZE`. */
  block(number: number): Uint8Array {
    const block = this.blocks[number];
    if (block === undefined) {
      if (!(number >= 0 && number < this.blocks.length)) {
        throw new CorruptData('pack-truncated', `${this.key}: read past the end`);
      }
      throw new BlockMiss([{ file: this, block: number }]);
    }
    block.used = true;
    return block.bytes;
  }

  /** Bytes [from, to): a view of one block, or a copy when they lie in several. */
  slice(from: number, to: number): Uint8Array {
    if (from < 0 || to > this.size || from > to)
      throw new CorruptData('pack-truncated', `${this.key}: read past the end`);
    const first = Math.floor(from / BLOCK_SIZE);
    const start = first * BLOCK_SIZE;
    if (to - start <= BLOCK_SIZE) return this.block(first).subarray(from - start, to - start);
    const last = Math.floor((to - 1) / BLOCK_SIZE);
    this.want(first, last);
    const out = Buffer.allocUnsafe(to - from);
    for (let i = first; i <= last; i++) {
      const at = i * BLOCK_SIZE;
      const bytes = this.block(i);
      out.set(
        bytes.subarray(Math.max(0, from - at), Math.min(bytes.length, to - at)),
        Math.max(0, at - from),
      );
    }
    return out;
  }

  /** Throws one BlockMiss for all blocks of the range that are not in memory. */
  want(first: number, last: number): void {
    const wanted: { file: CachedFile; block: number }[] = [];
    for (let i = first; i <= last; i++) if (!this.blocks[i]) wanted.push({ file: this, block: i });
    if (wanted.length > 0) throw new BlockMiss(wanted);
  }
}

/**
 * Pins the blocks that one reader has fetched, until it has used them. So a budget smaller than its working set makes
 * the reader slow, but not an endless loop.
 */
export class BlockPins implements Disposable {
  #held: Block[] = [];

  hold(block: Block): void {
    block.pins++;
    this.#held.push(block);
  }

  /** Unpins all but the newest 256 blocks, or twice `least` if that is more. */
  trim(least: number): void {
    const keep = Math.max(256, 2 * least);
    if (this.#held.length <= 2 * keep) return;
    for (const block of this.#held.splice(0, this.#held.length - keep)) block.pins--;
  }

  [Symbol.dispose](): void {
    for (const block of this.#held) block.pins--;
    this.#held = [];
  }
}
