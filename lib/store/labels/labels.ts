/** Labels of projects and groups, listed in the order of their titles. */

import type { Container, LabelRecord } from '../../records/labels.ts';
import { Missing, TransactionRefused } from '../errors.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { type Key, MAX_ID, padded } from '../row-keys/key.ts';
import {
  labelCountKey,
  labelKey,
  labelPrioritiesOf,
  labelPriorityKey,
  labelSubscriptionKey,
  labelsPartition,
  labelTitleKey,
  TITLE,
} from '../row-keys/labels.ts';
import { userKey, userPartition, userRow } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { type IdPage, idPage } from '../table/id-page.ts';
import type { Page, PageRequest } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, PRESENT, type Write } from '../table/write.ts';
import { Contained } from './contained.ts';

/** Maximum number of labels of a project or of a group, without inherited ones. */
export const MAX_LABELS = 10_000;

/** What of a label can be changed. */
export type LabelChange = Partial<
  Pick<LabelRecord, 'title' | 'description' | 'descriptionHtml' | 'color' | 'priority'>
>;

/** Where a user subscribes to a label: a project, or the group of the label and all below it. */
export interface Subscription {
  readonly labelId: number;
  readonly userId: number;
  readonly at: Container;
}

/** A label as a project has it. */
export interface LabelInProject {
  readonly label: LabelRecord;
  readonly projectId: number;
}

export class Labels extends Contained<LabelRecord> {
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    super(table, counters, outbox, {
      name: 'label',
      plural: 'labels',
      limit: MAX_LABELS,
      key: labelKey,
      partition: labelsPartition,
      titleKey: labelTitleKey,
      countKey: labelCountKey,
      total: 'count',
    });
  }

  /**
   * Returns the ids of the labels with these titles, in the order of the titles: for each, of the first container that
   * has one. One round trip per four hundred rows.
   */
  async idsOf(containers: readonly Container[], titles: readonly string[]): Promise<(number | undefined)[]> {
    const keys = titles.flatMap((title) => containers.map((container) => labelTitleKey(container, title)));
    const ids = await this.idsAt(keys);
    return titles.map((_, i) => {
      const found = ids.slice(i * containers.length, (i + 1) * containers.length);
      return found.find((id) => id !== undefined);
    });
  }

  /** The labels of all containers, sorted by title. @param where a filter of records, which are then all loaded */
  page(
    containers: readonly Container[],
    request: PageRequest,
    where?: (label: LabelRecord) => boolean,
  ): Promise<Page<LabelRecord>> {
    return this.listed(containers, [TITLE], request, { where, counted: ['count'] });
  }

  /** The priority that each label has in a project: that of the project's own label, or what it gave to a group's. */
  async priorities(labels: readonly LabelInProject[]): Promise<(number | null)[]> {
    const given = labels.filter(({ label }) => label.prioritized === true);
    const rows = await this.table.batchGet(
      given.map(({ label, projectId }) => labelPriorityKey(label.id, projectId)),
    );
    const found = new Map(given.map((each, i) => [each, rows[i]?.['priority'] as number | undefined]));
    return labels.map((each) => found.get(each) ?? each.label.priority);
  }

  /** Gives a label of a group a priority in a project; null: none. @throws Missing when the label or project is gone */
  async prioritize(label: LabelRecord, projectId: number, priority: number | null): Promise<void> {
    if (priority === null) {
      await this.table.delete({ delete: labelPriorityKey(label.id, projectId) });
      return;
    }
    try {
      await this.table.transact([
        ...priorityWrites(label, projectId, priority),
        checkProjectExists(projectId),
      ]);
    } catch (error) {
      if (error instanceof TransactionRefused)
        for (const what of ['label', 'project']) if (error.has(what)) throw new Missing(what);
      throw error;
    }
  }

  /** Deletes up to `limit` priorities that a deleted project gave. @returns whether any are left */
  async forgetPriorities(projectId: number, limit = 500): Promise<boolean> {
    const rows = {
      index: 'byId',
      partition: labelPrioritiesOf(projectId),
      only: ['pk', 'sk'],
      limit,
    } as const;
    const page = await this.table.query(rows);
    const keys = page.items as unknown as Key[];
    await Promise.all(keys.map(({ pk, sk }) => this.table.delete({ delete: { pk, sk } })));
    return page.next !== undefined;
  }

  /** @returns for each label whether the user is subscribed to it there */
  async subscribed(labelIds: readonly number[], userId: number, at: Container): Promise<boolean[]> {
    const keys = labelIds.map((labelId) => subscriptionKey({ labelId, userId, at }));
    return (await this.table.batchGet(keys, { only: ['pk'] })).map((row) => row !== undefined);
  }

  /** Returns ids of the users who subscribed to a label there, above `after`, ascending. */
  async subscribers(labelId: number, at: Container, after: number, limit: number): Promise<IdPage> {
    const { pk: partition, sk: from } = subscriptionKey({ labelId, userId: after + 1, at });
    const to = subscriptionKey({ labelId, userId: MAX_ID, at }).sk;
    return idPage(await this.table.query({ partition, from, to, only: ['sk'], limit }));
  }

  /** @returns false when the user was already subscribed. @throws Missing when the label or the user is gone */
  async subscribe(subscription: Subscription): Promise<boolean> {
    const { labelId, userId } = subscription;
    try {
      await this.table.transact([
        {
          put: {
            ...subscriptionKey(subscription),
            who: userPartition(userId),
            what: userRow('LABEL', labelId),
          },
          if: ABSENT,
          reason: 'subscription',
        },
        { check: labelKey(labelId), if: PRESENT, reason: 'label' },
        { check: userKey(userId), if: PRESENT, reason: 'user' },
      ]);
      return true;
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of ['label', 'user']) if (error.has(what)) throw new Missing(what);
      return false;
    }
  }

  /** @returns false when the user was not subscribed */
  async unsubscribe(subscription: Subscription): Promise<boolean> {
    const key = subscriptionKey(subscription);
    if ((await this.table.get(key)) === undefined) return false;
    await this.table.delete({ delete: key });
    return true;
  }

  /** Deletes up to `limit` rows that a deleted label left behind. @returns whether any are left */
  forget(labelId: number, limit = 500): Promise<boolean> {
    return deletePage(this.table, { partition: labelKey(labelId).pk, limit });
  }

  protected override async removeRecord(labelId: number): Promise<void> {
    while (await this.forget(labelId));
  }
}

/** The writes of a priority that a project gives to a label of a group, refused as `label` when that is deleted. */
export const priorityWrites = (
  { id, prioritized }: LabelRecord,
  projectId: number,
  priority: number,
): Write[] => [
  {
    put: {
      ...labelPriorityKey(id, projectId),
      ...{ priority, list: labelPrioritiesOf(projectId), byId: padded(id) },
    },
  },
  prioritized === true
    ? { check: labelKey(id), if: PRESENT, reason: 'label' }
    : {
        update: labelKey(id),
        set: { prioritized: true },
        // Who changes the label meanwhile has not seen it.
        add: { version: 1 },
        if: PRESENT,
        reason: 'label',
      },
];

const subscriptionKey = ({ labelId, userId, at }: Subscription) =>
  labelSubscriptionKey(labelId, at.kind === 'project' ? at.id : 0, userId);
