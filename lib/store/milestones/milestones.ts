/** Milestones of projects and groups, listed by their state and due date. */

import type { Container } from '../../records/labels.ts';
import type { MilestoneRecord, MilestoneState } from '../../records/milestones.ts';
import { Contained } from '../labels/contained.ts';
import type { Outbox } from '../outbox/outbox.ts';
import {
  milestoneCountKey,
  milestoneIidKey,
  milestoneKey,
  milestoneListKey,
  milestoneListPrefix,
  milestonesPartition,
  milestoneTitleKey,
} from '../row-keys/milestones.ts';
import type { Counters } from '../table/counters.ts';
import type { Page, PageRequest } from '../table/paging.ts';
import type { Table } from '../table/table.ts';

/** Maximum number of milestones of a project or of a group, without inherited ones. */
export const MAX_MILESTONES = 10_000;

/** What of a milestone can be changed. */
export type MilestoneChange = Partial<
  Pick<MilestoneRecord, 'title' | 'description' | 'state' | 'startDate' | 'dueDate'>
>;

export class Milestones extends Contained<MilestoneRecord> {
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    super(table, counters, outbox, {
      name: 'milestone',
      plural: 'milestones',
      limit: MAX_MILESTONES,
      key: milestoneKey,
      partition: milestonesPartition,
      titleKey: milestoneTitleKey,
      iidKey: milestoneIidKey,
      listKey: milestoneListKey,
      countKey: milestoneCountKey,
      total: 'total',
      part: ({ state }) => state,
    });
  }

  /** Returns the ids of the milestones with these titles: one of each container and title at most. */
  titled(containers: readonly Container[], ...titles: readonly string[]): Promise<number[]> {
    return this.#found(
      containers.flatMap((container) => titles.map((title) => milestoneTitleKey(container, title))),
    );
  }

  /** Returns the ids of the milestones with these numbers. */
  numbered(containers: readonly Container[], iids: readonly number[]): Promise<number[]> {
    return this.#found(containers.flatMap((container) => iids.map((iid) => milestoneIidKey(container, iid))));
  }

  /**
   * The milestones of all containers: the earliest due date first, then the newest.
   * @param where a filter of records, which are then all loaded
   */
  page(
    containers: readonly Container[],
    states: readonly MilestoneState[],
    request: PageRequest,
    where?: (milestone: MilestoneRecord) => boolean,
  ): Promise<Page<MilestoneRecord>> {
    return this.listed(containers, states.map(milestoneListPrefix), request, { where, counted: states });
  }

  async #found(keys: Parameters<typeof this.idsAt>[0]): Promise<number[]> {
    return (await this.idsAt(keys)).filter((id) => id !== undefined);
  }
}
