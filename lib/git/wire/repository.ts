import type { PackCache } from '../pack/pack-cache.ts';
import type { PackStore } from '../pack/store.ts';
import type { ObjectDatabase, RefDatabase } from '../ports.ts';

/** What the wire needs of a repository: the two ports, and a store that reads objects through the first. */
export interface Repository {
  readonly objects: ObjectDatabase;
  readonly refs: RefDatabase;
  readonly store: PackStore;
  /** What `store` caches through; a push reads what it brought, and what it builds on, through the same. */
  readonly cache?: PackCache;
}
