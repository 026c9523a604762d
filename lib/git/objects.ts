import type { OpenDerived } from './derived.ts';
import type { Oid } from './oid.ts';
import type { ReadAhead } from './pack/block-cache.ts';
import type { DerivedKind } from './ports.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

/** Bytes of the largest blob that can stand for a file which is stored elsewhere. */
export const SMALL_BLOB_BYTES = 200;

/** An object with its content; `data` must not be changed: it may be shared with a cache. */
export interface GitObject {
  readonly type: ObjectType;
  readonly data: Uint8Array;
}

/** No listed pack holds the object. */
export class ObjectMissing extends Error {
  readonly oid: Oid;
  constructor(oid: Oid) {
    super(`object ${oid} is missing`);
    this.name = 'ObjectMissing';
    this.oid = oid;
  }
}

/**
 * Synchronous access to objects, inside {@link ObjectStore.run}. A call whose bytes are not cached throws
 * an internal BlockMiss; `run` fetches the missing blocks together and calls the work again from its start,
 * so the work must be repeatable: keep its progress outside the closure, and change it only after reads.
 */
export interface SyncObjects {
  has(oid: Oid): boolean;
  /** @throws ObjectMissing */
  read(oid: Oid): GitObject;
  /** Type and inflated size without inflating the content (a delta's type comes from its base). */
  header(oid: Oid): { readonly type: ObjectType; readonly size: number };
  /** The bytes of a tree of the default branch's tip, from the tip listing; undefined for other trees. */
  tipTree?(oid: Oid): Uint8Array | undefined;
  /** A file derived from the packs, if there is one; reading it may throw BlockMiss as well. */
  derived?(kind: DerivedKind): OpenDerived | undefined;
}

/** Objects of one repository, over an ObjectDatabase and a block cache. See `pack/store.ts`. */
export interface ObjectStore {
  /** @param ahead what to fetch in addition to the blocks that `work` misses */
  run<T>(work: (objects: SyncObjects) => T, ahead?: ReadAhead): Promise<T>;
  has(oid: Oid): Promise<boolean>;
  /** @throws ObjectMissing, CorruptData */
  read(oid: Oid): Promise<GitObject>;
  header(oid: Oid): Promise<{ type: ObjectType; size: number }>;
  /** Ids that start with `prefix` (4-40 hex digits), at most `limit`. */
  resolvePrefix(prefix: string, limit: number): Promise<Oid[]>;
}
