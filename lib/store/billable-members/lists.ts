/**
 * Lists of all users with access to a top-level group, built once a day and read by page. A list is stored in parts:
 * one series per order, with a thousand users per part, and one series with all fields that a search reads. It is
 * written under an id of its own and then published by a single update, so readers see either the previous list or the
 * new one.
 * All of these rows expire by `ttl`: nothing deletes them.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { ulid } from 'ulid';
import { ConditionFailed } from '../errors.ts';
import {
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

/** How a user has access; the first that applies. The last two are members of an invited group. */
export const MEMBERSHIP_TYPES = ['group_member', 'project_member', 'group_invite', 'project_invite'] as const;
type MembershipType = (typeof MEMBERSHIP_TYPES)[number];

const BILLABLE_ORDERS = ['name', 'level', 'joined', 'activity'] as const;
export type BillableOrder = (typeof BILLABLE_ORDERS)[number];

export interface ListedMember {
  readonly userId: number;
  readonly type: MembershipType;
}

/** The fields that are sorted by and searched. */
export interface BillableMember extends ListedMember {
  readonly level: number;
  /** Creation time of their earliest membership, ISO 8601. */
  readonly joined: string;
  /** `YYYY-MM-DD`, or empty. */
  readonly activity: string;
  readonly name: string;
  readonly username: string;
  /** Public email address, or empty. */
  readonly email: string;
}

/** A published list that is still valid. */
export interface BillableList {
  readonly groupId: number;
  readonly listId: string;
  readonly count: number;
}

/** Days for which a group's list is refreshed after the last request for it. */
const KEPT_DAYS = 30;
/** Days for which a list is valid if no newer one replaces it. */
const IN_FORCE_DAYS = 3;
/** How long the claim to build the list of a group that has none is exclusive. */
const CLAIM_SECONDS = 5 * 60;
const DAY_SECONDS = 86_400;
/** Users per part of a series that is one order. */
const PART = 1000;
/** Maximum JSON bytes before a part is closed, uncompressed: the size limit of an item is 400 KB. */
const PART_BYTES = 200 * 1024;
/** The series that is searched. */
const ALL = 'all';

export class BillableLists {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns the valid list, if there is one. */
  async get(groupId: number, now: Date): Promise<BillableList | undefined> {
    return inForce(groupId, await this.#table.get(billableListKey(groupId)), now);
  }

  /** Like `get`, for a request: keeps the list refreshed daily for the next {@link KEPT_DAYS} days. */
  async getAndExtend(groupId: number, now: Date): Promise<BillableList | undefined> {
    const row = await this.#table.get(billableListKey(groupId));
    const ttl = seconds(now) + KEPT_DAYS * DAY_SECONDS;
    if (ttlOf(row) < ttl - DAY_SECONDS)
      await this.#table.update({ update: billableListKey(groupId), set: { ttl } });
    return inForce(groupId, row, now);
  }

  /** Yields ids of the groups whose lists have to be refreshed. */
  async *groupsToRefresh(now: Date): AsyncGenerator<number> {
    for (const partition of billableShards()) {
      for await (const row of this.#table.queryAll({ partition, only: ['sk', 'ttl'] }))
        if (ttlOf(row) > seconds(now)) yield idOf(row['sk'] as string);
    }
  }

  /**
   * Claims the build of a group's list, so that requests which find no list do not all start a build.
   * @returns false while another caller holds the claim
   */
  async claim(groupId: number, now: Date): Promise<boolean> {
    try {
      await this.#table.update({
        update: billableListKey(groupId),
        set: { claimedUntil: seconds(now) + CLAIM_SECONDS },
        if: 'attribute_not_exists(#claimedUntil) OR #claimedUntil <= :now',
        values: { now: seconds(now) },
      });
      return true;
    } catch (error) {
      if (error instanceof ConditionFailed) return false;
      throw error;
    }
  }

  /** Publishes a list. No lasting effect for a group whose list is not maintained (any more). */
  async publish(groupId: number, people: readonly BillableMember[], now: Date): Promise<void> {
    const listId = ulid();
    const ttl = seconds(now) + (IN_FORCE_DAYS + 1) * DAY_SECONDS;
    const write = async (series: string, rows: readonly unknown[]) => {
      for (const [number, part] of partsOf(rows).entries())
        await this.#table.put({
          put: { ...billablePartKey(groupId, listId, series, number), people: part, ttl },
        });
    };
    await Promise.all([
      ...BILLABLE_ORDERS.map((order) => write(order, people.toSorted(COMPARE[order]).map(listed))),
      write(ALL, people),
    ]);
    const set = { listId, count: people.length, builtAt: seconds(now) };
    try {
      await this.#table.update({ update: billableListKey(groupId), set, if: PRESENT });
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
  }

  /** Returns a page of a list. Reads at most two parts. */
  async page(
    { groupId, listId, count }: BillableList,
    order: BillableOrder,
    descending: boolean,
    { page, perPage }: PageRequest,
  ): Promise<{ items: ListedMember[]; total: number | undefined; more: boolean }> {
    const first = (page - 1) * perPage;
    const places = Array.from({ length: Math.max(0, Math.min(perPage, count - first)) }, (_, i) =>
      descending ? count - 1 - first - i : first + i,
    );
    const numbers = [...new Set(places.map((place) => Math.floor(place / PART)))];
    const keys = numbers.map((number) => billablePartKey(groupId, listId, order, number));
    const found = await this.#table.batchGet(keys);
    const parts = new Map(found.map((item, i) => [numbers[i], rowsIn<ListedMember>(item)]));
    const items = places.map((place) => parts.get(Math.floor(place / PART))![place % PART]!);
    const total = count > MAX_TOTAL ? undefined : count;
    return { items, total, more: first + items.length < count };
  }

  /** Returns the members of a list that match, sorted: at most {@link MAX_TOTAL}. */
  async search(
    { groupId, listId }: BillableList,
    order: BillableOrder,
    descending: boolean,
    matches: (one: BillableMember) => boolean,
  ): Promise<BillableMember[]> {
    const found: BillableMember[] = [];
    const rows = { partition: billablePartition(groupId, listId), prefix: billablePartPrefix(ALL) };
    for await (const item of this.#table.queryAll(rows)) {
      found.push(...rowsIn<BillableMember>(item).filter(matches));
      if (found.length >= MAX_TOTAL) break;
    }
    const sorted = found.slice(0, MAX_TOTAL).sort(COMPARE[order]);
    return descending ? sorted.reverse() : sorted;
  }
}

/** For comparison with the time, because rows may outlive their `ttl` by days. */
const ttlOf = (row: Item | undefined): number => (row?.['ttl'] as number | undefined) ?? 0;

function inForce(groupId: number, row: Item | undefined, now: Date): BillableList | undefined {
  if (row?.['listId'] === undefined) return undefined;
  const { listId, count, builtAt } = row as unknown as BillableList & { readonly builtAt: number };
  return builtAt > seconds(now) - IN_FORCE_DAYS * DAY_SECONDS ? { groupId, listId, count } : undefined;
}

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);

/** Returns the deflated parts of a series. In a series that is one order, rows are short, so each has {@link PART}. */
function partsOf(rows: readonly unknown[]): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < rows.length; ) {
    const part: string[] = [];
    for (let bytes = 0; part.length < PART && at < rows.length && bytes < PART_BYTES; at++) {
      const text = JSON.stringify(rows[at]);
      part.push(text);
      bytes += Buffer.byteLength(text);
    }
    parts.push(deflateRawSync(`[${part.join()}]`));
  }
  return parts;
}

const rowsIn = <T>(item: Item | undefined): T[] =>
  item === undefined ? [] : (JSON.parse(inflateRawSync(item['people'] as Uint8Array).toString()) as T[]);

const listed = ({ userId, type }: BillableMember): ListedMember => ({ userId, type });

type Compare = (a: BillableMember, b: BillableMember) => number;
const by =
  (value: (one: BillableMember) => string | number): Compare =>
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
