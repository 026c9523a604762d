import type { MemberSource } from '../../records/members.ts';
import { idOf, padded } from '../row-keys/key.ts';
import { listPartitions } from '../row-keys/lists.ts';
import { memberPartition } from '../row-keys/members.ts';
import { ACCESS_TOKEN } from '../row-keys/tokens.ts';
import { userPartition } from '../row-keys/users.ts';
import { chunkFor, countSources, MAX_TOTAL, type PageRequest } from '../table/paging.ts';
import {
  behindRow,
  type Direction,
  indexSource,
  type KeySource,
  type Range,
  rowSource,
} from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';
import { TOKEN_LIST } from './rows.ts';

/** Whose tokens to list. Where it is absent: the tokens of all users except impersonation tokens. */
export type TokensOf =
  | { readonly userId: number; readonly impersonation?: boolean }
  | { readonly resource: MemberSource };

/** The keys of a list of access tokens in order of creation, and a function that counts them. */
export function tokenKeys(
  table: Table,
  of: TokensOf | undefined,
  direction: Direction,
  request: PageRequest,
  idAfter?: number,
): { readonly sources: readonly KeySource[]; readonly count: () => Promise<number | undefined> } {
  const after = request.rows?.after;
  if (of === undefined) {
    const from = idAfter === undefined ? {} : { from: padded(idAfter + 1) };
    const partitions = listPartitions(TOKEN_LIST).map(
      (partition) => ({ index: 'byId', partition, ...from }) as const,
    );
    const chunk = chunkFor(request, partitions.length);
    const listed = partitions.map((where) => indexSource(table, where, direction, chunk, after));
    return { sources: listed.map(idSource), count: () => countSources(listed) };
  }
  const chunk = chunkFor(request, 1);
  if ('resource' in of) {
    const rows = { partition: memberPartition(of.resource), prefix: ACCESS_TOKEN } as const;
    return {
      sources: [rowSource(table, rows, direction, chunk, after)],
      count: () => table.count(rows, MAX_TOTAL),
    };
  }
  const rows = {
    index: 'byUser',
    partition: userPartition(of.userId),
    prefix: of.impersonation === true ? 'IMPERSONATION#' : 'TOKEN#',
  } as const;
  return {
    sources: [userSource(table, behindRow(rows, direction, after?.sort), direction, chunk)],
    count: () => table.count(rows, MAX_TOTAL),
  };
}

/** Reads the id from the sort key, because a token's own key is its hash. */
const idSource = (source: KeySource): KeySource => ({
  next: async () => (await source.next()).map(({ sort }) => ({ sort, id: idOf(sort) })),
});

/** Keys of a user's rows, `chunk` at a time. */
function userSource(
  table: Table,
  rows: { readonly index: 'byUser'; readonly partition: string; readonly prefix?: string } & Range,
  direction: Direction,
  chunk: number,
): KeySource {
  let startKey: Item | undefined;
  let done = false;
  return {
    async next() {
      if (done) return [];
      const page = await table.query({
        ...rows,
        reverse: direction === 'desc',
        limit: chunk,
        ...(startKey === undefined ? {} : { startKey }),
      });
      startKey = page.next;
      done = startKey === undefined;
      return page.items.map(({ what }) => ({ sort: what as string, id: idOf(what as string) }));
    },
  };
}
