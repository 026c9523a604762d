/**
 * Commits that API objects hold: comments, statuses, pipelines, merge requests. No branch may reach them, and they are
 * to stay as long as the repository does, with all below them. One row each, beside the refs and not among them.
 */
import type { Oid } from '../../git/oid.ts';
import type { PackDescription } from '../../git/ports.ts';
import { Missing } from '../errors.ts';
import { guardKey, PINNED, pinnedCommitKey, repositoryPartition } from '../row-keys/repository.ts';
import type { Table } from '../table/table.ts';
import type { Write } from '../table/write.ts';
import { listPack } from './pack-list.ts';
import { guardOf, randomStripe } from './state.ts';

/** How a transaction is refused that keeps a commit while a collection begins, or in a closed repository. */
export const PIN_REFUSED = 'keep';

/** What stands when somebody looks whether commits are kept, before looking at their objects. */
export interface PinnedCommitsSnapshot {
  readonly repositoryId: string;
  /** The collection epoch: see {@link PinnedCommits.writes}. */
  readonly epoch: number;
  /** Those of the asked that are not kept yet, each once. */
  readonly unpinned: readonly Oid[];
}

export class PinnedCommits {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Strongly consistent, one round trip. @throws Missing for a repository that is not there or is being deleted */
  async snapshot(repositoryId: string, oids: readonly Oid[]): Promise<PinnedCommitsSnapshot> {
    const asked = [...new Set(oids)];
    const [guardItem, ...rows] = await this.#table.batchGet([
      guardKey(repositoryId, randomStripe()),
      ...asked.map((oid) => pinnedCommitKey(repositoryId, oid)),
    ]);
    const guard = guardOf(guardItem);
    if (guard === undefined || guard.state === 'deleted') throw new Missing('repository');
    return { repositoryId, epoch: guard.epoch, unpinned: asked.filter((_, i) => rows[i] === undefined) };
  }

  /**
   * The writes that keep what was not kept, for the transaction of whatever holds it. They may be done twice, and are
   * refused as {@link PIN_REFUSED} when a collection began after the look: what was then seen of the objects is void.
   * @param packs stored ones that hold what only garbage held, to be listed with it
   */
  writes(
    { repositoryId, epoch, unpinned }: PinnedCommitsSnapshot,
    packs: readonly PackDescription[] = [],
  ): Write[] {
    if (unpinned.length === 0) return [];
    return [
      {
        check: guardKey(repositoryId, randomStripe()),
        // Nothing but a new pack minds a repository that is being moved.
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

/** Every commit that is kept, by id. */
export async function* pinnedIn(table: Table, repositoryId: string): AsyncGenerator<Oid> {
  const rows = { partition: repositoryPartition(repositoryId), prefix: PINNED, only: ['sk'] };
  for await (const { sk } of table.queryAll(rows)) yield (sk as string).slice(PINNED.length) as Oid;
}
