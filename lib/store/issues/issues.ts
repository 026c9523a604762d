/**
 * Issues: the records, and changes of them. A change writes the record, on condition of its version, together with the
 * difference of the rows that lists are read from (`rows.ts`); where that would be too many for one transaction, the
 * job `issue.index` brings the rows in line.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Votes } from '../../records/award-emoji.ts';
import {
  classOf,
  ISSUE_CLASSES,
  type IssueAddress,
  type IssueClass,
  type IssueFields,
  type IssueRecord,
  type IssueReference,
} from '../../records/issues.ts';
import { AlreadyExists, ConditionFailed, Missing, Stale, TransactionRefused } from '../errors.ts';
import { removeNotesMessage } from '../notes/notes.ts';
import { WORDS_OF_NOTE } from '../notes/words.ts';
import {
  MAINTENANCE,
  message,
  messageAt,
  type Outbox,
  type OutboxMessage,
  outboxWrite,
} from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import {
  ISSUE_WORDS,
  iidOf,
  issueCopyKey,
  issueCountKey,
  issueIdKey,
  issueIidKey,
  issueKey,
  issueOfDuePlace,
  issuesDueOn,
  issuesOfProject,
  issuesPartition,
} from '../row-keys/issues.ts';
import { idOf, type Key } from '../row-keys/key.ts';
import { listPartitions } from '../row-keys/lists.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import type { Direction } from '../table/sorted-sources.ts';
import { type Table, TRANSACTION_ITEMS } from '../table/table.ts';
import {
  ABSENT,
  type Check,
  type Delete,
  type Item,
  PRESENT,
  type Put,
  type Update,
  type Write,
} from '../table/write.ts';
import { unlinkMessage } from './links.ts';
import {
  arrangedPlace,
  type IssueSurroundings,
  issueRows,
  listRow,
  recordIndex,
  recordItem,
} from './rows.ts';

/** Brings the rows of an issue in line with its record: `{ projectId, iid }`. */
export const INDEX_ISSUE_JOB = 'issue.index';

/** Rows that a change writes itself; a transaction has 100 items, and others have theirs in it. */
const ROWS_AT_ONCE = 60;
/** Items of the transaction of a change that are neither rows of lists nor given by the caller. */
const OWN_ITEMS = 4;
/** Items that {@link IssueUpdateOptions.within} may add. */
const ITEMS_WITHIN = 16 + WORDS_OF_NOTE;
/** Rows that the job writes in one transaction. */
const ROWS_PER_STEP = 90;

/** Milliseconds that a deletion of many rows has before the job writes them again: more than a request may take. */
const REPAIR_AFTER = 60_000;

/** Number of issues of a project in each class; none where there are none. */
export type IssueCounts = Readonly<Record<IssueClass, number>>;

export interface IssueOptions {
  /** Further writes of the same transaction; their refusals are thrown unchanged. */
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

export interface IssueUpdateOptions extends IssueOptions {
  /** Notes by users that come or go with the change. */
  readonly userNotes?: number;
  /** Commits the writes of the change, `joined` with at most 16 others; their refusals are thrown unchanged. */
  readonly within?: ((writes: readonly Write[]) => Promise<void>) | undefined;
}

/** The record as a row; `obsolete` are sort keys of rows that the job has to delete, while it has to run. */
type StoredIssue = IssueRecord & { readonly obsolete?: readonly string[] };

export class Issues {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  /** Allocates the id and the number of an issue. @param iid the number, where it is chosen and not counted */
  async allocate(projectId: number, iid?: number): Promise<{ readonly id: number; readonly iid: number }> {
    const [id, number] = await Promise.all([
      this.#counters.next('issue'),
      iid === undefined ? this.#nextIid(projectId) : this.#raiseIid(projectId, iid),
    ]);
    return { id, iid: number };
  }

  /** @throws AlreadyExists when the number is taken; Missing when the project is deleted */
  async create(issue: IssueRecord, around: IssueSurroundings, options: IssueOptions = {}): Promise<void> {
    const { alongside = [], messages = [] } = options;
    const creation = creationOf(issue, around, roomBeside(alongside.length + messages.length));
    try {
      await this.#outbox.commit([...creation.writes, ...alongside], [...creation.messages, ...messages]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('issue')) throw new AlreadyExists('issue');
      throw error.has('project') ? new Missing('project') : error;
    }
  }

  async get(address: IssueAddress): Promise<IssueRecord | undefined> {
    return fromItem(await this.#table.get(issueKey(address)));
  }

  /** Returns the issues in the order requested; undefined for deleted ones. */
  async getMany(addresses: readonly IssueAddress[]): Promise<(IssueRecord | undefined)[]> {
    return (await this.#table.batchGet(addresses.map(issueKey))).map(fromItem);
  }

  /** Returns where the issues with these ids are stored; undefined for those that are not. */
  async addresses(ids: readonly number[]): Promise<(IssueAddress | undefined)[]> {
    const rows = await this.#table.batchGet(ids.map(issueIdKey));
    return rows.map((row) => row && { projectId: row['projectId'] as number, iid: row['iid'] as number });
  }

  /**
   * Changes an issue, on condition that its version is that of `issue`.
   * @param around titles of the labels and the milestone that it then has
   * @returns the changed record
   * @throws Stale, Missing
   */
  async update(
    issue: IssueRecord,
    change: Partial<IssueFields>,
    around: IssueSurroundings,
    options: IssueUpdateOptions = {},
  ): Promise<IssueRecord> {
    const { alongside = [], messages = [], userNotes = 0, within } = options;
    const { obsolete: earlier, ...before } = issue as StoredIssue;
    const after: IssueRecord = { ...before, ...change, version: issue.version + 1 };
    const [oldRows, newRows] = [issueRows(before, around), issueRows(after, around)];
    const kept = new Set(newRows.map(({ sk }) => sk));
    const gone = oldRows.filter(({ sk }) => !kept.has(sk));
    const fresh = newRows.filter((row) => !oldRows.some((old) => isDeepStrictEqual(old, row)));
    const room = roomBeside(alongside.length + messages.length + (within === undefined ? 0 : ITEMS_WITHIN));
    const late = earlier !== undefined || gone.length + fresh.length > room;
    const obsolete = late
      ? { obsolete: [...new Set([...(earlier ?? []), ...gone.map(({ sk }) => sk)])] }
      : {};
    const [oldClass, newClass] = [classOf(before), classOf(after)];
    await this.#commit(
      [
        {
          update: issueKey(issue),
          set: { ...changed(before, after), ...recordIndex(after), ...obsolete },
          ...(userNotes === 0 ? {} : { add: { userNotesCount: userNotes } }),
          ...AT_VERSION,
          values: { version: issue.version },
        },
        ...listsFirst([...gone.map(deletion), ...fresh.map((put) => ({ put }))]).slice(0, room),
        ...(oldClass === newClass ? [] : [counted(issue.projectId, { [oldClass]: -1, [newClass]: 1 })]),
        checkProjectExists(issue.projectId),
        ...alongside,
      ],
      [...(late ? [indexMessage(issue)] : []), ...messages],
      within,
    );
    return late ? ({ ...after, ...obsolete } as IssueRecord) : after;
  }

  /**
   * The writes for the transaction of a note or an award on the issue, refused as `version` when it has changed. They
   * leave the version alone, so that any number of people may write notes at once.
   */
  touch(
    issue: IssueRecord,
    at: Date,
    add: Partial<Pick<IssueRecord, 'userNotesCount' | 'upvotes' | 'downvotes'>>,
    rootId: number,
  ): Write[] {
    const touched: IssueRecord = { ...issue, updatedAt: at.toISOString() };
    return [
      {
        update: issueKey(issue),
        set: { updatedAt: touched.updatedAt, ...recordIndex(touched) },
        add: add as Record<string, number>,
        ...AT_VERSION,
        values: { version: issue.version },
      },
      { put: listRow(touched, rootId) },
    ];
  }

  /**
   * The write for the transaction of an award on the issue, refused as `issue` when it is deleted. It leaves the version
   * and the time of the last change alone.
   */
  voteWrite(issue: IssueAddress, votes: Votes): Write {
    const present = { if: PRESENT, reason: 'issue' };
    return Object.keys(votes).length === 0
      ? { check: issueKey(issue), ...present }
      : { update: issueKey(issue), add: votes as Record<string, number>, ...present };
  }

  /**
   * Returns the issues of a project that stand next to a place in the order that people arrange, the nearest first.
   * @param except an id
   */
  async beside(
    projectId: number,
    place: string,
    direction: Direction,
    limit: number,
    except: number,
  ): Promise<IssueRecord[]> {
    const after = direction === 'asc';
    const pages = await Promise.all(
      ISSUE_CLASSES.map((listClass) =>
        this.#table.query({
          index: 'byId',
          partition: issuesOfProject(projectId, listClass),
          ...(after ? { from: place } : { to: place }),
          reverse: !after,
          // The issue of the place may be among them.
          limit: limit + 2,
        }),
      ),
    );
    const places = pages.flatMap(({ items }) => items.map((item) => item['byId'] as string));
    const found = places.filter((each) => each !== place && idOf(each) !== except);
    const nearest = found.sort((a, b) => (a < b === after ? -1 : 1)).slice(0, limit);
    const issues = await this.getMany(nearest.map((each) => ({ projectId, iid: iidOf(each) })));
    return issues.filter((issue) => issue !== undefined);
  }

  /** Gives issues of a project places in the order that people arrange. @throws Stale, Missing */
  async arrange(
    issues: readonly { readonly issue: IssueRecord; readonly position: string }[],
  ): Promise<void> {
    const updates = issues.map(({ issue, position }): Update => {
      const after = { ...issue, relativePosition: position };
      return {
        update: issueKey(issue),
        set: { relativePosition: position, byId: arrangedPlace(after), version: issue.version + 1 },
        ...AT_VERSION,
        values: { version: issue.version },
      };
    });
    await this.#commit([...updates, checkProjectExists(issues[0]!.issue.projectId)], []);
  }

  /** For a transaction: checks that the issue exists; refused as `source`. */
  isThere(issue: IssueAddress): Check {
    return { check: issueKey(issue), if: PRESENT, reason: 'source' };
  }

  /** Deletes an issue, on condition of its version. @throws Stale, Missing */
  async remove(issue: IssueRecord, around: IssueSurroundings, options: IssueOptions = {}): Promise<void> {
    const { obsolete, ...before } = issue as StoredIssue;
    const partition = issuesPartition(issue.projectId);
    const rows: Key[] = [
      ...issueRows(before, around),
      ...(obsolete ?? []).map((sk) => ({ pk: partition, sk })),
    ];
    // What does not fit is deleted first. The record says so meanwhile: whoever changes it, or the job where this writer
    // ends half way, then writes the rows again.
    const first = rows.splice(ROWS_AT_ONCE);
    const version = issue.version + (first.length > 0 ? 1 : 0);
    if (first.length > 0) {
      await this.#commit(
        [
          {
            update: issueKey(issue),
            set: { obsolete: obsolete ?? [], version },
            ...AT_VERSION,
            values: { version: issue.version },
          },
          indexLater(issue),
        ],
        [],
      );
      await Promise.all(first.map((row) => this.#table.delete(deletion(row))));
    }
    await this.#commit(
      [
        { delete: issueKey(issue), ...AT_VERSION, values: { version } },
        ...rows.map(deletion),
        { delete: issueCopyKey(issue) },
        counted(issue.projectId, { [classOf(issue)]: -1 }),
        ...(options.alongside ?? []),
      ],
      [
        removeNotesMessage(issue.projectId, { kind: 'issue', id: issue.id }),
        unlinkMessage(issue),
        ...(options.messages ?? []),
      ],
    );
  }

  /**
   * Writes the rows of an issue whose change left them to the job. Idempotent.
   * @param aroundOf surroundings of the record as it is now
   * @throws Stale when it changes meanwhile
   */
  async index(
    address: IssueAddress,
    aroundOf: (issue: IssueRecord) => Promise<IssueSurroundings>,
  ): Promise<void> {
    const issue = (await this.get(address)) as StoredIssue | undefined;
    if (issue?.obsolete === undefined) return;
    const rows = issueRows(issue, await aroundOf(issue));
    const kept = new Set(rows.map(({ sk }) => sk));
    const pk = issuesPartition(issue.projectId);
    const gone = issue.obsolete.filter((sk) => !kept.has(sk)).map((sk) => deletion({ pk, sk }));
    const writes: Write[] = [...rows.map((put) => ({ put })), ...gone];
    const version = { values: { version: issue.version }, ...AT_VERSION };
    for (let from = 0; from < writes.length; from += ROWS_PER_STEP) {
      await this.#commit(
        [{ check: issueKey(issue), ...version }, ...writes.slice(from, from + ROWS_PER_STEP)],
        [],
      );
    }
    await this.#commit([{ update: issueKey(issue), remove: ['obsolete'], ...version }], []);
  }

  /**
   * Returns open issues that are due on a day, of one shard of its list.
   * @param day `YYYY-MM-DD`. @param after the `next` of the page before; absent at the end
   */
  async dueOn(
    day: string,
    shard: number,
    limit: number,
    after?: string,
  ): Promise<{ readonly issues: readonly IssueReference[]; readonly next?: string }> {
    const { items, next } = await this.#table.query({
      index: 'byId',
      partition: listPartitions(issuesDueOn(day))[shard]!,
      limit,
      ...(after === undefined ? {} : { from: `${after}~` }),
    });
    const places = items.map(({ byId }) => byId as string);
    const issues = places.map(issueOfDuePlace);
    return next === undefined || places.length === 0 ? { issues } : { issues, next: places.at(-1)! };
  }

  /** Returns the counts of projects, in the order requested. */
  async counts(projectIds: readonly number[]): Promise<IssueCounts[]> {
    const rows = await this.#table.batchGet(projectIds.map(issueCountKey));
    return rows.map((row) => ({ ...NONE, ...(row === undefined ? {} : countsOf(row)) }));
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  async removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    const rows = { partition: issuesPartition(projectId), limit };
    const page = await this.#table.query({ ...rows, only: ['pk', 'sk', 'id'] });
    // The rows that lead to the records first: the records are what names them.
    const ids = page.items.flatMap(({ sk, id }) =>
      (sk as string).startsWith('ISSUE#') ? [id as number] : [],
    );
    await Promise.all(ids.map((id) => this.#table.delete({ delete: issueIdKey(id) })));
    return deletePage(this.#table, rows);
  }

  async #nextIid(projectId: number): Promise<number> {
    const item = await this.#table.update({ update: issueIidKey(projectId), add: { n: 1 } });
    return item['n'] as number;
  }

  /** Numbers counted from now on are above this one. */
  async #raiseIid(projectId: number, iid: number): Promise<number> {
    try {
      await this.#table.update({
        update: issueIidKey(projectId),
        set: { n: iid },
        if: `${ABSENT} OR #n < :iid`,
        values: { iid },
      });
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
    }
    return iid;
  }

  async #commit(
    writes: readonly Write[],
    messages: readonly OutboxMessage[],
    within?: IssueUpdateOptions['within'],
  ): Promise<void> {
    try {
      if (within === undefined) return await this.#outbox.commit(writes, messages);
      await within([...writes, ...messages.map(outboxWrite)]);
      await this.#outbox.deliver(messages);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('project')) throw new Missing('project');
      const refusal = error.get('version');
      if (refusal === undefined) throw error;
      throw refusal.item === undefined ? new Missing('issue') : new Stale('issue');
    }
  }
}

/**
 * The writes of a new issue, for a transaction that may be of another issue too. They are refused as `issue` when the
 * number is taken, as `project` when the project is deleted.
 * @param atOnce rows of lists that they may have; with more of them the job writes them
 */
export function creationOf(
  issue: IssueRecord,
  around: IssueSurroundings,
  atOnce: number,
): { readonly writes: readonly Write[]; readonly messages: readonly OutboxMessage[] } {
  // A record that was made of another one may have what is that one's alone.
  const { obsolete: _, ...record } = issue as StoredIssue;
  const rows = issueRows(record, around);
  const late = rows.length > atOnce;
  return {
    writes: [
      { put: { ...recordItem(record), ...(late ? { obsolete: [] } : {}) }, if: ABSENT, reason: 'issue' },
      ...rows.slice(0, atOnce).map((put) => ({ put })),
      counted(issue.projectId, { [classOf(issue)]: 1 }),
      checkProjectExists(issue.projectId),
    ],
    messages: late ? [indexMessage(issue)] : [],
  };
}

const AT_VERSION = { if: `${PRESENT} AND #version = :version`, reason: 'version' } as const;

const NONE: IssueCounts = { opened: 0, closed: 0, 'opened-confidential': 0, 'closed-confidential': 0 };

/** Names of the attributes; a hyphen cannot stand in an expression. */
const COUNT_NAMES: Readonly<Record<IssueClass, string>> = {
  opened: 'opened',
  closed: 'closed',
  'opened-confidential': 'openedConfidential',
  'closed-confidential': 'closedConfidential',
};

const counted = (projectId: number, by: Partial<Record<IssueClass, number>>): Update => ({
  update: issueCountKey(projectId),
  add: Object.fromEntries(
    Object.entries(by).map(([listClass, n]) => [COUNT_NAMES[listClass as IssueClass], n]),
  ),
});

const countsOf = (row: Item): Partial<IssueCounts> =>
  Object.fromEntries(
    Object.entries(COUNT_NAMES).map(([listClass, name]) => [listClass, (row[name] as number) ?? 0]),
  );

/** Rows that fit into a transaction with `others` items of other subjects. */
const roomBeside = (others: number): number =>
  Math.max(0, Math.min(ROWS_AT_ONCE, TRANSACTION_ITEMS - OWN_ITEMS - others));

/** What searches find by goes last, where not everything fits. */
const listsFirst = (writes: readonly (Put | Delete)[]): (Put | Delete)[] => {
  const isWord = (write: Put | Delete) =>
    ('put' in write ? write.put : write.delete).sk.startsWith(ISSUE_WORDS);
  return [...writes.filter((write) => !isWord(write)), ...writes.filter(isWord)];
};

const deletion = ({ pk, sk }: Key) => ({ delete: { pk, sk } });

const indexMessage = ({ projectId, iid }: IssueAddress): OutboxMessage =>
  message(MAINTENANCE, INDEX_ISSUE_JOB, { projectId, iid });

const indexLater = ({ projectId, iid }: IssueAddress): Write =>
  outboxWrite(
    messageAt(MAINTENANCE, INDEX_ISSUE_JOB, { projectId, iid }, new Date(Date.now() + REPAIR_AFTER)),
  );

/** The fields that differ. */
const changed = (before: IssueRecord, after: IssueRecord): Item =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => !isDeepStrictEqual(value, before[name as keyof IssueRecord]),
    ),
  );

export function fromItem(item: Item | undefined): IssueRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, w: _w, list: _l, byId: _i, byUpdated: _u, ...issue } = item;
  return issue as unknown as IssueRecord;
}
