import type { ObjectStore } from '../objects.ts';
import type { ObjectDatabase, RefDatabase } from '../ports.ts';

/** What the wire needs of a repository: the two ports, and a store that reads objects through the first. */
export interface Repository {
  readonly objects: ObjectDatabase;
  readonly refs: RefDatabase;
  readonly store: ObjectStore;
}
