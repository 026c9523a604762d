/**
 * Things a user may have several of, such as keys: one row each in the user's partition, and claim rows under keys of
 * their own. A claim keeps a value unique among all users and points back to the row. A row and its claims are created
 * and deleted in one transaction.
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

/** What a claim row stores: the row that it points to. */
interface Led {
  readonly userId: number;
  readonly ownId: number;
}

export interface OwnedKind {
  readonly row: OwnKind;
  readonly counter: CounterKind;
  /** Maximum number of rows per user. */
  readonly limit: number;
}

/** Further writes and messages of the same transaction. */
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
   * @throws NameTaken, LimitReached, Missing when the user does not exist
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

  /** Returns all rows of a user: at most `limit` of the kind. */
  async all(userId: number): Promise<T[]> {
    const found: T[] = [];
    const rows = { partition: userKey(userId).pk, prefix: ownPrefix(this.#kind.row) };
    for await (const item of this.#table.queryAll(rows)) found.push(this.#fromItem(item)!);
    return found;
  }

  /** Returns the record that a claim points to: two reads. */
  async claimed(claim: Key): Promise<T | undefined> {
    const led = (await this.#table.get(claim)) as Led | undefined;
    return led && this.get(led.userId, led.ownId);
  }

  /** @throws Missing when the row or the user does not exist any more */
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

  /** Deletes up to `limit` rows of a deleted user, with their claims. @returns whether any may be left */
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
        // A concurrent deletion was faster.
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

/** The writes that delete a row and its claims. */
function taken(item: Item): Write[] {
  const { pk, sk, claimed } = item as unknown as Key & { claimed: readonly Key[] };
  return [
    { delete: { pk, sk }, if: PRESENT, reason: 'row' },
    ...claimed.map((key): Write => ({ delete: { pk: key.pk, sk: key.sk } })),
  ];
}

/** A claim that points to its row. @param name reported in the refusal when the claim is taken */
export const claimOf = (key: Key, name: string, { userId, id }: Owned): Put => ({
  put: { ...key, ...({ userId, ownId: id } satisfies Led) },
  if: ABSENT,
  reason: `taken:${name}`,
});
