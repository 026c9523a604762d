/**
 * The two ports through which this library reaches storage, after JGit's DFS layer: an object
 * database of immutable packs, and a reference database. Everything else in `lib/git` is
 * computation over these two.
 */
import type { ObjectStore } from './objects.ts';
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
  /** `joined`: the index stands behind the pack in one stored object; `split`: an object each. */
  readonly layout: 'joined' | 'split';
  /** Opaque to this library: where the adapter finds the bytes (bucket and key prefix). */
  readonly location: string;
  /** Another repository's, listed here too: read like any other, never replaced. */
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

/** What maintenance makes of packs, so that answers come sooner. No answer needs one to be right. */
export type DerivedKind = 'commit-graph' | 'bitmap' | 'object-index' | 'tip' | 'bundle';

/** What a derived file was made from. */
export interface Provenance {
  /** Ids of the packs that were listed then, garbage left out. */
  readonly packs: readonly string[];
  /** Objects in those packs, as they were counted. */
  readonly objects: number;
  /** What its builder notes for itself, such as the tips it saw or what is left to do. A few hundred characters. */
  readonly note: string;
}

/** One immutable derived file, as listed with the packs. */
export interface DerivedFile {
  readonly kind: DerivedKind;
  /** ULID: sorts by time of creation. */
  readonly id: string;
  /** Bytes of the content. */
  readonly size: number;
  /** CRC-32 of the table of checksums that stands behind the content (`derived.ts`). Without it there is none. */
  readonly checksumsCrc?: number;
  readonly provenance: Provenance;
  /** Opaque to this library: where the adapter finds the bytes. */
  readonly location: string;
}

/** The bytes of a derived file before it is stored: `size` of content, and its checksums behind it. */
export type DerivedContent = { readonly size: number; readonly checksumsCrc?: number } & (
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'file'; readonly path: string; readonly fileSize: number }
);

/** The derived files of a repository, listed together with its packs. */
export interface DerivedFiles {
  /** The one in use, as the last listing of packs told. */
  current(kind: DerivedKind): DerivedFile | undefined;
  /** All stored bytes, checksums included; `derived.ts` reads them with care. */
  open(file: DerivedFile): RandomAccess;
}

export interface ObjectDatabase {
  /** Absent where none are kept. */
  readonly derived?: DerivedFiles;
  /** Packs listed now, newest first. `fresh` reads the catalogue again, for a reader that missed. */
  listPacks(options?: { fresh?: boolean }): Promise<readonly PackDescription[]>;
  open(pack: PackDescription, part: 'pack' | 'index'): RandomAccess;
  /**
   * Stores a pack and its index without listing it: nobody sees it until
   * {@link RefDatabase.compareAndSwap} lists it. What is never listed is swept later.
   */
  newPack(content: PackContent, about: { source: PackSource; objectCount: number }): Promise<PackDescription>;
  /** Gives up a pack that was stored and not listed. Best effort: the sweeper does the rest. */
  rollbackPack(pack: PackDescription): Promise<void>;
}

/** A pack of any size on its way to where it is stored, unlisted: memory holds a few parts of it, no disk any. */
export interface PackSink {
  /** Waits while a part is sent. The bytes must stay what they are. */
  write(bytes: Uint8Array): Promise<void>;
  finish(index: Uint8Array, about: { source: PackSource; objectCount: number }): Promise<PackDescription>;
  /** Gives up. Never fails: the sweeper does the rest. */
  abort(): Promise<void>;
}

/** What maintenance needs besides. One holder at a time; one that lost its turn changes nothing. */
export interface MaintainedObjects extends ObjectDatabase {
  /** For a pack too large to be held. */
  packSink(): PackSink;
  /**
   * Lists stored packs in place of others, all at once. Those replaced stay readable for a day.
   * @param options.epoch of the collection that did it: whoever looked before it must look again
   * @throws PacksChanged
   */
  commitPacks(
    add: readonly PackDescription[],
    replaced: readonly PackDescription[],
    options?: { readonly epoch?: number },
  ): Promise<void>;
  /**
   * Stores a derived file and lists it in place of the one of its kind, which stays readable for a day.
   * @throws PacksChanged
   */
  storeDerived(kind: DerivedKind, content: DerivedContent, provenance: Provenance): Promise<DerivedFile>;
}

/** A pack to be replaced is not listed any more, or somebody else maintains the repository now: nothing was changed. */
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
  /** Seconds since 1970 of the commit it leads to, null when it leads to none; absent when nobody noted it. */
  readonly committed?: number | null;
}

/** One change; `from` or `to` is ZERO_OID for creation or deletion. */
export interface RefUpdate {
  readonly name: RefName;
  readonly from: Oid;
  readonly to: Oid;
  readonly peeled?: Oid;
  readonly committed?: number | null;
  /** `to` does not reach `from`: something may be garbage now. */
  readonly forced?: boolean;
}

export type RefRejection =
  /** another writer was first: the ref no longer has the value `from` */
  | 'stale'
  /** `a` against `a/b`: git cannot hold both */
  | 'prefix-conflict'
  /** created by somebody else meanwhile */
  | 'exists'
  /** the repository is read-only (moving) or deleted */
  | 'read-only'
  | 'deleted'
  /** its first content is still being brought in from elsewhere */
  | 'importing'
  /** a collection began since this writer looked: check connectivity again, then retry */
  | 'collected';

/** Nothing was changed: a compare-and-swap is all or nothing. */
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
   * Refs under a prefix, some at a time, read as they are walked; may be walked again, for minutes. Sorted by name
   * (bytewise), but for names of more than 900 bytes that begin alike.
   * @param prefix one of those, or within one of those, that the view is of
   * @param after only names behind this one
   */
  refs(prefix?: string, after?: string): AsyncIterable<readonly Ref[]>;
}

/** A part of the branches or tags, by name. Tags that lead to no commit are left out. */
export interface RefPageQuery {
  readonly space: RefSpace;
  /** Only names behind this one. */
  readonly after?: RefName | undefined;
  /** How many to pass over. */
  readonly offset?: number | undefined;
  readonly limit: number;
  /** From the last name to the first; not together with `after`. */
  readonly descending?: boolean | undefined;
}

export interface RefPage {
  readonly refs: readonly Ref[];
  /** Branches or tags in all. */
  readonly total: number;
  /** Whether others follow. */
  readonly more: boolean;
}

export interface RefDatabase {
  /** Every ref under `prefix` (default: all), and HEAD's target, where they are few: {@link view} else. */
  all(options?: { prefix?: string }): Promise<RefSnapshot>;
  /** @param options.prefixes what it is of; all when absent */
  view(options?: { readonly prefixes?: readonly string[] }): Promise<RefView>;
  /** Costs the same however many refs there are. A push of several refs under way may be seen in part. */
  page(query: RefPageQuery): Promise<RefPage>;
  /** Reads only the named refs; absent ones are absent from the answer. */
  get(names: readonly RefName[]): Promise<ReadonlyMap<RefName, Ref>>;
  head(): Promise<RefName>;
  /** The same, and the branch itself when it exists: read together where that is likely to be the one. */
  headRef(): Promise<{ readonly target: RefName; readonly head: Ref | undefined }>;
  /**
   * Objects that stay with all they reach although no ref may lead to them, one by one: there may be a million.
   * What is kept while they are read may come or not.
   */
  pinned(): AsyncIterable<Oid>;
  /**
   * Where refs pointed that were deleted or forced (see {@link RefUpdate.forced}) within the last quarter of an hour,
   * newest first: whoever listed them before may still ask for what they saw. Some hundreds at most.
   */
  recentTips(): Promise<readonly Ref[]>;
  /**
   * All updates, the new packs' listing and HEAD's new target in one transaction.
   * Retries what is transient; a lost answer is looked up, not guessed.
   * @param options.objects sees what the new values lead to, for whoever tells what came; nothing depends on it
   * @throws RefConflict when any condition fails; then nothing is changed.
   */
  compareAndSwap(
    updates: readonly RefUpdate[],
    options?: { packs?: readonly PackDescription[]; head?: RefName; objects?: ObjectStore },
  ): Promise<void>;
}
