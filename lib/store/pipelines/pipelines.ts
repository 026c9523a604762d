/** Pipelines of commits. */

import { ZERO_OID } from '../../git/oid.ts';
import type { PipelineOutcome, PipelineRecord } from '../../records/pipelines.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';
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
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, unchangedSince, type Write } from '../table/write.ts';
import type { CommitStatusRecord } from './reported-statuses.ts';
import { changedPipeline, fromItem, newPipeline, placesOf } from './rows.ts';

/** Makes the pipelines that a push asks for. */
export const CREATE_PIPELINES_JOB = 'pipelines.create';
/** Makes the pipeline of a merge request, or stops what its pipelines deployed, when it is merged or closed. */
export const CREATE_FOR_MERGE_REQUEST_JOB = 'pipelines.create-for-merge-request';
/** Moves the jobs of a pipeline on as far as they go. */
export const ADVANCE_PIPELINE_JOB = 'pipelines.advance';
/** Ends jobs of a pipeline that nobody works on any more. */
export const CHECK_PIPELINE_JOB = 'pipelines.check';
/** Ends a job whose runner does not. */
export const CHECK_JOB_JOB = 'pipelines.check-job';
/** Deletes what belonged to a deleted pipeline. */
export const REMOVE_PIPELINE_JOB = 'pipelines.remove';

/** Refs of one push that get pipelines; of more, none does. */
const MAX_PUSHED = 4;
/** Characters of the options that a message carries. */
const MAX_OPTIONS = 64 * 1024;

/** The refs that a push moved, and who pushed. */
interface PushedRefs {
  readonly projectId: number;
  readonly refs: readonly { readonly name: string; readonly from: string; readonly to: string }[];
  /** Of the push. */
  readonly options: readonly string[];
}

/**
 * The message that makes the pipelines of a push, none for a push of too many refs; and that stops what was deployed from
 * branches that it deletes.
 */
export function createPipelinesMessages(
  { projectId, refs, options }: PushedRefs,
  writer: { readonly actorId: number | null; readonly baseUrl: string },
): OutboxMessage[] {
  const gone = refs.filter(({ to }) => to === ZERO_OID).slice(0, MAX_PUSHED);
  const moved = refs.filter(({ to }) => to !== ZERO_OID);
  const followed = [...(moved.length > MAX_PUSHED ? [] : moved), ...gone];
  if (followed.length === 0) return [];
  let left = MAX_OPTIONS;
  const asked = options.filter((option) => option.startsWith('ci.') && (left -= option.length) >= 0);
  const body = { projectId, refs: followed, ...writer, ...(asked.length > 0 ? { options: asked } : {}) };
  return [message(MAINTENANCE, CREATE_PIPELINES_JOB, body)];
}

export class Pipelines {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /** Returns the newest pipeline of a commit, but for those that jobs of other ones started in the same project. */
  async newest(projectId: number, sha: string): Promise<PipelineRecord | undefined> {
    const found = await this.ofCommit(projectId, sha, 10);
    return found.find(({ source }) => source !== 'parent_pipeline');
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

  /** Returns a pipeline by its id. Costs two reads. */
  async byId(projectId: number, id: number): Promise<PipelineRecord | undefined> {
    const row = await this.#table.get(pipelineIdKey(projectId, id));
    return row && this.get(projectId, row['sha'] as string, id);
  }

  /** Returns pipelines by their ids; those that there are. @param places the commit of each */
  async getMany(
    projectId: number,
    places: ReadonlyMap<number, string>,
  ): Promise<ReadonlyMap<number, PipelineRecord>> {
    const keys = [...places].map(([id, sha]) => commitRowKey(projectId, sha, 'PIPELINE', id));
    const rows = await this.#table.batchGet(keys);
    return new Map(
      rows.flatMap((row) =>
        row === undefined ? [] : [[row['id'] as number, fromItem(row) as PipelineRecord]],
      ),
    );
  }

  /** Returns the pipelines of a commit, the newest first, `most` at most. */
  async ofCommit(projectId: number, sha: string, most: number): Promise<PipelineRecord[]> {
    const { items } = await this.#table.query({
      partition: pipelinesPartition(projectId),
      prefix: commitRowPrefix(sha, 'PIPELINE'),
      reverse: true,
      limit: most,
    });
    return items.map((item) => fromItem(item) as PipelineRecord);
  }

  /** Returns the newest pipelines of a ref, `most` at most. */
  async newestOfRef(projectId: number, ref: string, most: number): Promise<PipelineRecord[]> {
    const { items } = await this.#table.query({
      partition: pipelinesPartition(projectId),
      prefix: refPipelinePrefix(ref),
      reverse: true,
      limit: most,
    });
    const rows = await this.#table.batchGet(
      items.map(({ sk, sha }) => commitRowKey(projectId, sha as string, 'PIPELINE', idOf(sk as string))),
    );
    return rows.flatMap((row) => (row === undefined ? [] : [fromItem(row) as PipelineRecord]));
  }

  /** Notes the id of a pipeline whose jobs are about to be written, so that its project's deletion finds them. */
  async announce({ projectId, id, sha }: PipelineRecord): Promise<void> {
    await this.#table.put({ put: { ...pipelineIdKey(projectId, id), sha } });
  }

  /**
   * Stores a new pipeline, with which its jobs come to light.
   * @throws Missing when the project is deleted; TransactionRefused for `alongside`
   */
  async create(pipeline: PipelineRecord, alongside: readonly Write[]): Promise<void> {
    const rows = newPipeline(pipeline);
    const { projectId, sha, ref, id } = pipeline;
    const newest = {
      put: { ...pipelineOfRefKey(projectId, sha, ref), pipelineId: id },
      if: `${ABSENT} OR #pipelineId < :id`,
      values: { id },
      reason: 'newer',
    };
    const rest = [checkProjectExists(projectId), ...alongside];
    // Statuses of the commit join the pipeline that started it.
    const leading = pipeline.source === 'parent_pipeline' ? [] : [newest];
    try {
      await this.#table.transact([...rows, ...leading, ...rest]);
    } catch (error) {
      if (!(error instanceof TransactionRefused) || error.has(PIN_REFUSED)) throw error;
      if (error.has('project')) throw new Missing('project');
      if (!error.has('newer') || error.refusals.length > 1) throw error;
      await this.#table.transact([...rows, ...rest]);
    }
  }

  /** @throws Stale when it changed since it was read, or was deleted */
  async change(
    before: PipelineRecord,
    change: Partial<PipelineRecord>,
    alongside: readonly Write[] = [],
  ): Promise<PipelineRecord> {
    const after: PipelineRecord = { ...before, ...change, version: before.version + 1 };
    try {
      await this.#table.transact([...changedPipeline(before, after), ...alongside]);
    } catch (error) {
      if (error instanceof TransactionRefused && error.has('pipeline')) throw new Stale('pipeline');
      throw error;
    }
    return after;
  }

  /** Deletes a pipeline; what belongs to it is deleted by a worker. @throws Stale */
  async remove(pipeline: PipelineRecord, alongside: readonly Write[]): Promise<void> {
    const { projectId, sha, ref, id, version } = pipeline;
    const pointer = pipelineOfRefKey(projectId, sha, ref);
    const [led, earlier] = await Promise.all([
      this.#table.get(pointer),
      this.ofCommit(projectId, sha, LOOKED_AT),
    ]);
    const next = earlier.find((each) => each.ref === ref && each.id !== id);
    const leading: Write[] =
      led?.['pipelineId'] !== id
        ? []
        : [
            {
              ...(next === undefined ? { delete: pointer } : { put: { ...pointer, pipelineId: next.id } }),
              if: '#pipelineId = :id',
              values: { id },
              reason: 'pipeline',
            },
          ];
    const key = commitRowKey(projectId, sha, 'PIPELINE', id);
    try {
      await this.#table.transact([
        { delete: key, ...unchangedSince({ version }, 'pipeline') },
        { delete: refPipelineKey(projectId, ref, id) },
        ...placesOf(pipeline).map((place) => ({ delete: place })),
        ...leading,
        ...alongside,
      ]);
    } catch (error) {
      if (error instanceof TransactionRefused && error.has('pipeline')) throw new Stale('pipeline');
      throw error;
    }
  }

  /** Deletes reported statuses of a deleted pipeline, and what leads to it. @returns whether any are left */
  async removeRest(projectId: number, sha: string, id: number): Promise<boolean> {
    const partition = pipelinesPartition(projectId);
    const { items } = await this.#table.query({
      partition,
      prefix: commitRowPrefix(sha, 'STATUS'),
      where: '#pipelineId = :id',
      values: { id },
    });
    const statuses = items.map((item) => fromItem(item) as CommitStatusRecord).slice(0, 100);
    for (const { id: statusId, name } of statuses)
      await this.#table.transact([
        { delete: commitRowKey(projectId, sha, 'LATEST', statusId) },
        { delete: statusOfNameKey(projectId, sha, id, name) },
        { delete: commitRowKey(projectId, sha, 'STATUS', statusId) },
      ]);
    if (statuses.length > 0) return true;
    await this.#table.delete({ delete: pipelineIdKey(projectId, id) });
    return false;
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

  /** Returns the newest pipeline of a ref that succeeded and that no other one started, among the newest `most`. */
  async newestSuccess(projectId: number, ref: string, most: number): Promise<PipelineRecord | undefined> {
    let startKey: Item | undefined;
    for (let seen = 0; seen < most; ) {
      const { items, next } = await this.#table.query({
        partition: pipelinesPartition(projectId),
        prefix: refPipelinePrefix(ref),
        reverse: true,
        limit: seen === 0 ? 5 : 100,
        ...(startKey && { startKey }),
      });
      const rows = await this.#table.batchGet(
        items.map(({ sk, sha }) => commitRowKey(projectId, sha as string, 'PIPELINE', idOf(sk as string))),
      );
      const found = rows.find((row) => row?.['status'] === 'success' && row['source'] !== 'parent_pipeline');
      if (found !== undefined) return fromItem(found) as PipelineRecord;
      if (next === undefined) return undefined;
      startKey = next;
      seen += items.length;
    }
    return undefined;
  }

  /** Allocates an id, and a number within the project. */
  async nextPipeline(projectId: number): Promise<{ id: number; iid: number }> {
    const [id, item] = await Promise.all([
      this.#counters.next('pipeline'),
      this.#table.update({ update: pipelineIidKey(projectId), add: { n: 1 } }),
    ]);
    return { id, iid: item['n'] as number };
  }

  /** Ids of pipelines of a deleted project whose jobs may be left. */
  async announced(projectId: number, limit: number): Promise<number[]> {
    const rows = { partition: pipelinesPartition(projectId), prefix: 'ID#' };
    const { items } = await this.#table.query({ ...rows, limit, only: ['sk'] });
    return items.map(({ sk }) => idOf(sk as string));
  }

  /** Deletes the row of a pipeline's id. */
  async forget(projectId: number, id: number): Promise<void> {
    await this.#table.delete({ delete: pipelineIdKey(projectId, id) });
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: pipelinesPartition(projectId), limit });
  }
}

/** Pipelines of a commit among which the one before a deleted one is looked for. */
const LOOKED_AT = 100;
