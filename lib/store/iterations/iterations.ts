/** Iterations of groups, listed by their days. */

import type { IterationRecord } from '../../records/iterations.ts';
import type { Container } from '../../records/labels.ts';
import { Contained } from '../labels/contained.ts';
import type { Outbox } from '../outbox/outbox.ts';
import {
  ITERATION_LIST,
  iterationCountKey,
  iterationIidKey,
  iterationKey,
  iterationListKey,
  iterationScheduleKey,
  iterationsBeginningBy,
  iterationsPartition,
  iterationTitleKey,
} from '../row-keys/iterations.ts';
import type { Counters } from '../table/counters.ts';
import type { Page, PageRequest } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Write } from '../table/write.ts';

/** Maximum number of iterations of a group, without inherited ones. */
export const MAX_ITERATIONS = 1_000;

/** What of an iteration can be changed. */
export type IterationChange = Partial<
  Pick<IterationRecord, 'title' | 'description' | 'startDate' | 'dueDate'>
>;

/** The reason of a refusal: days of the group's iterations have changed since they were read. */
export const SCHEDULE = 'schedule';

export class Iterations extends Contained<IterationRecord> {
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    super(table, counters, outbox, {
      name: 'iteration',
      plural: 'iterations',
      limit: MAX_ITERATIONS,
      key: iterationKey,
      partition: iterationsPartition,
      titleKey: iterationTitleKey,
      iidKey: iterationIidKey,
      listKey: iterationListKey,
      countKey: iterationCountKey,
      total: 'total',
    });
  }

  /** Returns the ids of the iterations with this title, one of each group at most, in the order of the groups. */
  async titled(groups: readonly Container[], title: string): Promise<number[]> {
    const ids = await this.idsAt(groups.map((group) => iterationTitleKey(group, title)));
    return ids.filter((id) => id !== undefined);
  }

  /** Returns the ids of the iterations that have the day: one of each group at most, in the order of the groups. */
  async onDay(groups: readonly Container[], day: string): Promise<number[]> {
    const latest = await Promise.all(groups.map((group) => this.#latestBy(group, day, 1)));
    const found = await this.getMany(latest.flat());
    return found.flatMap((each) => (each !== undefined && each.dueDate >= day ? [each.id] : []));
  }

  /**
   * The iterations of all groups, the earliest first.
   * @param where a filter of records, which are then all loaded
   */
  page(
    groups: readonly Container[],
    request: PageRequest,
    where?: (iteration: IterationRecord) => boolean,
  ): Promise<Page<IterationRecord>> {
    return this.listed(groups, [ITERATION_LIST], request, { where, counted: ['total'] });
  }

  /**
   * Returns the iteration of a group that has a day in common with these, and what keeps it so: a write for the
   * transaction that takes the days, refused as {@link SCHEDULE} when another one took days since.
   * @param except id of the iteration that is to have the days
   */
  async within(
    group: Container,
    { startDate, dueDate, except }: { startDate: string; dueDate: string; except?: number },
  ): Promise<{ readonly taken: IterationRecord | undefined; readonly unchanged: Write }> {
    const row = await this.table.get(iterationScheduleKey(group));
    const version = row?.['version'] as number | undefined;
    // Those that are there have no day in common: of those that begin by the last day only the latest may reach in.
    const ids = (await this.#latestBy(group, dueDate, 2)).filter((id) => id !== except);
    const latest = ids[0] === undefined ? undefined : await this.get(ids[0]);
    return {
      taken: latest !== undefined && latest.dueDate >= startDate ? latest : undefined,
      unchanged: {
        update: iterationScheduleKey(group),
        set: { version: (version ?? 0) + 1 },
        ...(version === undefined ? { if: ABSENT } : { if: '#version = :version', values: { version } }),
        reason: SCHEDULE,
      },
    };
  }

  /** Returns the ids of those that begin on the day or earlier, the latest first. */
  async #latestBy(group: Container, day: string, limit: number): Promise<number[]> {
    const { items } = await this.table.query({
      partition: iterationsPartition(group),
      from: ITERATION_LIST,
      to: iterationsBeginningBy(day),
      only: ['sk', 'iterationId'],
      reverse: true,
      limit,
    });
    return items.map(({ iterationId }) => iterationId as number);
  }
}
