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
import { chunkFor, cutPage, MAX_TOTAL, type Page, type PageRequest } from '../table/paging.ts';
import { type Direction, mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { fromItem } from './rows.ts';

/** Which pipelines of a project a list has. */
export interface PipelineQuery {
  /** `ID`: the order of creation. */
  readonly order: PipelineOrder | 'ID';
  readonly direction: Direction;
  /** Those of these alone; the first that is given is looked up, the others filter. */
  readonly sha?: string | undefined;
  readonly ref?: string | undefined;
  readonly status?: CiStatus | undefined;
  readonly userId?: number | undefined;
  /** Filters all that are loaded. */
  readonly where?: ((pipeline: PipelineRecord) => boolean) | undefined;
}

export class PipelineList {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns a page of a project's pipelines. A filter loads all that the index finds, 5,000 at most. */
  async page(
    projectId: number,
    { order, direction, where, ...query }: PipelineQuery,
    request: PageRequest,
  ): Promise<Page<PipelineRecord>> {
    const { prefix, filters } = narrowed(query, order);
    const rows = { partition: pipelinesPartition(projectId), prefix };
    const shas = new Map<number, string>();
    const wheres = [...filters, ...(where === undefined ? [] : [where])];
    const filtered = wheres.length > 0;
    const chunk = filtered ? 200 : chunkFor(request, 1);
    const source = querySource(this.#table, { ...rows, only: ['sk', 'sha'] }, direction, chunk, (item) => {
      const id = idOf(item['sk'] as string);
      shas.set(id, (item['sha'] as string | undefined) ?? query.sha!);
      return { sort: item['sk'] as string, id };
    });
    const [page, total] = await Promise.all([
      cutPage(mergeKeys([source], direction), request, {
        load: async (ids) => {
          const keys = ids.map((id) => commitRowKey(projectId, shas.get(id)!, 'PIPELINE', id));
          return (await this.#table.batchGet(keys)).map((item) => item && (fromItem(item) as PipelineRecord));
        },
        where: filtered ? (pipeline) => wheres.every((fits) => fits(pipeline)) : undefined,
      }),
      request.count && !filtered ? this.#table.count(rows, MAX_TOTAL) : undefined,
    ]);
    return filtered ? page : { ...page, total };
  }
}

/** The rows that a query reads, and what it compares of those it loads. */
function narrowed(
  { sha, ref, status, userId }: Omit<PipelineQuery, 'order' | 'direction' | 'where'>,
  order: PipelineOrder | 'ID',
): { readonly prefix: string; readonly filters: ((pipeline: PipelineRecord) => boolean)[] } {
  const found: { by: string; prefix: string; fits: (pipeline: PipelineRecord) => boolean }[] = [];
  if (sha !== undefined)
    found.push({ by: 'sha', prefix: commitRowPrefix(sha, 'PIPELINE'), fits: (each) => each.sha === sha });
  if (ref !== undefined)
    found.push({ by: 'ref', prefix: refPipelinePrefix(ref), fits: (each) => each.ref === ref });
  if (userId !== undefined)
    found.push({
      by: 'user',
      prefix: pipelinePlacePrefix('USER', padded(userId)),
      fits: (each) => each.author.id === userId,
    });
  if (status !== undefined)
    found.push({
      by: 'status',
      prefix: pipelinePlacePrefix('STATUS', status),
      fits: (each) => each.status === status,
    });
  // What has one value only is in the order of ids.
  const same = { NAME: 'ref', USER: 'user', STATUS: 'status' };
  const inIds =
    order === 'ID' || (order !== 'UPDATED' && found.some(({ by }) => by === same[order])) ? found : [];
  const [first] = inIds;
  return {
    prefix: first?.prefix ?? (order === 'ID' ? 'ID#' : pipelinePlacePrefix(order)),
    filters: found.filter((each) => each !== first).map(({ fits }) => fits),
  };
}
