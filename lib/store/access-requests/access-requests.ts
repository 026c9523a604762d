/** Requests of users for access to projects and groups. A user with a request is not a member. */

import type { AccessRequestRecord } from '../../records/access-requests.ts';
import type { MemberSource } from '../../records/members.ts';
import { AlreadyExists, Missing, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import type { Outbox, OutboxMessage } from '../outbox/outbox.ts';
import { accessRequestKey, REQUEST } from '../row-keys/access-requests.ts';
import { memberKey, memberPartition } from '../row-keys/members.ts';
import { userKey, userPartition, userRow } from '../row-keys/users.ts';
import { type Page, type PageRequest, pageOfRows } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT } from '../table/write.ts';

export class AccessRequests {
  readonly #table: Table;
  readonly #outbox: Outbox;

  constructor(table: Table, outbox: Outbox) {
    this.#table = table;
    this.#outbox = outbox;
  }

  /**
   * @throws AlreadyExists `request`, or `member` when the user is a member by now; Missing when the project, the group
   *   or the user does not exist (any more)
   */
  async add(request: AccessRequestRecord, messages: readonly OutboxMessage[] = []): Promise<void> {
    const { source, userId } = request;
    const what = userRow(source.kind === 'project' ? 'REQUEST' : 'GROUPREQUEST', source.id);
    try {
      await this.#outbox.commit(
        [
          {
            put: { ...accessRequestKey(source, userId), ...request, who: userPartition(userId), what },
            if: ABSENT,
            reason: 'request',
          },
          {
            check: memberKey(source, userId),
            if: `${ABSENT} OR #expiresAt <= :today`,
            values: { today: request.requestedAt.slice(0, 10) },
            reason: 'member',
          },
          checkSourceExists(source),
          { check: userKey(userId), if: PRESENT, reason: 'user' },
        ],
        messages,
      );
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of [source.kind, 'user']) if (error.has(what)) throw new Missing(what);
      for (const what of ['member', 'request']) if (error.has(what)) throw new AlreadyExists(what);
      throw error;
    }
  }

  /** By user id, ascending. */
  async list(source: MemberSource, request: PageRequest): Promise<Page<AccessRequestRecord>> {
    const rows = { partition: memberPartition(source), prefix: REQUEST };
    const page = await pageOfRows(this.#table, rows, request);
    return { ...page, items: page.items.map(fromItem) };
  }

  async get(source: MemberSource, userId: number): Promise<AccessRequestRecord | undefined> {
    const item = await this.#table.get(accessRequestKey(source, userId));
    return item && fromItem(item);
  }

  /** @throws Missing */
  async remove(source: MemberSource, userId: number, messages: readonly OutboxMessage[] = []): Promise<void> {
    const write = { delete: accessRequestKey(source, userId), if: PRESENT, reason: 'request' };
    try {
      await this.#outbox.commit([write], messages);
    } catch (error) {
      throw error instanceof TransactionRefused ? new Missing('request') : error;
    }
  }

  /** Deletes up to `limit` requests of a deleted project or group. @returns whether any are left */
  async removeOfResource(source: MemberSource, limit = 500): Promise<boolean> {
    const rows = { partition: memberPartition(source), prefix: REQUEST, only: ['pk', 'sk'] };
    const page = await this.#table.query({ ...rows, limit });
    await Promise.all(
      page.items.map((item) => this.#table.delete({ delete: item as { pk: string; sk: string } })),
    );
    return page.next !== undefined;
  }
}

function fromItem(item: Item): AccessRequestRecord {
  const { pk: _p, sk: _s, w: _w, who: _o, what: _a, ...rest } = item;
  return rest as unknown as AccessRequestRecord;
}
