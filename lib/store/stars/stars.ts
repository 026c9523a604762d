/**
 * Who starred which project: a row under the project, which an index finds by the user, and the project's count. The
 * count is added to, never read for it: any number may star at once.
 */
import { Missing, TransactionRefused } from '../errors.ts';
import { idOf } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import { STAR, starKey } from '../row-keys/stars.ts';
import { userKey, userPartition, userRow } from '../row-keys/users.ts';
import { deletePage } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Update } from '../table/write.ts';

export interface StarRecord {
  readonly projectId: number;
  readonly userId: number;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

export class Stars {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** @returns false when the user had starred it already. @throws Missing when one of the two is gone */
  async add({ projectId, userId, createdAt }: StarRecord): Promise<boolean> {
    return this.#changed([
      {
        put: {
          ...starKey(projectId, userId),
          createdAt,
          who: userPartition(userId),
          what: userRow('STAR', projectId),
        },
        if: ABSENT,
        reason: 'star',
      },
      counts(projectId, 1),
      { check: userKey(userId), if: PRESENT, reason: 'user' },
    ]);
  }

  /** @returns false when the user had not starred it. @throws Missing when the project is gone */
  async remove(projectId: number, userId: number): Promise<boolean> {
    return this.#changed([
      { delete: starKey(projectId, userId), if: PRESENT, reason: 'star' },
      counts(projectId, -1),
    ]);
  }

  /** Of a user who is gone: whether the project is still there or not. */
  async forget(projectId: number, userId: number): Promise<void> {
    try {
      await this.remove(projectId, userId);
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      await this.#table.delete({ delete: starKey(projectId, userId) });
    }
  }

  /** Who starred a project, by user id. */
  async *ofProject(projectId: number): AsyncGenerator<StarRecord> {
    const rows = { partition: projectKey(projectId).pk, prefix: STAR, limit: 500 };
    for await (const item of this.#table.queryAll(rows)) {
      const userId = idOf(item['sk'] as string);
      yield { projectId, userId, createdAt: item['createdAt'] as string };
    }
  }

  /** Ids of what a user starred, the oldest projects first. An index tells it, and may be late. */
  async *ofUser(userId: number): AsyncGenerator<number> {
    const rows = { index: 'byUser', partition: userPartition(userId), prefix: STAR } as const;
    for await (const item of this.#table.queryAll(rows)) yield idOf(item['what'] as string);
  }

  /** Takes away the rows of a project that is gone, some at a time. @returns whether any are left */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: projectKey(projectId).pk, prefix: STAR, limit });
  }

  async #changed(writes: Parameters<Table['transact']>[0]): Promise<boolean> {
    try {
      await this.#table.transact(writes);
      return true;
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of ['project', 'user']) if (error.has(what)) throw new Missing(what);
      return false;
    }
  }
}

const counts = (projectId: number, by: 1 | -1): Update => ({
  update: projectKey(projectId),
  add: { starsCount: by },
  if: `${PRESENT} AND attribute_type(#deletedAt, :null)`,
  values: { null: 'NULL' },
  reason: 'project',
});
