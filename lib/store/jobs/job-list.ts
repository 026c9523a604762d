/** Lists of jobs: of a project, of a pipeline, of a runner. */
import { CI_STATUSES, type CiStatus, type JobRecord } from '../../records/pipelines.ts';
import {
  JOB_PREFIX,
  jobKey,
  jobStateKey,
  jobStatePrefix,
  pipelineJobsPartition,
  projectJobsPartition,
  runnerJobsPartition,
} from '../row-keys/jobs.ts';
import { idOf, type Key } from '../row-keys/key.ts';
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import {
  behind,
  behindRow,
  type Direction,
  mergeKeys,
  querySource,
  rowSource,
} from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';

import { MAX_JOBS } from './jobs.ts';
import { fromItem } from './rows.ts';

export class JobList {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns jobs of a project in a status in the order of ids, `limit` at most, and where to go on. */
  async inStatus(
    projectId: number,
    status: CiStatus,
    after: number,
    limit: number,
  ): Promise<{ readonly jobs: readonly JobRecord[]; readonly next: number | undefined }> {
    const { items, next } = await this.#table.query({
      partition: projectJobsPartition(projectId),
      from: jobStateKey(projectId, status, after + 1).sk,
      to: `${jobStatePrefix(status)}~`,
      limit,
    });
    const ids = items.map(({ sk }) => idOf(sk as string));
    const loaded = await this.#load(ids.map((id, i) => jobKey(items[i]!['pipelineId'] as number, id)));
    return {
      jobs: loaded.filter((job) => job !== undefined),
      next: next === undefined ? undefined : ids.at(-1),
    };
  }

  /**
   * Returns a page of a project's jobs, the newest first.
   * @param scope absent: of every status
   * @param before only those older than this one
   */
  async ofProject(
    projectId: number,
    {
      scope = CI_STATUSES,
      where,
      before,
    }: {
      readonly scope?: readonly CiStatus[];
      readonly where?: (job: JobRecord) => boolean;
      readonly before?: number | undefined;
    },
    request: PageRequest,
  ): Promise<Page<JobRecord>> {
    const pipelines = new Map<number, number>();
    const partition = projectJobsPartition(projectId);
    const rowsOf = (prefix: string) => (before === undefined ? { prefix } : behind(prefix, before, 'desc'));
    const sources = [...new Set(scope)].map((status) =>
      querySource(
        this.#table,
        { partition, ...rowsOf(jobStatePrefix(status)), only: ['sk', 'pipelineId'] },
        'desc',
        chunkFor(request, 1),
        (item) => {
          const id = idOf(item['sk'] as string);
          pipelines.set(id, item['pipelineId'] as number);
          return { sort: '', id };
        },
      ),
    );
    return cutPage(mergeKeys(sources, 'desc'), request, {
      load: (ids) => this.#load(ids.map((id) => jobKey(pipelines.get(id)!, id))),
      where,
      // Nearly all fit.
      batchSize: Math.min(400, request.page * request.perPage + 10),
    });
  }

  /**
   * Returns a page of the jobs that a runner has taken. A filter looks at 5,000 of them at most.
   * @param visible says which of some jobs are shown at all
   */
  async ofRunner(
    runnerId: number,
    {
      direction,
      where,
      visible,
    }: {
      readonly direction: Direction;
      readonly where?: ((job: JobRecord) => boolean) | undefined;
      readonly visible: (jobs: readonly JobRecord[]) => Promise<(job: JobRecord) => boolean>;
    },
    request: PageRequest,
  ): Promise<Page<JobRecord>> {
    const pipelines = new Map<number, number>();
    const rows = { partition: runnerJobsPartition(runnerId), prefix: JOB_PREFIX };
    const chunk = where === undefined ? chunkFor(request, 1) : 200;
    const after = request.rows?.after;
    const begun = behindRow(rows, direction, after?.sort);
    const source = querySource(this.#table, begun, direction, chunk, (item) => {
      const sort = item['sk'] as string;
      const id = idOf(sort);
      pipelines.set(id, item['pipelineId'] as number);
      return { sort, id };
    });
    return cutPage(mergeKeys([source], direction, after), request, {
      load: async (ids) => {
        const jobs = await this.#load(ids.map((id) => jobKey(pipelines.get(id)!, id)));
        const shown = await visible(jobs.filter((job) => job !== undefined));
        return jobs.map((job) => (job === undefined || !shown(job) ? undefined : job));
      },
      where,
    });
  }

  /** Returns a page of a pipeline's jobs, the newest first. */
  async ofPipeline(
    pipelineId: number,
    where: (job: JobRecord) => boolean,
    request: PageRequest,
  ): Promise<Page<JobRecord>> {
    const rows = { partition: pipelineJobsPartition(pipelineId), prefix: JOB_PREFIX };
    return cutPage(mergeKeys([rowSource(this.#table, rows, 'desc', 500)], 'desc'), request, {
      load: (ids) => this.#load(ids.map((id) => jobKey(pipelineId, id))),
      where,
      countWalk: MAX_JOBS,
      walk: MAX_JOBS,
    });
  }

  async #load(keys: readonly Key[]): Promise<(JobRecord | undefined)[]> {
    return (await this.#table.batchGet(keys)).map(fromItem);
  }
}
