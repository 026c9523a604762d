/**
 * Fork relations of projects: a row under the parent, which lists its forks, and the parent's id in the fork. The packs
 * that the repositories share are independent of this (`fork-networks.ts`): sharing outlives the relation.
 */

import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { FORK, forkKey } from '../row-keys/forks.ts';
import { idOf, type Key } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Write } from '../table/write.ts';

/** Forks whose relation is removed in one step. */
const BATCH = 100;

type Related = Pick<ProjectRecord, 'id' | 'visibility' | 'forkedFromId' | 'forkRootId'>;

/** The maintenance queue's job that removes a project's fork relations: `{ projectId, before }`; `before` is a time. */
export const UNLINK_JOB = 'project.unlink-forks';

export class Forks {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Yields ids of a project's forks, oldest first. */
  async *of(parentId: number): AsyncGenerator<number> {
    const rows = { partition: projectKey(parentId).pk, prefix: FORK, only: ['sk'] };
    for await (const { sk } of this.#table.queryAll(rows)) yield idOf(sk as string);
  }

  /** @throws Stale when either project changed, or `fork` already is a fork; Missing when either is deleted */
  async relate(fork: Related, parent: Related): Promise<void> {
    const writes: Write[] = [
      {
        update: projectKey(fork.id),
        set: { forkedFromId: parent.id, forkRootId: forkRoot(parent) },
        if: `${ALIVE} AND #visibility = :visibility AND ${forkOf(undefined)}`,
        values: { null: 'NULL', visibility: fork.visibility },
        reason: 'fork',
      },
      ...addForkRows(parent, fork.id),
    ];
    await this.#transact(writes);
  }

  /**
   * @param alongside further writes of the same transaction
   * @throws Stale when it is no longer a fork of that parent
   */
  async unrelate(fork: Related, alongside: readonly Write[] = []): Promise<void> {
    const parent = fork.forkedFromId;
    if (parent === undefined) throw new Stale('fork');
    const writes: Write[] = [
      {
        update: projectKey(fork.id),
        remove: ['forkedFromId', 'forkRootId'],
        if: `${ALIVE} AND ${forkOf(parent)}`,
        values: { null: 'NULL', parent },
        reason: 'fork',
      },
      { delete: forkKey(parent, fork.id) },
      ...alongside,
    ];
    const counts = [{ key: projectKey(parent), count: 'forksCount', reason: 'parent' }];
    await withDecrements(counts, (counted) => this.#transact([...writes, ...counted]));
  }

  /**
   * Removes up to {@link BATCH} relations of a deleted project; its forks stay related to each other.
   * @returns whether any are left
   */
  async unrelateAll(parentId: number): Promise<boolean> {
    const rows = { partition: projectKey(parentId).pk, prefix: FORK, limit: BATCH, only: ['pk', 'sk'] };
    const page = await this.#table.query(rows);
    for (const row of page.items) {
      const { pk, sk } = row as unknown as Key;
      const ends: Write = {
        update: projectKey(idOf(sk)),
        remove: ['forkedFromId'],
        if: `${PRESENT} AND ${forkOf(parentId)}`,
        values: { parent: parentId },
        reason: 'fork',
      };
      try {
        await this.#table.transact([ends, { delete: { pk, sk } }]);
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
        await this.#table.delete({ delete: { pk, sk } });
      }
    }
    return page.next !== undefined;
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      // The caller decides about a parent that does not exist: see `withDecrements`.
      if (error.refusals.some(({ reason, item }) => reason === 'parent' && item === undefined)) throw error;
      const gone = error.refusals.some(({ item }) => item === undefined || item['deletedAt'] !== null);
      throw gone ? new Missing('project') : new Stale('fork');
    }
  }
}

/** Returns the root of the fork tree: equal for all descendants of one project. */
export const forkRoot = ({ id, forkRootId }: Pick<ProjectRecord, 'id' | 'forkRootId'>): number =>
  forkRootId ?? id;

/** Adds the row and the count, if the parent exists with the visibility that was read; refused as `parent`. */
export function addForkRows({ id, visibility }: Pick<Related, 'id' | 'visibility'>, forkId: number): Write[] {
  return [
    { put: { ...forkKey(id, forkId) } },
    {
      update: projectKey(id),
      add: { forksCount: 1 },
      if: `${ALIVE} AND #visibility = :visibility`,
      values: { null: 'NULL', visibility },
      reason: 'parent',
    },
  ];
}

/** Returns the condition that a project is a fork of that parent, the value `:parent`, or of none. */
export const forkOf = (parentId: number | undefined): string =>
  parentId === undefined ? 'attribute_not_exists(#forkedFromId)' : '#forkedFromId = :parent';

const ALIVE = `${PRESENT} AND attribute_type(#deletedAt, :null)`;

interface Counted {
  readonly key: Key;
  readonly count: string;
  readonly reason: string;
}

/** Commits with each count decremented. A deleted row has no count to decrement, and is not created again. */
export async function withDecrements(
  counted: readonly Counted[],
  commit: (counts: readonly Write[]) => Promise<void>,
): Promise<void> {
  const gone = new Set<string>();
  for (;;) {
    const counts = counted.map(
      ({ key, count, reason }): Write =>
        gone.has(reason)
          ? { check: key, if: ABSENT, reason }
          : { update: key, add: { [count]: -1 }, if: PRESENT, reason },
    );
    try {
      return await commit(counts);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      const missing = counted.filter(({ reason }) => error.has(reason) && !gone.has(reason));
      if (missing.length === 0) throw error;
      for (const { reason } of missing) gone.add(reason);
    }
  }
}
