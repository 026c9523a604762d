/** The first rows of a repository and the state of its guards. */

import { leaseKey } from '../row-keys/maintenance.ts';
import { GUARD_STRIPES, guardKey, headKey, refNamesKey } from '../row-keys/repository.ts';
import { ABSENT, type Check, type Item, PRESENT, type Put, type Update } from '../table/write.ts';

export type RepositoryState = 'open' | 'read-only' | 'deleted';

/** What every stripe of the guard says. A change of it is a change of all stripes in one transaction. */
export interface Guard {
  readonly state: RepositoryState;
  /** Raised by every collection. */
  readonly epoch: number;
  /** The immutable ref table in force; empty: refs are items only. */
  readonly refTable: string;
  /** Who is writing a new ref table (ULID, so its time is known); until they are done, writers wait. Or empty. */
  readonly frozenBy: string;
}

const AS_EXPECTED = '#state = :state AND #epoch = :epoch AND #refTable = :refTable AND #frozenBy = :frozenBy';
const stripes = Array.from({ length: GUARD_STRIPES }, (_, stripe) => stripe);

/**
 * Guards, HEAD and the version of the ref names with the numbers of branches and tags, for the transaction that makes the repository's owner.
 * @param networkId whose prefix its packs will lie under; its own when it is no fork
 */
export function newRepository(repositoryId: string, headBranch: string, networkId = repositoryId): Put[] {
  const guard: Guard = { state: 'open', epoch: 0, refTable: '', frozenBy: '' };
  return [
    ...stripes.map((stripe) => ({
      put: { ...guardKey(repositoryId, stripe), ...guard },
      if: ABSENT,
      reason: 'repository',
    })),
    { put: { ...headKey(repositoryId), target: `refs/heads/${headBranch}` } },
    { put: { ...refNamesKey(repositoryId), names: 0, multi: 0, heads: 0, tags: 0 } },
    // Where whoever maintains it looks.
    ...(networkId === repositoryId ? [] : [{ put: { ...leaseKey(repositoryId), network: networkId } }]),
  ];
}

/** From the transaction on, every writer is refused as `deleted`. */
export function closeRepository(repositoryId: string): Update[] {
  return changeGuards(repositoryId, { state: 'deleted' });
}

/** Excludes all writers of the moment: each of them checks one stripe. */
export function changeGuards(repositoryId: string, change: Partial<Guard>, expected?: Guard): Update[] {
  return stripes.map((stripe) => ({
    update: guardKey(repositoryId, stripe),
    set: { ...change },
    if: expected === undefined ? PRESENT : AS_EXPECTED,
    ...(expected === undefined ? {} : { values: { ...expected } }),
    reason: 'guard',
  }));
}

/** Checks one stripe, picked at random: two transactions that check the same item conflict. */
export function checkGuard(repositoryId: string, expected: Guard): Check {
  return {
    check: guardKey(repositoryId, randomStripe()),
    if: AS_EXPECTED,
    values: { ...expected },
    reason: 'guard',
  };
}

/** For a transaction that reads from a repository what must not go while it does. Refused as `source`. */
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
