/**
 * Lists of everybody with access to an outermost group, made now and then and read by page. A list is kept in parts: one
 * series for each order, of a thousand people a part, and one with all that a search looks at. It is written under an id
 * of its own and then put in force, so readers see one list or the next.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { MemberSource } from '../../records/members.ts';
import { ConditionFailed } from '../errors.ts';
import {
  billableKey,
  billableListKey,
  billablePartition,
  billablePartKey,
  billablePartPrefix,
  billableShards,
} from '../row-keys/billable-members.ts';
import { idOf } from '../row-keys/key.ts';
import { MAX_TOTAL, type PageRequest } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { type Item, PRESENT } from '../table/write.ts';

/** How somebody comes to have access, the first that applies: the last two are members of a group that is invited. */
export const MEMBERSHIP_TYPES = ['group_member', 'project_member', 'group_invite', 'project_invite'] as const;
export type MembershipType = (typeof MEMBERSHIP_TYPES)[number];

export const BILLABLE_ORDERS = ['name', 'level', 'joined', 'activity'] as const;
export type BillableOrder = (typeof BILLABLE_ORDERS)[number];

export interface Listed {
  readonly userId: number;
  readonly type: MembershipType;
}

/** What orders and searches are made of. */
export interface Billable extends Listed {
  readonly level: number;
  /** When the first of their memberships was given, ISO 8601. */
  readonly joined: string;
  /** `YYYY-MM-DD`, or empty. */
  readonly activity: string;
  readonly name: string;
  readonly username: string;
  /** The address they show to everybody, or empty. */
  readonly email: string;
}

export interface BillableState {
  /** In force; absent until the first is made. */
  readonly listId?: string;
  readonly count?: number;
  readonly builtAt?: string;
  /** Being made, and when somebody was at it last. */
  readonly making?: string;
  readonly makingSince?: string;
  /** Was in force, and may still have rows. */
  readonly former?: string;
  /** The day of the last request for it. */
  readonly askedOn?: string;
}

/** People in one part of an order. */
const PART = 1000;
/** An item holds 400 KB. */
const PART_BYTES = 200 * 1024;
/** The series that is searched, and that of a list that is half made. */
const ALL = 'all';
const HALF = 'half';

export class BillableLists {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  async state(groupId: number): Promise<BillableState | undefined> {
    return (await this.#table.get(billableKey(groupId))) as BillableState | undefined;
  }

  /** Notes that somebody asked: a list that is asked for is kept up to date. */
  async asked(groupId: number, day: string): Promise<void> {
    await this.#table.transact([
      { put: { ...billableListKey(groupId) } },
      { update: billableKey(groupId), set: { askedOn: day } },
    ]);
  }

  /** Groups whose lists are kept. */
  async *kept(): AsyncGenerator<number> {
    for (const partition of billableShards()) {
      for await (const item of this.#table.queryAll({ partition, only: ['sk'] }))
        yield idOf(item['sk'] as string);
    }
  }

  /**
   * Takes the making of a list upon oneself, also of one that somebody left: its rows go.
   * @param staleBefore ISO 8601: who was not at it since has given up
   * @returns false while somebody else is at it
   */
  async begin(groupId: number, listId: string, now: Date, staleBefore: Date): Promise<boolean> {
    const was = await this.state(groupId);
    try {
      await this.#table.update({
        update: billableKey(groupId),
        set: { making: listId, makingSince: now.toISOString() },
        if: 'attribute_not_exists(#making) OR #making = :listId OR #makingSince < :stale',
        values: { listId, stale: staleBefore.toISOString() },
      });
    } catch (error) {
      if (error instanceof ConditionFailed) return false;
      throw error;
    }
    for (const left of [was?.making, was?.former]) if (left !== undefined) await this.#clear(groupId, left);
    return true;
  }

  /** Says that one is still at it. @returns false when somebody else is */
  async goOn(groupId: number, listId: string, now: Date): Promise<boolean> {
    return this.#while(groupId, listId, { makingSince: now.toISOString() }, []);
  }

  /** Keeps what was found so far, for whoever goes on. */
  async keepHalf(groupId: number, listId: string, first: number, found: readonly unknown[]): Promise<number> {
    return this.#write(groupId, listId, HALF, found, first);
  }

  async *half<T>(groupId: number, listId: string): AsyncGenerator<T> {
    yield* this.#parts<T>(groupId, listId, HALF);
  }

  /** Puts a list in force. @returns false when somebody else took over */
  async publish(groupId: number, listId: string, people: readonly Billable[], now: Date): Promise<boolean> {
    for (const order of BILLABLE_ORDERS) {
      const sorted = people.toSorted(COMPARE[order]);
      const pairs = sorted.map(({ userId, type }) => [userId, MEMBERSHIP_TYPES.indexOf(type)]);
      await this.#write(groupId, listId, order, pairs, 0);
    }
    await this.#write(groupId, listId, ALL, people.map(packed), 0);
    const former = (await this.state(groupId))?.listId;
    const set = { listId, count: people.length, builtAt: now.toISOString(), ...(former && { former }) };
    if (!(await this.#while(groupId, listId, set, ['making', 'makingSince']))) {
      // Whoever took over may have cleared it before this was written. One that is in force is not ours to clear.
      if ((await this.state(groupId))?.listId !== listId) await this.#clear(groupId, listId);
      return false;
    }
    await this.#clear(groupId, listId, HALF);
    if (former !== undefined) await this.#clear(groupId, former);
    return true;
  }

  /** A page of a list in force: two parts at most. @returns undefined when another has taken its place */
  async page(
    groupId: number,
    { listId, count = 0 }: BillableState,
    order: BillableOrder,
    descending: boolean,
    { page, perPage }: PageRequest,
  ): Promise<{ items: Listed[]; total: number | undefined; more: boolean } | undefined> {
    const first = (page - 1) * perPage;
    const places = Array.from({ length: Math.max(0, Math.min(perPage, count - first)) }, (_, i) =>
      descending ? count - 1 - first - i : first + i,
    );
    const numbers = [...new Set(places.map((place) => Math.floor(place / PART)))];
    const keys = numbers.map((number) => billablePartKey(groupId, listId!, order, number));
    const parts = new Map((await this.#table.batchGet(keys)).map((item, i) => [numbers[i]!, peopleIn(item)]));
    const items: Listed[] = [];
    for (const place of places) {
      const pair = parts.get(Math.floor(place / PART))?.[place % PART] as [number, number] | undefined;
      if (pair === undefined) return undefined;
      items.push({ userId: pair[0], type: MEMBERSHIP_TYPES[pair[1]]! });
    }
    const total = count > MAX_TOTAL ? undefined : count;
    return { items, total, more: first + items.length < count };
  }

  /** Those of a list in force of whom something is true, ordered: as many as are told totals of. */
  async search(
    groupId: number,
    { listId }: BillableState,
    order: BillableOrder,
    descending: boolean,
    matches: (one: Billable) => boolean,
  ): Promise<Billable[]> {
    const found: Billable[] = [];
    for await (const row of this.#parts<Packed>(groupId, listId!, ALL)) {
      const one = unpacked(row);
      if (matches(one)) found.push(one);
      if (found.length >= MAX_TOTAL) break;
    }
    found.sort(COMPARE[order]);
    return descending ? found.reverse() : found;
  }

  /** Of a group that is gone: nothing is left. */
  async removeOfResource({ kind, id }: MemberSource): Promise<boolean> {
    if (kind === 'group' && (await this.state(id)) !== undefined) await this.forget(id);
    return false;
  }

  /** Forgets a group's lists. */
  async forget(groupId: number): Promise<void> {
    const was = await this.state(groupId);
    for (const listId of [was?.listId, was?.making, was?.former])
      if (listId !== undefined) await this.#clear(groupId, listId);
    await this.#table.transact([{ delete: billableListKey(groupId) }, { delete: billableKey(groupId) }]);
  }

  async #while(groupId: number, listId: string, set: Item, remove: readonly string[]): Promise<boolean> {
    try {
      const update = { update: billableKey(groupId), set, remove };
      await this.#table.update({ ...update, if: `${PRESENT} AND #making = :listId`, values: { listId } });
      return true;
    } catch (error) {
      if (error instanceof ConditionFailed) return false;
      throw error;
    }
  }

  /** @returns the number of the part after the last */
  async #write(
    groupId: number,
    listId: string,
    series: string,
    all: readonly unknown[],
    first: number,
  ): Promise<number> {
    let number = first;
    for (let at = 0; at < all.length; ) {
      const part: string[] = [];
      // Parts of an order are found by their number.
      for (let bytes = 0; part.length < PART && at < all.length && bytes < PART_BYTES; at++) {
        const text = JSON.stringify(all[at]);
        part.push(text);
        bytes += Buffer.byteLength(text);
      }
      const key = billablePartKey(groupId, listId, series, number++);
      await this.#table.put({ put: { ...key, people: deflateRawSync(`[${part.join()}]`) } });
    }
    return number;
  }

  async *#parts<T>(groupId: number, listId: string, series: string): AsyncGenerator<T> {
    const rows = { partition: billablePartition(groupId, listId), prefix: billablePartPrefix(series) };
    for await (const item of this.#table.queryAll(rows)) yield* peopleIn(item) as T[];
  }

  async #clear(groupId: number, listId: string, series = ''): Promise<void> {
    const rows = { partition: billablePartition(groupId, listId), only: ['pk', 'sk'] };
    const prefix = series === '' ? {} : { prefix: billablePartPrefix(series) };
    for await (const item of this.#table.queryAll({ ...rows, ...prefix }))
      await this.#table.delete({ delete: item as { pk: string; sk: string } });
  }
}

const peopleIn = (item: Item | undefined): unknown[] =>
  item === undefined
    ? []
    : (JSON.parse(inflateRawSync(item['people'] as Uint8Array).toString()) as unknown[]);

/** What a search reads of everybody is short. */
type Packed = readonly [number, number, number, string, string, string, string, string];
const packed = ({ userId, type, level, joined, activity, name, username, email }: Billable): Packed => [
  userId,
  MEMBERSHIP_TYPES.indexOf(type),
  level,
  joined,
  activity,
  name,
  username,
  email,
];
const unpacked = ([userId, type, level, joined, activity, name, username, email]: Packed): Billable => ({
  userId,
  type: MEMBERSHIP_TYPES[type]!,
  level,
  joined,
  activity,
  name,
  username,
  email,
});

type Compare = (a: Billable, b: Billable) => number;
const by =
  (value: (one: Billable) => string | number): Compare =>
  (a, b) => {
    const [x, y] = [value(a), value(b)];
    return x < y ? -1 : x > y ? 1 : a.userId - b.userId;
  };

const COMPARE: Readonly<Record<BillableOrder, Compare>> = {
  name: by(({ name }) => name.toLowerCase()),
  level: by(({ level }) => level),
  joined: by(({ joined }) => joined),
  activity: by(({ activity }) => activity),
};
