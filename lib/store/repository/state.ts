/** Creation of a repository's rows, and the state of its guards. */

import { leaseKey } from '../row-keys/maintenance.ts';
import { GUARD_STRIPES, guardKey, headKey, refNamesKey } from '../row-keys/repository.ts';
import { ABSENT, type Check, type Item, PRESENT, type Put, type Update } from '../table/write.ts';

export type RepositoryState = 'open' | 'read-only' | 'deleted';

/** The repository's state, stored in every stripe of the guard. A change writes all stripes in one transaction. */
export interface Guard {
  readonly state: RepositoryState;
  /** Incremented by every garbage collection. */
  readonly epoch: number;
  /** The current immutable ref table; empty: refs are in rows only. */
  readonly refTable: string;
  /** ULID (with its time) of the writer of a new ref table, for which other writers wait; or empty. */
  readonly frozenBy: string;
}

const UNCHANGED = '#state = :state AND #epoch = :epoch AND #refTable = :refTable AND #frozenBy = :frozenBy';
const stripes = Array.from({ length: GUARD_STRIPES }, (_, stripe) => stripe);

const NO_NAMES = { names: 0, multi: 0, heads: 0, tags: 0 };

/**
 * Guards, HEAD and the version of the ref names with the numbers of branches and tags, for the transaction that creates
 * the repository's project.
 * @param repository with its fork network, if it is a fork, and what its keys begin with, if it is not in the default storage
 * @param names the row of the ref names, where the same transaction makes refs
 */
export function newRepository(
  {
    repositoryId,
    networkId = repositoryId,
    storagePrefix,
  }: { readonly repositoryId: string; readonly networkId?: string; readonly storagePrefix?: string },
  headBranch: string,
  names = NO_NAMES,
): Put[] {
  const place = {
    ...(networkId === repositoryId ? {} : { network: networkId }),
    ...(storagePrefix ? { storagePrefix } : {}),
  };
  const guard: Guard = { state: 'open', epoch: 0, refTable: '', frozenBy: '' };
  return [
    ...stripes.map((stripe) => ({
      put: { ...guardKey(repositoryId, stripe), ...guard },
      if: ABSENT,
      reason: 'repository',
    })),
    { put: { ...headKey(repositoryId), target: `refs/heads/${headBranch}` } },
    { put: { ...refNamesKey(repositoryId), ...names } },
    // Read by maintenance.
    ...(Object.keys(place).length === 0 ? [] : [{ put: { ...leaseKey(repositoryId), ...place } }]),
  ];
}

/** Closes a repository: afterwards every writer is refused as `deleted`. */
export function closeRepository(repositoryId: string): Update[] {
  return changeGuards(repositoryId, { state: 'deleted' });
}

/** Changes the guards. Conflicts with all concurrent writers, because each of them checks one stripe. */
export function changeGuards(repositoryId: string, change: Partial<Guard>, expected?: Guard): Update[] {
  return stripes.map((stripe) => ({
    update: guardKey(repositoryId, stripe),
    set: { ...change },
    if: expected === undefined ? PRESENT : UNCHANGED,
    ...(expected === undefined ? {} : { values: { ...expected } }),
    reason: 'guard',
  }));
}

/** Checks one stripe, picked at random: two transactions that check the same item conflict. */
export function checkGuard(repositoryId: string, expected: Guard): Check {
  return {
    check: guardKey(repositoryId, randomStripe()),
    if: UNCHANGED,
    values: { ...expected },
    reason: 'guard',
  };
}

/** Checks that a repository still exists, in a transaction that relies on its content. Refused as `source`. */
export function checkReadable(repositoryId: string): Check {
  return {
    check: guardKey(repositoryId, randomStripe()),
    if: `${PRESENT} AND #state <> :deleted`,
    values: { deleted: 'deleted' },
    reason: 'source',
  };
}

export function guardOf(item: Item | undefined): Guard | undefined {
  if (item === undefined) return undefined;
  const { state, epoch, refTable, frozenBy } = item as unknown as Guard;
  return { state, epoch, refTable, frozenBy };
}

export const randomStripe = (): number => Math.floor(Math.random() * GUARD_STRIPES);
