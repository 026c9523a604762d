/** Deploy tokens: each is stored under the hash of its text and listed in the partition of its project or group. */

import type { MemberSource } from '../../records/members.ts';
import type { DeployTokenRecord } from '../../records/tokens.ts';
import { LimitReached, Missing, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import { idOf, padded } from '../row-keys/key.ts';
import { listPartition, listPartitions } from '../row-keys/lists.ts';
import { memberPartition } from '../row-keys/members.ts';
import {
  DEPLOY_TOKEN,
  deployTokenIdKey,
  deployTokenKey,
  deployTokenRow,
  tokenCountKey,
} from '../row-keys/tokens.ts';
import type { Counters } from '../table/counters.ts';
import { chunkFor, countSources, cutPage, MAX_TOTAL, type Page, type PageRequest } from '../table/paging.ts';
import { indexSource, type KeySource, mergeKeys, rowSource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Write } from '../table/write.ts';

export type NewDeployToken = Omit<DeployTokenRecord, 'id' | 'createdAt' | 'username'>;

export interface DeployTokenQuery extends PageRequest {
  /** The project or group; all deploy tokens of the instance when absent. */
  readonly resource?: MemberSource;
  readonly where?: (token: DeployTokenRecord) => boolean;
}

/** Maximum per project or group. */
export const MAX_DEPLOY_TOKENS = 500;

const LIST = 'DEPLOYTOKEN#all';

export class DeployTokens {
  readonly #table: Table;
  readonly #counters: Counters;

  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /**
   * @param usernameOf returns the username to show with the token, from the token's id
   * @throws Missing when the project or group does not exist, LimitReached
   */
  async create(
    token: NewDeployToken,
    {
      usernameOf,
      now,
      alongside,
    }: {
      usernameOf: (id: number) => string;
      now: Date;
      alongside?: (created: DeployTokenRecord) => readonly Write[];
    },
  ): Promise<DeployTokenRecord> {
    const id = await this.#counters.next('deploy-token');
    const record = { ...token, id, username: usernameOf(id), createdAt: now.toISOString() };
    const { hash, resource, scopes } = record;
    const lists = { list: listPartition(LIST, id), byId: padded(id) };
    try {
      await this.#table.transact([
        { put: { ...deployTokenKey(hash), ...record, scopes: [...scopes], ...lists }, if: ABSENT },
        { put: { ...deployTokenIdKey(id), hash } },
        { put: { ...deployTokenRow(resource, id), hash } },
        {
          update: tokenCountKey(resource),
          add: { deploy: 1 },
          if: 'attribute_not_exists(#deploy) OR #deploy < :limit',
          values: { limit: MAX_DEPLOY_TOKENS },
          reason: 'limit',
        },
        checkSourceExists(resource),
        ...(alongside?.(record) ?? []),
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has(resource.kind)) throw new Missing(resource.kind);
      throw error.has('limit') ? new LimitReached('deploy tokens', MAX_DEPLOY_TOKENS) : error;
    }
    return record;
  }

  /** One strongly consistent read. */
  async byHash(hash: string): Promise<DeployTokenRecord | undefined> {
    return fromItem(await this.#table.get(deployTokenKey(hash)));
  }

  async get(id: number): Promise<DeployTokenRecord | undefined> {
    return (await this.#getMany([id]))[0];
  }

  async #getMany(ids: readonly number[]): Promise<(DeployTokenRecord | undefined)[]> {
    const pointers = await this.#table.batchGet(ids.map(deployTokenIdKey));
    const keys = pointers.map((item) => deployTokenKey((item?.['hash'] as string | undefined) ?? '-'));
    return (await this.#table.batchGet(keys)).map(fromItem);
  }

  /** By id, ascending. */
  async list({ resource, where, ...request }: DeployTokenQuery): Promise<Page<DeployTokenRecord>> {
    const { sources, count } = this.#keys(resource, request);
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, 'asc', request.rows?.after), request, {
        load: (ids) => this.#getMany(ids),
        where,
      }),
      request.count && where === undefined ? count() : undefined,
    ]);
    return where === undefined ? { ...page, total } : page;
  }

  #keys(resource: MemberSource | undefined, request: PageRequest) {
    const after = request.rows?.after;
    if (resource !== undefined) {
      const rows = { partition: memberPartition(resource), prefix: DEPLOY_TOKEN } as const;
      const sources = [rowSource(this.#table, rows, 'asc', chunkFor(request, 1), after)];
      return { sources, count: () => this.#table.count(rows, MAX_TOTAL) };
    }
    const partitions = listPartitions(LIST).map((partition) => ({ index: 'byId', partition }) as const);
    const chunk = chunkFor(request, partitions.length);
    const listed = partitions.map((where) => indexSource(this.#table, where, 'asc', chunk, after));
    return { sources: listed.map(idSource), count: () => countSources(listed) };
  }

  /** Takes effect at once. @throws Missing */
  async remove({ id, hash, resource }: DeployTokenRecord, alongside: readonly Write[] = []): Promise<void> {
    try {
      await this.#table.transact([
        { delete: deployTokenKey(hash), if: PRESENT, reason: 'token' },
        { delete: deployTokenIdKey(id) },
        { delete: deployTokenRow(resource, id) },
        { update: tokenCountKey(resource), add: { deploy: -1 } },
        ...alongside,
      ]);
    } catch (error) {
      const missing = error instanceof TransactionRefused && error.has('token');
      throw missing ? new Missing('token') : error;
    }
  }

  /** Deletes up to `limit` tokens of a deleted project or group. @returns whether any are left */
  async removeOfResource(resource: MemberSource, limit = 100): Promise<boolean> {
    const rows = { partition: memberPartition(resource), prefix: DEPLOY_TOKEN };
    const page = await this.#table.query({ ...rows, limit, only: ['pk', 'sk', 'hash'] });
    for (const { pk, sk, hash } of page.items as { pk: string; sk: string; hash: string }[]) {
      await this.#table.transact([
        { delete: { pk, sk } },
        { delete: deployTokenKey(hash) },
        { delete: deployTokenIdKey(idOf(sk)) },
      ]);
    }
    return page.next !== undefined;
  }
}

/** Reads the id from the sort key, because a token's own key is its hash. */
const idSource = (source: KeySource): KeySource => ({
  next: async () => (await source.next()).map(({ sort }) => ({ sort, id: idOf(sort) })),
});

function fromItem(item: Item | undefined): DeployTokenRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, w: _w, list: _l, byId: _b, ...rest } = item;
  return rest as unknown as DeployTokenRecord;
}
