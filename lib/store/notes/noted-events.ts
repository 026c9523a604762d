/** What system notes tell of changes, as events: of labels, states, milestones, iterations and weights. */

import { eventsOfChange, type Noteable, type NotedChange, type NoteRecord } from '../../records/notes.ts';
import {
  eventsOfOrder,
  noteEventsPrefix,
  noteKey,
  notePrefix,
  notesPartition,
  noteUpdatesPartition,
} from '../row-keys/notes.ts';
import { MAX_TOTAL, type Page, type PageRequest, requireOffset } from '../table/paging.ts';
import { behindRow } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';
import type { Notes } from './notes.ts';

/** One event of a note: that of the label at this place among those added and then removed. */
export interface NotedEvent {
  readonly note: NoteRecord;
  readonly index: number;
}

interface EventsOf {
  readonly projectId: number;
  readonly noteable: Noteable;
  readonly kind: NotedChange['kind'];
}

/** Keys read at once. */
const CHUNK = 1000;

export class NotedEvents {
  readonly #table: Table;
  readonly #notes: Notes;
  constructor(table: Table, notes: Notes) {
    this.#table = table;
    this.#notes = notes;
  }

  /** Returns a page of events, the oldest first. @throws StoreError `bad-page` */
  async page({ projectId, noteable, kind }: EventsOf, request: PageRequest): Promise<Page<NotedEvent>> {
    const from = requireOffset(request);
    const to = from + request.perPage;
    const { after } = request.rows ?? {};
    const shown: { readonly sort: string; readonly id: number; readonly index: number }[] = [];
    let total = 0;
    for await (const { byName } of this.#keys({ projectId, noteable, kind }, after?.sort)) {
      const sort = byName as string;
      const { id, count } = eventsOfOrder(sort);
      const begin = sort === after?.sort ? Math.max(0, after.id + 1) : 0;
      for (
        let index = Math.max(begin, begin + from - total);
        index < Math.min(count, begin + to - total);
        index++
      )
        shown.push({ sort, id, index });
      total += Math.max(0, count - begin);
      if (total > (request.count ? Math.max(to, MAX_TOTAL) : to)) break;
    }
    const last = shown.at(-1);
    if (last !== undefined && total > to) request.rows?.ended({ sort: last.sort, id: last.index });
    const ids = [...new Set(shown.map(({ id }) => id))];
    const found = await this.#notes.getMany(ids.map((id) => ({ projectId, noteable, id })));
    const byId = new Map(ids.map((id, i) => [id, found[i]]));
    return {
      items: shown.flatMap(({ id, index }) => {
        const note = byId.get(id);
        return note === undefined ? [] : [{ note, index }];
      }),
      total: total > MAX_TOTAL ? undefined : total,
      more: total > to,
    };
  }

  async *#keys({ projectId, noteable, kind }: EventsOf, from: string | undefined): AsyncGenerator<Item> {
    // An earlier release kept them among the other system notes; those are the older ones.
    for (const noteClass of ['system', 'event'] as const) {
      const query = {
        index: 'byName',
        partition: noteUpdatesPartition(projectId, noteable, noteClass),
        prefix: noteEventsPrefix(kind),
        limit: CHUNK,
      } as const;
      yield* this.#table.queryAll(behindRow(query, 'asc', from));
    }
  }

  async get({ projectId, noteable, kind }: EventsOf, id: number): Promise<NotedEvent | undefined> {
    // The note that its id is of is the last one before it.
    const { items } = await this.#table.query({
      partition: notesPartition(projectId, noteable),
      from: notePrefix(noteable),
      to: noteKey(projectId, noteable, id).sk,
      only: ['sk'],
      reverse: true,
      limit: 1,
    });
    const noteId = items[0] === undefined ? undefined : Number((items[0]['sk'] as string).slice(-12));
    if (noteId === undefined) return undefined;
    const note = await this.#notes.get({ projectId, noteable, id: noteId });
    const index = id - noteId;
    if (note?.change?.kind !== kind || index >= eventsOfChange(note.change)) return undefined;
    return { note, index };
  }
}
