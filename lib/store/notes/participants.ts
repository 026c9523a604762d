/**
 * The participants of a thread, which is the discussion of one object of a project, and the users who unsubscribed from
 * it. One row per user, so their number is unlimited.
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
  /** Whether they unsubscribed from the thread. */
  readonly left: boolean;
}

export class Threads {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** For the transaction that makes a user a participant. A user who unsubscribed stays unsubscribed. */
  joinWrite(thread: Thread, userId: number): Update {
    return { update: keyOf(thread, userId), set: { ...namesOf(thread, userId), takesPart: true } };
  }

  /** Unsubscribes a user; idempotent. @throws Missing when the user or the project is deleted */
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

  /** Returns each user's relation to the thread, in the order of `userIds`. */
  async getMany(thread: Thread, userIds: readonly number[]): Promise<ThreadMember[]> {
    return (await this.#table.batchGet(userIds.map((id) => keyOf(thread, id)))).map(fromItem);
  }

  /** Returns ids of participants and of users who unsubscribed, above `after`, ascending. */
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

  /** Deletes up to `limit` rows of a deleted object. @returns whether any are left */
  removeOfNoteable({ projectId, noteable }: Thread, limit = 500): Promise<boolean> {
    const rows = { partition: threadsPartition(projectId), prefix: threadPrefix(noteable), limit };
    return deletePage(this.#table, rows);
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
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
