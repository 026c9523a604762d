/**
 * Pinned commits: commits that API objects such as comments, statuses and pipelines refer to. They and all objects they
 * reach are kept as long as the repository, even if no ref reaches them. One row each, separate from the refs; those of
 * versions of a merge request have rows of their own, and are kept as long as that.
 */
import type { Oid } from '../../git/oid.ts';
import type { PackDescription } from '../../git/ports.ts';
import { Missing } from '../errors.ts';
import {
  guardKey,
  PINNED,
  pinnedCommitKey,
  repositoryPartition,
  versionPinKey,
} from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import type { Put, Write } from '../table/write.ts';
import { listPack } from './pack-list.ts';
import { guardOf, randomStripe } from './state.ts';

/** Reason for refusing a transaction that pins a commit while a garbage collection begins, or in a closed repository. */
export const PIN_REFUSED = 'keep';

/** Which commits are pinned, read before their objects are checked. */
export interface PinnedCommitsSnapshot {
  readonly repositoryId: string;
  /** The garbage collection epoch: see {@link PinnedCommits.writes}. */
  readonly epoch: number;
  /** The requested commits that are not pinned yet, each once. */
  readonly unpinned: readonly Oid[];
}

export class PinnedCommits {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Strongly consistent, one round trip. @throws Missing for a repository that does not exist or is being deleted */
  async snapshot(repositoryId: string, oids: readonly Oid[]): Promise<PinnedCommitsSnapshot> {
    const requested = [...new Set(oids)];
    const [guardItem, ...rows] = await this.#table.batchGet([
      guardKey(repositoryId, randomStripe()),
      ...requested.map((oid) => pinnedCommitKey(repositoryId, oid)),
    ]);
    const guard = guardOf(guardItem);
    if (guard === undefined || guard.state === 'deleted') throw new Missing('repository');
    return { repositoryId, epoch: guard.epoch, unpinned: requested.filter((_, i) => rows[i] === undefined) };
  }

  /**
   * The writes that pin the commits, for the transaction of the object that refers to them. Idempotent; refused as
   * {@link PIN_REFUSED} when a garbage collection began after the snapshot, because the objects must be checked again.
   * @param packs stored packs with objects that were only in garbage, to be listed in the same transaction
   */
  writes(
    { repositoryId, epoch, unpinned }: PinnedCommitsSnapshot,
    packs: readonly PackDescription[] = [],
  ): Write[] {
    if (unpinned.length === 0) return [];
    return [
      {
        check: guardKey(repositoryId, randomStripe()),
        // Only new packs require an open repository.
        if:
          packs.length > 0 ? '#state = :open AND #epoch = :epoch' : '#state <> :deleted AND #epoch = :epoch',
        values: packs.length > 0 ? { open: 'open', epoch } : { deleted: 'deleted', epoch },
        reason: PIN_REFUSED,
      },
      ...unpinned.map((oid) => ({ put: { ...pinnedCommitKey(repositoryId, oid) } })),
      ...packs.map((pack) => listPack(repositoryId, pack, PIN_REFUSED)),
    ];
  }
}

/**
 * The rows of pinned commits, for a transaction that also moves refs, whose conditions tell whether a garbage collection
 * began since the commits were read.
 */
export const pinRows = (repositoryId: string, oids: readonly Oid[]): Write[] =>
  [...new Set(oids)].map((oid) => ({ put: { ...pinnedCommitKey(repositoryId, oid) } }));

/** Those of the versions of a merge request, likewise: they go with it. */
export const versionPinRows = (repositoryId: string, iid: number, oids: readonly Oid[]): Put[] =>
  [...new Set(oids)].map((oid) => ({ put: { ...versionPinKey(repositoryId, oid, iid) } }));

/** Yields all pinned commits, each once, by id. */
export async function* pinnedIn(table: Table, repositoryId: string): AsyncGenerator<Oid> {
  const rows = { partition: repositoryPartition(repositoryId), prefix: PINNED, only: ['sk'] };
  let last: string | undefined;
  for await (const { sk } of table.queryAll(rows)) {
    const [oid] = (sk as string).slice(PINNED.length).split('#') as [Oid];
    if (oid !== last) yield oid;
    last = oid;
  }
}
