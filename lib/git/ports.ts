/**
 * The two ports through which this library reaches storage, after JGit's DFS layer: an object
 * database of immutable packs, and a reference database. Everything else in `lib/git` is
 * computation over these two.
 */

import type { Oid } from './oid.ts';
import type { RefName, RefSpace } from './refname.ts';

/** What wrote a pack; the names are those of JGit's `DfsObjDatabase.PackSource`. */
export type PackSource =
  /** received from `git push` */
  | 'receive'
  /** written by one API commit, branch or tag call, or by {@link resurrect} */
  | 'insert'
  /** several packs copied into one by compaction */
  | 'compact'
  /** commits, trees and tags, or blobs, that a garbage collection found reachable */
  | 'gc'
  /** objects that a garbage collection found unreachable; readable until the pack is deleted */
  | 'unreachable-garbage';

/** One immutable pack with its index, as listed in the catalogue. */
export interface PackDescription {
  /** ULID: sorts by time of creation. */
  readonly id: string;
  readonly source: PackSource;
  readonly objectCount: number;
  /** Bytes of the pack stream, header and trailer included. */
  readonly packSize: number;
  /** Bytes of the version 2 index. */
  readonly indexSize: number;
  /** `joined`: pack and index are one stored object, the index last; `split`: one object each. */
  readonly layout: 'joined' | 'split';
  /** Opaque to this library: where the adapter finds the bytes (bucket and key prefix). */
  readonly location: string;
  /** Written by another repository of the fork network: read like any other pack, never replaced. */
  readonly inherited?: boolean;
}

/** Bytes that can be read at any offset; nothing is read before the first call. */
export interface RandomAccess {
  readonly size: number;
  /** @returns exactly `length` bytes, fewer only at the end. @throws the adapter's I/O errors. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** The bytes of a new pack: held in memory when small, else in a scratch file. */
export type PackContent =
  | { readonly kind: 'bytes'; readonly pack: Uint8Array; readonly index: Uint8Array }
  | {
      readonly kind: 'file';
      readonly packPath: string;
      readonly packSize: number;
      readonly index: Uint8Array;
    };

/** Files that maintenance derives from packs to speed up reading. Every answer is also correct without them. */
export type DerivedKind = 'commit-graph' | 'bitmap' | 'object-index' | 'tip' | 'bundle';

/** What a derived file was made from. */
export interface Provenance {
  /** Ids of the packs that were listed then, garbage left out. */
  readonly packs: readonly string[];
  /** Objects in those packs, as they were counted. */
  readonly objects: number;
  /** A note of the builder to itself, such as the tips it saw or that it is unfinished. A few hundred characters. */
  readonly note: string;
}

/** One immutable derived file, as listed with the packs. */
export interface DerivedFile {
  readonly kind: DerivedKind;
  /** ULID: sorts by time of creation. */
  readonly id: string;
  /** Bytes of the content. */
  readonly size: number;
  /** CRC-32 of the checksum table that follows the content (`derived.ts`); absent when there is no table. */
  readonly checksumsCrc?: number;
  readonly provenance: Provenance;
  /** Opaque to this library: where the adapter finds the bytes. */
  readonly location: string;
}

/** The bytes of a derived file before it is stored: `size` bytes of content, followed by its checksum table. */
export type DerivedContent = { readonly size: number; readonly checksumsCrc?: number } & (
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'file'; readonly path: string; readonly fileSize: number }
);

/** The derived files of a repository, listed together with its packs. */
export interface DerivedFiles {
  /** The current file, according to the last listing of packs. */
  current(kind: DerivedKind): DerivedFile | undefined;
  /** All stored bytes, checksums included; `derived.ts` verifies them. */
  open(file: DerivedFile): RandomAccess;
}

export interface ObjectDatabase {
  /** Absent if the database keeps no derived files. */
  readonly derived?: DerivedFiles;
  /** Packs listed now, newest first. `fresh` reads the list again, for a reader that missed an object. */
  listPacks(options?: { fresh?: boolean }): Promise<readonly PackDescription[]>;
  open(pack: PackDescription, part: 'pack' | 'index'): RandomAccess;
  /**
   * Stores a pack and its index without listing it: no reader sees it until
   * {@link RefDatabase.compareAndSwap} lists it. A pack that is never listed is swept later.
   */
  newPack(content: PackContent, about: { source: PackSource; objectCount: number }): Promise<PackDescription>;
  /** Deletes a pack that was stored and not listed. Best effort: the sweeper deletes what remains. */
  rollbackPack(pack: PackDescription): Promise<void>;
}

/** Stores a pack of any size, unlisted, as a stream: a few parts of it are in memory, none on disk. */
export interface PackSink {
  /** Waits while a part is sent. The caller must not change the bytes afterwards. */
  write(bytes: Uint8Array): Promise<void>;
  finish(index: Uint8Array, about: { source: PackSource; objectCount: number }): Promise<PackDescription>;
  /** Discards the pack. Never fails: the sweeper deletes what remains. */
  abort(): Promise<void>;
}

/** The additional operations of maintenance. One worker holds the lease at a time; one that lost it changes nothing. */
export interface MaintainedObjects extends ObjectDatabase {
  /** For a pack too large for memory. */
  packSink(): PackSink;
  /**
   * Replaces listed packs by stored ones, atomically. Those replaced stay readable for a day.
   * @param options.epoch of the garbage collection: writers that read the packs before it must check again
   * @throws PacksChanged
   */
  commitPacks(
    add: readonly PackDescription[],
    replaced: readonly PackDescription[],
    options?: { readonly epoch?: number },
  ): Promise<void>;
  /**
   * Stores a derived file and lists it. The previous file of its kind stays readable for a day.
   * @throws PacksChanged
   */
  storeDerived(kind: DerivedKind, content: DerivedContent, provenance: Provenance): Promise<DerivedFile>;
}

/** A pack to be replaced is not listed any more, or another worker holds the lease now. Nothing was changed. */
export class PacksChanged extends Error {
  constructor() {
    super('the packs to be replaced have changed');
    this.name = 'PacksChanged';
  }
}

export interface Ref {
  readonly name: RefName;
  readonly oid: Oid;
  /** For an annotated tag: the object at the end of the tag chain. */
  readonly peeled?: Oid;
  /** Committer time of the commit it points to, seconds since 1970; null for no commit, absent when unknown. */
  readonly committed?: number | null;
}

/** One change; `from` or `to` is ZERO_OID for creation or deletion. */
export interface RefUpdate {
  readonly name: RefName;
  readonly from: Oid;
  readonly to: Oid;
  readonly peeled?: Oid;
  readonly committed?: number | null;
  /** `to` does not reach `from`, so some objects may now be unreachable. */
  readonly forced?: boolean;
}

export type RefRejection =
  /** another writer was first: the ref no longer has the value `from` */
  | 'stale'
  /** `a` against `a/b`: git cannot hold both */
  | 'prefix-conflict'
  /** another writer created it meanwhile */
  | 'exists'
  /** the repository is read-only (moving) or deleted */
  | 'read-only'
  | 'deleted'
  /** the repository is still being imported or forked */
  | 'importing'
  /** a garbage collection began since this writer read the packs: check connectivity again, then retry */
  | 'collected';

/** A compare-and-swap was refused; it is all or nothing, so nothing was changed. */
export class RefConflict extends Error {
  readonly rejections: readonly { readonly name: RefName | null; readonly reason: RefRejection }[];
  constructor(rejections: readonly { name: RefName | null; reason: RefRejection }[]) {
    super(`refs not updated: ${rejections.map((r) => `${r.name ?? 'repository'} ${r.reason}`).join(', ')}`);
    this.name = 'RefConflict';
    this.rejections = rejections;
  }
}

export interface RefSnapshot {
  /** What HEAD points to, whether that branch exists or not. */
  readonly head: RefName;
  /** Sorted by name (bytewise). */
  readonly refs: readonly Ref[];
}

/** One strongly consistent view of any number of refs. */
export interface RefView {
  /** What HEAD points to, whether that branch exists or not. */
  readonly head: RefName;
  /**
   * Refs under a prefix, in batches that are read on demand; can be iterated again for some minutes. Sorted by name
   * (bytewise), except names of more than 900 bytes with a common start.
   * @param prefix one of the view's prefixes, or a longer one
   * @param after only names after this one
   */
  refs(prefix?: string, after?: string): AsyncIterable<readonly Ref[]>;
}

/** A page of the branches or tags, by name. Tags that do not point to a commit are left out. */
export interface RefPageQuery {
  readonly space: RefSpace;
  /** Only names after this one. */
  readonly after?: RefName | undefined;
  /** How many to skip. */
  readonly offset?: number | undefined;
  readonly limit: number;
  /** From the last name to the first; not together with `after`. */
  readonly descending?: boolean | undefined;
}

export interface RefPage {
  readonly refs: readonly Ref[];
  /** Number of all branches or tags. */
  readonly total: number;
  /** Whether others follow. */
  readonly more: boolean;
}
