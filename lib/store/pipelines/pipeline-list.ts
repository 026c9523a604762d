/** Lists of the pipelines of a project. */
import type { CiStatus, PipelineRecord } from '../../records/pipelines.ts';
import { idOf, padded } from '../row-keys/key.ts';
import {
  commitRowKey,
  commitRowPrefix,
  type PipelineOrder,
  pipelinePlacePrefix,
  pipelinesPartition,
  refPipelinePrefix,
} from '../row-keys/pipelines.ts';
import type { Position } from '../table/cursor.ts';
import { chunkFor, countSources, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { behind, type Direction, listSource, mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { QueryOptions, Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';
import { fromItem } from './rows.ts';

/** Prefix of all of a project in the order of ids. */
const IDS = 'ID#';
/** Pipelines of a time that are sorted by id. */
const MAX_SORTED = 5_000;

/** Which pipelines of a project a list has. */
export interface PipelineQuery {
  /** `ID`: the order of creation. */
  readonly order: PipelineOrder | 'ID';
  readonly direction: Direction;
  /** Those of these alone; the first that is given is looked up, the others filter. */
  readonly sha?: string | undefined;
  readonly ref?: string | undefined;
  readonly statuses?: readonly CiStatus[] | undefined;
  readonly userId?: number | undefined;
  /** Those that changed last at this time or later, or earlier. */
  readonly updatedFrom?: string | undefined;
  readonly updatedTo?: string | undefined;
  /** Only those behind this one, in the order of ids. */
  readonly past?: number | undefined;
  /** Filters all that are loaded. */
  readonly where?: ((pipeline: PipelineRecord) => boolean) | undefined;
}

export class PipelineList {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Returns a page of a project's pipelines. A filter loads all that the index finds, 5,000 at most; by id and of a time, no
   * more than that time has.
   */
  async page(
    projectId: number,
    { order, direction, where, past, ...query }: PipelineQuery,
    request: PageRequest,
  ): Promise<Page<PipelineRecord>> {
    const partition = pipelinesPartition(projectId);
    const { prefixes, filters } = narrowed(query, order);
    const [prefix] = prefixes;
    const time = timeOf(query);
    const byTime = time !== undefined && prefix === pipelinePlacePrefix('UPDATED');
    const only = ['sk', 'sha'];
    const rangeOf = (each: string) => (past === undefined ? { prefix: each } : behind(each, past, direction));
    const ranges = byTime ? [time.range] : prefixes.map(rangeOf);
    const shas = new Map<number, string>();
    const keyOf = (item: Item) => {
      const id = idOf(item['sk'] as string);
      shas.set(id, (item['sha'] as string | undefined) ?? query.sha!);
      return { sort: order === 'ID' ? '' : (item['sk'] as string), id };
    };
    const sorted =
      time !== undefined && prefix === IDS
        ? (await this.#allOf({ partition, ...time.range, only }, keyOf))?.filter(
            ({ id }) => past === undefined || (direction === 'asc' ? id > past : id < past),
          )
        : undefined;
    if (time !== undefined && !byTime && sorted === undefined) filters.push(time.fits);
    if (where !== undefined) filters.push(where);
    const filtered = filters.length > 0;
    const chunk = filtered ? 200 : chunkFor(request, 1);
    const sources = ranges.map((range) =>
      querySource(this.#table, { partition, ...range, only }, direction, chunk, keyOf),
    );
    const counted = () => (sorted === undefined ? countSources(sources) : sorted.length);
    const [page, total] = await Promise.all([
      cutPage(
        mergeKeys(sorted === undefined ? sources : [listSource(sorted, direction)], direction),
        request,
        {
          load: async (ids) => {
            const keys = ids.map((id) => commitRowKey(projectId, shas.get(id)!, 'PIPELINE', id));
            return (await this.#table.batchGet(keys)).map(
              (item) => item && (fromItem(item) as PipelineRecord),
            );
          },
          where: filtered ? (pipeline) => filters.every((fits) => fits(pipeline)) : undefined,
        },
      ),
      request.count && !filtered ? counted() : undefined,
    ]);
    return filtered ? page : { ...page, total };
  }

  /** All keys of a range, to be sorted by id; undefined where they are too many. */
  async #allOf(rows: QueryOptions, keyOf: (item: Item) => Position): Promise<Position[] | undefined> {
    const keys: Position[] = [];
    for await (const item of this.#table.queryAll({ ...rows, limit: MAX_SORTED + 1 }))
      if (keys.push(keyOf(item)) > MAX_SORTED) return undefined;
    return keys;
  }
}

/** Those that changed last in a time: their places, and what tells one. */
function timeOf({ updatedFrom, updatedTo }: Pick<PipelineQuery, 'updatedFrom' | 'updatedTo'>) {
  if (updatedFrom === undefined && updatedTo === undefined) return undefined;
  const prefix = pipelinePlacePrefix('UPDATED');
  const [from, to] = [updatedFrom ?? '', updatedTo ?? '~'];
  return {
    range: { from: `${prefix}${from}`, to: `${prefix}${to}~` },
    fits: ({ updatedAt }: PipelineRecord) => updatedAt >= from && updatedAt <= to,
  };
}

/** The rows that a query reads, and what it compares of those it loads. */
function narrowed(
  { sha, ref, statuses, userId }: Pick<PipelineQuery, 'sha' | 'ref' | 'statuses' | 'userId'>,
  order: PipelineOrder | 'ID',
): { readonly prefixes: readonly string[]; readonly filters: ((pipeline: PipelineRecord) => boolean)[] } {
  const found: { by: string; prefixes: string[]; fits: (pipeline: PipelineRecord) => boolean }[] = [];
  if (sha !== undefined)
    found.push({ by: 'sha', prefixes: [commitRowPrefix(sha, 'PIPELINE')], fits: (each) => each.sha === sha });
  if (ref !== undefined)
    found.push({ by: 'ref', prefixes: [refPipelinePrefix(ref)], fits: (each) => each.ref === ref });
  if (userId !== undefined)
    found.push({
      by: 'user',
      prefixes: [pipelinePlacePrefix('USER', padded(userId))],
      fits: (each) => each.author.id === userId,
    });
  if (statuses !== undefined)
    found.push({
      by: statuses.length === 1 ? 'status' : 'statuses',
      prefixes: statuses.map((status) => pipelinePlacePrefix('STATUS', status)),
      fits: (each) => statuses.includes(each.status),
    });
  // What has one value only is in the order of ids.
  const same = { NAME: 'ref', USER: 'user', STATUS: 'status' };
  const inIds =
    order === 'ID' || (order !== 'UPDATED' && found.some(({ by }) => by === same[order])) ? found : [];
  const first = order === 'ID' ? inIds[0] : inIds.find(({ by }) => by !== 'statuses');
  return {
    prefixes: first?.prefixes ?? [order === 'ID' ? IDS : pipelinePlacePrefix(order)],
    filters: found.filter((each) => each !== first).map(({ fits }) => fits),
  };
}
