import type { OpenedBitmap } from '../bitmap/open.ts';
import type { BroughtObjects } from '../commit-graph/brought-objects.ts';
import type { PackStore } from '../pack/store.ts';
import type { DerivedContent, DerivedKind, PackDescription } from '../ports.ts';
import type { RefDatabase } from '../ref-database.ts';

/** What a builder works with. */
export interface DeriveContext {
  /** Reads the packs and the derived files that are listed now. */
  readonly store: PackStore;
  readonly refs: RefDatabase;
  /** The listed packs without garbage, newest first. */
  readonly packs: readonly PackDescription[];
  /** Milliseconds since 1970. A builder that can return an incomplete file returns what it has then. */
  readonly deadline: number;
  /** Milliseconds since 1970: the others, which would begin anew each time, go on until then, and give up. */
  readonly stopsAt: number;
  /**
   * What commits bring: the commit-graph's builder notes it for that of the bitmap, if both are made in one run. Noting it may
   * take until `stopsAt`.
   */
  readonly brought?: BroughtObjects | undefined;
  /** The bitmap that was listed before this run replaced its index. */
  readonly formerBitmap?: () => Promise<OpenedBitmap | undefined>;
}

/** Builds one kind of file; `due.ts` decides when. */
export interface DerivedBuilder {
  readonly kind: DerivedKind;
  /**
   * Works in slices of milliseconds. After the deadline, may return an incomplete file with a note that tells `due.ts` that
   * the file is due again.
   * @returns undefined when its time ended first
   * @throws ObjectMissing, CorruptData, the adapter's I/O errors
   */
  build(context: DeriveContext): Promise<Derived | undefined>;
}

export interface Derived {
  readonly content: DerivedContent;
  readonly note: string;
}
