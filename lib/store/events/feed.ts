/** Feeds of events of projects or of an author, merged by time and cut into pages. */

import type { Container } from '../../records/labels.ts';
import { authorEventsPartition, eventsPartition, placeOfEvents } from '../row-keys/events.ts';
import { idOf, type Key, padded } from '../row-keys/key.ts';
import type { Position } from '../table/cursor.ts';
import {
  chunkFor,
  countPartitions,
  countSources,
  cutPage,
  MAX_TOTAL,
  type Page,
  type PageRequest,
} from '../table/paging.ts';
import {
  type Countable,
  type Direction,
  type KeySource,
  mergeKeys,
  querySource,
} from '../table/sorted-sources.ts';
import type { QueryOptions, Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';
import { type EventRecord, eventOf, facetName, retainedSince } from './events.ts';
import type { EventFacet } from './facet.ts';
import { EVENT_FACETS, PROJECT_FACETS } from './kinds.ts';

/** Whose events to read. Several views are merged into one feed, which contains each event once. */
export interface FeedView {
  readonly of: 'project' | 'author';
  readonly id: number;
  /** Only events of these facets; all if not given. */
  readonly facets?: readonly EventFacet[] | undefined;
}

export interface FeedRequest extends PageRequest {
  readonly direction: Direction;
  readonly now: Date;
  /** Only events after this day. `YYYY-MM-DD` */
  readonly after?: string | undefined;
  /** Only events before this day. `YYYY-MM-DD` */
  readonly before?: string | undefined;
  /** Only what follows this event in the order. */
  readonly following?: Position | undefined;
}

/** What an event's keys contain. */
export interface EventHeader extends Position {
  readonly key: Key;
  readonly place: Container;
  /** Its name, see `facetName`. */
  readonly facet: string;
  readonly item?: Item;
}

/** Returns for each event whether the viewer may see it. */
export type EventFilter = (headers: readonly EventHeader[]) => Promise<readonly boolean[]>;

/** Up to this offset, a single feed reads whole rows; from here on, keys of an index. */
const FEW = 200;
/** A few facets have most events of a project, so each is first read as if there were no more of them than this. */
const FREQUENT = 8;
/** Maximum number of keys filtered to fill a page, in addition to its offset. */
const WALK = 5_000;

export class EventFeed {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * @param judge filters the events; all are visible if it is not given
   * @throws StoreError `bad-page`
   */
  async page(
    views: readonly FeedView[],
    request: FeedRequest,
    judge?: EventFilter,
  ): Promise<Page<EventRecord>> {
    const offset = (request.page - 1) * request.perPage;
    const single = views.length === 1 && judge === undefined;
    const ranges = views.flatMap((view) =>
      rangesOf(view, request, { keysOnly: views.length === 1 && offset >= FEW, late: views.length > 1 }),
    );
    const headers = new Map<number, EventHeader>();
    const spread = views.length === 1 ? Math.min(ranges.length, FREQUENT) : ranges.length;
    const limit = firstRead(views.length, judge !== undefined, chunkFor(request, spread));
    const reads = ranges.map((range) => {
      const keyOf = (item: Item) => headerOf(item, range);
      return querySource(this.#table, range, request.direction, limit, keyOf);
    });
    const sources = reads.map((source) => noting(source, headers));
    const [page, total] = await Promise.all([
      cutPage(mergeKeys(sources, request.direction), request, {
        load: async (ids) => {
          const some = ids.map((id) => headers.get(id)!);
          const passes = await judge?.(some);
          return some.map((header, i) => (passes?.[i] === false ? undefined : header));
        },
        where: judge && (() => true),
        walk: WALK + offset,
        // With several views, nothing after the page is loaded to determine the total.
        ...(views.length > 1 ? { countWalk: 0 } : {}),
      }),
      single && request.count ? this.#total(views[0]!, request, ranges, reads) : undefined,
    ]);
    return { ...page, items: await this.#load(page.items), total: single ? total : page.total };
  }

  /** Counts what the page reads where these are keys of an index, or all rows there are; else keys of an index instead. */
  async #total(
    view: FeedView,
    request: FeedRequest,
    ranges: readonly Range[],
    reads: readonly Countable[],
  ): Promise<number | undefined> {
    if (ranges.every(({ index }) => index !== undefined)) return countSources(reads);
    if (reads.length === 1) {
      const { count, next } = await reads[0]!.count(MAX_TOTAL);
      if (next === undefined) return count;
    }
    const isWhole = view.facets === undefined && request.after === undefined && request.before === undefined;
    if (isWhole && view.of === 'project') return this.#whole(view.id, request.now);
    return countPartitions(this.#table, rangesOf(view, request, { keysOnly: true }));
  }

  /** Counts all events of a project: the keys of all facets together, without those that are not deleted yet. */
  async #whole(projectId: number, now: Date): Promise<number | undefined> {
    const partition = eventsPartition({ kind: 'project', id: projectId });
    const [all, expired] = await Promise.all([
      countPartitions(this.#table, [{ index: 'byUser', partition }]),
      this.#table.count({ partition, to: retainedSince(now).toISOString(), consistent: false }, MAX_TOTAL),
    ]);
    return all === undefined || expired === undefined ? undefined : all - expired;
  }

  /** Loads the events; leaves out those deleted in the meantime. */
  async #load(headers: readonly EventHeader[]): Promise<EventRecord[]> {
    const absent = headers.filter(({ item }) => item === undefined);
    // An event never changes: what a copy of the table has of it, at half the price, is what it is.
    const copies = await this.#table.batchGet(
      absent.map(({ key }) => key),
      { consistent: false },
    );
    const late = absent.filter((_, i) => copies[i] === undefined);
    const found = await this.#table.batchGet(late.map(({ key }) => key));
    const items = new Map([
      ...absent.map(({ id }, i) => [id, copies[i]] as const),
      ...late.map(({ id }, i) => [id, found[i]] as const),
    ]);
    return headers.flatMap(({ id, item = items.get(id) }) => (item === undefined ? [] : [eventOf(item)]));
  }
}

/** Keys that a single filtered feed reads first: as many as are loaded to determine a total. */
const JUDGED = 1_000;
/** The same for many feeds together, each of which reads at least {@link FROM_EACH}. */
const JUDGED_TOGETHER = 200;
const FROM_EACH = 4;

/** Returns how many rows or keys of each partition to read first. */
function firstRead(views: number, judged: boolean, chunk: number): number {
  if (views === 1) return judged ? Math.max(JUDGED, chunk) : chunk;
  return Math.max(FROM_EACH, Math.ceil(Math.max(JUDGED_TOGETHER, 2 * chunk) / views));
}

type Range = Pick<QueryOptions, 'partition' | 'index' | 'consistent'> & {
  readonly from: string;
  readonly to: string;
};

/**
 * @param options.keysOnly reads many short keys rather than few whole rows
 * @param options.late reads rows eventually consistent too, as keys are: that costs half
 */
function rangesOf(
  { of, id, facets }: FeedView,
  request: FeedRequest,
  { keysOnly = false, late = false },
): Range[] {
  const { after, before, now, following, direction } = request;
  // A bare day sorts before all times of that day; with a tilde appended, it sorts after them.
  const since = [retainedSince(now).toISOString(), after === undefined ? '' : `${after}~`];
  const until = [before ?? '~'];
  if (following !== undefined) {
    const time = following.sort.slice(0, following.sort.lastIndexOf('#'));
    if (direction === 'asc') since.push(`${time}#${padded(following.id)}~`);
    else until.push(`${time}#${padded(following.id - 1)}~`);
  }
  const [from, to] = [since.toSorted().at(-1)!, until.toSorted()[0]!];
  if (facets === undefined && of === 'author')
    return [{ index: 'byUpdated', partition: authorEventsPartition(id), from, to }];
  if (facets === undefined && !keysOnly)
    return [{ partition: eventsPartition({ kind: 'project', id }), from, to, consistent: !late }];
  return (facets ?? (of === 'author' ? EVENT_FACETS : PROJECT_FACETS)).map((facet) => {
    const name = facetName(facet);
    const bounds = { from: `${name}#${from}`, to: `${name}#${to}` };
    return of === 'author'
      ? { index: 'byName', partition: authorEventsPartition(id), ...bounds }
      : { index: 'byUser', partition: eventsPartition({ kind: 'project', id }), ...bounds };
  });
}

function headerOf(item: Item, { index }: Range): EventHeader {
  const { pk, sk } = item as Item & Key;
  const end = sk.lastIndexOf('#');
  const sort = sk.slice(0, end);
  return {
    sort,
    id: idOf(sort),
    key: { pk, sk },
    place: placeOfEvents(pk),
    facet: sk.slice(end + 1),
    ...(index === undefined ? { item } : {}),
  };
}

const noting = (source: KeySource, headers: Map<number, EventHeader>): KeySource => ({
  async next() {
    const keys = (await source.next()) as readonly EventHeader[];
    for (const header of keys) headers.set(header.id, header);
    return keys;
  },
});
