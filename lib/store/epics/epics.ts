/** Epics of groups. The lists of a group are read from that of its top-level group, in the order of a time or of titles. */

import { countedVotes, type Votes } from '../../records/award-emoji.ts';
import { classOfEpic, type EpicClass, type EpicRecord } from '../../records/epics.ts';
import type { Container } from '../../records/labels.ts';
import { Contained } from '../labels/contained.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { epicCountKey, epicIidKey, epicKey, epicsOfRoot, epicsPartition } from '../row-keys/epics.ts';
import { folded, orderedBy, padded } from '../row-keys/key.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { type Direction, indexSource, mergeKeys } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { type Check, PRESENT, unchangedSince, type Write } from '../table/write.ts';

/** Maximum number of epics of a group, without those of groups below. */
export const MAX_EPICS = 100_000;

export interface EpicQuery extends PageRequest {
  /** The top-level group. */
  readonly rootId: number;
  readonly classes: readonly EpicClass[];
  /** The index whose order the list has: by creation, by the last change, or by title. */
  readonly order: 'byId' | 'byUpdated' | 'byName';
  readonly direction: Direction;
  /** Which epics of a batch the list shows. */
  readonly shows: (epics: readonly EpicRecord[]) => Promise<readonly boolean[]>;
}

export class Epics extends Contained<EpicRecord> {
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    super(table, counters, outbox, {
      name: 'epic',
      plural: 'epics',
      limit: MAX_EPICS,
      key: epicKey,
      partition: epicsPartition,
      iidKey: epicIidKey,
      countKey: epicCountKey,
      total: 'total',
      index: indexOf,
    });
  }

  /** Returns the epic with a number in its group. */
  async numbered(group: Container, iid: number): Promise<EpicRecord | undefined> {
    const [id] = await this.idsOf([{ groupId: group.id, iid }]);
    return id === undefined ? undefined : this.get(id);
  }

  /** Returns the ids of epics by their groups and numbers, in the order given; undefined where there is none. */
  idsOf(
    places: readonly { readonly groupId: number; readonly iid: number }[],
  ): Promise<(number | undefined)[]> {
    return this.idsAt(places.map(({ groupId, iid }) => epicIidKey({ kind: 'group', id: groupId }, iid)));
  }

  /** Loads every epic of the top-level group up to the end of the page, at most 5,000. @throws StoreError `bad-page` */
  page(query: EpicQuery): Promise<Page<EpicRecord>> {
    const { rootId, classes, order, direction, shows } = query;
    const chunk = chunkFor(query, classes.length);
    const sources = classes.map((listClass) => {
      const where = { index: order, partition: epicsOfRoot(rootId, listClass) };
      return indexSource(this.table, where, direction, chunk, query.rows?.after);
    });
    const load = async (ids: readonly number[]) => {
      const found = await this.getMany(ids);
      const shown = await shows(found.filter((epic) => epic !== undefined));
      let at = 0;
      return found.map((epic) => (epic !== undefined && shown[at++] === true ? epic : undefined));
    };
    const options = { load, where: () => true, batchSize: query.perPage + 1 };
    return cutPage(mergeKeys(sources, direction, query.rows?.after), query, options);
  }

  /** For transactions that need the epic; refused as `epic` when it is deleted. */
  stays(id: number): Check {
    return { check: epicKey(id), if: PRESENT, reason: 'epic' };
  }

  /** For transactions that need the epic as it was read; refused as stale otherwise. */
  unchanged(epic: EpicRecord): Check {
    return { check: epicKey(epic.id), ...unchangedSince(epic, 'epic') };
  }

  /** The write for the transaction of an award, refused as `epic` when it is deleted. The time of its last change stays. */
  voteWrite(id: number, votes: Votes): Write {
    if (Object.keys(votes).length === 0) return this.stays(id);
    const add = countedVotes('epic', votes);
    return { update: epicKey(id), add, if: PRESENT, reason: 'epic' };
  }

  /** Returns ids of a group's epics by their numbers, above `after`. */
  async idsOfGroup(group: Container, after: number, limit: number): Promise<readonly EpicRef[]> {
    const page = await this.table.query({
      partition: epicsPartition(group),
      from: epicIidKey(group, after + 1).sk,
      to: 'IID#~',
      only: ['sk', 'epicId'],
      limit,
    });
    return page.items.map(({ sk, epicId }) => ({ id: epicId as number, iid: Number(String(sk).slice(-12)) }));
  }
}

interface EpicRef {
  readonly id: number;
  readonly iid: number;
}

/** Attributes that the record has as a row, beside its fields. */
export const indexOf = (epic: EpicRecord) => ({
  list: epicsOfRoot(epic.rootId, classOfEpic(epic)),
  byId: `${epic.createdAt}#${padded(epic.id)}`,
  byUpdated: `${epic.updatedAt}#${padded(epic.id)}`,
  byName: orderedBy(folded(epic.title), epic.id),
  who: userPartition(epic.author.id),
  what: userRow('EPIC', epic.id),
});
