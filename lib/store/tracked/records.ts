/**
 * Records of one kind, and changes of them. A change writes the record, on condition of its version, together with the
 * difference of the rows that lists are read from; where that would be too many for one transaction, a job brings the
 * rows in line.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Votes } from '../../records/award-emoji.ts';
import type { TrackedAddress, TrackedRecord } from '../../records/tracked.ts';
import { AlreadyExists, ConditionFailed, Missing, Stale, TransactionRefused } from '../errors.ts';
import { WORDS_OF_NOTE } from '../notes/words.ts';
import {
  itemsOf,
  MAINTENANCE,
  message,
  messageAt,
  type Outbox,
  type OutboxMessage,
  outboxWrite,
  outboxWrites,
} from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import type { Key } from '../row-keys/key.ts';
import { TRACKED_WORDS } from '../row-keys/tracked.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { getClose } from '../table/get-close.ts';
import { type Table, TRANSACTION_ITEMS } from '../table/table.ts';
import { ABSENT, type Check, type Delete, type Item, PRESENT, type Put, type Write } from '../table/write.ts';
import type { Row, Surroundings, TrackedKind } from './kind.ts';

/** Rows that a change writes itself; a transaction has 100 items, and others have theirs in it. */
const ROWS_AT_ONCE = 60;
/** Items of the transaction of a change that are neither rows of lists nor given by the caller. */
const OWN_ITEMS = 4;
/** Items that {@link ChangeOptions.within} may add. */
const ITEMS_WITHIN = 16 + WORDS_OF_NOTE;
/** Rows that the job writes in one transaction. */
const ROWS_PER_STEP = 90;

/** Milliseconds that a deletion of many rows has before the job writes them again: more than a request may take. */
const REPAIR_AFTER = 60_000;

export interface CreationOptions {
  /** Further writes of the same transaction; their refusals are thrown unchanged. */
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
  /** Commits the writes of the change, joined with at most 16 others and the words of a note; their refusals are thrown unchanged. */
  readonly within?: ((writes: readonly Write[]) => Promise<void>) | undefined;
}

export interface ChangeOptions extends CreationOptions {
  /** What the change adds to counts of the record. */
  readonly add?: Readonly<Record<string, number>>;
}

/** The record as a row; `obsolete` are sort keys of rows that the job has to delete, while it has to run. */
type Stored<R> = R & { readonly obsolete?: readonly string[] };

export const AT_VERSION = { if: `${PRESENT} AND #version = :version`, reason: 'version' } as const;

export class TrackedRecords<R extends TrackedRecord, Facet extends string, Class extends string> {
  protected readonly table: Table;
  readonly #counters: Counters;
  protected readonly outbox: Outbox;
  protected readonly kind: TrackedKind<R, Facet, Class>;

  constructor(kind: TrackedKind<R, Facet, Class>, table: Table, counters: Counters, outbox: Outbox) {
    this.kind = kind;
    this.table = table;
    this.#counters = counters;
    this.outbox = outbox;
  }

  /** Allocates an id and a number. @param iid the number, where it is chosen and not counted */
  async allocate(projectId: number, iid?: number): Promise<{ readonly id: number; readonly iid: number }> {
    const [id, number] = await Promise.all([
      this.#counters.next(this.kind.name),
      iid === undefined ? this.#nextIid(projectId) : this.#raiseIid(projectId, iid),
    ]);
    return { id, iid: number };
  }

  /** @throws AlreadyExists when the number is taken; Missing when the project is deleted */
  async create(record: R, around: Surroundings, options: CreationOptions = {}): Promise<void> {
    const { alongside = [], messages = [], within } = options;
    const creation = this.creationOf(record, around, roomBeside(sizeOf(options)));
    try {
      await this.#write([...creation.writes, ...alongside], [...creation.messages, ...messages], within);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has(this.kind.name)) throw new AlreadyExists(this.kind.name);
      throw error.has('project') ? new Missing('project') : error;
    }
  }

  /**
   * The writes of a new record, for a transaction that may be of another one too. They are refused as the kind's name
   * when the number is taken, as `project` when the project is deleted.
   * @param atOnce rows of lists that they may have; with more of them the job writes them
   */
  creationOf(
    record: R,
    around: Surroundings,
    atOnce: number,
  ): { readonly writes: readonly Write[]; readonly messages: readonly OutboxMessage[] } {
    // A record that was made of another one may have what is that one's alone.
    const { obsolete: _, ...own } = record as Stored<R>;
    const { kind } = this;
    const rows = kind.rows(record, around);
    const late = rows.length > atOnce;
    return {
      writes: [
        {
          put: { ...recordItem(kind, own as unknown as R), ...(late ? { obsolete: [] } : {}) },
          if: ABSENT,
          reason: kind.name,
        },
        ...rows.slice(0, atOnce).map((put) => ({ put })),
        ...(kind.claims?.(record) ?? []),
        this.#counted(record.projectId, { [kind.classOf(record)]: 1 }),
        checkProjectExists(record.projectId),
      ],
      messages: late ? [this.#indexMessage(record)] : [],
    };
  }

  async get(address: TrackedAddress): Promise<R | undefined> {
    return fromItem(await this.table.get(this.kind.keys.record(address)));
  }

  /**
   * Returns the records in the order requested; undefined for deleted ones.
   * @param only names of the fields that they then have; absent: all
   */
  async getMany(addresses: readonly TrackedAddress[], only?: readonly string[]): Promise<(R | undefined)[]> {
    const keys = addresses.map((address) => this.kind.keys.record(address));
    const items = await getClose(this.table, keys, only ?? [...this.kind.fields, 'obsolete']);
    return items.map((item) => fromItem<R>(item));
  }

  /** Returns where the records with these ids are stored; undefined for those that are not. */
  async addresses(ids: readonly number[]): Promise<(TrackedAddress | undefined)[]> {
    const rows = await this.table.batchGet(ids.map((id) => this.kind.keys.id(id)));
    return rows.map((row) => row && { projectId: row['projectId'] as number, iid: row['iid'] as number });
  }

  /**
   * Changes a record, on condition that its version is that of `record`.
   * @param around titles of the labels and the milestone that it then has
   * @returns the changed record
   * @throws Stale, Missing
   */
  async update(record: R, change: Partial<R>, around: Surroundings, options: ChangeOptions = {}): Promise<R> {
    const { kind } = this;
    const { alongside = [], messages = [], add = {}, within } = options;
    const { obsolete: earlier, ...rest } = record as Stored<R>;
    const before = rest as unknown as R;
    const after: R = { ...before, ...change, version: record.version + 1 };
    const [oldRows, newRows] = [kind.rows(before, around), kind.rows(after, around)];
    const { gone, fresh } = difference(oldRows, newRows);
    const claims = this.#claimChange(before, after);
    const room = roomBeside(sizeOf(options) + claims.length);
    const late = earlier !== undefined || gone.length + fresh.length > room;
    const obsolete = late
      ? { obsolete: [...new Set([...(earlier ?? []), ...gone.map(({ sk }) => sk)])] }
      : {};
    const [oldClass, newClass] = [kind.classOf(before), kind.classOf(after)];
    await this.#commit(
      [
        {
          update: kind.keys.record(record),
          set: { ...changed(before, after), ...kind.recordIndex(after), ...obsolete },
          ...(Object.keys(add).length === 0 ? {} : { add }),
          ...AT_VERSION,
          values: { version: record.version },
        },
        ...listsFirst([...gone.map(deletion), ...fresh.map((put) => ({ put }))]).slice(0, room),
        ...claims,
        ...(oldClass === newClass
          ? []
          : [this.#counted(record.projectId, { [oldClass]: -1, [newClass]: 1 })]),
        checkProjectExists(record.projectId),
        ...alongside,
      ],
      [...(late ? [this.#indexMessage(record)] : []), ...messages],
      within,
    );
    return late ? ({ ...after, ...obsolete } as R) : after;
  }

  /**
   * The writes for the transaction of a note or an award on the record, refused as `version` when it has changed. They
   * leave the version alone, so that any number of people may write notes at once.
   * @param exactly counts that must be as in the record too; else it is refused in the same way
   */
  touch(
    record: R,
    at: Date,
    add: Readonly<Record<string, number>>,
    rootId: number,
    exactly: Readonly<Record<string, number>> = {},
  ): Write[] {
    const touched: R = { ...record, updatedAt: at.toISOString() };
    return [
      {
        update: this.kind.keys.record(record),
        set: { updatedAt: touched.updatedAt, ...this.kind.recordIndex(touched) },
        add,
        ...AT_VERSION,
        if: [AT_VERSION.if, ...Object.keys(exactly).map((name) => `#${name} = :${name}`)].join(' AND '),
        values: { version: record.version, ...exactly },
      },
      { put: this.kind.listRow(touched, rootId) },
    ];
  }

  /**
   * The write for the transaction of an award, refused as the kind's name when the record is deleted. It leaves the
   * version and the time of the last change alone.
   */
  voteWrite(record: TrackedAddress, votes: Votes): Write {
    const present = { if: PRESENT, reason: this.kind.name };
    const key = this.kind.keys.record(record);
    return Object.keys(votes).length === 0
      ? { check: key, ...present }
      : { update: key, add: votes as Record<string, number>, ...present };
  }

  /** For a transaction: checks that the record exists; refused as `source`. */
  isThere(record: TrackedAddress): Check {
    return { check: this.kind.keys.record(record), if: PRESENT, reason: 'source' };
  }

  /** Deletes a record, on condition of its version. @throws Stale, Missing */
  async remove(record: R, around: Surroundings, options: CreationOptions = {}): Promise<void> {
    const { kind } = this;
    const { obsolete, ...rest } = record as Stored<R>;
    const before = rest as unknown as R;
    const partition = kind.keys.partition(record.projectId);
    const rows: Key[] = [
      ...kind.rows(before, around),
      ...(obsolete ?? []).map((sk) => ({ pk: partition, sk })),
    ];
    // What does not fit is deleted first. The record says so meanwhile: whoever changes it, or the job where this writer
    // ends half way, then writes the rows again.
    const first = rows.splice(ROWS_AT_ONCE);
    const version = record.version + (first.length > 0 ? 1 : 0);
    const key = kind.keys.record(record);
    if (first.length > 0) {
      await this.#commit(
        [
          {
            update: key,
            set: { obsolete: obsolete ?? [], version },
            ...AT_VERSION,
            values: { version: record.version },
          },
          this.#indexLater(record),
        ],
        [],
      );
      await Promise.all(first.map((row) => this.table.delete(deletion(row))));
    }
    const removed = kind.removed(record);
    await this.#commit(
      [
        { delete: key, ...AT_VERSION, values: { version } },
        ...rows.map(deletion),
        ...(kind.claims?.(before) ?? []).map(({ put }) => deletion(put)),
        ...removed.keys.map(deletion),
        this.#counted(record.projectId, { [kind.classOf(record)]: -1 }),
        ...(options.alongside ?? []),
      ],
      [...removed.messages, ...(options.messages ?? [])],
      options.within,
    );
  }

  /**
   * Writes the rows of a record whose change left them to the job. Idempotent.
   * @param aroundOf surroundings of the record as it is now
   * @throws Stale when it changes meanwhile
   */
  async index(address: TrackedAddress, aroundOf: (record: R) => Promise<Surroundings>): Promise<void> {
    const record = (await this.get(address)) as Stored<R> | undefined;
    if (record?.obsolete === undefined) return;
    const rows = this.kind.rows(record, await aroundOf(record));
    const kept = new Set(rows.map(({ sk }) => sk));
    const pk = this.kind.keys.partition(record.projectId);
    const gone = record.obsolete.filter((sk) => !kept.has(sk)).map((sk) => deletion({ pk, sk }));
    const writes: Write[] = [...rows.map((put) => ({ put })), ...gone];
    const key = this.kind.keys.record(record);
    const version = { values: { version: record.version }, ...AT_VERSION };
    for (let from = 0; from < writes.length; from += ROWS_PER_STEP) {
      await this.#commit([{ check: key, ...version }, ...writes.slice(from, from + ROWS_PER_STEP)], []);
    }
    await this.#commit([{ update: key, remove: ['obsolete'], ...version }], []);
  }

  /**
   * Returns the counts of projects by class, in the order requested. Those of several projects are eventually consistent,
   * at half the cost.
   */
  async counts(projectIds: readonly number[]): Promise<Readonly<Record<Class, number>>[]> {
    const keys = projectIds.map((id) => this.kind.keys.count(id));
    const rows = await this.table.batchGet(keys, { consistent: keys.length === 1 });
    return rows.map(
      (row) =>
        Object.fromEntries(
          this.kind.classes.map((listClass) => [listClass, (row?.[countName(listClass)] as number) ?? 0]),
        ) as Record<Class, number>,
    );
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  async removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    const { keys, claims } = this.kind;
    const rows = { partition: keys.partition(projectId), limit };
    const page = await this.table.query(claims === undefined ? { ...rows, only: ['pk', 'sk', 'id'] } : rows);
    // The rows that lead to the records first: the records are what names them.
    const records = page.items.filter(({ sk }) => (sk as string).startsWith(keys.recordPrefix));
    const named = records.flatMap((item): Key[] => [
      keys.id(item['id'] as number),
      ...(claims?.(fromItem<R>(item)!) ?? []).map(({ put }) => put),
    ]);
    await Promise.all(named.map((row) => this.table.delete(deletion(row))));
    return deletePage(this.table, rows);
  }

  /** Commits writes of a change. @throws Stale, Missing */
  protected async commit(writes: readonly Write[], messages: readonly OutboxMessage[] = []): Promise<void> {
    await this.#commit(writes, messages);
  }

  /** What a record holds alone and gives up, and what it takes. */
  #claimChange(before: R, after: R): (Put | Delete)[] {
    const { claims } = this.kind;
    if (claims === undefined) return [];
    const [held, wanted] = [claims(before), claims(after)];
    const has = (among: readonly Put[]) => (one: Put) =>
      !among.some(({ put }) => put.pk === one.put.pk && put.sk === one.put.sk);
    return [...held.filter(has(wanted)).map(({ put }) => deletion(put)), ...wanted.filter(has(held))];
  }

  async #nextIid(projectId: number): Promise<number> {
    const item = await this.table.update({ update: this.kind.keys.iid(projectId), add: { n: 1 } });
    return item['n'] as number;
  }

  /** Numbers counted from now on are above this one. */
  async #raiseIid(projectId: number, iid: number): Promise<number> {
    try {
      await this.table.update({
        update: this.kind.keys.iid(projectId),
        set: { n: iid },
        if: `${ABSENT} OR #n < :iid`,
        values: { iid },
      });
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
    return iid;
  }

  async #write(
    writes: readonly Write[],
    messages: readonly OutboxMessage[],
    within?: CreationOptions['within'],
  ): Promise<void> {
    if (within === undefined) return this.outbox.commit(writes, messages);
    await within([...writes, ...outboxWrites(messages)]);
    await this.outbox.deliver(messages);
  }

  async #commit(
    writes: readonly Write[],
    messages: readonly OutboxMessage[],
    within?: CreationOptions['within'],
  ): Promise<void> {
    try {
      await this.#write(writes, messages, within);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('project')) throw new Missing('project');
      const refusal = error.get('version');
      if (refusal === undefined) throw error;
      throw refusal.item === undefined ? new Missing(this.kind.name) : new Stale(this.kind.name);
    }
  }

  #counted(projectId: number, by: Readonly<Record<string, number>>): Write {
    return {
      update: this.kind.keys.count(projectId),
      add: Object.fromEntries(Object.entries(by).map(([listClass, n]) => [countName(listClass), n])),
    };
  }

  #indexMessage({ projectId, iid }: TrackedAddress): OutboxMessage {
    return message(MAINTENANCE, this.kind.indexJob, { projectId, iid });
  }

  #indexLater({ projectId, iid }: TrackedAddress): Write {
    const at = new Date(Date.now() + REPAIR_AFTER);
    return outboxWrite(messageAt(MAINTENANCE, this.kind.indexJob, { projectId, iid }, at));
  }
}

const sizeOf = ({ alongside = [], messages = [], within }: CreationOptions): number =>
  alongside.length + itemsOf(messages) + (within === undefined ? 0 : ITEMS_WITHIN);

/** Rows that fit into a transaction with `others` items of other subjects. */
const roomBeside = (others: number): number =>
  Math.max(0, Math.min(ROWS_AT_ONCE, TRANSACTION_ITEMS - OWN_ITEMS - others));

/** The rows that a change takes away, and those that it writes. */
function difference(oldRows: readonly Row[], newRows: readonly Row[]) {
  const kept = new Set(newRows.map(({ sk }) => sk));
  return {
    gone: oldRows.filter(({ sk }) => !kept.has(sk)),
    fresh: newRows.filter((row) => !oldRows.some((old) => isDeepStrictEqual(old, row))),
  };
}

/** What searches find by goes last, where not everything fits. */
const listsFirst = (writes: readonly (Put | Delete)[]): (Put | Delete)[] => {
  const isWord = (write: Put | Delete) =>
    ('put' in write ? write.put : write.delete).sk.startsWith(TRACKED_WORDS);
  return [...writes.filter((write) => !isWord(write)), ...writes.filter(isWord)];
};

const deletion = ({ pk, sk }: Key) => ({ delete: { pk, sk } });

/** The fields that differ. */
const changed = <R extends TrackedRecord>(before: R, after: R): Item =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(value, before[name as keyof R])),
  );

/** A record as its row. */
export const recordItem = <R extends TrackedRecord, Facet extends string, Class extends string>(
  kind: TrackedKind<R, Facet, Class>,
  record: R,
): Row => ({ ...kind.keys.record(record), ...record, ...kind.recordIndex(record) });

/** The name of the attribute that counts a class; a hyphen cannot stand in an expression. */
export const countName = (listClass: string): string =>
  listClass.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

export function fromItem<R>(item: Item | undefined): R | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, w: _w, list: _l, byId: _i, byUpdated: _u, ...record } = item;
  return record as unknown as R;
}
