/** Schedules of pipelines: few in a project, and listed together. */
import type { CiVariable } from '../../records/ci-variables.ts';
import type { PipelineScheduleRecord } from '../../records/pipeline-schedules.ts';
import { wholeRemoval } from '../ci-variables/ci-variables.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { type Outbox, type OutboxMessage, outboxWrites } from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import {
  SCHEDULE,
  scheduleCountKey,
  scheduleKey,
  schedulesPartition,
} from '../row-keys/pipeline-schedules.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { allRecords, recordOf } from '../table/record-of.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Check, countBelow, PRESENT, unchangedSince, type Write } from '../table/write.ts';

/** Maximum number of schedules of a project. */
const MAX_SCHEDULES = 50;

/** The time of a schedule has come. */
export const SCHEDULE_DUE_JOB = 'pipeline-schedule.due';
/** Makes a pipeline of a schedule. */
export const SCHEDULED_PIPELINE_JOB = 'pipeline-schedule.pipeline';

/** What goes with a change: messages of later, which the sweep sends, and of now. */
export interface ScheduleMessages {
  readonly later?: readonly OutboxMessage[];
  readonly now?: readonly OutboxMessage[];
}

export class PipelineSchedules {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  nextId(): Promise<number> {
    return this.#counters.next('pipeline-schedule');
  }

  async get(projectId: number, id: number): Promise<PipelineScheduleRecord | undefined> {
    return recordOf<PipelineScheduleRecord>(await this.#table.get(scheduleKey(projectId, id)));
  }

  /** In the order of ids. */
  async of(projectId: number): Promise<PipelineScheduleRecord[]> {
    const rows = { partition: schedulesPartition(projectId), prefix: SCHEDULE };
    return allRecords<PipelineScheduleRecord>(this.#table, rows);
  }

  /** @throws LimitReached; Missing when the project is deleted */
  async create(schedule: PipelineScheduleRecord, messages: ScheduleMessages): Promise<void> {
    const { projectId, id } = schedule;
    await this.#transact(
      [
        { put: { ...scheduleKey(projectId, id), ...schedule }, if: ABSENT, reason: 'schedule' },
        countBelow(scheduleCountKey(projectId), MAX_SCHEDULES, 'schedule-count'),
        checkProjectExists(projectId),
      ],
      messages,
    );
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async change(
    previous: PipelineScheduleRecord,
    change: Partial<Omit<PipelineScheduleRecord, 'id' | 'projectId'>>,
    now: Date,
    messages: ScheduleMessages = {},
  ): Promise<PipelineScheduleRecord> {
    const { projectId, id } = previous;
    const version = previous.version + 1;
    const next = { ...previous, ...change, updatedAt: now.toISOString(), version };
    await this.#transact(
      [
        { put: { ...scheduleKey(projectId, id), ...next }, ...unchanged(previous) },
        checkProjectExists(projectId),
      ],
      messages,
    );
    return next;
  }

  /** Remembers the newest pipeline, unless the schedule is gone. */
  async ran({ projectId, id }: PipelineScheduleRecord, pipelineId: number): Promise<void> {
    const remembered = { set: { lastPipelineId: pipelineId }, if: PRESENT };
    await this.#table.update({ update: scheduleKey(projectId, id), ...remembered });
  }

  /** @param variables all of the schedule @throws Stale when it, or the number of its variables, has changed since */
  async remove(schedule: PipelineScheduleRecord, variables: readonly CiVariable[]): Promise<void> {
    const { projectId, id } = schedule;
    await this.#transact([
      { delete: scheduleKey(projectId, id), ...unchanged(schedule) },
      { update: scheduleCountKey(projectId), add: { total: -1 } },
      ...wholeRemoval({ kind: 'schedule', id }, variables),
    ]);
  }

  /** Deletes up to `limit` rows of a deleted project, without variables. @returns whether any are left */
  removeOfProject(projectId: number, limit = 200): Promise<boolean> {
    return deletePage(this.#table, { partition: schedulesPartition(projectId), limit });
  }

  async #transact(writes: readonly Write[], { later = [], now = [] }: ScheduleMessages = {}): Promise<void> {
    try {
      await this.#outbox.commit([...writes, ...outboxWrites(later)], now);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('project')) throw new Missing('project');
      if (error.has('schedule-count')) throw new LimitReached('pipeline schedules', MAX_SCHEDULES);
      throw error.has('schedule') || error.has('variables') ? new Stale('pipeline schedule') : error;
    }
  }
}

/** Checks that a schedule exists, in a transaction that writes one of its variables; refused as `schedule`. */
export const checkScheduleExists = ({ projectId, id }: PipelineScheduleRecord): Check => ({
  check: scheduleKey(projectId, id),
  if: PRESENT,
  reason: 'schedule',
});

const unchanged = (record: PipelineScheduleRecord) => unchangedSince(record, 'schedule');
