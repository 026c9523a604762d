/**
 * Awards. Each is a row, in the order of their ids below what they are on; beside them each user who gave any has one
 * row there with the names, so that nobody gives the same twice. The index `byUser` finds what a user reacted to.
 */

import { type Awardable, type AwardRecord, countedVotes, votesOf } from '../../records/award-emoji.ts';
import type { Container } from '../../records/labels.ts';
import { holderOf, type Noteable } from '../../records/notes.ts';
import { AlreadyExists, Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import {
  anyReactionPrefix,
  awardKey,
  awardPrefix,
  awardsOfHolder,
  awardsOfNoteablePrefix,
  awardsOfUserKey,
  awardsPartition,
  awardsPrefix,
  reactionPrefix,
} from '../row-keys/award-emoji.ts';
import { epicKey } from '../row-keys/epics.ts';
import { countingKey } from '../row-keys/noteables.ts';
import { noteKey } from '../row-keys/notes.ts';
import { trackedPlace } from '../row-keys/tracked.ts';
import { userPartition } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { type Page, type PageRequest, pageOfRows } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Write } from '../table/write.ts';

/** What one user has awarded to one object. */
interface AwardsOfUser {
  readonly userId: number;
  readonly names: readonly string[];
  /** Raised by each change. */
  readonly version: number;
}

/** When the object of an award was created, for lists of such objects that are filtered by reactions. ISO 8601. */
type CreatedAt = string;

export class Awards {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  nextId(): Promise<number> {
    return this.#counters.next('award');
  }

  /**
   * Stores an award.
   * @param createdAt of the object that it is on
   * @param alongside further writes of the same transaction; their refusals are thrown unchanged
   * @throws AlreadyExists when the user has awarded it; Stale when they award something else meanwhile; Missing
   */
  async add(award: AwardRecord, createdAt: CreatedAt, alongside: readonly Write[] = []): Promise<void> {
    const before = await this.#ofUser(award, award.author.id);
    if (before?.names.includes(award.name)) throw new AlreadyExists('award');
    const { projectId, noteable, noteId } = award;
    await this.#transact([
      { put: itemOf(award, createdAt), if: ABSENT, reason: 'award' },
      namesWrite(award, award.author.id, before, [...(before?.names ?? []), award.name], createdAt),
      ...(noteId === undefined
        ? []
        : [{ check: noteKey(projectId, noteable, noteId), if: PRESENT, reason: 'note' }]),
      checkSourceExists(holderOf(award)),
      ...alongside,
    ]);
  }

  /** Deletes an award. @throws Stale when its user awards something meanwhile; Missing when it is deleted */
  async remove(award: AwardRecord, alongside: readonly Write[] = []): Promise<void> {
    const { id, name, author } = award;
    const before = await this.#ofUser(award, author.id);
    await this.#transact([
      { delete: awardKey(award, id), if: PRESENT, reason: 'gone' },
      // Of a deleted account there is none.
      ...(before === undefined ? [] : [withoutName(award, before, name)]),
      ...alongside,
    ]);
  }

  async get(on: Awardable, id: number): Promise<AwardRecord | undefined> {
    const item = await this.#table.get(awardKey(on, id));
    return item && fromItem(item);
  }

  /** Returns the awards on an object or a note, the oldest first. @throws StoreError `bad-page` */
  async list(on: Awardable, request: PageRequest): Promise<Page<AwardRecord>> {
    const rows = { partition: awardsPartition(on), prefix: awardPrefix(on) };
    const page = await pageOfRows(this.#table, rows, request);
    return { ...page, items: page.items.map(fromItem) };
  }

  /** Whether a note between two others, or one of them, has awards. */
  async areOnNotes(projectId: number, noteable: Noteable, first: number, last: number): Promise<boolean> {
    const { items } = await this.#table.query({
      partition: awardsPartition({ projectId, noteable }),
      from: awardsPrefix({ noteable, noteId: first }),
      to: `${awardsPrefix({ noteable, noteId: last })}~`,
      only: ['sk'],
      limit: 1,
    });
    return items.length > 0;
  }

  /** Returns the names of what a user has awarded to each of some objects. */
  async namesBy(userId: number, objects: readonly Awardable[]): Promise<(readonly string[])[]> {
    const rows = await this.#table.batchGet(objects.map((on) => awardsOfUserKey(on, userId)));
    return rows.map((row) => (row === undefined ? [] : (row as unknown as AwardsOfUser).names));
  }

  /** Deletes an award of a deleted user, with its vote. */
  async removeOfUser(key: { readonly pk: string; readonly sk: string }): Promise<void> {
    const item = await this.#table.get(key);
    if (item === undefined) return;
    const award = fromItem(item);
    const votes = votesOf(award, -1);
    const { noteable } = award;
    const record = noteable.kind === 'epic' ? epicKey(noteable.id) : countingKey(award);
    const counted = record !== undefined && Object.keys(votes).length > 0 && (await this.#table.get(record));
    const writes: Write[] = [
      { delete: awardKey(award, award.id), if: PRESENT, reason: 'gone' },
      ...(counted
        ? [{ update: record, add: countedVotes(noteable.kind, votes), if: PRESENT, reason: noteable.kind }]
        : []),
    ];
    await this.#transact(writes).catch((error: unknown) => {
      if (!(error instanceof Missing)) throw error;
    });
  }

  /** Deletes up to `limit` rows of a deleted object and of its notes. @returns whether any are left */
  removeOfNoteable(projectId: number, noteable: Noteable, limit = 500): Promise<boolean> {
    const prefix = awardsOfNoteablePrefix(noteable);
    return deletePage(this.#table, { partition: awardsPartition({ projectId, noteable }), prefix, limit });
  }

  /** Deletes up to `limit` rows of a deleted note. @returns whether any are left */
  removeOfNote(note: Awardable & { readonly noteId: number }, limit = 500): Promise<boolean> {
    const prefix = awardsPrefix(note);
    return deletePage(this.#table, { partition: awardsPartition(note), prefix, limit });
  }

  /** Deletes up to `limit` rows of a deleted project or group. @returns whether any are left */
  removeOf(holder: Container, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: awardsOfHolder(holder), limit });
  }

  async #ofUser(on: Awardable, userId: number): Promise<AwardsOfUser | undefined> {
    return (await this.#table.get(awardsOfUserKey(on, userId))) as AwardsOfUser | undefined;
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of ['project', 'group', 'note', 'issue', 'merge-request', 'snippet', 'epic', 'gone'])
        if (error.has(what)) throw new Missing(what === 'gone' ? 'award' : what);
      if (error.has('names')) throw new Stale('awards');
      throw error;
    }
  }
}

const isUnchanged = (before: AwardsOfUser | undefined) =>
  before === undefined
    ? { if: ABSENT, reason: 'names' }
    : { if: `${PRESENT} AND #version = :version`, values: { version: before.version }, reason: 'names' };

function namesWrite(
  on: Awardable,
  userId: number,
  before: AwardsOfUser | undefined,
  names: readonly string[],
  createdAt: CreatedAt,
): Write {
  const version = (before?.version ?? 0) + 1;
  const row = { ...awardsOfUserKey(on, userId), userId, names, version };
  return { put: { ...row, ...indexOf(on, userId, createdAt) }, ...isUnchanged(before) };
}

function withoutName(on: Awardable, before: AwardsOfUser, name: string): Write {
  const key = awardsOfUserKey(on, before.userId);
  const names = before.names.filter((each) => each !== name);
  const version = before.version + 1;
  return names.length === 0
    ? { delete: key, ...isUnchanged(before) }
    : { update: key, set: { names, version }, ...isUnchanged(before) };
}

/** Attributes by which a user's row is found, in the order of what they reacted to. @param name absent: any */
function indexOf(on: Awardable, userId: number, createdAt: CreatedAt, name?: string): Item {
  const { noteable, iid = 0, noteId } = on;
  const kind = noteId === undefined ? noteable.kind : 'note';
  const prefix = name === undefined ? anyReactionPrefix(kind) : reactionPrefix(kind, name);
  const place = trackedPlace(createdAt, iid, noteId ?? Number(noteable.id));
  return { who: userPartition(userId), what: prefix + place };
}

const itemOf = (award: AwardRecord, createdAt: CreatedAt) => ({
  ...awardKey(award, award.id),
  ...award,
  ...indexOf(award, award.author.id, createdAt, award.name),
});

function fromItem({ pk: _p, sk: _s, who: _w, what: _a, ...award }: Item): AwardRecord {
  return award as unknown as AwardRecord;
}
