/** Follows between users: a row in the partition of each of the two, and a count in each user's record. */
import { Missing, TransactionRefused } from '../errors.ts';
import { withDecrements } from '../forks/forks.ts';
import { idOf } from '../row-keys/key.ts';
import { type FollowRow, followKey, followPrefix, userKey } from '../row-keys/users.ts';
import { type Page, type PageRequest, pageOfRows } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Write } from '../table/write.ts';

/** Maximum number of users that one user may follow. */
export const MAX_FOLLOWING = 300;

/** Outcome: `unchanged` when there was nothing to change, `full` when {@link MAX_FOLLOWING} is reached. */
export type FollowOutcome = 'done' | 'unchanged' | 'full';

export class Follows {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** @throws Missing when one of the two users does not exist */
  async follow(followerId: number, userId: number): Promise<FollowOutcome> {
    const room = 'attribute_not_exists(#following) OR #following < :most';
    const writes: Write[] = [
      { put: { ...followKey(userId, 'FOLLOWER', followerId) }, if: ABSENT, reason: 'follows' },
      { put: { ...followKey(followerId, 'FOLLOWING', userId) } },
      { update: userKey(userId), add: { followers: 1 }, if: PRESENT, reason: 'user' },
      {
        update: userKey(followerId),
        add: { following: 1 },
        if: `${PRESENT} AND (${room})`,
        values: { most: MAX_FOLLOWING },
        reason: 'room',
      },
    ];
    try {
      await this.#table.transact(writes);
      return 'done';
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('follows')) return 'unchanged';
      if (error.get('room')?.item !== undefined && !error.has('user')) return 'full';
      throw new Missing('user');
    }
  }

  /** Also deletes the remaining rows when one of the two users was deleted. */
  async unfollow(followerId: number, userId: number): Promise<Exclude<FollowOutcome, 'full'>> {
    const writes: Write[] = [
      { delete: followKey(userId, 'FOLLOWER', followerId), if: PRESENT, reason: 'follows' },
      { delete: followKey(followerId, 'FOLLOWING', userId) },
    ];
    const counts = [
      { key: userKey(userId), count: 'followers', reason: 'user' },
      { key: userKey(followerId), count: 'following', reason: 'follower' },
    ];
    try {
      await withDecrements(counts, (counted) => this.#table.transact([...writes, ...counted]));
      return 'done';
    } catch (error) {
      if (error instanceof TransactionRefused && error.has('follows')) return 'unchanged';
      throw error;
    }
  }

  async follows(followerId: number, userId: number): Promise<boolean> {
    return (await this.#table.get(followKey(userId, 'FOLLOWER', followerId))) !== undefined;
  }

  /** Ids of a user's followers or of the users they follow, ascending. */
  async list(userId: number, row: FollowRow, request: PageRequest): Promise<Page<number>> {
    const page = await pageOfRows(this.#table, this.#rows(userId, row), request);
    return { ...page, items: page.items.map(({ sk }) => idOf(sk as string)) };
  }

  /**
   * Deletes up to `limit` follows of a deleted user in each direction, and decrements the other users' counts.
   * @returns whether any may be left
   */
  async removeOfUser(userId: number, limit = 100): Promise<boolean> {
    let moreLeft = false;
    for (const row of ['FOLLOWER', 'FOLLOWING'] as const) {
      const page = await this.#table.query({ ...this.#rows(userId, row), limit, only: ['sk'] });
      for (const { sk } of page.items) {
        const other = idOf(sk as string);
        await (row === 'FOLLOWER' ? this.unfollow(other, userId) : this.unfollow(userId, other));
      }
      moreLeft ||= page.next !== undefined;
    }
    return moreLeft;
  }

  #rows = (userId: number, row: FollowRow) => ({
    partition: userKey(userId).pk,
    prefix: followPrefix(row),
  });
}
