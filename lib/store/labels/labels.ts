/**
 * Labels of projects and groups. A label's record is found by its id alone; rows in the partition of its project or group
 * make its title unique there, and list it in the order of titles.
 */

import type { Container, LabelRecord } from '../../records/labels.ts';
import { AlreadyExists, LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import type { Outbox, OutboxMessage } from '../outbox/outbox.ts';
import {
  labelCountKey,
  labelKey,
  labelSubscriptionKey,
  labelsPartition,
  labelTitleKey,
  TITLE,
} from '../row-keys/labels.ts';
import { userKey, userPartition, userRow } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Check, type Delete, type Item, PRESENT, type Put, type Write } from '../table/write.ts';

/** Maximum number of labels of a project or of a group, without inherited ones. */
export const MAX_LABELS = 10_000;

/** What of a label can be changed. */
export type LabelChange = Partial<Pick<LabelRecord, 'title' | 'description' | 'color' | 'priority'>>;

/** Where a user subscribes to a label: a project, or the group of the label and all below it. */
export interface Subscription {
  readonly labelId: number;
  readonly userId: number;
  readonly at: Container;
}

export class Labels {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  nextId(): Promise<number> {
    return this.#counters.next('label');
  }

  async get(id: number): Promise<LabelRecord | undefined> {
    const item = await this.#table.get(labelKey(id));
    return item && fromItem(item);
  }

  /** Returns labels in the order of the ids, in one round trip per hundred; undefined for one that is deleted. */
  async getMany(ids: readonly number[]): Promise<(LabelRecord | undefined)[]> {
    return (await this.#table.batchGet(ids.map(labelKey))).map((item) => item && fromItem(item));
  }

  /**
   * Returns the ids of the labels with these titles, in the order of the titles: for each, of the first container that
   * has one. One round trip per four hundred rows.
   */
  async idsOf(containers: readonly Container[], titles: readonly string[]): Promise<(number | undefined)[]> {
    const keys = titles.flatMap((title) => containers.map((container) => labelTitleKey(container, title)));
    const rows = await this.#table.batchGet(keys, { only: ['labelId'] });
    return titles.map((_, i) => {
      const found = rows.slice(i * containers.length, (i + 1) * containers.length);
      return found.find((row) => row !== undefined)?.['labelId'] as number | undefined;
    });
  }

  /** The labels of all containers, sorted by title. @param where a filter of records, which are then all loaded */
  async page(
    containers: readonly Container[],
    request: PageRequest,
    where?: (label: LabelRecord) => boolean,
  ): Promise<Page<LabelRecord>> {
    const counted = where === undefined && request.count ? this.#count(containers) : undefined;
    // Its failure is thrown where it is awaited.
    counted?.catch(() => {});
    const chunk = where === undefined ? chunkFor(request, containers.length) : 100;
    const sources = containers.map((container) =>
      querySource(
        this.#table,
        { partition: labelsPartition(container), prefix: TITLE, only: ['sk', 'labelId'] },
        'asc',
        chunk,
        (item) => ({ sort: item['sk'] as string, id: item['labelId'] as number }),
      ),
    );
    const page = await cutPage(mergeKeys(sources, 'asc'), request, {
      load: (ids) => this.getMany(ids),
      where,
    });
    return where === undefined ? { ...page, total: await counted } : page;
  }

  async #count(containers: readonly Container[]): Promise<number> {
    const rows = await this.#table.batchGet(containers.map(labelCountKey));
    return rows.reduce((sum, row) => sum + ((row?.['count'] as number | undefined) ?? 0), 0);
  }

  /**
   * @param above containers whose labels this one inherits: none may have the title
   * @throws AlreadyExists, LimitReached beyond {@link MAX_LABELS}, Missing when the project or group is gone
   */
  async create(label: LabelRecord, above: readonly Container[]): Promise<void> {
    await this.#commit([
      { put: { ...labelKey(label.id), ...label }, if: ABSENT, reason: 'label' },
      ...entered(label),
      ...titleIsFree(above, label.title),
      checkSourceExists(label.container),
    ]);
  }

  /**
   * @returns the label after the change
   * @throws AlreadyExists when the new title is taken; Stale when the label was changed or deleted since it was read
   */
  async change(
    label: LabelRecord,
    change: LabelChange,
    above: readonly Container[],
    now: Date,
    messages: readonly OutboxMessage[] = [],
  ): Promise<LabelRecord> {
    const next: LabelRecord = {
      ...label,
      ...change,
      updatedAt: now.toISOString(),
      version: label.version + 1,
    };
    const renamed = next.title !== label.title;
    await this.#commit(
      [
        { put: { ...labelKey(label.id), ...next }, ...unchanged(label) },
        ...(renamed ? [titleRow(next), forgetTitle(label), ...titleIsFree(above, next.title)] : []),
        checkSourceExists(label.container),
      ],
      messages,
    );
    return next;
  }

  /**
   * Makes a project's label one of its group, with the same id.
   * @param above containers above the group: none may have the title
   * @throws AlreadyExists when the group has a label with this title, LimitReached, Stale, Missing
   */
  async promote(
    label: LabelRecord,
    group: Container,
    above: readonly Container[],
    now: Date,
    messages: readonly OutboxMessage[],
  ): Promise<LabelRecord> {
    const next: LabelRecord = {
      ...label,
      container: group,
      priority: null,
      updatedAt: now.toISOString(),
      version: label.version + 1,
    };
    await this.#commit(
      [
        { put: { ...labelKey(label.id), ...next }, ...unchanged(label) },
        ...left(label),
        ...entered(next),
        ...titleIsFree(above, next.title),
        checkSourceExists(label.container),
        checkSourceExists(group),
      ],
      messages,
    );
    return next;
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async remove(label: LabelRecord, messages: readonly OutboxMessage[]): Promise<void> {
    await this.#commit([{ delete: labelKey(label.id), ...unchanged(label) }, ...left(label)], messages);
  }

  /** @returns for each label whether the user is subscribed to it there */
  async subscribed(labelIds: readonly number[], userId: number, at: Container): Promise<boolean[]> {
    const keys = labelIds.map((labelId) => subscriptionKey({ labelId, userId, at }));
    return (await this.#table.batchGet(keys, { only: ['pk'] })).map((row) => row !== undefined);
  }

  /** @returns false when the user was already subscribed. @throws Missing when the label or the user is gone */
  async subscribe(subscription: Subscription): Promise<boolean> {
    const { labelId, userId } = subscription;
    try {
      await this.#table.transact([
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
    if ((await this.#table.get(key)) === undefined) return false;
    await this.#table.delete({ delete: key });
    return true;
  }

  /** Deletes up to `limit` rows that a deleted label left behind. @returns whether any are left */
  forget(labelId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: labelKey(labelId).pk, limit });
  }

  /** Deletes labels of a deleted project or group, with the rows of each. @returns whether any are left */
  async removeOf(container: Container, limit = 50): Promise<boolean> {
    const partition = labelsPartition(container);
    const page = await this.#table.query({ partition, prefix: TITLE, only: ['pk', 'sk', 'labelId'], limit });
    await Promise.all(
      page.items.map(async ({ pk, sk, labelId }) => {
        while (await this.forget(labelId as number));
        await this.#table.delete({ delete: { pk: pk as string, sk: sk as string } });
      }),
    );
    if (page.next !== undefined) return true;
    await this.#table.delete({ delete: labelCountKey(container) });
    return false;
  }

  async #commit(writes: readonly Write[], messages: readonly OutboxMessage[] = []): Promise<void> {
    try {
      await this.#outbox.commit(writes, messages);
    } catch (error) {
      throw error instanceof TransactionRefused ? refusalOf(error) : error;
    }
  }
}

function refusalOf(error: TransactionRefused): unknown {
  for (const what of ['project', 'group']) if (error.has(what)) return new Missing(what);
  if (error.has('label')) return new Stale('label');
  if (error.has('title')) return new AlreadyExists('label');
  return error.has('limit') ? new LimitReached('labels', MAX_LABELS) : error;
}

const unchanged = ({ version }: LabelRecord) => ({
  if: '#version = :version',
  values: { version },
  reason: 'label',
});

const titleRow = ({ id, container, title }: LabelRecord): Put => ({
  put: { ...labelTitleKey(container, title), labelId: id },
  if: ABSENT,
  reason: 'title',
});

const forgetTitle = ({ container, title }: LabelRecord): Delete => ({
  delete: labelTitleKey(container, title),
});

/** Writes that put a label into the list of its container. */
const entered = (label: LabelRecord): Write[] => [
  titleRow(label),
  {
    update: labelCountKey(label.container),
    add: { count: 1 },
    if: 'attribute_not_exists(#count) OR #count < :limit',
    values: { limit: MAX_LABELS },
    reason: 'limit',
  },
];

/** Writes that take a label out of the list of its container. */
const left = (label: LabelRecord): Write[] => [
  forgetTitle(label),
  { update: labelCountKey(label.container), add: { count: -1 } },
];

const titleIsFree = (containers: readonly Container[], title: string): Check[] =>
  containers.map((container) => ({ check: labelTitleKey(container, title), if: ABSENT, reason: 'title' }));

const subscriptionKey = ({ labelId, userId, at }: Subscription) =>
  labelSubscriptionKey(labelId, at.kind === 'project' ? at.id : 0, userId);

function fromItem({ pk: _p, sk: _s, w: _w, ...label }: Item): LabelRecord {
  return label as unknown as LabelRecord;
}
