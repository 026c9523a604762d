/**
 * Jobs of pipelines. A job changes in one transaction with all that follows from its status: its place in the list of its
 * project, the queues of runners, its token, and the message that moves its pipeline on.
 */

import { Pace } from '../../git/work.ts';
import type { JobArtifact } from '../../records/artifacts.ts';
import type { CiStatus, JobRecord, JobSpec, PipelineVariable } from '../../records/pipelines.ts';
import type { StoredText } from '../../records/texts.ts';
import { AlreadyExists, ignoreRefusal, Missing, Stale, TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type Outbox, type OutboxMessage, outboxWrites } from '../outbox/outbox.ts';
import { ADVANCE_PIPELINE_JOB } from '../pipelines/pipelines.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import {
  JOB_PREFIX,
  jobIdKey,
  jobKey,
  jobQueuePartition,
  jobSpecKey,
  jobStateKey,
  jobStatePrefix,
  jobTokenKey,
  pipelineJobsPartition,
  pipelineVariablesKey,
  projectJobsPartition,
  queuedJobKey,
  resourceHolderKey,
  resourcePrefix,
} from '../row-keys/jobs.ts';
import { idOf, type Key } from '../row-keys/key.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { mapLimit } from '../table/map-limit.ts';
import { type Table, TRANSACTION_ITEMS } from '../table/table.ts';
import type { Write } from '../table/write.ts';
import type { Texts } from '../texts/texts.ts';
import {
  bytesOf,
  changeWrites,
  fromItem,
  outsideOf,
  queuedJob,
  queuesOf,
  resourceWrites,
  totalWrites,
} from './rows.ts';

/** Jobs of a pipeline, replaced ones included. */
export const MAX_JOBS = 10_000;
/** Transactions of new jobs at a time. */
const WIDTH = 8;
/** Jobs that are read at once: a few milliseconds of work. */
const PAGE = 250;

export interface NewJob {
  readonly job: JobRecord;
  readonly spec: JobSpec;
}

/** A job as it was read, and what is to become of it. */
export interface JobChange {
  readonly job: JobRecord;
  readonly change: Partial<JobRecord>;
}

/** A job that was given another status. */
export interface ChangedJob {
  readonly id: number;
  readonly status: CiStatus;
}

/** A job that waits for a runner. */
export interface QueuedJob {
  readonly id: number;
  readonly projectId: number;
  readonly pipelineId: number;
  readonly tags: readonly string[];
  readonly protected: boolean;
}

export class Jobs {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  readonly #texts: Texts;
  constructor(table: Table, counters: Counters, outbox: Outbox, texts: Texts) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
    this.#texts = texts;
  }

  /** Allocates ids that follow each other; they are also those of commit statuses. @returns the first */
  async reserveIds(count: number): Promise<number> {
    return (await this.#counters.reserve('commit-status', count)) - count + 1;
  }

  /** Returns a job by its id alone. Costs two reads. */
  async get(id: number): Promise<JobRecord | undefined> {
    const row = await this.#table.get(jobIdKey(id));
    return row && this.ofPipeline(row['pipelineId'] as number, id);
  }

  /** Returns one job of a pipeline. */
  async ofPipeline(pipelineId: number, id: number): Promise<JobRecord | undefined> {
    return fromItem(await this.#table.get(jobKey(pipelineId, id)));
  }

  /** Returns jobs of pipelines; those that there are. */
  async getMany(
    places: readonly { readonly pipelineId: number; readonly jobId: number }[],
  ): Promise<JobRecord[]> {
    if (places.length === 0) return [];
    const found = await this.#load(places.map(({ pipelineId, jobId }) => jobKey(pipelineId, jobId)));
    return found.filter((job) => job !== undefined);
  }

  /** Returns all jobs of a pipeline in the order of ids, replaced ones included. */
  async all(pipelineId: number): Promise<JobRecord[]> {
    const found: JobRecord[] = [];
    const rows = { partition: pipelineJobsPartition(pipelineId), prefix: JOB_PREFIX, limit: PAGE };
    for await (const item of this.#table.queryAll(rows)) found.push(fromItem(item)!);
    return found;
  }

  /** What a runner needs of a job. */
  async spec({ pipelineId, id }: Pick<JobRecord, 'pipelineId' | 'id'>): Promise<JobSpec | undefined> {
    const item = await this.#table.get(jobSpecKey(pipelineId, id));
    return item && JSON.parse(await this.#texts.read(item['text'] as StoredText));
  }

  /** The variables that a pipeline was given. */
  async variables(pipelineId: number): Promise<readonly PipelineVariable[]> {
    const item = await this.#table.get(pipelineVariablesKey(pipelineId));
    const text = item?.['text'] as StoredText | undefined;
    if (text !== undefined) return JSON.parse(await this.#texts.read(text));
    return (item?.['variables'] as readonly PipelineVariable[] | undefined) ?? [];
  }

  /**
   * Stores the jobs of a pipeline that does not exist yet: until it does, no list shows them.
   * @throws Missing when the project is deleted
   */
  async prepare(
    { projectId, pipelineId }: { readonly projectId: number; readonly pipelineId: number },
    jobs: readonly NewJob[],
    variables: readonly PipelineVariable[],
  ): Promise<void> {
    const batches: NewJob[][] = [];
    // Four rows each, the project's check, and the variables.
    for (let at = 0; at < jobs.length; at += 24) batches.push(jobs.slice(at, at + 24));
    const pace = new Pace();
    try {
      await mapLimit(WIDTH, batches, async (batch) => {
        if (pace.due()) await pace.rest();
        const rows = await Promise.all(batch.map((each) => this.#creation(each)));
        await this.#table.transact([checkProjectExists(projectId), ...rows.flat()]);
      });
      if (variables.length > 0) {
        const text = await this.#texts.keep(projectId, JSON.stringify(variables));
        const given = typeof text === 'string' ? { variables } : { text };
        await this.#table.transact([
          checkProjectExists(projectId),
          { put: { ...pipelineVariablesKey(pipelineId), projectId, ...given } },
        ]);
      }
    } catch (error) {
      throw error instanceof TransactionRefused && error.has('project') ? new Missing('project') : error;
    }
  }

  async #creation({ job, spec }: NewJob): Promise<Write[]> {
    const { projectId, pipelineId, id, status } = job;
    const text = await this.#texts.keep(projectId, JSON.stringify(spec));
    return [
      { put: { ...jobKey(pipelineId, id), ...job } },
      { put: { ...jobSpecKey(pipelineId, id), text } },
      { put: { ...jobIdKey(id), projectId, pipelineId } },
      { put: { ...jobStateKey(projectId, status, id), pipelineId } },
      ...queuesOf(job).map((scope) => ({ put: queuedJob(scope, job) })),
      ...resourceWrites({ ...job, status: 'created' }, job),
    ];
  }

  /**
   * Changes jobs of one pipeline, and adds new ones, at once: at most {@link TRANSACTION_ITEMS} rows in all, for which
   * {@link groupsOf} cuts lists. A worker moves the pipeline on afterwards.
   * @throws Stale when one changed since it was read; AlreadyExists where a resource group is held by another
   */
  async change(
    changes: readonly JobChange[],
    {
      created = [],
      alongside = [],
      messages = [],
      advance = true,
    }: {
      readonly created?: readonly NewJob[];
      readonly alongside?: readonly Write[];
      readonly messages?: readonly OutboxMessage[];
      /** Whether a message is to move the pipeline on; not for the worker that does that. */
      readonly advance?: boolean;
    } = {},
  ): Promise<JobRecord[]> {
    const changed = changes.map(({ job, change }) => ({ ...job, ...change, version: job.version + 1 }));
    const [first] = [...changed, ...created.map(({ job }) => job)];
    if (first === undefined) return [];
    const { projectId, pipelineId } = first;
    const moved: ChangedJob[] = changed.flatMap(({ id, status }, i) =>
      status === changes[i]!.job.status ? [] : [{ id, status }],
    );
    const body = { projectId, pipelineId, ...(moved.length === 0 ? {} : { changed: moved }) };
    // What a runner does with a job goes back to what started its pipeline.
    const told = [...(advance ? [message(MAINTENANCE, ADVANCE_PIPELINE_JOB, body)] : []), ...messages].map(
      (each) => ({ ...each, hookCall: each.hookCall ?? first.hookCall }),
    );
    const rows = await Promise.all(created.map((each) => this.#creation(each)));
    try {
      await this.#outbox.commit(
        [
          ...changes.flatMap(({ job }, i) => changeWrites(job, changed[i]!)),
          ...totalWrites(projectId, bytesOf(changed) - bytesOf(changes.map(({ job }) => job))),
          ...rows.flat(),
          ...alongside,
        ],
        told,
      );
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('job')) throw new Stale('job');
      throw error.has('resource') ? new AlreadyExists('resource') : error;
    }
    return changed;
  }

  /** Cuts a list of changes so that each part fits into a transaction. */
  groupsOf(changes: readonly JobChange[], beside = 10): JobChange[][] {
    const groups: JobChange[][] = [];
    let size = TRANSACTION_ITEMS;
    for (const each of changes) {
      const rows = changeWrites(each.job, { ...each.job, ...each.change }).length;
      if (size + rows > TRANSACTION_ITEMS - beside) {
        groups.push([]);
        size = 0;
      }
      groups.at(-1)!.push(each);
      size += rows;
    }
    return groups;
  }

  /**
   * Gives a pending job to a runner: of several that ask for it, one gets it.
   * @throws Stale for all others
   */
  async take(
    job: JobRecord,
    holder: Pick<JobRecord, 'tokenHash' | 'runsUntil'> & { readonly runnerId: number },
    now: Date,
    options: { readonly alongside?: readonly Write[]; readonly messages?: readonly OutboxMessage[] } = {},
  ): Promise<JobRecord> {
    if (job.status !== 'pending') throw new Stale('job');
    const at = now.toISOString();
    const change = { status: 'running', ...holder, startedAt: at, updatedAt: at } as const;
    const [taken] = await this.change([{ job, change }], options);
    return taken!;
  }

  /** Notes that the runner of a job was heard of; nothing where the job was changed meanwhile, which tells that too. */
  async heard({ pipelineId, id, version }: JobRecord, now: Date): Promise<void> {
    const set = { updatedAt: now.toISOString() };
    const unchanged = { if: '#version = :was', values: { was: version } };
    await this.#table.update({ update: jobKey(pipelineId, id), set, ...unchanged }).catch(ignoreRefusal);
  }

  /** Ends a job, and its token with it. @throws Stale */
  async finish(
    job: JobRecord,
    end: Partial<JobRecord> & { readonly status: CiStatus },
    now: Date,
    options: { readonly alongside?: readonly Write[]; readonly messages?: readonly OutboxMessage[] } = {},
  ): Promise<JobRecord> {
    const at = now.toISOString();
    const [ended] = await this.change([{ job, change: { finishedAt: at, updatedAt: at, ...end } }], options);
    return ended!;
  }

  /**
   * Lists a file that a running job has left.
   * @throws Stale; Missing when the project is deleted
   */
  async addArtifact(
    job: JobRecord,
    artifact: JobArtifact,
    {
      expireAt,
      isPrivate,
      messages,
    }: {
      readonly expireAt: string | null;
      readonly isPrivate: boolean;
      readonly messages: readonly OutboxMessage[];
    },
  ): Promise<JobRecord> {
    const change: Partial<JobRecord> = {
      artifacts: [...job.artifacts, artifact],
      artifactsExpireAt: expireAt,
      ...(isPrivate ? { privateArtifacts: true } : {}),
    };
    const alongside = [checkProjectExists(job.projectId), ...outboxWrites(messages)];
    try {
      const [changed] = await this.change([{ job, change }], { advance: false, alongside });
      return changed!;
    } catch (error) {
      throw error instanceof TransactionRefused && error.has('project') ? new Missing('project') : error;
    }
  }

  /** Jobs that wait for a runner of a scope, the oldest first. @param after the id of the last one that was seen */
  async waiting(scope: string, limit: number, after = 0): Promise<QueuedJob[]> {
    const { items } = await this.#table.query({
      partition: jobQueuePartition(scope),
      from: queuedJobKey(scope, after + 1).sk,
      to: `${JOB_PREFIX}~`,
      limit,
    });
    return items.map((item) => ({
      id: idOf(item['sk'] as string),
      projectId: item['projectId'] as number,
      pipelineId: item['pipelineId'] as number,
      tags: item['tags'] as readonly string[],
      protected: item['protected'] as boolean,
    }));
  }

  /** A text that changes when a job comes to wait in one of the scopes. Costs one small read for each. */
  async tick(scopes: readonly string[]): Promise<string> {
    const newest = await Promise.all(
      scopes.map(async (scope) => {
        const { items } = await this.#table.query({
          partition: jobQueuePartition(scope),
          reverse: true,
          limit: 1,
          consistent: false,
          only: ['sk'],
        });
        return items[0] === undefined ? 0 : idOf(items[0]['sk'] as string);
      }),
    );
    return newest.join('-');
  }

  /** How many jobs of a project run: up to `limit` of them are counted. */
  async running(projectId: number, limit: number): Promise<number> {
    const rows = { partition: projectJobsPartition(projectId), prefix: jobStatePrefix('running') };
    return (await this.#table.countPage(rows, limit)).count;
  }

  /** Returns the running job that has a token. */
  async withToken(tokenHash: string): Promise<JobRecord | undefined> {
    const row = await this.#table.get(jobTokenKey(tokenHash));
    const job = row && (await this.ofPipeline(row['pipelineId'] as number, row['jobId'] as number));
    return job?.tokenHash === tokenHash ? job : undefined;
  }

  /** Jobs of a project that wait for a resource group, the oldest first. */
  async waitingFor(projectId: number, group: string, limit: number): Promise<readonly QueuedJob[]> {
    const { items } = await this.#table.query({
      partition: projectJobsPartition(projectId),
      prefix: `${resourcePrefix(group)}JOB#`,
      limit,
    });
    return items.map((item) => ({
      id: idOf(item['sk'] as string),
      projectId,
      pipelineId: item['pipelineId'] as number,
      tags: [],
      protected: false,
    }));
  }

  /** Whether no job of a project holds a resource group. */
  async isFree(projectId: number, group: string): Promise<boolean> {
    return (await this.#table.get(resourceHolderKey(projectId, group))) === undefined;
  }

  async #load(keys: readonly Key[]): Promise<(JobRecord | undefined)[]> {
    return (await this.#table.batchGet(keys)).map(fromItem);
  }

  /**
   * Deletes jobs of a deleted pipeline, a hundred at a time.
   * @param before called with those that are about to go
   * @returns whether any rows are left
   */
  async removeOfPipeline(
    pipelineId: number,
    before: (jobs: readonly JobRecord[]) => Promise<void> = async () => {},
  ): Promise<boolean> {
    const partition = pipelineJobsPartition(pipelineId);
    const { items } = await this.#table.query({ partition, prefix: JOB_PREFIX, limit: 100 });
    const jobs = items.map((item) => fromItem(item)!);
    if (jobs.length === 0) {
      const variables = await this.#table.get(pipelineVariablesKey(pipelineId));
      await this.#texts.drop(variables?.['text'] as StoredText | undefined);
      return deletePage(this.#table, { partition, limit: 500 });
    }
    await before(jobs);
    const specs = await this.#table.batchGet(jobs.map(({ id }) => jobSpecKey(pipelineId, id)));
    await this.#texts.drop(...specs.map((spec) => spec?.['text'] as StoredText | undefined));
    await mapLimit(WIDTH, jobs, async (job) => {
      const { id, version } = job;
      const rest = [...outsideOf(job), jobSpecKey(pipelineId, id)].map((key) => ({ delete: key }));
      // One that is changed meanwhile is read again.
      const own = { delete: jobKey(pipelineId, id), if: '#version = :version', values: { version } };
      const total = totalWrites(job.projectId, -bytesOf([job]));
      await this.#table.transact([{ ...own, reason: 'job' }, ...rest, ...total]).catch(ignoreRefusal);
    });
    return true;
  }

  /** Deletes up to `limit` rows that list the jobs of a deleted project. @returns whether any are left */
  removeLists(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: projectJobsPartition(projectId), limit });
  }
}
