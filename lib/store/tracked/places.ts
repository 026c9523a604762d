/**
 * Sorted sources of records. A source can be read on and can be moved to a place, so that the records in several of them
 * are found by moving each to where the furthest one is, without reading what lies between.
 */

import { idOf } from '../row-keys/key.ts';
import { placeOf } from '../row-keys/tracked.ts';
import type { IndexName } from '../table/schema.ts';
import { type Direction, MAX_CHUNK, nextChunk } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import type { Item } from '../table/write.ts';

/** Rows of one class whose sort keys are a prefix and a place. */
export interface PlaceRange {
  readonly index?: IndexName;
  readonly partition: string;
  readonly prefix: string;
  readonly listClass: string;
  /** Places begin with a position of any length instead of a time. */
  readonly arranged?: boolean;
  /** Among so many ranges the rows of the class are spread evenly. */
  readonly shards?: number;
  /** The rows are of the reader, as author or assignee, who may see them though they are confidential. */
  readonly own?: boolean;
}

/** A record as its key tells it. */
export interface FoundPlace {
  readonly place: string;
  readonly listClass: string;
  readonly projectId: number;
  readonly own: boolean;
}

/** Bounds the queries of a list. */
export class Reads {
  #left: number;
  /** Whether the bound ended the list. */
  cut = false;
  constructor(limit: number) {
    this.#left = limit;
  }
  take(): boolean {
    if (this.#left-- > 0) return true;
    this.cut = true;
    return false;
  }
}

/** Rows that are first read after a move, as the next move may follow, and at most where it does. */
const AFTER_MOVE = 20;
const AFTER_MOVES = 250;

/** Rows of a shard that are first read beside its share, as some have a few more than others. */
const UNEVEN = 3;

/** How ranges are read. */
export interface Reading {
  readonly direction: Direction;
  /** Rows that are first read of each; above {@link MAX_CHUNK} all are wanted. */
  readonly chunk: number;
  /** The place from which on they are read; absent: all of them. */
  readonly after?: string | undefined;
}

/** A position in one range. */
class Cursor {
  readonly #table: Table;
  readonly #range: PlaceRange;
  readonly #direction: Direction;
  readonly #reads: Reads;
  #rows: readonly FoundPlace[] = [];
  #at = 0;
  #chunk: number;
  #afterMove = AFTER_MOVE;
  readonly #least: number;
  #startKey: Item | undefined;
  #bound: string | undefined;
  #ended = false;

  constructor(table: Table, range: PlaceRange, { direction, chunk, after }: Reading, reads: Reads) {
    this.#table = table;
    this.#range = range;
    this.#direction = direction;
    const { shards = 1 } = range;
    this.#chunk =
      shards === 1 || chunk > MAX_CHUNK ? chunk : Math.min(chunk, Math.ceil(chunk / shards) + UNEVEN);
    this.#bound = after;
    this.#least = chunk > MAX_CHUNK ? MAX_CHUNK : 0;
    this.#reads = reads;
  }

  /** @returns the record here; undefined at the end */
  async head(): Promise<FoundPlace | undefined> {
    while (this.#at === this.#rows.length && !this.#ended) await this.#read();
    return this.#rows[this.#at];
  }

  /** Moves to the first record that is not before the place. */
  move(place: string): void {
    while (this.#at < this.#rows.length && this.#isBefore(this.#rows[this.#at]!.place, place)) this.#at++;
    if (this.#at < this.#rows.length || this.#ended) return;
    // Rows up to there are left unread.
    if (this.#bound === undefined || this.#isBefore(this.#bound, place)) {
      this.#bound = place;
      this.#startKey = undefined;
      this.#chunk = Math.max(this.#least, this.#afterMove);
      this.#afterMove = Math.min(AFTER_MOVES, 2 * this.#afterMove);
    }
  }

  /** Leaves the place, if it is here. */
  leave(place: string): void {
    if (this.#rows[this.#at]?.place === place) this.#at++;
  }

  #isBefore(a: string, b: string): boolean {
    return this.#direction === 'asc' ? a < b : a > b;
  }

  async #read(): Promise<void> {
    if (!this.#reads.take()) {
      this.#ended = true;
      return;
    }
    const { index, partition, prefix, listClass, own, arranged } = this.#range;
    const asc = this.#direction === 'asc';
    const sort = index === undefined ? 'sk' : index === 'byUser' ? 'what' : index;
    const page = await this.#table.query({
      partition,
      ...(index === undefined ? {} : { index }),
      // The partition of a project's own rows tells the project.
      only: index === undefined ? [sort] : ['pk', sort],
      from: prefix + (asc ? (this.#bound ?? '') : ''),
      to: prefix + (asc ? '~' : (this.#bound ?? '~')),
      reverse: !asc,
      limit: this.#chunk,
      ...(this.#startKey === undefined ? {} : { startKey: this.#startKey }),
    });
    this.#rows = page.items.map((item) => ({
      place: arranged === true ? (item[sort] as string) : placeOf(item[sort] as string),
      listClass,
      projectId: idOf(index === undefined ? partition : (item['pk'] as string)),
      own: own === true,
    }));
    this.#at = 0;
    this.#chunk = Math.max(this.#chunk, nextChunk(this.#chunk));
    this.#startKey = page.next;
    this.#ended = page.next === undefined;
  }
}

/** The records that are in any of some ranges. */
export class Union {
  readonly #cursors: readonly Cursor[];
  readonly #direction: Direction;

  constructor(table: Table, ranges: readonly PlaceRange[], reading: Reading, reads: Reads) {
    this.#cursors = ranges.map((range) => new Cursor(table, range, reading, reads));
    this.#direction = reading.direction;
  }

  async head(): Promise<FoundPlace | undefined> {
    const heads = await Promise.all(this.#cursors.map((cursor) => cursor.head()));
    let first: FoundPlace | undefined;
    for (const head of heads) {
      if (head === undefined) continue;
      const before = first === undefined || isBefore(this.#direction, head.place, first.place);
      // One's own row says more than the list's.
      if (before || (first?.place === head.place && head.own)) first = head;
    }
    return first;
  }

  move(place: string): void {
    for (const cursor of this.#cursors) cursor.move(place);
  }

  leave(place: string): void {
    for (const cursor of this.#cursors) cursor.leave(place);
  }
}

/** Yields the records that are in all unions, in their order, each once. */
export async function* intersection(
  unions: readonly Union[],
  direction: Direction,
): AsyncGenerator<FoundPlace> {
  for (;;) {
    const heads = await Promise.all(unions.map((union) => union.head()));
    const found = heads.filter((head) => head !== undefined);
    if (found.length < heads.length || found.length === 0) return;
    const furthest = found.reduce((a, b) => (isBefore(direction, a.place, b.place) ? b : a));
    if (found.every(({ place }) => place === furthest.place)) {
      yield { ...furthest, own: found.some(({ own }) => own) };
      for (const union of unions) union.leave(furthest.place);
    } else for (const union of unions) union.move(furthest.place);
  }
}

const isBefore = (direction: Direction, a: string, b: string): boolean =>
  direction === 'asc' ? a < b : a > b;
