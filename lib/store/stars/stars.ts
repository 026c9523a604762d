/**
 * Stars: a row per star in the project's partition, with an index by user, and a counter in the project's record. The
 * counter is changed by adding, without reading it first, so that any number of users may star at once.
 */
import { Missing, TransactionRefused } from '../errors.ts';
import { idOf, padded } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import { STAR, starKey } from '../row-keys/stars.ts';
import { userKey, userPartition, userRow } from '../row-keys/users.ts';
import { deletePage } from '../table/delete-page.ts';
import { behindRow } from '../table/sorted-sources.ts';
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

  /** Adds a star. @returns false when the user had already starred it. @throws Missing when user or project is gone */
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

  /** Removes a star. @returns false when the user had not starred it. @throws Missing when the project is gone */
  async remove(projectId: number, userId: number): Promise<boolean> {
    return this.#changed([
      { delete: starKey(projectId, userId), if: PRESENT, reason: 'star' },
      counts(projectId, -1),
    ]);
  }

  /** Deletes the star of a deleted user, whether or not the project still exists. */
  async forget(projectId: number, userId: number): Promise<void> {
    try {
      await this.remove(projectId, userId);
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      await this.#table.delete({ delete: starKey(projectId, userId) });
    }
  }

  /** Returns the stars of a project, sorted by user id. */
  async *ofProject(projectId: number, after?: number): AsyncGenerator<StarRecord> {
    const rows = { partition: projectKey(projectId).pk, prefix: STAR, limit: 500 };
    const begin = after === undefined ? undefined : STAR + padded(after);
    for await (const item of this.#table.queryAll(behindRow(rows, 'asc', begin))) {
      const userId = idOf(item['sk'] as string);
      if (userId === after) continue;
      yield { projectId, userId, createdAt: item['createdAt'] as string };
    }
  }

  /** Returns the ids of the projects that a user starred, oldest projects first. Reads an index, which may be late. */
  async *ofUser(userId: number): AsyncGenerator<number> {
    const rows = { index: 'byUser', partition: userPartition(userId), prefix: STAR } as const;
    for await (const item of this.#table.queryAll(rows)) yield idOf(item['what'] as string);
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether rows remain */
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
