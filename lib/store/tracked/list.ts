/**
 * Lists of records. Ranges of keys find candidates in the order of creation or of the last change; what a reader may see
 * is decided by project, before records are loaded; other conditions hold for the records.
 */

import type { TrackedAddress, TrackedRecord } from '../../records/tracked.ts';
import { idOf } from '../row-keys/key.ts';
import type { WordRows } from '../row-keys/search.ts';
import { iidOf, numberWord } from '../row-keys/tracked.ts';
import { formsOf, type Terms } from '../search/words.ts';
import type { Position } from '../table/cursor.ts';
import { countPartitions, cutPage, MAX_TOTAL, type Page, type PageRequest } from '../table/paging.ts';
import type { Direction } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import type { TrackedKind } from './kind.ts';
import { type FoundPlace, intersection, type PlaceRange, Reads, Union } from './places.ts';
import { rangesOf } from './ranges.ts';
import type { TrackedRecords } from './records.ts';

/** What a reader may list of a project. */
export type Listable = 'all' | 'plain' | 'none';

/** Where a search looks: in a project, below a top-level group or personal namespace, or everywhere. */
export type SearchedIn =
  | { readonly kind: 'project' | 'root'; readonly id: number }
  | { readonly kind: 'all' };

export interface TrackedQuery<R> extends PageRequest {
  /** Candidates are in all of these; each is a union of ranges. */
  readonly sources: readonly (readonly PlaceRange[])[];
  readonly direction: Direction;
  /** Only what follows this in the order of the ranges: what stands before the page, whatever its number is. */
  readonly after?: Position;
  /** Decides by project. Absent: everything that the ranges hold may be listed. */
  readonly listable?: (projectIds: readonly number[]) => Promise<readonly Listable[]>;
  /** Names of the fields that records then have: those that `matches`, `sortBy` and the caller ask for. Absent: all. */
  readonly only?: readonly string[];
  /** Conditions on records, for a batch of them. Absent: none but those of the ranges. */
  readonly matches?: (records: readonly R[]) => Promise<readonly boolean[]>;
  /** What the records are sorted by, where it is not the order of the ranges; null comes last in both directions. */
  readonly sortBy?: (records: readonly R[]) => Promise<readonly (string | number | null)[]>;
  /** Records that are judged for the total, behind those of the page; by default 1,000. */
  readonly countWalk?: number;
  /** The total, where the caller knows it. */
  readonly total?: number | Promise<number>;
}

/** Queries of a list with several conditions. */
const MAX_READS = 100;
/** Candidates that are sorted in memory. */
const MAX_SORTED = 10_000;
/** Keys judged by project at once, after the first. */
const KEYS_AT_ONCE = 400;

export class TrackedList<R extends TrackedRecord, Facet extends string, Class extends string> {
  readonly #table: Table;
  readonly #records: TrackedRecords<R, Facet, Class>;
  readonly #kind: TrackedKind<R, Facet, Class>;

  constructor(kind: TrackedKind<R, Facet, Class>, table: Table, records: TrackedRecords<R, Facet, Class>) {
    this.#kind = kind;
    this.#table = table;
    this.#records = records;
  }

  async page(query: TrackedQuery<R>): Promise<Page<R>> {
    if (query.sortBy !== undefined) return this.#sorted(query, query.sortBy);
    const { addresses, load, begin } = this.#loader(query);
    const reads = new Reads(boundOf(query));
    const { after, ...whole } = query;
    const counted = query.count && query.total === undefined ? this.#total(whole) : undefined;
    // Its failure is thrown where it is awaited.
    counted?.catch(() => {});
    // A total that only the records tell is counted from the beginning, and the page is on the way.
    const following = after !== undefined && !(query.count && query.matches) ? { ...query, page: 1 } : whole;
    const page = await cutPage(this.#keys(following, reads, addresses, { begin }), following, {
      load,
      ...(query.matches === undefined
        ? {}
        : {
            where: () => true,
            batchSize: query.perPage + 1,
            ...(query.countWalk === undefined ? {} : { countWalk: query.countWalk }),
          }),
    });
    const total = (await query.total) ?? page.total ?? (await counted);
    const { total: _, ...rest } = page;
    if (!reads.cut) return { ...rest, total };
    return { ...rest, total: undefined, truncated: true };
  }

  /** Counts what a list would show, at most `limit` candidates. */
  async count(query: TrackedQuery<R>, limit: number): Promise<number> {
    if (query.total !== undefined) return query.total;
    const quick = await this.#total(query);
    if (quick !== undefined) return quick;
    const { addresses, load } = this.#loader(query);
    let [total, looked] = [0, 0];
    let ids: number[] = [];
    const take = async () => {
      const kept =
        query.matches === undefined ? ids : (await load(ids)).filter((record) => record !== undefined);
      total += kept.length;
      ids = [];
    };
    const keys = this.#keys({ ...query, perPage: limit }, new Reads(MAX_READS), addresses, {
      chunk: limit,
    });
    for await (const { id } of keys) {
      ids.push(id);
      if (ids.length === 500) await take();
      if (++looked === limit) break;
    }
    await take();
    return total;
  }

  /** Counts a user's records of these classes, at most {@link MAX_TOTAL}. */
  async countOfPerson(facet: Facet, userId: number, classes: readonly Class[]): Promise<number> {
    return (await this.#count(rangesOf(this.#kind.keys).ofPerson(facet, userId, classes, true))) ?? MAX_TOTAL;
  }

  /**
   * Finds the ranges of what a search asks for, which are judged by the records: a union for each of its words.
   * @returns undefined where nothing has one of them
   */
  async rangesOfWords(where: SearchedIn, { words, number }: Terms): Promise<PlaceRange[][] | undefined> {
    const rows = this.#wordRowsOf(where);
    const forms = await Promise.all(words.map((word) => formsOf(this.#table, rows, word)));
    const numbered = number === undefined ? [] : rangesOfForms(rows, [numberWord(this.#kind.sign, number)]);
    if (words.length === 0) return numbered.length === 0 ? undefined : [numbered];
    if (number === undefined && forms.some((of) => of.length === 0)) return undefined;
    return forms.map((of) => [...rangesOfForms(rows, of), ...numbered]);
  }

  /** The ranges of some of a project's records, by their numbers. */
  rangesOfNumbers(projectId: number, iids: readonly number[]): PlaceRange[] {
    const { keys, sign } = this.#kind;
    const words = [...new Set(iids)].map((iid) => numberWord(sign, iid));
    return rangesOfForms(keys.wordsOfProject(projectId), words);
  }

  #wordRowsOf(where: SearchedIn): WordRows {
    const { keys } = this.#kind;
    if (where.kind === 'all') return keys.wordsOfAll;
    return where.kind === 'root' ? keys.wordsOfRoot(where.id) : keys.wordsOfProject(where.id);
  }

  /** @returns undefined above {@link MAX_TOTAL} keys, or where only walking through the records would tell */
  async #total(query: TrackedQuery<R>): Promise<number | undefined> {
    const { sources, listable, matches } = query;
    if (matches !== undefined) return undefined;
    const [only, ...others] = sources;
    if (others.length === 0 && listable === undefined) {
      // One's own confidential issues are in no other range, but may be in two of these: as author and as assignee.
      const own = only!.filter((range) => range.own === true);
      const isTwice = new Set(own.map(({ listClass }) => listClass)).size < own.length;
      const [rest, mine] = await Promise.all([
        this.#count(only!.filter((range) => range.own !== true)),
        isTwice ? this.#total({ ...query, sources: [own, own] }) : this.#count(own),
      ]);
      return rest === undefined || mine === undefined ? undefined : rest + mine;
    }
    const keys = await Promise.all(sources.map((ranges) => this.#count(ranges)));
    if (keys.every((count) => count === undefined)) return undefined;
    const reads = new Reads(boundOf(query));
    let total = 0;
    const whole = { ...query, page: 1, perPage: MAX_TOTAL };
    for await (const _ of this.#keys(whole, reads, new Map(), { chunk: MAX_TOTAL }))
      if (++total > MAX_TOTAL) return undefined;
    return reads.cut ? undefined : total;
  }

  #count(ranges: readonly PlaceRange[]): Promise<number | undefined> {
    return countPartitions(
      this.#table,
      ranges.map(({ index, partition, prefix }) => ({
        ...(index === undefined ? {} : { index }),
        partition,
        from: prefix,
        to: `${prefix}~`,
      })),
    );
  }

  /** The order of a value that no range has: the newest candidates, sorted here. */
  async #sorted(query: TrackedQuery<R>, sortBy: NonNullable<TrackedQuery<R>['sortBy']>): Promise<Page<R>> {
    const { addresses, load } = this.#loader(query);
    const reads = new Reads(MAX_READS);
    const ids: number[] = [];
    let cut = false;
    const newest: TrackedQuery<R> = { ...query, page: 1, perPage: MAX_SORTED, direction: 'desc' };
    for await (const { id } of this.#keys(newest, reads, addresses, { chunk: MAX_SORTED })) {
      if (ids.length === MAX_SORTED) {
        cut = true;
        break;
      }
      ids.push(id);
    }
    const records: R[] = [];
    for (let from = 0; from < ids.length; from += 1000)
      // Without their descriptions, which are too long together.
      for (const record of await load(ids.slice(from, from + 1000)))
        if (record !== undefined) records.push({ ...record, description: null });
    const values = await sortBy(records);
    const sign = query.direction === 'asc' ? 1 : -1;
    const order = records
      .map((record, i) => ({ record, value: values[i]! }))
      .sort((a, b) => {
        if (a.value === b.value) return sign * (a.record.id - b.record.id);
        if (a.value === null || b.value === null) return a.value === null ? 1 : -1;
        return a.value < b.value ? -sign : sign;
      });
    const from = (query.page - 1) * query.perPage;
    const complete = !cut && !reads.cut;
    const shown = order.slice(from, from + query.perPage).map(({ record }) => record);
    return {
      items: (await this.#records.getMany(shown, query.only)).filter((record) => record !== undefined),
      total: complete ? order.length : undefined,
      more: order.length > from + query.perPage,
      ...(complete ? {} : { truncated: true }),
    };
  }

  /**
   * The candidates that the reader may list, as positions; `addresses` takes where each is stored.
   * @param begin hears of the candidates of a first page before their projects are judged
   */
  async *#keys(
    query: TrackedQuery<R>,
    reads: Reads,
    addresses: Map<number, TrackedAddress>,
    {
      chunk = Math.min(1000, query.page * query.perPage + 1),
      begin,
    }: { readonly chunk?: number; readonly begin?: (first: readonly FoundPlace[]) => void } = {},
  ): AsyncGenerator<Position> {
    const { sources, direction, listable } = query;
    const after = query.after?.sort;
    const reading = { direction, chunk, after };
    const unions = sources.map((ranges) => new Union(this.#table, ranges, reading, reads));
    const found = intersection(unions, direction);
    const known = new Map<number, Listable>();
    for (let size = query.perPage + 1, isFirst = true; ; size = KEYS_AT_ONCE, isFirst = false) {
      const batch: FoundPlace[] = [];
      while (batch.length < size) {
        const next = await found.next();
        if (next.done) break;
        if (next.value.place !== after) batch.push(next.value);
      }
      const unknown = [...new Set(batch.map(({ projectId }) => projectId))].filter((id) => !known.has(id));
      if (listable !== undefined && unknown.length > 0) {
        // One beyond the page tells that another follows; only conditions ask for its record.
        if (isFirst && query.page === 1)
          begin?.(query.matches === undefined ? batch.slice(0, query.perPage) : batch);
        const answers = await listable(unknown);
        for (const [i, id] of unknown.entries()) known.set(id, answers[i]!);
      }
      for (const { projectId, place, listClass, own } of batch) {
        const may = listable === undefined ? 'all' : known.get(projectId)!;
        if (may === 'none' || (may === 'plain' && !own && listClass.endsWith('-confidential'))) continue;
        const id = idOf(place);
        addresses.set(id, addressOf({ projectId, place }));
        yield { sort: place, id };
      }
      if (batch.length < size) return;
    }
  }

  #loader({ matches, only }: TrackedQuery<R>) {
    const addresses = new Map<number, TrackedAddress>();
    let begun: Promise<ReadonlyMap<number, R | undefined>> | undefined;
    // Read beside the projects; few of them are not shown then. A failure is thrown where it is awaited.
    const begin = (first: readonly FoundPlace[]) => {
      const reading = this.#records.getMany(first.map(addressOf), only);
      begun = reading.then((records) => new Map(first.map(({ place }, i) => [idOf(place), records[i]])));
      begun.catch(() => {});
    };
    const load = async (ids: readonly number[]): Promise<(R | undefined)[]> => {
      const known = new Map(await begun);
      begun = undefined;
      const unread = ids.filter((id) => !known.has(id));
      const read = await this.#records.getMany(
        unread.map((id) => addresses.get(id)!),
        only,
      );
      for (const [i, id] of unread.entries()) known.set(id, read[i]);
      const records = ids.map((id) => known.get(id));
      if (matches === undefined) return records;
      const there = records.filter((record) => record !== undefined);
      const verdicts = await matches(there);
      const kept = new Set(there.filter((_, i) => verdicts[i]));
      return records.map((record) => (record !== undefined && kept.has(record) ? record : undefined));
    };
    return { addresses, load, begin };
  }
}

const addressOf = ({ projectId, place }: Pick<FoundPlace, 'projectId' | 'place'>): TrackedAddress => ({
  projectId,
  iid: iidOf(place),
});

/** Queries that a list may make: one for each range, and further ones. */
const boundOf = ({ sources }: Pick<TrackedQuery<never>, 'sources'>): number =>
  sources.flat().length + MAX_READS;

/** Rows of words say nothing of the class, which the records are judged by. */
const rangesOfForms = ({ index, partition, prefix }: WordRows, forms: readonly string[]): PlaceRange[] =>
  forms.map((form) => ({
    ...(index === undefined ? {} : { index }),
    partition: partition(form),
    prefix: `${prefix}${form}#`,
    listClass: '',
  }));
