/**
 * Pipelines of commits and their statuses. A pipeline and its statuses change in one transaction that is conditional on
 * the pipeline's version, so the pipeline's own status always matches the statuses in it.
 */

import type { AuthorSnapshot } from '../../records/authors.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { PIN_REFUSED } from '../repository/pinned-commits.ts';
import { idOf } from '../row-keys/key.ts';
import {
  commitRowKey,
  commitRowPrefix,
  pipelineIdKey,
  pipelineIidKey,
  pipelineOfRefKey,
  pipelinesPartition,
  refPipelineKey,
  refPipelinePrefix,
  statusOfNameKey,
} from '../row-keys/pipelines.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { chunkFor, cutPage, MAX_TOTAL, type Page, type PageRequest } from '../table/paging.ts';
import { mergeKeys, rowSource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Write } from '../table/write.ts';

/** States that external systems may report for a commit. */
const REPORTED_STATES = ['pending', 'running', 'success', 'failed', 'canceled'] as const;
export type ReportedState = (typeof REPORTED_STATES)[number];

export type PipelineOutcome = Extract<ReportedState, 'success' | 'failed'>;

export interface PipelineRecord {
  readonly id: number;
  /** Its number within the project. */
  readonly iid: number;
  readonly projectId: number;
  readonly sha: string;
  readonly ref: string;
  /** What created it: statuses reported by external systems. */
  readonly source: 'external';
  readonly status: ReportedState;
  /** Number of its statuses in each state, without replaced ones. */
  readonly states: Readonly<Partial<Record<ReportedState, number>>>;
  /** Total number of its statuses, including replaced ones. */
  readonly statuses: number;
  /** Its last final result, whatever its status is now; absent if there was none yet. */
  readonly outcome?: PipelineOutcome;
  readonly author: AuthorSnapshot;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly version: number;
}

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

export interface StatusQuery {
  /** Includes replaced statuses. */
  readonly all: boolean;
  readonly ref?: string | undefined;
  readonly stage?: string | undefined;
  readonly name?: string | undefined;
}

/** Maximum per pipeline, including replaced statuses. */
export const MAX_STATUSES = 10_000;

export class Pipelines {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /** Returns the newest pipeline of a commit. */
  async newest(projectId: number, sha: string): Promise<PipelineRecord | undefined> {
    const { items } = await this.#table.query({
      partition: pipelinesPartition(projectId),
      prefix: commitRowPrefix(sha, 'PIPELINE'),
      reverse: true,
      limit: 1,
    });
    return items[0] && (fromItem(items[0]) as PipelineRecord);
  }

  /** Returns the newest pipeline of a commit and ref. Costs two reads. */
  async ofRef(projectId: number, sha: string, ref: string): Promise<PipelineRecord | undefined> {
    const row = await this.#table.get(pipelineOfRefKey(projectId, sha, ref));
    return row && this.get(projectId, sha, row['pipelineId'] as number);
  }

  async get(projectId: number, sha: string, id: number): Promise<PipelineRecord | undefined> {
    const item = await this.#table.get(commitRowKey(projectId, sha, 'PIPELINE', id));
    return item && (fromItem(item) as PipelineRecord);
  }

  /** Returns the outcome of the last earlier pipeline of the ref that has one, among at most `most` earlier ones. */
  async outcomeBefore(
    { projectId, ref, id }: PipelineRecord,
    most = 100,
  ): Promise<PipelineOutcome | undefined> {
    let remaining = most;
    let before = id;
    while (remaining > 0) {
      const { items, next } = await this.#table.query({
        partition: pipelinesPartition(projectId),
        from: refPipelinePrefix(ref),
        to: refPipelineKey(projectId, ref, before - 1).sk,
        reverse: true,
        limit: Math.min(remaining, 10),
      });
      const ids = items.map(({ sk }) => idOf(sk as string));
      const rows = await this.#table.batchGet(
        items.map(({ sha }, i) => commitRowKey(projectId, sha as string, 'PIPELINE', ids[i]!)),
        { only: ['outcome'] },
      );
      const found = rows.find((row) => row?.['outcome'] !== undefined);
      if (found !== undefined) return found['outcome'] as PipelineOutcome;
      if (next === undefined || ids.length === 0) return undefined;
      before = ids.at(-1)!;
      remaining -= ids.length;
    }
    return undefined;
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

  /** Allocates an id, and a number within the project. */
  async nextPipeline(projectId: number): Promise<{ id: number; iid: number }> {
    const [id, item] = await Promise.all([
      this.#counters.next('pipeline'),
      this.#table.update({ update: pipelineIidKey(projectId), add: { n: 1 } }),
    ]);
    return { id, iid: item['n'] as number };
  }

  nextStatusId(): Promise<number> {
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

  /** Returns the statuses of a commit in all of its pipelines, sorted by id. */
  async statuses(
    projectId: number,
    sha: string,
    { all, ...filters }: StatusQuery,
    request: PageRequest,
  ): Promise<Page<CommitStatusRecord>> {
    const rows = {
      partition: pipelinesPartition(projectId),
      prefix: commitRowPrefix(sha, all ? 'STATUS' : 'LATEST'),
    };
    const wanted = (['ref', 'stage', 'name'] as const).filter((field) => filters[field] !== undefined);
    const filtered = wanted.length > 0;
    const source = rowSource(this.#table, rows, 'asc', filtered ? 100 : chunkFor(request, 1));
    const [page, total] = await Promise.all([
      cutPage(mergeKeys([source], 'asc'), request, {
        load: (ids) => this.#load(projectId, sha, ids),
        where: filtered ? (status) => wanted.every((field) => status[field] === filters[field]) : undefined,
      }),
      request.count && !filtered ? this.#table.count(rows, MAX_TOTAL) : undefined,
    ]);
    return filtered ? page : { ...page, total };
  }

  async #load(projectId: number, sha: string, ids: readonly number[]) {
    const items = await this.#table.batchGet(ids.map((id) => commitRowKey(projectId, sha, 'STATUS', id)));
    return items.map((item) => item && (fromItem(item) as CommitStatusRecord));
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: pipelinesPartition(projectId), limit });
  }
}

/** Indexes a new pipeline by its commit, by commit and ref, by its ref, and by its id. */
function pipelineWrites({ pipeline, previous }: StatusWrite): Write[] {
  const { projectId, sha, id, ref, version } = pipeline;
  const put = { ...commitRowKey(projectId, sha, 'PIPELINE', id), ...pipeline };
  if (previous !== undefined)
    return [{ put, if: '#version = :was', values: { was: version - 1 }, reason: 'pipeline' }];
  return [
    { put, if: ABSENT, reason: 'pipeline' },
    { put: { ...pipelineIdKey(projectId, id), sha } },
    { put: { ...refPipelineKey(projectId, ref, id), sha } },
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

function fromItem({ pk: _p, sk: _s, who: _w, what: _a, ...record }: Item): unknown {
  return record;
}
