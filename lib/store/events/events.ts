/**
 * Events of activity: what people did in projects, for the feeds of the project and of its author. One row each, under
 * the project by time. Indexes find a project's by what was done, and an author's both ways, so that filters read
 * what they show.
 */

import { authorEventsPartition, eventFacetSort, eventKey, eventsPartition } from '../row-keys/events.ts';
import type { Key } from '../row-keys/key.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import type { Item, Put } from '../table/write.ts';

/** What was done, as filters name it. */
export type EventAction =
  | 'created'
  | 'updated'
  | 'closed'
  | 'reopened'
  | 'pushed'
  | 'commented'
  | 'merged'
  | 'joined'
  | 'left'
  | 'destroyed'
  | 'expired'
  | 'approved';

/** What kind of thing it was done to, as filters name it. */
export type EventTargetType =
  | 'issue'
  | 'milestone'
  | 'merge_request'
  | 'note'
  | 'project'
  | 'snippet'
  | 'user';

/** The thing in the project that it was done to. */
export interface EventTarget {
  /** As answers name it; a filter may know several by one name. */
  readonly type: 'Note' | 'DiffNote';
  readonly id: number;
  /** What it was called then. */
  readonly title: string | null;
  /** Of a note on a commit: that commit. */
  readonly commit: string;
}

/** One ref that was pushed to; of many at once, how many. */
export interface PushRecord {
  readonly action: 'created' | 'removed' | 'pushed';
  readonly refType: 'branch' | 'tag';
  /** New to the ref; of a tag, 1 for the commit it leads to. */
  readonly commitCount: number;
  /** Ids of objects; null for a ref that was not there before, or is not there now. */
  readonly from: string | null;
  readonly to: string | null;
  /** Short name. */
  readonly ref: string | null;
  /** Of the newest new commit. */
  readonly commitTitle: string | null;
  /** Of a push of many refs: how many. */
  readonly refCount: number | null;
}

export interface EventRecord {
  readonly id: number;
  readonly projectId: number;
  readonly authorId: number;
  readonly action: EventAction;
  readonly target: EventTarget | null;
  readonly push: PushRecord | null;
  /** Of a project that was created from elsewhere. */
  readonly imported?: true;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** What was done to what kind of thing, as keys tell it. Which there are is a closed list: feeds merge them. */
export interface EventFacet {
  readonly action: EventAction;
  readonly target: EventTargetType | null;
}

/** Every facet that some row may have. */
export const EVENT_FACETS: readonly EventFacet[] = [
  { action: 'created', target: null },
  { action: 'pushed', target: null },
  { action: 'commented', target: 'note' },
  { action: 'joined', target: null },
  { action: 'left', target: null },
  { action: 'expired', target: null },
];

const TARGET_TYPES: Readonly<Record<EventTarget['type'], EventTargetType>> = {
  Note: 'note',
  DiffNote: 'note',
};

/** Events go three years after they came. */
const YEARS_KEPT = 3;

/** The time of the earliest event that is there at `now`. */
export const retainedSince = (now: Date): Date => yearsFrom(now, -YEARS_KEPT);

/** Until when an event is there. */
export const retainedUntil = (createdAt: string): Date => yearsFrom(new Date(createdAt), YEARS_KEPT);

/** A day that only leap years have becomes the beginning of the next: what came earlier goes no later. */
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

  /** For whoever may ask for an id soon: it is there then. */
  prepare(): void {
    this.#counters.prepare('event');
  }

  /** Taken in blocks, so that whoever pushes fights for no counter: ids do not rise with time. */
  nextId(): Promise<number> {
    return this.#counters.leased('event');
  }

  /** Takes away the rows of a project that is gone, some at a time. @returns whether any are left. */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: eventsPartition(projectId), limit });
  }

  /**
   * Takes away what one author did, as far as an index knows of it, which may be late.
   * @param deadline milliseconds since 1970 @returns whether there was time for all of it
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

/** The row of an event, for the transaction of what it tells. */
export function eventWrite(event: EventRecord): Put {
  const { id, projectId, authorId, action, target, createdAt } = event;
  const facet = facetName({ action, target: target && TARGET_TYPES[target.type] });
  const key = eventKey(projectId, createdAt, id, facet);
  const byFacet = eventFacetSort(facet, createdAt, id);
  return {
    put: {
      ...key,
      ...event,
      who: key.pk,
      what: byFacet,
      list: authorEventsPartition(authorId),
      byUpdated: key.sk,
      byName: byFacet,
      ttl: Math.ceil(retainedUntil(createdAt).getTime() / 1000),
    },
  };
}

/** As keys name it. */
export const facetName = ({ action, target }: EventFacet): string =>
  target === null ? action : `${action}.${target}`;

export function eventOf(item: Item): EventRecord {
  const { pk: _p, sk: _s, who: _w, what: _a, list: _l, byUpdated: _u, byName: _n, ttl: _t, ...event } = item;
  return event as unknown as EventRecord;
}
