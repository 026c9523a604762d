/**
 * Who takes part in what is said about one thing of a project, and who wants to hear no more of it: a row for each
 * person, so that there may be any number.
 */

import type { Noteable } from '../../records/notes.ts';
import { Missing, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { threadKey, threadPrefix, threadsPartition } from '../row-keys/notes.ts';
import { userKey, userPartition, userRow } from '../row-keys/users.ts';
import { deletePage } from '../table/delete-page.ts';
import { type IdPage, idPage } from '../table/id-page.ts';
import type { Table } from '../table/table.ts';
import { type Item, PRESENT, type Update } from '../table/write.ts';

export interface Thread {
  readonly projectId: number;
  readonly noteable: Noteable;
}

export interface ThreadMember {
  readonly takesPart: boolean;
  /** They asked for no more mail of it. */
  readonly left: boolean;
}

export class Threads {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** For the transaction by which somebody comes to take part; who left it stays away. */
  joinWrite(thread: Thread, userId: number): Update {
    return { update: keyOf(thread, userId), set: { ...namesOf(thread, userId), takesPart: true } };
  }

  /** May be asked for again. @throws Missing when the user or the project is gone */
  async leave(thread: Thread, userId: number): Promise<void> {
    try {
      await this.#table.transact([
        { update: keyOf(thread, userId), set: { ...namesOf(thread, userId), left: true } },
        { check: userKey(userId), if: PRESENT, reason: 'user' },
        checkProjectExists(thread.projectId),
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of ['user', 'project']) if (error.has(what)) throw new Missing(what);
      throw error;
    }
  }

  /** What each of these is to it, in their order. */
  async getMany(thread: Thread, userIds: readonly number[]): Promise<ThreadMember[]> {
    return (await this.#table.batchGet(userIds.map((id) => keyOf(thread, id)))).map(fromItem);
  }

  /** Ids of those who take part, or did and left, above `after`, ascending. */
  async members({ projectId, noteable }: Thread, after: number, limit: number): Promise<IdPage> {
    const page = await this.#table.query({
      partition: threadsPartition(projectId),
      from: threadKey(projectId, noteable, after + 1).sk,
      to: `${threadPrefix(noteable)}~`,
      only: ['sk'],
      limit,
    });
    return idPage(page);
  }

  /** Takes away the rows of a project that is gone, some at a time. @returns whether any are left. */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: threadsPartition(projectId), limit });
  }
}

const keyOf = ({ projectId, noteable }: Thread, userId: number) => threadKey(projectId, noteable, userId);

const namesOf = ({ projectId }: Thread, userId: number) => ({
  who: userPartition(userId),
  what: userRow('THREAD', projectId),
});

const fromItem = (item: Item | undefined): ThreadMember => ({
  takesPart: item?.['takesPart'] === true,
  left: item?.['left'] === true,
});
