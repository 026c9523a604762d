/** The statuses of a commit: those of jobs of its pipelines, and those that were reported from outside. */
import type { JobRecord } from '../../records/pipelines.ts';
import type { Pipelines } from '../pipelines/pipelines.ts';
import type { CommitStatusRecord } from '../pipelines/reported-statuses.ts';
import { fromItem } from '../pipelines/rows.ts';
import { JOB_PREFIX, jobKey, pipelineJobsPartition } from '../row-keys/jobs.ts';
import { idOf, padded } from '../row-keys/key.ts';
import { commitRowKey, commitRowPrefix, pipelinesPartition } from '../row-keys/pipelines.ts';
import { chunkFor, countSources, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { behindRow, mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';

/** The newest pipelines of a commit, whose jobs are listed. */
const MAX_PIPELINES = 100;

export interface StatusQuery {
  /** Includes replaced statuses, and jobs that were repeated. */
  readonly all: boolean;
  readonly ref?: string | undefined;
  readonly stage?: string | undefined;
  readonly name?: string | undefined;
}

/** Jobs and reported statuses share their ids. */
export type ListedStatus =
  | { readonly kind: 'job'; readonly job: JobRecord }
  | { readonly kind: 'reported'; readonly status: CommitStatusRecord };

export class CommitStatuses {
  readonly #table: Table;
  readonly #pipelines: Pipelines;
  constructor(table: Table, pipelines: Pipelines) {
    this.#table = table;
    this.#pipelines = pipelines;
  }

  /** Returns a page of the statuses of a commit, sorted by id. */
  async page(
    projectId: number,
    sha: string,
    { all, ...filters }: StatusQuery,
    request: PageRequest,
  ): Promise<Page<ListedStatus>> {
    const wanted = (['ref', 'stage', 'name'] as const).filter((field) => filters[field] !== undefined);
    const filtered = wanted.length > 0;
    const pipelines = (await this.#pipelines.ofCommit(projectId, sha, MAX_PIPELINES)).filter(
      ({ jobStatus, ref }) => jobStatus !== undefined && (filters.ref ?? ref) === ref,
    );
    const pipelineOf = new Map<number, number>();
    const chunk = filtered ? 100 : chunkFor(request, 1 + pipelines.length);
    const reported = {
      partition: pipelinesPartition(projectId),
      prefix: commitRowPrefix(sha, all ? 'STATUS' : 'LATEST'),
      only: ['sk'],
    };
    // Ids alone are the order here: another sort key would pass over all of them.
    const after = request.rows?.after && { sort: '', id: request.rows.after.id };
    const begun = <R extends { readonly prefix: string }>(rows: R) =>
      behindRow(rows, 'asc', after && rows.prefix + padded(after.id));
    const sources = [
      querySource(this.#table, begun(reported), 'asc', chunk, ({ sk }) => ({
        sort: '',
        id: idOf(sk as string),
      })),
      ...pipelines.map(({ id: pipelineId }) => {
        const jobs = { partition: pipelineJobsPartition(pipelineId), prefix: JOB_PREFIX, only: ['sk'] };
        const current = { where: '#retried = :no', values: { no: false } };
        return querySource(
          this.#table,
          { ...begun(jobs), ...(all ? {} : current) },
          'asc',
          chunk,
          ({ sk }) => {
            const id = idOf(sk as string);
            pipelineOf.set(id, pipelineId);
            return { sort: '', id };
          },
        );
      }),
    ];
    const total = request.count && !filtered ? countSources(sources) : undefined;
    // Its failure is thrown where it is awaited.
    total?.catch(() => {});
    const fits = (listed: ListedStatus) => {
      const of = listed.kind === 'job' ? listed.job : listed.status;
      return wanted.every((field) => of[field] === filters[field]);
    };
    const page = await cutPage(mergeKeys(sources, 'asc', after), request, {
      load: (ids) => this.#load(projectId, sha, ids, pipelineOf),
      where: filtered ? fits : undefined,
    });
    return filtered ? page : { ...page, total: await total };
  }

  async #load(
    projectId: number,
    sha: string,
    ids: readonly number[],
    pipelineOf: ReadonlyMap<number, number>,
  ): Promise<(ListedStatus | undefined)[]> {
    const keys = ids.map((id) => {
      const pipelineId = pipelineOf.get(id);
      return pipelineId === undefined ? commitRowKey(projectId, sha, 'STATUS', id) : jobKey(pipelineId, id);
    });
    return (await this.#table.batchGet(keys)).map((item, i) => {
      if (item === undefined) return undefined;
      return pipelineOf.has(ids[i]!)
        ? { kind: 'job', job: fromItem(item) as JobRecord }
        : { kind: 'reported', status: fromItem(item) as CommitStatusRecord };
    });
  }
}
