import { batchMisses } from '../batch-misses.ts';
import { MergedIndex, type WholeMergedIndex } from '../pack/merged-index.ts';
import type { PackStore } from '../pack/store.ts';
import { type Bitmap, readBitmap } from './bitmap-file.ts';

export interface OpenedIndex {
  /** Id of the derived file. */
  readonly id: string;
  readonly index: WholeMergedIndex;
  /** Its trailer. */
  readonly checksum: Uint8Array;
}

export interface OpenedBitmap extends OpenedIndex {
  readonly bitmap: Bitmap;
}

/** The current merged index, in memory; undefined when there is none or it is unusable. */
export function openIndex(store: PackStore): Promise<OpenedIndex | undefined> {
  return store.run(() => {
    const source = store.derived('object-index');
    return source?.attempt(() => {
      const merged = source.parsed((file) => new MergedIndex(file));
      return { id: source.description.id, index: merged.whole(), checksum: merged.checksum() };
    });
  });
}

/** The current bitmap and the merged index it was made for, in memory; undefined when either is missing or unusable. */
export function openBitmap(store: PackStore): Promise<OpenedBitmap | undefined> {
  return store.run(() => {
    const [source, made] = [store.derived('object-index'), store.derived('bitmap')];
    if (source === undefined || made?.description.provenance.note !== source.description.id) return undefined;
    // Fetch both in one round trip.
    const [, bytes] = batchMisses([source, made], (derived) =>
      derived.attempt(() => derived.file.slice(0, derived.file.size)),
    );
    if (bytes === undefined) return undefined;
    const opened = source.attempt(() => {
      const merged = source.parsed((file) => new MergedIndex(file));
      return { id: source.description.id, index: merged.whole(), checksum: merged.checksum() };
    });
    if (opened === undefined) return undefined;
    const bitmap = made.attempt(() => readBitmap(bytes, opened.index.count, opened.checksum));
    return bitmap && { ...opened, bitmap };
  });
}
