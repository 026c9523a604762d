/**
 * Milestones of projects and groups. A milestone's record is found by its id alone; rows in the partition of its project
 * or group make its title and number unique there, and list it by its state and due date.
 */

import type { Container } from '../../records/labels.ts';
import type { MilestoneRecord, MilestoneState } from '../../records/milestones.ts';
import { AlreadyExists, LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import type { Outbox, OutboxMessage } from '../outbox/outbox.ts';
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
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Check, type Delete, type Item, type Put, type Write } from '../table/write.ts';

/** Maximum number of milestones of a project or of a group, without inherited ones. */
export const MAX_MILESTONES = 10_000;
/** Attempts to get the next number in a project or group. */
const ATTEMPTS = 10;

export type NewMilestone = Omit<MilestoneRecord, 'iid'>;

/** What of a milestone can be changed. */
export type MilestoneChange = Partial<
  Pick<MilestoneRecord, 'title' | 'description' | 'state' | 'startDate' | 'dueDate'>
>;

export interface Alongside {
  readonly writes?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

export class Milestones {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  nextId(): Promise<number> {
    return this.#counters.next('milestone');
  }

  async get(id: number): Promise<MilestoneRecord | undefined> {
    const item = await this.#table.get(milestoneKey(id));
    return item && fromItem(item);
  }

  /** Returns milestones in the order of the ids; undefined for one that is deleted. One round trip per hundred. */
  async getMany(ids: readonly number[]): Promise<(MilestoneRecord | undefined)[]> {
    return (await this.#table.batchGet(ids.map(milestoneKey))).map((item) => item && fromItem(item));
  }

  /** Returns the ids of the milestones with these titles: one of each container and title at most. */
  titled(containers: readonly Container[], ...titles: readonly string[]): Promise<number[]> {
    return this.#ids(
      containers.flatMap((container) => titles.map((title) => milestoneTitleKey(container, title))),
    );
  }

  /** Returns the ids of the milestones with these numbers. */
  numbered(containers: readonly Container[], iids: readonly number[]): Promise<number[]> {
    return this.#ids(containers.flatMap((container) => iids.map((iid) => milestoneIidKey(container, iid))));
  }

  async #ids(keys: Parameters<Table['batchGet']>[0]): Promise<number[]> {
    const rows = await this.#table.batchGet(keys, { only: ['milestoneId'] });
    return rows.flatMap((row) => (row === undefined ? [] : [row['milestoneId'] as number]));
  }

  /**
   * The milestones of all containers: the earliest due date first, then the newest.
   * @param where a filter of records, which are then all loaded
   */
  async page(
    containers: readonly Container[],
    states: readonly MilestoneState[],
    request: PageRequest,
    where?: (milestone: MilestoneRecord) => boolean,
  ): Promise<Page<MilestoneRecord>> {
    const counted = where === undefined && request.count ? this.#count(containers, states) : undefined;
    // Its failure is thrown where it is awaited.
    counted?.catch(() => {});
    const chunk = where === undefined ? chunkFor(request, containers.length * states.length) : 100;
    const sources = containers.flatMap((container) =>
      states.map((state) => {
        const prefix = milestoneListPrefix(state);
        return querySource(
          this.#table,
          { partition: milestonesPartition(container), prefix, only: ['sk', 'milestoneId'] },
          'asc',
          chunk,
          (item) => ({
            sort: (item['sk'] as string).slice(prefix.length),
            id: item['milestoneId'] as number,
          }),
        );
      }),
    );
    const page = await cutPage(mergeKeys(sources, 'asc'), request, {
      load: (ids) => this.getMany(ids),
      where,
    });
    return where === undefined ? { ...page, total: await counted } : page;
  }

  async #count(containers: readonly Container[], states: readonly MilestoneState[]): Promise<number> {
    const rows = await this.#table.batchGet(containers.map(milestoneCountKey));
    return rows.reduce(
      (sum, row) => sum + states.reduce((of, state) => of + ((row?.[state] as number | undefined) ?? 0), 0),
      0,
    );
  }

  /**
   * @param above containers whose milestones this one inherits: none may have the title
   * @param alongside what joins the transaction, given the number
   * @returns the milestone with its number
   * @throws AlreadyExists, LimitReached beyond {@link MAX_MILESTONES}, Missing when the project or group is gone; Stale
   *   when concurrent creations took every number that was tried
   */
  async create(
    milestone: NewMilestone,
    above: readonly Container[],
    alongside: (created: MilestoneRecord) => Alongside = () => ({}),
  ): Promise<MilestoneRecord> {
    return this.#numbered(milestone.container, async (iid, numberTaken) => {
      const created = { ...milestone, iid };
      const { writes = [], messages = [] } = alongside(created);
      await this.#commit(
        [
          { put: { ...milestoneKey(created.id), ...created }, if: ABSENT, reason: 'milestone' },
          ...entered(created, numberTaken),
          ...titleIsFree(above, created.title),
          checkSourceExists(created.container),
          ...writes,
        ],
        messages,
      );
      return created;
    });
  }

  /**
   * @returns the milestone after the change
   * @throws AlreadyExists when the new title is taken; Stale when the milestone was changed or deleted since it was read
   */
  async change(
    milestone: MilestoneRecord,
    change: MilestoneChange,
    above: readonly Container[],
    now: Date,
    alongside: Alongside = {},
  ): Promise<MilestoneRecord> {
    const next: MilestoneRecord = {
      ...milestone,
      ...change,
      updatedAt: now.toISOString(),
      version: milestone.version + 1,
    };
    const { container, state } = milestone;
    const relisted = next.state !== state || next.dueDate !== milestone.dueDate;
    await this.#commit(
      [
        { put: { ...milestoneKey(milestone.id), ...next }, ...unchanged(milestone) },
        ...(next.title === milestone.title
          ? []
          : [titleRow(next), forgetTitle(milestone), ...titleIsFree(above, next.title)]),
        ...(relisted ? [listRow(next), { delete: milestoneListKey(container, milestone) }] : []),
        ...(next.state === state
          ? []
          : [{ update: milestoneCountKey(container), add: { [state]: -1, [next.state]: 1 } }]),
        checkSourceExists(container),
        ...(alongside.writes ?? []),
      ],
      alongside.messages,
    );
    return next;
  }

  /**
   * Makes a project's milestone one of its group, with the same id and a number of the group.
   * @throws AlreadyExists when the group, or one above it, has a milestone with this title; LimitReached, Stale, Missing
   */
  async promote(
    milestone: MilestoneRecord,
    group: Container,
    above: readonly Container[],
    now: Date,
    messages: readonly OutboxMessage[],
  ): Promise<MilestoneRecord> {
    return this.#numbered(group, async (iid, numberTaken) => {
      const next: MilestoneRecord = {
        ...milestone,
        iid,
        container: group,
        updatedAt: now.toISOString(),
        version: milestone.version + 1,
      };
      await this.#commit(
        [
          { put: { ...milestoneKey(milestone.id), ...next }, ...unchanged(milestone) },
          ...left(milestone),
          ...entered(next, numberTaken),
          ...titleIsFree(above, next.title),
          checkSourceExists(milestone.container),
          checkSourceExists(group),
        ],
        messages,
      );
      return next;
    });
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async remove(milestone: MilestoneRecord, alongside: Alongside = {}): Promise<void> {
    await this.#commit(
      [
        { delete: milestoneKey(milestone.id), ...unchanged(milestone) },
        ...left(milestone),
        ...(alongside.writes ?? []),
      ],
      alongside.messages,
    );
  }

  /** Deletes milestones of a deleted project or group. @returns whether any are left */
  async removeOf(container: Container, limit = 200): Promise<boolean> {
    const partition = milestonesPartition(container);
    const page = await this.#table.query({ partition, only: ['pk', 'sk', 'milestoneId'], limit });
    await Promise.all(
      page.items.map(async ({ pk, sk, milestoneId }) => {
        if (milestoneId !== undefined)
          await this.#table.delete({ delete: milestoneKey(milestoneId as number) });
        await this.#table.delete({ delete: { pk: pk as string, sk: sk as string } });
      }),
    );
    return page.next !== undefined;
  }

  /** Runs a creation with the next number, again while other creations take it. */
  async #numbered<T>(
    container: Container,
    create: (iid: number, lastNumber: number | undefined) => Promise<T>,
  ): Promise<T> {
    for (let n = 1; ; n++) {
      const last = (await this.#table.get(milestoneCountKey(container)))?.['iid'] as number | undefined;
      try {
        return await create((last ?? 0) + 1, last);
      } catch (error) {
        if (!(error instanceof NumberTaken)) throw error;
        if (n === ATTEMPTS) throw new Stale('milestones');
      }
    }
  }

  async #commit(writes: readonly Write[], messages: readonly OutboxMessage[] = []): Promise<void> {
    try {
      await this.#outbox.commit(writes, messages);
    } catch (error) {
      throw error instanceof TransactionRefused ? refusalOf(error) : error;
    }
  }
}

/** Another creation took the number. */
class NumberTaken extends Error {
  override readonly name = 'NumberTaken';
}

function refusalOf(error: TransactionRefused): unknown {
  for (const what of ['project', 'group']) if (error.has(what)) return new Missing(what);
  if (error.has('milestone')) return new Stale('milestone');
  if (error.has('title')) return new AlreadyExists('milestone');
  const count = error.get('count');
  if (count === undefined) return error;
  const { active = 0, closed = 0 } = (count.item ?? {}) as Partial<Record<MilestoneState, number>>;
  return active + closed >= MAX_MILESTONES
    ? new LimitReached('milestones', MAX_MILESTONES)
    : new NumberTaken();
}

const unchanged = ({ version }: MilestoneRecord) => ({
  if: '#version = :version',
  values: { version },
  reason: 'milestone',
});

const titleRow = ({ id, container, title }: MilestoneRecord): Put => ({
  put: { ...milestoneTitleKey(container, title), milestoneId: id },
  if: ABSENT,
  reason: 'title',
});

const forgetTitle = ({ container, title }: MilestoneRecord): Delete => ({
  delete: milestoneTitleKey(container, title),
});

const listRow = (milestone: MilestoneRecord): Put => ({
  put: { ...milestoneListKey(milestone.container, milestone), milestoneId: milestone.id },
});

/** Writes that put a milestone into its container. @param lastNumber the last number given there; undefined: none */
const entered = (milestone: MilestoneRecord, lastNumber: number | undefined): Write[] => [
  titleRow(milestone),
  listRow(milestone),
  { put: { ...milestoneIidKey(milestone.container, milestone.iid), milestoneId: milestone.id } },
  {
    update: milestoneCountKey(milestone.container),
    set: { iid: milestone.iid },
    add: { total: 1, [milestone.state]: 1 },
    ...(lastNumber === undefined
      ? { if: ABSENT }
      : {
          if: '#iid = :last AND #total < :limit',
          values: { last: lastNumber, limit: MAX_MILESTONES },
        }),
    reason: 'count',
  },
];

/** Writes that take a milestone out of its container. */
const left = (milestone: MilestoneRecord): Write[] => [
  forgetTitle(milestone),
  { delete: milestoneListKey(milestone.container, milestone) },
  { delete: milestoneIidKey(milestone.container, milestone.iid) },
  { update: milestoneCountKey(milestone.container), add: { total: -1, [milestone.state]: -1 } },
];

const titleIsFree = (containers: readonly Container[], title: string): Check[] =>
  containers.map((container) => ({
    check: milestoneTitleKey(container, title),
    if: ABSENT,
    reason: 'title',
  }));

function fromItem({ pk: _p, sk: _s, w: _w, ...milestone }: Item): MilestoneRecord {
  return milestone as unknown as MilestoneRecord;
}
