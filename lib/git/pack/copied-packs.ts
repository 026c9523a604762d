import { createHash } from 'node:crypto';
import { CorruptData } from '../corrupt-data.ts';
import type { ObjectList } from './object-list.ts';
import type { Pack } from './pack-cache.ts';
import type { PackStore } from './store.ts';

/** Approximate bytes per chunk. */
export const CHUNK_BYTES = 1 << 20;
/** Bytes of a pack's header. */
export const PACK_HEADER_SIZE = 12;

/**
 * The packs whose objects are all in the list: their entries are copied as one block of bytes. OFS_DELTA entries stay
 * valid, because their bases are copied with them; stored packs are never thin.
 */
export class CopiedPacks {
  /** Objects in them. */
  readonly count: number;
  /** Bytes of the new pack up to the end of the copied packs. */
  readonly bytes: number;
  readonly #list: ObjectList;
  /** By pack number in the list: what is added to the offsets of its entries in the new pack. Oldest pack first. */
  readonly #shifts = new Map<number, number>();

  /** @param copy whether to copy any */
  constructor(list: ObjectList, copy: boolean) {
    this.#list = list;
    const counts = new Uint32Array(list.packs.length);
    if (copy) for (let i = 0; i < list.count; i++) if (list.packOf[i]! >= 0) counts[list.packOf[i]!]!++;
    let [count, bytes] = [0, PACK_HEADER_SIZE];
    for (let number = list.packs.length - 1; number >= 0; number--) {
      const { objectCount, packSize } = list.packs[number]!.description;
      if (counts[number] !== objectCount || objectCount === 0) continue;
      this.#shifts.set(number, bytes - PACK_HEADER_SIZE);
      count += objectCount;
      bytes += packSize - PACK_HEADER_SIZE - 20;
    }
    this.count = count;
    this.bytes = bytes;
  }

  /** The pack that contains exactly the listed objects, if any: the new pack is a copy of it. */
  get only(): Pack | undefined {
    const [number] = this.#shifts.keys();
    return number !== undefined && this.#shifts.size === 1 && this.count === this.#list.count
      ? this.#list.packs[number]
      : undefined;
  }

  has(number: number): boolean {
    return this.#shifts.has(number);
  }

  shift(number: number): number {
    return this.#shifts.get(number)!;
  }

  /** Their entries. Verifies each pack's checksum, except that of {@link only}. @throws CorruptData, I/O errors */
  async *entries(store: PackStore): AsyncGenerator<Uint8Array> {
    for (const number of this.#shifts.keys()) yield* entriesOf(store, this.#list.packs[number]!, !this.only);
  }
}

/** @throws CorruptData when the pack's checksum differs */
export async function checkTrailer(store: PackStore, pack: Pack, checksum: Buffer): Promise<void> {
  const { file, description } = pack;
  const trailer = await store.run(() => file.slice(file.size - 20, file.size));
  if (!checksum.equals(trailer)) throw new CorruptData('pack-checksum', `${description.id}: wrong checksum`);
}

async function* entriesOf(store: PackStore, pack: Pack, check: boolean): AsyncGenerator<Uint8Array> {
  const { file } = pack;
  const sha = check ? createHash('sha1') : undefined;
  const end = file.size - 20;
  for (let at = 0; at < end; at += CHUNK_BYTES) {
    const bytes = await store.run(() => file.slice(at, Math.min(at + CHUNK_BYTES, end)), { scan: true });
    sha?.update(bytes);
    yield at === 0 ? bytes.subarray(PACK_HEADER_SIZE) : bytes;
  }
  if (sha) await checkTrailer(store, pack, sha.digest());
}
