/**
 * Statuses of commits that external systems report. A pipeline and its statuses change in one transaction that is conditional on
 * the pipeline's version, so the pipeline's own status always matches the statuses in it.
 */
import type { AuthorSnapshot } from '../../records/authors.ts';
import type { PipelineRecord, ReportedState } from '../../records/pipelines.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { PIN_REFUSED } from '../repository/pinned-commits.ts';
import { commitRowKey, pipelineOfRefKey, statusOfNameKey } from '../row-keys/pipelines.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Write } from '../table/write.ts';
import { changedPipeline, fromItem, newPipeline } from './rows.ts';

export interface CommitStatusRecord {
  readonly id: number;
  readonly projectId: number;
  readonly pipelineId: number;
  readonly sha: string;
  readonly ref: string;
  readonly stage: string;
  readonly name: string;
  readonly state: ReportedState;
  readonly targetUrl: string | null;
  readonly description: string | null;
  /** Percent. */
  readonly coverage: number | null;
  readonly author: AuthorSnapshot;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

/** A status and its pipeline: the new values, and the previous ones. */
export interface StatusWrite {
  readonly pipeline: PipelineRecord;
  /** The pipeline as it was read; undefined for a new pipeline. */
  readonly previous: PipelineRecord | undefined;
  readonly status: CommitStatusRecord;
  /** The current status of this name before the write: `status` itself, or the one that it replaces. */
  readonly current: CommitStatusRecord | undefined;
  /** Further writes of the same transaction. */
  readonly alongside?: readonly Write[];
}

/** Maximum per pipeline, including replaced statuses. */
export const MAX_STATUSES = 10_000;

export class ReportedStatuses {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /** Returns the current status of a name in a pipeline. Costs two reads. */
  async current(
    { projectId, sha, id }: PipelineRecord,
    name: string,
  ): Promise<CommitStatusRecord | undefined> {
    const row = await this.#table.get(statusOfNameKey(projectId, sha, id, name));
    const item =
      row && (await this.#table.get(commitRowKey(projectId, sha, 'STATUS', row['statusId'] as number)));
    return item && (fromItem(item) as CommitStatusRecord);
  }

  nextId(): Promise<number> {
    return this.#counters.next('commit-status');
  }

  /**
   * @throws Stale when the pipeline changed since it was read, or the commit and ref have another one by now;
   *   LimitReached; Missing when the project is deleted; TransactionRefused for `alongside`
   */
  async write(write: StatusWrite): Promise<void> {
    if (write.pipeline.statuses > MAX_STATUSES) throw new LimitReached('statuses', MAX_STATUSES);
    const { projectId } = write.pipeline;
    try {
      await this.#table.transact([
        ...pipelineWrites(write),
        ...statusWrites(write),
        checkProjectExists(projectId),
        ...(write.alongside ?? []),
      ]);
    } catch (error) {
      if (!(error instanceof TransactionRefused) || error.has(PIN_REFUSED)) throw error;
      if (error.has('project')) throw new Missing('project');
      throw error.has('pipeline') ? new Stale('pipeline') : error;
    }
  }
}

/** Indexes a new pipeline by its commit, by commit and ref, by its ref, and by its id. */
function pipelineWrites({ pipeline, previous }: StatusWrite): Write[] {
  const { projectId, sha, id, ref } = pipeline;
  if (previous !== undefined) return changedPipeline(previous, pipeline);
  return [
    ...newPipeline(pipeline),
    { put: { ...pipelineOfRefKey(projectId, sha, ref), pipelineId: id }, if: ABSENT, reason: 'pipeline' },
  ];
}

function statusWrites({ pipeline, status, current }: StatusWrite): Write[] {
  const { projectId, sha, id } = status;
  const put = {
    ...commitRowKey(projectId, sha, 'STATUS', id),
    ...status,
    who: userPartition(status.author.id),
    what: userRow('STATUS', id),
  };
  if (current?.id === id) return [{ put, if: PRESENT, reason: 'pipeline' }];
  return [
    { put, if: ABSENT, reason: 'status' },
    { put: { ...commitRowKey(projectId, sha, 'LATEST', id) } },
    { put: { ...statusOfNameKey(projectId, sha, pipeline.id, status.name), statusId: id } },
    ...(current === undefined ? [] : [{ delete: commitRowKey(projectId, sha, 'LATEST', current.id) }]),
  ];
}
