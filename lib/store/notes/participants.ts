/**
 * The participants of a thread, which is the discussion of one object of a project or a group, and the users who
 * subscribed to it or unsubscribed from it. One row per user, so their number is unlimited.
 */

import type { Container } from '../../records/labels.ts';
import { holderOf, type Noteable } from '../../records/notes.ts';
import { Missing, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import { idOf, padded } from '../row-keys/key.ts';
import { threadKey, threadPrefix, threadsOfHolder, threadsPartition } from '../row-keys/notes.ts';
import { userKey, userPartition, userRow } from '../row-keys/users.ts';
import { deletePage } from '../table/delete-page.ts';
import { type IdPage, idPage } from '../table/id-page.ts';
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { behindRow, listSource, mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { type Item, PRESENT, type Update } from '../table/write.ts';

export interface Thread {
  readonly projectId: number;
  readonly noteable: Noteable;
}

export interface ThreadMember {
  readonly takesPart: boolean;
  /** Whether by more than internal notes. */
  readonly openly: boolean;
  /** Whether they subscribed or unsubscribed; undefined: neither, and they are subscribed where they take part. */
  readonly subscribed: boolean | undefined;
}

/** Participants looked at for their total: each may cost reads of what they may see. */
const COUNTED = 200;

export class Threads {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * For the transaction that makes a user a participant. A user who unsubscribed stays unsubscribed.
   * @param internal whether by an internal note: only those who may read it hear of them, unless they took part openly too
   */
  joinWrite(thread: Thread, userId: number, internal: boolean): Update {
    const set = { ...namesOf(thread, userId), takesPart: true, ...(internal ? {} : { [OPENLY]: true }) };
    return { update: keyOf(thread, userId), set };
  }

  /** Makes a user a participant; idempotent. @param internal as of {@link joinWrite} */
  async join(thread: Thread, userId: number, internal: boolean): Promise<void> {
    await this.#table.update(this.joinWrite(thread, userId, internal));
  }

  /** Subscribes or unsubscribes a user; idempotent. @throws Missing when the user or the project is deleted */
  async subscribe(thread: Thread, userId: number, subscribed: boolean): Promise<void> {
    try {
      await this.#table.transact([
        {
          update: keyOf(thread, userId),
          set: { ...namesOf(thread, userId), subscribed },
          remove: [FORMERLY_UNSUBSCRIBED],
        },
        { check: userKey(userId), if: PRESENT, reason: 'user' },
        checkSourceExists(holderOf(thread)),
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of ['user', 'project', 'group']) if (error.has(what)) throw new Missing(what);
      throw error;
    }
  }

  /** Returns each user's relation to the thread, in the order of `userIds`. */
  async getMany(thread: Thread, userIds: readonly number[]): Promise<ThreadMember[]> {
    return (await this.#table.batchGet(userIds.map((id) => keyOf(thread, id)))).map(fromItem);
  }

  /**
   * A page of the participants and of further users, by id.
   * @param withInternal whether also of those who took part by internal notes alone
   * @param load returns the users with these ids in their order; undefined for those to leave out
   */
  participants<T>(
    { projectId, noteable }: Thread,
    further: readonly number[],
    withInternal: boolean,
    request: PageRequest,
    load: (ids: readonly number[]) => Promise<readonly (T | undefined)[]>,
  ): Promise<Page<T>> {
    const shown = new Set(further);
    const rows = {
      partition: threadsPartition(projectId, noteable),
      prefix: threadPrefix(noteable),
      only: ['sk', 'takesPart', OPENLY],
    };
    const after = request.rows?.after;
    const begun = behindRow(rows, 'asc', after && rows.prefix + after.sort);
    const members = querySource(this.#table, begun, 'asc', chunkFor(request, 1), (row) => {
      const id = idOf(row['sk'] as string);
      if (row['takesPart'] === true && (withInternal || row[OPENLY] === true)) shown.add(id);
      return { sort: padded(id), id };
    });
    const others = listSource(
      further.map((id) => ({ sort: padded(id), id })),
      'asc',
    );
    return cutPage(mergeKeys([others, members], 'asc', after), request, {
      load: async (ids) => {
        const loaded = await load(ids.filter((id) => shown.has(id)));
        let at = 0;
        return ids.map((id) => (shown.has(id) ? loaded[at++] : undefined));
      },
      where: () => true,
      batchSize: request.perPage + 1,
      countWalk: COUNTED,
    });
  }

  /** Returns ids of participants and of users who subscribed or unsubscribed, above `after`, ascending. */
  async members({ projectId, noteable }: Thread, after: number, limit: number): Promise<IdPage> {
    const page = await this.#table.query({
      partition: threadsPartition(projectId, noteable),
      from: threadKey(projectId, noteable, after + 1).sk,
      to: `${threadPrefix(noteable)}~`,
      only: ['sk'],
      limit,
    });
    return idPage(page);
  }

  /** Deletes up to `limit` rows of a deleted object. @returns whether any are left */
  removeOfNoteable({ projectId, noteable }: Thread, limit = 500): Promise<boolean> {
    const rows = { partition: threadsPartition(projectId, noteable), prefix: threadPrefix(noteable), limit };
    return deletePage(this.#table, rows);
  }

  /** Deletes up to `limit` rows of a deleted project or group. @returns whether any are left */
  removeOf(holder: Container, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: threadsOfHolder(holder), limit });
  }
}

const keyOf = ({ projectId, noteable }: Thread, userId: number) => threadKey(projectId, noteable, userId);

const namesOf = ({ projectId }: Thread, userId: number) => ({
  who: userPartition(userId),
  what: userRow('THREAD', projectId),
});

/** Whether a participant took part by something that all readers see. Rows of earlier releases do not say. */
const OPENLY = 'openly';

/** How rows said that a user unsubscribed, before users could subscribe. */
const FORMERLY_UNSUBSCRIBED = 'left';

const fromItem = (item: Item | undefined): ThreadMember => ({
  takesPart: item?.['takesPart'] === true,
  openly: item?.[OPENLY] === true,
  subscribed: item?.[FORMERLY_UNSUBSCRIBED] === true ? false : (item?.['subscribed'] as boolean | undefined),
});
