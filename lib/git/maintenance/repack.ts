import { tmpdir } from 'node:os';
import { batchMisses } from '../batch-misses.ts';
import type { ObjectList } from '../pack/object-list.ts';
import type { Pack } from '../pack/pack-cache.ts';
import { Spool } from '../pack/spool.ts';
import type { PackStore } from '../pack/store.ts';
import type { MaintainedObjects, PackContent, PackDescription, PackSink, PackSource } from '../ports.ts';
import { nextTurn } from '../work.ts';
import { type Output, Repacker } from './repacker.ts';

export interface RepackOptions {
  /** Directory for a pack too large for memory. Default: the system's. */
  readonly scratchDir?: string;
  /** A pack up to this size stays in memory. Default 16 MiB. */
  readonly memoryPackBytes?: number;
}

export interface Repacked {
  readonly content: PackContent;
  readonly objectCount: number;
}

const MEMORY_PACK_BYTES = 16 * 2 ** 20;

/**
 * Writes one pack of the listed objects, with its index. Copies stored entries pack by pack, in the list's order. A
 * delta stays a delta if its base is in the list; its base offset is rewritten, and the base of a REF_DELTA is written
 * first, so that it becomes an OFS_DELTA. Checks the CRC-32 of each entry, so that damage is not copied under a new
 * checksum.
 *
 * The caller removes the scratch file (`discardContent`). Removes everything when it throws.
 * @throws CorruptData, the adapter's I/O errors
 */
export async function repack(
  store: PackStore,
  list: ObjectList,
  options: RepackOptions = {},
): Promise<Repacked> {
  const spool = new Spool(options.memoryPackBytes ?? MEMORY_PACK_BYTES, options.scratchDir ?? tmpdir());
  try {
    await loadIndexes(store, list.packs);
    const writer = new Repacker(list, spool);
    for await (const _ of written(store, list, writer)) {
      // The spool has received everything.
    }
    const index = await writer.end();
    const content: PackContent = spool.path
      ? { kind: 'file', packPath: spool.path, packSize: spool.size, index }
      : { kind: 'bytes', pack: Buffer.from(spool.read(0, spool.size)), index };
    spool.close();
    return { content, objectCount: list.count };
  } catch (error) {
    await spool.discard();
    throw error;
  }
}

/**
 * Repacks into storage: a small pack in one write, a large one as a stream, so that its size is not limited.
 * @throws CorruptData, the adapter's I/O errors
 */
export async function repackInto(
  objects: Pick<MaintainedObjects, 'newPack' | 'packSink'>,
  store: PackStore,
  list: ObjectList,
  source: PackSource,
  { memoryPackBytes = MEMORY_PACK_BYTES }: RepackOptions = {},
): Promise<PackDescription> {
  const about = { source, objectCount: list.count };
  const pieces = new Pieces();
  let sink: PackSink | undefined;
  try {
    await loadIndexes(store, list.packs);
    const writer = new Repacker(list, pieces);
    for await (const _ of written(store, list, writer)) {
      if (sink === undefined && pieces.size <= memoryPackBytes) continue;
      sink ??= objects.packSink();
      for (const piece of pieces.take()) await sink.write(piece);
    }
    const index = await writer.end();
    const rest = pieces.take();
    if (sink === undefined && pieces.size <= memoryPackBytes) {
      return await objects.newPack({ kind: 'bytes', pack: Buffer.concat(rest), index }, about);
    }
    sink ??= objects.packSink();
    for (const piece of rest) await sink.write(piece);
    return await sink.finish(index, about);
  } catch (error) {
    await sink?.abort();
    throw error;
  }
}

/** Yields after every slice of work, so that the caller can handle what was written. */
async function* written(store: PackStore, list: ObjectList, writer: Repacker): AsyncGenerator<void> {
  const scan = list.count > 1000;
  while (!(await store.run((objects) => writer.advance(objects), { scan }))) {
    yield;
    await nextTurn();
  }
}

/** Loads all indexes in one round trip. */
export async function loadIndexes(store: PackStore, packs: readonly Pack[]): Promise<void> {
  await store.run(() => batchMisses(packs, (pack) => pack.index.sortedOffsets()));
}

/** Buffers output that was written and not yet sent on. */
class Pieces implements Output {
  size = 0;
  #held: Uint8Array[] = [];

  append(bytes: Uint8Array): void {
    this.#held.push(new Uint8Array(bytes));
    this.size += bytes.length;
  }

  take(): Uint8Array[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }
}
