/**
 * Activity events: what users did in projects, and with epics of groups, for the feeds of the project and of the author.
 * One row each, in the partition of the project or group, sorted by time. Indexes list a project's events by facet, and an
 * author's by time and by facet, so that filters read only what they show.
 */

import type { Container } from '../../records/labels.ts';
import { authorEventsPartition, eventFacetSort, eventKey, eventsPartition } from '../row-keys/events.ts';
import { idOf, type Key } from '../row-keys/key.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import type { Item, Put } from '../table/write.ts';
import type { EventAction, EventFacet } from './facet.ts';
import { CONTRIBUTIONS, TARGET_TYPES, type TargetType } from './kinds.ts';

/** The object in the project or group that it was done to. */
export interface EventTarget {
  readonly type: TargetType;
  readonly id: number;
  /** Its title at that time. */
  readonly title: string | null;
  /** Its number in the project or group, if it has one. */
  readonly iid?: number;
  /** Of an issue or an epic: only readers of confidential ones might read it then. */
  readonly confidential?: true;
  /** Of a note: the commit that it is on. */
  readonly commit?: string;
  /** Of a note: the issue that it is on, and whether only readers of confidential issues might read it then. */
  readonly issue?: { readonly id: number; readonly iid: number; readonly confidential: boolean };
  /** Of a note: the merge request that it is on. */
  readonly mergeRequest?: { readonly id: number; readonly iid: number };
  /** Of a note: the epic that it is on, and whether only readers of confidential epics might read it then. */
  readonly epic?: { readonly id: number; readonly iid: number; readonly confidential: boolean };
  /** Of a note: the snippet that it is on, and whether only members of the project saw that then. */
  readonly snippet?: { readonly id: number; readonly hidden?: true };
  /** Of a wiki page, as it was named then. */
  readonly page?: { readonly slug: string; readonly format: string };
}

/** The ref that was pushed to; for many refs at once, their number. */
export interface PushRecord {
  readonly action: 'created' | 'removed' | 'pushed';
  readonly refType: 'branch' | 'tag';
  /** Number of commits new to the ref; 1 for a tag: the commit it points to. */
  readonly commitCount: number;
  /** Object ids; null for a ref that did not exist before, or does not exist afterwards. */
  readonly from: string | null;
  readonly to: string | null;
  /** Short name. */
  readonly ref: string | null;
  /** Title of the newest new commit. */
  readonly commitTitle: string | null;
  /** Number of refs, for a push of many refs. */
  readonly refCount: number | null;
}

export interface EventRecord {
  readonly id: number;
  /** 0: it is of a group. */
  readonly projectId: number;
  readonly groupId?: number;
  readonly authorId: number;
  readonly action: EventAction;
  readonly target: EventTarget | null;
  readonly push: PushRecord | null;
  /** Set for a project that was created by an import. */
  readonly imported?: true;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** Number of events of each facet that are looked at. */
const MAX_CONTRIBUTIONS = 5_000;

/** Events are deleted three years after they were created. */
const YEARS_KEPT = 3;

/** Returns the creation time of the oldest event retained at `now`. */
export const retainedSince = (now: Date): Date => yearsFrom(now, -YEARS_KEPT);

/** Returns the time until which an event is retained. */
export const retainedUntil = (createdAt: string): Date => yearsFrom(new Date(createdAt), YEARS_KEPT);

/** 29 February becomes the start of 1 March in other years, so that an older event is never deleted later. */
function yearsFrom(at: Date, years: number): Date {
  const then = new Date(at);
  then.setUTCFullYear(then.getUTCFullYear() + years);
  if (then.getUTCDate() !== at.getUTCDate()) then.setUTCHours(0, 0, 0, 0);
  return then;
}

export class Events {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /** Leases ids ahead of time, for a caller that may need one soon. */
  prepare(): void {
    this.#counters.prepare('event');
  }

  /** Ids are leased in blocks, so that pushes do not contend for a counter. They do not increase with time. */
  nextId(): Promise<number> {
    return this.#counters.leased('event');
  }

  /**
   * Returns the projects of an author's pushes and comments since a time, found in the newest thousands of each. The
   * index may be late.
   */
  async contributedTo(authorId: number, since: Date): Promise<Set<number>> {
    const partition = authorEventsPartition(authorId);
    const found = CONTRIBUTIONS.map(async (facet) => {
      const name = facetName(facet);
      const bounds = { from: `${name}#${since.toISOString()}`, to: `${name}#~` };
      const rows = {
        index: 'byName',
        partition,
        ...bounds,
        reverse: true,
        limit: 1000,
        only: ['pk'],
      } as const;
      const ids: number[] = [];
      for await (const { pk } of this.#table.queryAll(rows)) {
        ids.push(idOf(pk as string));
        if (ids.length === MAX_CONTRIBUTIONS) break;
      }
      return ids;
    });
    return new Set((await Promise.all(found)).flat());
  }

  /** Deletes up to `limit` rows of a deleted project or group. @returns whether any are left */
  removeOf(place: Container, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: eventsPartition(place), limit });
  }

  /**
   * Deletes an author's events that an index lists; the index is eventually consistent.
   * @param deadline milliseconds since 1970 @returns whether all were deleted in time
   */
  async removeOfAuthor(authorId: number, deadline: number): Promise<boolean> {
    const rows = { index: 'byUpdated', partition: authorEventsPartition(authorId), limit: 200 } as const;
    for (let startKey: Item | undefined; ; ) {
      const page = await this.#table.query({ ...rows, ...(startKey && { startKey }) });
      const keys = page.items as unknown as Key[];
      await Promise.all(keys.map(({ pk, sk }) => this.#table.delete({ delete: { pk, sk } })));
      if (page.next === undefined) return true;
      if (Date.now() > deadline) return false;
      startKey = page.next;
    }
  }
}

/** Returns the write of an event's row, for the transaction of the change that it reports. */
export function eventWrite(event: EventRecord): Put {
  const { id, authorId, action, target, createdAt } = event;
  const about = target === null ? undefined : aboutOf(target);
  const facet = facetName({
    action,
    target: target && TARGET_TYPES[target.type],
    ...(about === undefined ? {} : { about }),
  });
  const place = placeOfEvent(event);
  const key = eventKey(place, createdAt, id, facet);
  const byFacet = eventFacetSort(facet, createdAt, id);
  return {
    put: {
      ...key,
      ...event,
      // Groups have no feed of their own.
      ...(place.kind === 'project' ? { who: key.pk, what: byFacet } : {}),
      list: authorEventsPartition(authorId),
      byUpdated: key.sk,
      byName: byFacet,
      ttl: Math.ceil(retainedUntil(createdAt).getTime() / 1000),
    },
  };
}

const placeOfEvent = ({ projectId, groupId }: Pick<EventRecord, 'projectId' | 'groupId'>): Container =>
  groupId === undefined ? { kind: 'project', id: projectId } : { kind: 'group', id: groupId };

function aboutOf({ confidential, issue, epic, mergeRequest, snippet }: EventTarget): EventFacet['about'] {
  if (confidential === true) return 'confidential';
  if (issue !== undefined) return issue.confidential ? 'confidential' : 'issue';
  if (epic !== undefined) return epic.confidential ? 'confidential-epic' : 'epic';
  if (mergeRequest !== undefined) return 'merge-request';
  return snippet && (snippet.hidden === true ? 'hidden-snippet' : 'snippet');
}

/** Returns the facet's name in keys. */
export const facetName = ({ action, target, about }: EventFacet): string =>
  [action, target, about].filter((part) => typeof part === 'string').join('.');

export function eventOf(item: Item): EventRecord {
  const { pk: _p, sk: _s, who: _w, what: _a, list: _l, byUpdated: _u, byName: _n, ttl: _t, ...event } = item;
  return event as unknown as EventRecord;
}
