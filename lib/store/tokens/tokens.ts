/** Access tokens of every kind. One item per token, under the hash of its text: checking a token takes one read. */

import type { MemberSource } from '../../records/members.ts';
import type { TokenRecord } from '../../records/tokens.ts';
import {
  AlreadyExists,
  ConditionFailed,
  LimitReached,
  Missing,
  Stale,
  TransactionRefused,
} from '../errors.ts';
import { MAINTENANCE, message, type Outbox, type OutboxMessage } from '../outbox/outbox.ts';
import { memberKey, memberPartition } from '../row-keys/members.ts';
import { ACCESS_TOKEN, accessTokenRow, tokenCountKey, tokenIdKey, tokenKey } from '../row-keys/tokens.ts';
import { userKey } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import { cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { type Direction, mergeKeys } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { PRESENT, type Write } from '../table/write.ts';
import { type TokensOf, tokenKeys } from './list.ts';
import { counted, familyOf, fromItem, MAX_TOKENS, type NewToken, ownerOf, rowsOf } from './rows.ts';

export interface TokenQuery extends PageRequest {
  readonly of?: TokensOf;
  /** Order of creation. Default: ascending. */
  readonly direction?: Direction;
  readonly where?: (token: TokenRecord) => boolean;
  /** Only tokens created after the one with this id. Works only without `of`. */
  readonly idAfter?: number;
}

/** The job that deletes the bot user of a project's or group's token. */
export const BOT_JOB = 'bot.remove';

export class Tokens {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;

  constructor(table: Table, counters: Counters, outbox: Outbox) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  /** @throws AlreadyExists when a token has the same text, Missing when the user does not exist, LimitReached */
  async create(
    token: NewToken,
    options: { now?: Date; alongside?: (created: TokenRecord) => readonly Write[] } = {},
  ): Promise<TokenRecord> {
    const record = await this.#record(token, options.now ?? new Date());
    const writes = [...rowsOf(record), counted(ownerOf(token))];
    const user: Write = { check: userKey(token.userId), if: PRESENT, reason: 'user' };
    try {
      await this.#table.transact([...writes, user, ...(options.alongside?.(record) ?? [])]);
    } catch (error) {
      throw error instanceof TransactionRefused ? creationError(error) : error;
    }
    return record;
  }

  /**
   * Prepares a token of a project or group for a bot that the caller creates in the same transaction. The transaction
   * is refused as `tokens` when there are too many tokens, or another bot was created meanwhile.
   * @returns the number of bots created before, and a function from the bot's id to the token's record and rows
   */
  async prepareOfBot(
    token: Omit<NewToken, 'userId' | 'resource'> & { readonly resource: MemberSource },
    now: Date,
  ): Promise<{ bots: number; of: (userId: number) => { record: TokenRecord; writes: Write[] } }> {
    const { resource } = token;
    const [draft, row] = await Promise.all([
      this.#record({ ...token, userId: 0 }, now),
      this.#table.get(tokenCountKey(resource)),
    ]);
    const bots = (row?.['bots'] as number | undefined) ?? 0;
    const of = (userId: number) => {
      const record = { ...draft, userId };
      return { record, writes: [...rowsOf(record), counted(resource, bots)] };
    };
    return { bots, of };
  }

  /** One strongly consistent read. Also returns revoked and expired tokens: the caller checks for them. */
  async byHash(hash: string): Promise<TokenRecord | undefined> {
    return fromItem(await this.#table.get(tokenKey(hash)));
  }

  async get(id: number): Promise<TokenRecord | undefined> {
    return (await this.getMany([id]))[0];
  }

  /** In the order of the ids. */
  async getMany(ids: readonly number[]): Promise<(TokenRecord | undefined)[]> {
    const pointers = await this.#table.batchGet(ids.map(tokenIdKey));
    const keys = pointers.map((item) => tokenKey((item?.['hash'] as string | undefined) ?? '-'));
    return (await this.#table.batchGet(keys)).map(fromItem);
  }

  /**
   * Takes effect at once; idempotent. With a token of a project or group, its bot is removed too: the membership at
   * once, the user by a job.
   * @param alongside written only by the call that revokes the token first
   * @throws Missing
   */
  async revoke(token: TokenRecord, alongside: readonly Write[] = []): Promise<void> {
    const { resource, userId } = token;
    const writes: Write[] = [
      {
        update: tokenKey(token.hash),
        set: { revoked: true },
        if: `${PRESENT} AND #revoked = :no`,
        values: { no: false },
        reason: 'token',
      },
      { update: tokenCountKey(ownerOf(token)), add: { live: -1 } },
      ...(resource === undefined
        ? []
        : [{ delete: memberKey(resource, userId) }, { delete: accessTokenRow(resource, token.id) }]),
      ...alongside,
    ];
    try {
      await this.#outbox.commit(writes, resource === undefined ? [] : [botMessage(userId)]);
    } catch (error) {
      const refusal = error instanceof TransactionRefused ? error.get('token') : undefined;
      if (refusal === undefined) throw error;
      if (refusal.item === undefined) throw new Missing('token');
    }
  }

  /**
   * Replaces a token that is not revoked by a new one, in one transaction: of two concurrent calls, one is refused.
   * @param change the new token's hash and expiry; everything else stays the same
   * @throws Stale when the token is revoked, Missing
   */
  async rotate(
    token: TokenRecord,
    change: Pick<NewToken, 'hash' | 'expiresAt'>,
    now: Date,
    alongside: (created: TokenRecord) => readonly Write[] = () => [],
  ): Promise<TokenRecord> {
    const { id: _i, createdAt: _c, lastUsedAt: _l, revoked: _r, ...inherited } = token;
    const familyId = familyOf(token);
    const record = await this.#record({ ...inherited, ...change, familyId }, now);
    const { resource, userId } = token;
    try {
      await this.#table.transact([
        {
          update: tokenKey(token.hash),
          set: { revoked: true },
          if: `${PRESENT} AND #revoked = :no`,
          values: { no: false },
          reason: 'rotated',
        },
        ...rowsOf(record),
        { update: tokenIdKey(familyId), set: { current: record.id }, if: PRESENT, reason: 'family' },
        { check: userKey(userId), if: PRESENT, reason: 'user' },
        ...(resource === undefined
          ? []
          : ([
              { delete: accessTokenRow(resource, token.id) },
              {
                update: memberKey(resource, userId),
                set: { expiresAt: record.expiresAt },
                if: PRESENT,
                reason: 'user',
              },
            ] satisfies Write[])),
        ...alongside(record),
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      throw error.get('rotated')?.item === undefined ? creationError(error) : new Stale('token');
    }
    return record;
  }

  /** Returns the current token of a family that was rotated; otherwise the token itself. */
  async successor(token: TokenRecord): Promise<TokenRecord | undefined> {
    const pointer = await this.#table.get(tokenIdKey(familyOf(token)));
    return this.get((pointer?.['current'] as number | undefined) ?? token.id);
  }

  /** Records the use of a token, at most once a day. */
  async touch(token: TokenRecord, now = new Date()): Promise<void> {
    const at = now.toISOString();
    const day = at.slice(0, 10);
    if (token.lastUsedAt !== null && token.lastUsedAt >= day) return;
    try {
      await this.#table.update({
        update: tokenKey(token.hash),
        set: { lastUsedAt: at },
        if: `${PRESENT} AND (attribute_type(#lastUsedAt, :null) OR #lastUsedAt < :day)`,
        values: { null: 'NULL', day },
      });
    } catch (error) {
      // Another request already recorded a use today.
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }

  /** One page, in order of keys. With a filter, at most 5,000 tokens are read. */
  async list({ of, direction = 'asc', where, idAfter, ...request }: TokenQuery): Promise<Page<TokenRecord>> {
    const { sources, count } = tokenKeys(this.#table, of, direction, request, idAfter);
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, direction, request.rows?.after), request, {
        load: (ids) => this.getMany(ids),
        where,
      }),
      request.count && where === undefined ? count() : undefined,
    ]);
    return where === undefined ? { ...page, total } : page;
  }

  /**
   * Unlists up to `limit` tokens of a deleted project or group, and enqueues the deletion of their bots.
   * @returns whether any are left
   */
  async removeOfResource(resource: MemberSource, limit = 100): Promise<boolean> {
    const rows = { partition: memberPartition(resource), prefix: ACCESS_TOKEN };
    const page = await this.#table.query({ ...rows, limit, only: ['pk', 'sk', 'userId'] });
    for (const { pk, sk, userId } of page.items as { pk: string; sk: string; userId: number }[]) {
      await this.#outbox.commit([{ delete: { pk, sk } }], [botMessage(userId)]);
    }
    if (page.next === undefined) await this.#table.delete({ delete: tokenCountKey(resource) });
    return page.next !== undefined;
  }

  /** Deletes a token whose user was deleted, with the rows that point to it. */
  async forget(hash: string): Promise<void> {
    const token = await this.byHash(hash);
    if (token === undefined) return;
    const { id, resource, revoked } = token;
    const listed = resource === undefined ? [] : [{ delete: accessTokenRow(resource, id) }];
    // In one transaction: an id without a token, or a token without an id, could not be revoked.
    await this.#table.transact([{ delete: tokenKey(hash) }, { delete: tokenIdKey(id) }, ...listed]);
    if (resource === undefined || revoked) return;
    await this.#table
      .update({ update: tokenCountKey(resource), add: { live: -1 }, if: PRESENT })
      .catch((error: unknown) => {
        if (!(error instanceof ConditionFailed)) throw error;
      });
  }

  async #record(token: NewToken, now: Date): Promise<TokenRecord> {
    const id = await this.#counters.next('token');
    return { ...token, id, createdAt: now.toISOString(), lastUsedAt: null, revoked: false };
  }
}

const botMessage = (userId: number): OutboxMessage => message(MAINTENANCE, BOT_JOB, { userId });

function creationError(error: TransactionRefused): Error {
  if (error.has('token')) return new AlreadyExists('token');
  if (error.has('tokens')) return new LimitReached('tokens', MAX_TOKENS);
  return ['user', 'family', 'rotated'].some((what) => error.has(what)) ? new Missing('token') : error;
}
