import type { PackCache } from '../pack/pack-cache.ts';
import type { PackStore } from '../pack/store.ts';
import type { ObjectDatabase } from '../ports.ts';
import type { RefDatabase } from '../ref-database.ts';

/** What the wire protocol needs of a repository: the two ports, and a store that reads objects through the first. */
export interface Repository {
  readonly objects: ObjectDatabase;
  readonly refs: RefDatabase;
  readonly store: PackStore;
  /** The cache of `store`; also used for the received objects of a push. */
  readonly cache?: PackCache;
}
