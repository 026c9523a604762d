/**
 * What belongs to a project or a group and is used below it: labels, milestones and the like. A record is found by its id
 * alone. Rows in the partition of its project or group make its title unique there, number it, list it and count it.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Container } from '../../records/labels.ts';
import { AlreadyExists, LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import type { Outbox, OutboxMessage } from '../outbox/outbox.ts';
import type { CounterKind } from '../row-keys/counters.ts';
import type { Key } from '../row-keys/key.ts';
import type { Counters } from '../table/counters.ts';
import { chunkFor, cutPage, type Page, type PageRequest } from '../table/paging.ts';
import { behindRow, mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Check, type Item, type Put, unchangedSince, type Write } from '../table/write.ts';

export interface ContainedRecord {
  readonly id: number;
  readonly container: Container;
  readonly title: string;
  /** Its number in its project or group, where the kind has numbers. */
  readonly iid?: number;
  readonly updatedAt: string;
  readonly version: number;
}

/** What the rows of a kind are. */
export interface ContainedKind<R> {
  /** Also the counter of its ids, the reason of refusals, and before `Id` the attribute that leads to a record. */
  readonly name: CounterKind;
  readonly plural: string;
  /** Maximum number in a project or a group, without inherited ones. */
  readonly limit: number;
  readonly key: (id: number) => Key;
  readonly partition: (container: Container) => string;
  /** Makes the title unique in its project or group; absent: it need not be. */
  readonly titleKey?: (container: Container, title: string) => Key;
  /** Leads from a number; absent: there are none. */
  readonly iidKey?: (container: Container, iid: number) => Key;
  /** Its place in the list; absent: the list is read from other rows. */
  readonly listKey?: (container: Container, record: R) => Key;
  /** The last number given, and how many there are: in all (`total`), and of each part (`part`). */
  readonly countKey: (container: Container) => Key;
  readonly total: string;
  readonly part?: (record: R) => string;
  /** Attributes by which indexes find the record. */
  readonly index?: (record: R) => Item;
}

/** What joins the transaction of a change. */
export interface Alongside {
  readonly writes?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

/** Attempts to get the next number in a project or group. */
const ATTEMPTS = 10;

export class Contained<R extends ContainedRecord> {
  protected readonly table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  readonly #kind: ContainedKind<R>;
  readonly #leads: string;
  constructor(table: Table, counters: Counters, outbox: Outbox, kind: ContainedKind<R>) {
    this.table = table;
    this.#counters = counters;
    this.#outbox = outbox;
    this.#kind = kind;
    this.#leads = `${kind.name}Id`;
  }

  nextId(): Promise<number> {
    return this.#counters.next(this.#kind.name);
  }

  async get(id: number): Promise<R | undefined> {
    return this.#fromItem(await this.table.get(this.#kind.key(id)));
  }

  /** Returns records in the order of the ids; undefined for a deleted one. One round trip per hundred. */
  async getMany(ids: readonly number[]): Promise<(R | undefined)[]> {
    return (await this.table.batchGet(ids.map(this.#kind.key))).map((item) => this.#fromItem(item));
  }

  /**
   * @param above containers from which this one inherits: none may have the title
   * @param alongside what joins the transaction, given the record with its number
   * @returns the record with its number
   * @throws AlreadyExists, LimitReached, Missing when the project or group is gone; Stale when concurrent creations took
   *   every number that was tried
   */
  create(
    fresh: Omit<R, 'iid'>,
    above: readonly Container[],
    alongside: (created: R) => Alongside = () => ({}),
  ): Promise<R> {
    return this.#numbered(fresh as unknown as R, async (created, lastNumber) => {
      const { writes = [], messages } = alongside(created);
      await this.#commit([...this.#created(created, lastNumber, above), ...writes], messages);
    });
  }

  /**
   * The record with the next number, and the writes that create it, for the transaction of something else; refused as
   * `count` when another creation took the number, or when there are too many.
   */
  async creationOf(
    fresh: Omit<R, 'iid'>,
    above: readonly Container[] = [],
  ): Promise<{ readonly created: R; readonly writes: readonly Write[] }> {
    const last = await this.#lastNumber((fresh as unknown as R).container);
    const created = { ...fresh, iid: (last ?? 0) + 1 } as unknown as R;
    return { created, writes: this.#created(created, last, above) };
  }

  #created(created: R, lastNumber: number | undefined, above: readonly Container[]): Write[] {
    return [
      { ...this.#record(created), if: ABSENT, reason: this.#kind.name },
      ...this.#entered(created, lastNumber),
      ...this.#titleIsFree(above, created.title),
      checkSourceExists(created.container),
    ];
  }

  async #lastNumber(container: Container): Promise<number | undefined> {
    return (await this.table.get(this.#kind.countKey(container)))?.['iid'] as number | undefined;
  }

  /**
   * @returns the record after the change
   * @throws AlreadyExists when the new title is taken; Stale when the record was changed or deleted since it was read
   */
  async change(
    record: R,
    change: Partial<R>,
    above: readonly Container[],
    now: Date,
    { writes = [], messages }: Alongside = {},
  ): Promise<R> {
    const next = changed(record, change, now);
    const { container } = record;
    const [was, is] = [this.#listRow(record), this.#listRow(next)];
    const [left, entered] = [this.#partOf(record), this.#partOf(next)];
    await this.#commit(
      [
        { ...this.#record(next), ...this.#unchanged(record) },
        ...(next.title === record.title
          ? []
          : [...this.#titleRow(next), ...this.#forgetTitle(record), ...this.#titleIsFree(above, next.title)]),
        ...(isDeepStrictEqual(was, is) ? [] : [...is, ...was.map(({ put: { pk, sk } }) => gone({ pk, sk }))]),
        ...(left === entered
          ? []
          : [{ update: this.#kind.countKey(container), add: { [left!]: -1, [entered!]: 1 } }]),
        checkSourceExists(container),
        ...writes,
      ],
      messages,
    );
    return next;
  }

  /**
   * Makes a record of a project one of its group, with the same id and a number of the group.
   * @param above containers above the group: none may have the title
   * @throws AlreadyExists when the group has the title; LimitReached, Stale, Missing
   */
  promote(
    record: R,
    group: Container,
    above: readonly Container[],
    now: Date,
    { writes = [], messages }: Alongside,
    change: Partial<R> = {},
  ): Promise<R> {
    const moved = changed(record, { ...change, container: group }, now);
    return this.#numbered(moved, async (next, lastNumber) => {
      await this.#commit(
        [
          { ...this.#record(next), ...this.#unchanged(record) },
          ...this.#left(record),
          ...this.#entered(next, lastNumber),
          ...this.#titleIsFree(above, next.title),
          checkSourceExists(record.container),
          checkSourceExists(group),
          ...writes,
        ],
        messages,
      );
    });
  }

  /** @throws Stale when it was changed or deleted since it was read */
  async remove(record: R, { writes = [], messages }: Alongside = {}): Promise<void> {
    await this.#commit(
      [{ ...gone(this.#kind.key(record.id)), ...this.#unchanged(record) }, ...this.#left(record), ...writes],
      messages,
    );
  }

  /** Deletes records of a deleted project or group, with the rows of each. @returns whether any are left */
  async removeOf(container: Container, limit = 50): Promise<boolean> {
    const partition = this.#kind.partition(container);
    const page = await this.table.query({ partition, only: ['pk', 'sk', this.#leads], limit });
    await Promise.all(
      page.items.map(async ({ pk, sk, [this.#leads]: id }) => {
        if (id !== undefined) await this.removeRecord(id as number);
        await this.table.delete(gone({ pk: pk as string, sk: sk as string }));
      }),
    );
    return page.next !== undefined;
  }

  /** Deletes the record, and what else is kept by its id. */
  protected async removeRecord(id: number): Promise<void> {
    await this.table.delete(gone(this.#kind.key(id)));
  }

  /** Returns the ids that rows lead to, in the order of their keys. */
  protected async idsAt(keys: readonly Key[]): Promise<(number | undefined)[]> {
    const rows = await this.table.batchGet(keys, { only: [this.#leads] });
    return rows.map((row) => row?.[this.#leads] as number | undefined);
  }

  /**
   * The records that rows with these prefixes list, in the order of what follows the prefix.
   * @param options.where a filter of records, which are then all loaded
   * @param options.counted attributes of the row of counts that add up to the total
   */
  protected async listed(
    containers: readonly Container[],
    prefixes: readonly string[],
    request: PageRequest,
    options: { readonly where?: ((record: R) => boolean) | undefined; readonly counted: readonly string[] },
  ): Promise<Page<R>> {
    const { where } = options;
    const counted =
      where === undefined && request.count ? this.#count(containers, options.counted) : undefined;
    // Its failure is thrown where it is awaited.
    counted?.catch(() => {});
    const chunk = where === undefined ? chunkFor(request, containers.length * prefixes.length) : 100;
    const after = request.rows?.after;
    const rowsOf = (container: Container, prefix: string) => ({
      partition: this.#kind.partition(container),
      prefix,
      only: ['sk', this.#leads],
    });
    const sources = containers.flatMap((container) =>
      prefixes.map((prefix) =>
        querySource(
          this.table,
          behindRow(rowsOf(container, prefix), 'asc', after && prefix + after.sort),
          'asc',
          chunk,
          (item) => ({
            sort: (item['sk'] as string).slice(prefix.length),
            id: item[this.#leads] as number,
          }),
        ),
      ),
    );
    const page = await cutPage(mergeKeys(sources, 'asc', after), request, {
      load: (ids) => this.getMany(ids),
      where,
    });
    return where === undefined ? { ...page, total: await counted } : page;
  }

  async #count(containers: readonly Container[], attributes: readonly string[]): Promise<number> {
    const rows = await this.table.batchGet(containers.map(this.#kind.countKey));
    const counts = rows.flatMap((row) => attributes.map((name) => row?.[name] as number | undefined));
    return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  }

  /** Runs a creation with the next number, again while other creations take it. */
  async #numbered(
    record: R,
    create: (numbered: R, lastNumber: number | undefined) => Promise<void>,
  ): Promise<R> {
    if (this.#kind.iidKey === undefined) {
      await create(record, undefined);
      return record;
    }
    for (let n = 1; ; n++) {
      const last = await this.#lastNumber(record.container);
      const numbered = { ...record, iid: (last ?? 0) + 1 };
      try {
        await create(numbered, last);
        return numbered;
      } catch (error) {
        if (!(error instanceof NumberTaken)) throw error;
        if (n === ATTEMPTS) throw new Stale(this.#kind.plural);
      }
    }
  }

  async #commit(writes: readonly Write[], messages: readonly OutboxMessage[] = []): Promise<void> {
    try {
      await this.#outbox.commit(writes, messages);
    } catch (error) {
      throw error instanceof TransactionRefused ? this.#refusalOf(error) : error;
    }
  }

  #refusalOf(error: TransactionRefused): unknown {
    const { name, plural, limit, total, iidKey } = this.#kind;
    for (const what of ['project', 'group']) if (error.has(what)) return new Missing(what);
    if (error.has(name)) return new Stale(name);
    if (error.has('title')) return new AlreadyExists(name);
    const count = error.get('count');
    if (count === undefined) return error;
    const isFull = ((count.item?.[total] as number | undefined) ?? 0) >= limit;
    return isFull || iidKey === undefined ? new LimitReached(plural, limit) : new NumberTaken();
  }

  #record(record: R): Put {
    const item: Item = { ...record, ...this.#kind.index?.(record) };
    return { put: { ...this.#kind.key(record.id), ...item } };
  }

  #unchanged(record: R) {
    return unchangedSince(record, this.#kind.name);
  }

  #leading(key: Key, { id }: R): Put {
    return { put: { ...key, [this.#leads]: id } };
  }

  #titleRow(record: R): Write[] {
    const key = this.#kind.titleKey?.(record.container, record.title);
    return key === undefined ? [] : [{ ...this.#leading(key, record), if: ABSENT, reason: 'title' }];
  }

  #forgetTitle({ container, title }: R): Write[] {
    const key = this.#kind.titleKey?.(container, title);
    return key === undefined ? [] : [gone(key)];
  }

  #titleIsFree(containers: readonly Container[], title: string): Check[] {
    const { titleKey } = this.#kind;
    if (titleKey === undefined) return [];
    return containers.map((each) => ({ check: titleKey(each, title), if: ABSENT, reason: 'title' }));
  }

  #listRow(record: R): Put[] {
    const key = this.#kind.listKey?.(record.container, record);
    return key === undefined ? [] : [this.#leading(key, record)];
  }

  #iidRow(record: R): Put[] {
    const { iidKey } = this.#kind;
    return iidKey === undefined ? [] : [this.#leading(iidKey(record.container, record.iid!), record)];
  }

  #partOf(record: R): string | undefined {
    return this.#kind.part?.(record);
  }

  #added(record: R, by: 1 | -1): Record<string, number> {
    const part = this.#partOf(record);
    return { [this.#kind.total]: by, ...(part === undefined ? {} : { [part]: by }) };
  }

  /** Writes that put a record into its container. @param lastNumber the last number given there; undefined: none */
  #entered(record: R, lastNumber: number | undefined): Write[] {
    const { countKey, total, limit, iidKey } = this.#kind;
    const below = `#${total} < :limit`;
    const condition =
      iidKey === undefined
        ? { if: `attribute_not_exists(#${total}) OR ${below}`, values: { limit } }
        : lastNumber === undefined
          ? { if: ABSENT }
          : { if: `#iid = :last AND ${below}`, values: { last: lastNumber, limit } };
    return [
      ...this.#titleRow(record),
      ...this.#listRow(record),
      ...this.#iidRow(record),
      {
        update: countKey(record.container),
        ...(iidKey === undefined ? {} : { set: { iid: record.iid } }),
        add: this.#added(record, 1),
        ...condition,
        reason: 'count',
      },
    ];
  }

  /** Writes that take a record out of its container. */
  #left(record: R): Write[] {
    return [
      ...this.#forgetTitle(record),
      ...[...this.#listRow(record), ...this.#iidRow(record)].map(({ put: { pk, sk } }) => gone({ pk, sk })),
      { update: this.#kind.countKey(record.container), add: this.#added(record, -1) },
    ];
  }

  #fromItem(item: Item | undefined): R | undefined {
    if (item === undefined) return undefined;
    return Object.fromEntries(
      Object.entries(item).filter(([name]) => !NOT_OF_RECORD.has(name)),
    ) as unknown as R;
  }
}

/** Another creation took the number. */
class NumberTaken extends Error {
  override readonly name = 'NumberTaken';
}

const NOT_OF_RECORD = new Set(['pk', 'sk', 'w', 'who', 'what', 'list', 'byId', 'byName', 'byUpdated']);

const gone = (key: Key) => ({ delete: key });

const changed = <R extends ContainedRecord>(record: R, change: Partial<R>, now: Date): R => ({
  ...record,
  ...change,
  updatedAt: now.toISOString(),
  version: record.version + 1,
});
