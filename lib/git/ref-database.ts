import type { ObjectStore } from './objects.ts';
import type { Oid } from './oid.ts';
import type {
  PackDescription,
  Ref,
  RefPage,
  RefPageQuery,
  RefSnapshot,
  RefUpdate,
  RefView,
} from './ports.ts';
import type { RefName } from './refname.ts';

export interface RefDatabase {
  /** HEAD's target and every ref under `prefix` (default: all). For few refs only; use {@link view} otherwise. */
  all(options?: { prefix?: string }): Promise<RefSnapshot>;
  /** @param options.prefixes which refs it contains; all when absent */
  view(options?: { readonly prefixes?: readonly string[] }): Promise<RefView>;
  /** Costs the same for any number of refs. May see a concurrent push of several refs in part. */
  page(query: RefPageQuery): Promise<RefPage>;
  /** Reads only the named refs. The map has no entry for refs that do not exist. */
  get(names: readonly RefName[]): Promise<ReadonlyMap<RefName, Ref>>;
  head(): Promise<RefName>;
  /** HEAD's target, and that branch when it exists: read together if the target can be guessed. */
  headRef(): Promise<{ readonly target: RefName; readonly head: Ref | undefined }>;
  /**
   * Objects that are kept, with all they reach, whether a ref reaches them or not (git: keep-alive refs). There may be
   * a million. Objects pinned during the iteration may or may not be returned.
   */
  pinned(): AsyncIterable<Oid>;
  /**
   * The old values of refs that were deleted or forced (see {@link RefUpdate.forced}) within the last 15 minutes,
   * newest first: a client that listed the refs before may still fetch them. A few hundred at most.
   */
  recentTips(): Promise<readonly Ref[]>;
  /**
   * Applies all updates, lists the new packs and sets HEAD's target in one transaction.
   * Retries transient errors; after a lost response, reads whether the transaction succeeded.
   * @param options.objects reads the objects of the new values, for push events; the result does not depend on it
   * @param options.pushOptions of the push that this is, for what follows from it
   * @throws RefConflict when any condition fails; then nothing is changed.
   */
  compareAndSwap(
    updates: readonly RefUpdate[],
    options?: {
      packs?: readonly PackDescription[];
      head?: RefName;
      objects?: ObjectStore;
      pushOptions?: readonly string[];
    },
  ): Promise<void>;
  /**
   * Whether another error than RefConflict proves that {@link compareAndSwap} changed nothing: what the owner of the
   * repository writes in the same transaction was refused.
   */
  isRefusal?(error: unknown): boolean;
}
