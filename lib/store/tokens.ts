/** Personal access tokens. One item per token, under the hash of its text: access is one read. */
import type { Counters } from './counters.ts';
import { AlreadyExists, ConditionFailed, Missing, TransactionRefused } from './errors.ts';
import {
  idOf,
  listPartition,
  listPartitions,
  padded,
  tokenIdKey,
  tokenKey,
  userPartition,
  userRow,
} from './keys.ts';
import type { Page, PageRequest } from './paging.ts';
import { chunkFor, countPartitions, cutPage, indexSource, listSource, mergeKeys } from './paging.ts';
import type { TokenRecord } from './records.ts';
import type { Table } from './table.ts';
import { ABSENT, type Item, PRESENT, type Write } from './write.ts';

export type NewToken = Omit<TokenRecord, 'id' | 'createdAt' | 'lastUsedAt' | 'revoked'>;

const LIST = 'TOKEN#all';

export class Tokens {
  readonly #table: Table;
  readonly #counters: Counters;

  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /** @throws AlreadyExists when the same text was given out before. */
  async create(
    token: NewToken,
    options: { now?: Date; alongside?: readonly Write[] } = {},
  ): Promise<TokenRecord> {
    const { record, writes } = await this.prepare(token, options.now);
    try {
      await this.#table.transact([...writes, ...(options.alongside ?? [])]);
    } catch (error) {
      if (error instanceof TransactionRefused && error.has('token')) throw new AlreadyExists('token');
      throw error;
    }
    return record;
  }

  /** A token and its rows, for a transaction of the caller's: a user and their first token, say. */
  async prepare(token: NewToken, now = new Date()): Promise<{ record: TokenRecord; writes: Write[] }> {
    const id = await this.#counters.next('token');
    const record: TokenRecord = {
      ...token,
      id,
      createdAt: now.toISOString(),
      lastUsedAt: null,
      revoked: false,
    };
    return {
      record,
      writes: [
        {
          put: {
            ...tokenKey(token.hash),
            ...record,
            scopes: [...record.scopes],
            list: listPartition(LIST, id),
            byId: padded(id),
            who: userPartition(token.userId),
            what: userRow('TOKEN', id),
          },
          if: ABSENT,
          reason: 'token',
        },
        { put: { ...tokenIdKey(id), hash: token.hash }, if: ABSENT, reason: 'token-id' },
      ],
    };
  }

  /** One strongly consistent read. Revoked and expired tokens are found too: the caller tells them apart. */
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

  /** Effective at once. @throws Missing */
  async revoke(token: TokenRecord): Promise<void> {
    try {
      await this.#table.update({ update: tokenKey(token.hash), set: { revoked: true }, if: PRESENT });
    } catch (error) {
      if (error instanceof ConditionFailed) throw new Missing('token');
      throw error;
    }
  }

  /** Notes the use of a token, at most once a day. */
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
      // Somebody else noted it today.
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }

  /** Tokens of one user, or everybody's; id ascending. */
  async list(query: PageRequest & { readonly userId?: number }): Promise<Page<TokenRecord>> {
    const load = (ids: readonly number[]) => this.getMany(ids);
    if (query.userId !== undefined) {
      const rows = {
        index: 'byUser',
        partition: userPartition(query.userId),
        prefix: userRow('TOKEN', 0).slice(0, 6),
      } as const;
      const keys = [];
      for await (const item of this.#table.queryAll(rows)) {
        const id = idOf(item['what'] as string);
        keys.push({ sort: padded(id), id });
      }
      const page = await cutPage(mergeKeys([listSource(keys, 'asc')], 'asc'), query, { load });
      return { ...page, total: query.count ? keys.length : undefined };
    }
    const partitions = listPartitions(LIST).map((partition) => ({ index: 'byId', partition }) as const);
    const chunk = chunkFor(query, partitions.length);
    const sources = partitions.map((where) => tokenSource(indexSource(this.#table, where, 'asc', chunk)));
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, 'asc'), query, { load }),
      query.count ? countPartitions(this.#table, partitions) : undefined,
    ]);
    return { ...page, total };
  }
}

/** A token's own key is its hash; its id stands in the sort key. */
const tokenSource = (source: ReturnType<typeof indexSource>) => ({
  next: async () => (await source.next()).map(({ sort }) => ({ sort, id: idOf(sort) })),
});

function fromItem(item: Item | undefined): TokenRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, w: _w, list: _l, byId: _b, who: _o, what: _a, ...rest } = item;
  return rest as unknown as TokenRecord;
}
