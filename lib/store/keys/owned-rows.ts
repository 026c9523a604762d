/**
 * What users have several of: a row each in the user's partition, with rows elsewhere that claim what no two users may
 * have and lead back. Row and claims come and go in one transaction.
 */

import { LimitReached, Missing, TransactionRefused } from '../errors.ts';
import type { Outbox, OutboxMessage } from '../outbox/outbox.ts';
import type { CounterKind } from '../row-keys/counters.ts';
import type { Key } from '../row-keys/key.ts';
import { type OwnKind, ownCountKey, ownKey, ownPrefix } from '../row-keys/keys.ts';
import { userKey } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import { type Page, type PageRequest, pageOfRows } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { takenNames } from '../table/unique-names.ts';
import { ABSENT, type Item, keyOf, PRESENT, type Put, type Write } from '../table/write.ts';

interface Owned {
  readonly id: number;
  readonly userId: number;
}

/** What a claim tells. */
interface Led {
  readonly userId: number;
  readonly ownId: number;
}

export interface OwnedKind {
  readonly row: OwnKind;
  readonly counter: CounterKind;
  /** Most of them that one user may have. */
  readonly limit: number;
}

/** What else the transaction holds. */
export interface WriteOptions {
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

export class OwnedRows<T extends Owned> {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  readonly #kind: OwnedKind;

  constructor(table: Table, counters: Counters, outbox: Outbox, kind: OwnedKind) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
    this.#kind = kind;
  }

  nextId(): Promise<number> {
    return this.#counters.next(this.#kind.counter);
  }

  /**
   * @param claims puts under keys of their own, refused as `taken:<name>`
   * @throws NameTaken, LimitReached, Missing when the user is gone
   */
  async create(record: T, claims: readonly Put[], options: WriteOptions = {}): Promise<void> {
    const { row, limit } = this.#kind;
    const claimed = claims.map(keyOf).map(({ pk, sk }) => ({ pk, sk }));
    const writes: Write[] = [
      {
        put: { ...ownKey(record.userId, row, record.id), ...(record as object), claimed },
        if: ABSENT,
        reason: 'row',
      },
      ...claims,
      {
        update: ownCountKey(record.userId),
        add: { [row]: 1 },
        if: `attribute_not_exists(#${row}) OR #${row} < :limit`,
        values: { limit },
        reason: 'limit',
      },
      userLives(record.userId),
      ...(options.alongside ?? []),
    ];
    try {
      await this.#outbox.commit(writes, options.messages ?? []);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('user')) throw new Missing('user');
      if (error.has('limit')) throw new LimitReached(row, limit);
      throw takenNames(error) ?? error;
    }
  }

  async get(userId: number, id: number): Promise<T | undefined> {
    return this.#fromItem(await this.#table.get(ownKey(userId, this.#kind.row, id)));
  }

  /** By id, ascending. */
  async list(userId: number, request: PageRequest): Promise<Page<T>> {
    const rows = { partition: userKey(userId).pk, prefix: ownPrefix(this.#kind.row) };
    const page = await pageOfRows(this.#table, rows, request);
    return { ...page, items: page.items.map((item) => this.#fromItem(item)!) };
  }

  /** All of them: no more than the limit. */
  async all(userId: number): Promise<T[]> {
    const found: T[] = [];
    const rows = { partition: userKey(userId).pk, prefix: ownPrefix(this.#kind.row) };
    for await (const item of this.#table.queryAll(rows)) found.push(this.#fromItem(item)!);
    return found;
  }

  /** What the row under a claim's key leads to: two reads. */
  async claimed(claim: Key): Promise<T | undefined> {
    const led = (await this.#table.get(claim)) as Led | undefined;
    return led && this.get(led.userId, led.ownId);
  }

  /** @throws Missing when it, or the user, is not there any more */
  async remove(record: T, { alongside = [], messages = [] }: WriteOptions = {}): Promise<void> {
    const key = ownKey(record.userId, this.#kind.row, record.id);
    const item = await this.#table.get(key);
    if (item === undefined) throw new Missing(this.#kind.row);
    try {
      await this.#outbox.commit(
        [
          ...taken(item),
          { update: ownCountKey(record.userId), add: { [this.#kind.row]: -1 } },
          userLives(record.userId),
          ...alongside,
        ],
        messages,
      );
    } catch (error) {
      throw error instanceof TransactionRefused ? new Missing(this.#kind.row) : error;
    }
  }

  /** Takes away those of a user who is gone, a few at a time. @returns whether any may be left */
  async removeOfUser(userId: number, limit = 25): Promise<boolean> {
    const partition = userKey(userId).pk;
    const page = await this.#table.query({
      partition,
      prefix: ownPrefix(this.#kind.row),
      limit,
      only: ['pk', 'sk', 'claimed'],
    });
    for (const item of page.items) {
      await this.#table.transact(taken(item)).catch((error: unknown) => {
        // Somebody else was at it.
        if (!(error instanceof TransactionRefused)) throw error;
      });
    }
    if (page.next !== undefined) return true;
    await this.#table.delete({ delete: ownCountKey(userId) });
    return false;
  }

  #fromItem(item: Item | undefined): T | undefined {
    if (item === undefined) return undefined;
    const { pk: _p, sk: _s, claimed: _c, ...record } = item;
    return record as unknown as T;
  }
}

const userLives = (userId: number): Write => ({ check: userKey(userId), if: PRESENT, reason: 'user' });

/** The writes that take a row away with what it claimed. */
function taken(item: Item): Write[] {
  const { pk, sk, claimed } = item as unknown as Key & { claimed: readonly Key[] };
  return [
    { delete: { pk, sk }, if: PRESENT, reason: 'row' },
    ...claimed.map((key): Write => ({ delete: { pk: key.pk, sk: key.sk } })),
  ];
}

/** A claim that leads to its row. @param name how it is called when it is taken */
export const claimOf = (key: Key, name: string, { userId, id }: Owned): Put => ({
  put: { ...key, ...({ userId, ownId: id } satisfies Led) },
  if: ABSENT,
  reason: `taken:${name}`,
});
