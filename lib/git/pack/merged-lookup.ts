import { CorruptData } from '../corrupt-data.ts';
import type { OpenDerived } from '../derived.ts';
import { BlockMiss, type CachedFile } from './block-cache.ts';
import { likelyBlocks, MergedIndex } from './merged-index.ts';
import type { Pack } from './pack-cache.ts';

/** Number of lookups after which in-memory pack indexes are faster. */
const MAX_LOOKUPS = 4096;

/** Lookups in the merged index for one listing of packs. Ignores entries of packs that are not listed. */
export class MergedLookup {
  /** By number in the listing: whether the merged index holds all of the pack's objects. */
  readonly covers: readonly boolean[];
  /** Offset in its pack of the object found last. */
  offset = 0;
  /** The object looked up last is in a pack that is not listed any more; another pack may have it now. */
  lost = false;
  readonly #source: OpenDerived;
  readonly #packs: readonly Pack[];
  #index: MergedIndex | undefined;
  /** By number in the merged index: number in the listing, or -1. */
  #numbers: readonly number[] = [];
  #lookups = 0;

  /** @returns undefined when it covers too few packs to be useful */
  static over(source: OpenDerived | undefined, packs: readonly Pack[]): MergedLookup | undefined {
    if (source === undefined) return undefined;
    const lookup = new MergedLookup(source, packs);
    return lookup.covers.filter(Boolean).length > 1 ? lookup : undefined;
  }

  private constructor(source: OpenDerived, packs: readonly Pack[]) {
    this.#source = source;
    this.#packs = packs;
    const covered = new Set(source.description.provenance.packs);
    this.covers = packs.map(({ description: { id } }) => covered.has(id));
  }

  get usable(): boolean {
    return this.#lookups < MAX_LOOKUPS && this.#source.usable;
  }

  markUnusable(cause: CorruptData): void {
    this.#source.markUnusable(cause);
  }

  /**
   * @returns the number, in the listing, of the pack that holds the id at `name[at..at+20]`, or -1
   * @throws BlockMiss, CorruptData `derived-file`
   */
  find(name: Uint8Array, at: number): number {
    this.lost = false;
    const index = this.#open(name, at);
    const position = index.find(name, at);
    this.#lookups++;
    if (position < 0) return -1;
    const number = this.#numbers[index.packOf(position)]!;
    this.lost = number < 0;
    if (this.lost) return -1;
    this.offset = index.offset(position);
    if (this.offset < 12 || this.offset >= this.#packs[number]!.description.packSize - 20)
      throw new CorruptData('derived-file', 'merged index: offset outside the pack');
    return number;
  }

  /** Adds the blocks that a lookup most likely reads and that are not in memory to `wanted`. */
  missing(name: Uint8Array, at: number, wanted: { file: CachedFile; block: number }[]): void {
    const { file } = this.#source;
    for (const block of likelyBlocks(file, name, at)) if (!file.blocks[block]) wanted.push({ file, block });
  }

  #open(name: Uint8Array, at: number): MergedIndex {
    if (this.#index) return this.#index;
    const wanted: { file: CachedFile; block: number }[] = [];
    if (!this.#source.file.blocks[0]) this.missing(name, at, wanted);
    if (wanted.length > 0) throw new BlockMiss(wanted);
    const index = this.#source.parsed((file) => new MergedIndex(file));
    const numbers = new Map(this.#packs.map(({ description }, i) => [description.id, i]));
    this.#numbers = index.packs.map((id) => numbers.get(id) ?? -1);
    this.#index = index;
    return index;
  }
}
