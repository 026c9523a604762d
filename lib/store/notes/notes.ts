/**
 * Notes: comments on objects of a project, and what the service notes there about changes. The notes of one object are
 * adjacent rows, oldest first. Lists are read from slim rows beside them, one for each note and one for each discussion,
 * so that a page costs the same however many notes there are and however long they are.
 */

import {
  classOfNote,
  type DiscussionRecord,
  NOTE_CLASSES,
  type Noteable,
  type NoteClass,
  type NoteRecord,
} from '../../records/notes.ts';
import type { StoredText } from '../../records/texts.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { eventsPartition } from '../row-keys/events.ts';
import { idOf, type Key, padded } from '../row-keys/key.ts';
import {
  discussionKey,
  discussionPrefix,
  noteCountKey,
  noteKey,
  noteListKey,
  noteListPrefix,
  notePrefix,
  notesPartition,
  noteUpdatesPartition,
} from '../row-keys/notes.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import type { Position } from '../table/cursor.ts';
import { deletePage } from '../table/delete-page.ts';
import { chunkFor, cutPage, MAX_TOTAL, type Page, type PageRequest, pageOfRows } from '../table/paging.ts';
import { type Direction, mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Delete, type Item, PRESENT, type Update, type Write } from '../table/write.ts';

export type { Noteable, NotedLine, NoteRecord } from '../../records/notes.ts';

/** What tells a note from the others. */
export type NoteAddress = Pick<NoteRecord, 'projectId' | 'noteable' | 'id'>;

/** The object whose notes are listed, and which of them. */
export interface NotesOf {
  readonly projectId: number;
  readonly noteable: Noteable;
  readonly classes: readonly NoteClass[];
}

export interface NoteOrder {
  readonly by: 'createdAt' | 'updatedAt';
  readonly direction: Direction;
}

/** Removes the notes of a deleted object: `{ projectId, noteable }`. */
export const REMOVE_NOTES_JOB = 'notes.remove';

/** For the transaction that deletes the object. */
export const removeNotesMessage = (projectId: number, noteable: Noteable): OutboxMessage =>
  message(MAINTENANCE, REMOVE_NOTES_JOB, { projectId, noteable });

export class Notes {
  readonly #table: Table;
  readonly #counters: Counters;
  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  nextId(): Promise<number> {
    return this.#counters.next('note');
  }

  /**
   * Stores a note that starts a discussion, or stands alone (without `discussed`).
   * @param alongside further writes of the same transaction; their refusals are thrown unchanged
   * @throws Missing when the project is deleted
   */
  create(note: NoteRecord, alongside: readonly Write[] = []): Promise<void> {
    return this.#transact([...noteWrites(note), checkProjectExists(note.projectId), ...alongside]);
  }

  /**
   * Stores a reply. A note that stood alone becomes the first of a discussion.
   * @throws Stale when the discussion changed meanwhile; Missing when the project is deleted
   */
  async reply(
    note: NoteRecord & { readonly inDiscussion: number },
    discussion: DiscussionRecord,
    alongside: readonly Write[] = [],
  ): Promise<void> {
    const first = { ...note, id: discussion.firstId };
    const becomesFirst: Update[] = discussion.individual
      ? [{ update: keyOf(first), set: { discussed: true }, if: PRESENT, reason: 'discussion' }]
      : [];
    await this.#transact([
      ...becomesFirst,
      changedDiscussion(discussion, { individual: false, replies: [...discussion.replies, note.id] }),
      ...noteWrites(note),
      checkProjectExists(note.projectId),
      ...alongside,
    ]);
  }

  /** Changes a note's text. @throws Stale when it was changed meanwhile, or is deleted */
  async change(
    note: NoteRecord,
    { body, updatedAt }: { readonly body: StoredText; readonly updatedAt: string },
    alongside: readonly Write[] = [],
  ): Promise<NoteRecord> {
    const unchanged = `${PRESENT} AND #updatedAt = :was`;
    await this.#transact([
      {
        update: keyOf(note),
        set: { body, updatedAt },
        if: unchanged,
        values: { was: note.updatedAt },
        reason: 'note',
      },
      { update: listKeyOf(note), set: listAttributes({ ...note, updatedAt }), if: PRESENT, reason: 'note' },
      ...alongside,
    ]);
    return { ...note, body, updatedAt };
  }

  /**
   * Deletes a note, and its discussion with the last note of it. Its text in the bucket is left to the caller.
   * @throws Stale when the discussion changed meanwhile; Missing when the note is deleted
   */
  async remove(note: NoteRecord, alongside: readonly Write[] = []): Promise<void> {
    const discussion = await this.discussionOf(note);
    await this.#transact([
      { delete: keyOf(note), if: PRESENT, reason: 'gone' },
      { delete: listKeyOf(note) },
      ...eventOf(note),
      ...(discussion === undefined ? [] : withoutNote(note, discussion)),
      ...alongside,
    ]);
  }

  async get(note: NoteAddress): Promise<NoteRecord | undefined> {
    const item = await this.#table.get(keyOf(note));
    return item && fromItem(item);
  }

  /** Returns the notes in the order requested; undefined for a deleted note. */
  async getMany(notes: readonly NoteAddress[]): Promise<(NoteRecord | undefined)[]> {
    return (await this.#table.batchGet(notes.map(keyOf))).map((item) => item && fromItem(item));
  }

  /** Returns the notes on one object, of every class, oldest first. */
  async list(projectId: number, noteable: Noteable, request: PageRequest): Promise<Page<NoteRecord>> {
    const rows = { partition: notesPartition(projectId), prefix: notePrefix(noteable) };
    const page = await pageOfRows(this.#table, rows, request);
    return { items: page.items.map(fromItem), total: page.total, more: page.more };
  }

  /** Returns a page of the notes of some classes. @throws StoreError `bad-page` */
  async page(of: NotesOf, order: NoteOrder, request: PageRequest): Promise<Page<NoteRecord>> {
    const { projectId, noteable } = of;
    const keys = this.#merged(of, order.direction, request, (noteClass) =>
      order.by === 'createdAt'
        ? { prefix: noteListPrefix(noteable, noteClass), partition: notesPartition(projectId) }
        : { partition: noteUpdatesPartition(projectId, noteable, noteClass), index: 'byUpdated' },
    );
    const load = (ids: readonly number[]) => this.getMany(ids.map((id) => ({ projectId, noteable, id })));
    const [total, page] = await Promise.all([this.#total(of, NOTES_OF), cutPage(keys, request, { load })]);
    return { ...page, total };
  }

  /** Returns a page of discussions in the order of their first notes. @throws StoreError `bad-page` */
  async discussions(of: NotesOf, request: PageRequest): Promise<Page<DiscussionRecord>> {
    const { projectId, noteable, classes } = of;
    const keys = this.#merged(of, 'asc', request, (noteClass) => ({
      prefix: discussionPrefix(noteable, noteClass),
      partition: notesPartition(projectId),
    }));
    const load = async (ids: readonly number[]) => {
      const keysOf = (id: number) =>
        classes.map((noteClass) => discussionKey(projectId, noteable, noteClass, id));
      const rows = await this.#table.batchGet(ids.flatMap(keysOf));
      const found = new Map(rows.flatMap((row) => (row === undefined ? [] : [[row['firstId'], row]])));
      return ids.map((id) => found.get(id)).map((row) => row && discussionFrom(row));
    };
    const [total, page] = await Promise.all([
      this.#total(of, DISCUSSIONS_OF),
      cutPage(keys, request, { load }),
    ]);
    return { ...page, total };
  }

  /** Returns the discussion that begins with a note, if it is of one of the classes. */
  async discussion({ projectId, noteable, classes }: NotesOf, firstId: number) {
    const keys = classes.map((noteClass) => discussionKey(projectId, noteable, noteClass, firstId));
    const row = (await this.#table.batchGet(keys)).find((item) => item !== undefined);
    return row && discussionFrom(row);
  }

  /** Returns the discussion of a note; undefined for a note written before there were discussions. */
  async discussionOf(note: NoteRecord): Promise<DiscussionRecord | undefined> {
    const { projectId, noteable, inDiscussion = note.id } = note;
    const row = await this.#table.get(discussionKey(projectId, noteable, classOfNote(note), inDiscussion));
    return row && discussionFrom(row);
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: notesPartition(projectId), limit });
  }

  /**
   * Deletes up to some hundred rows of a deleted object.
   * @returns whether any are left, and the texts of the deleted notes, which are left to the caller
   */
  async removeOfNoteable(
    projectId: number,
    noteable: Noteable,
    limit = 200,
  ): Promise<{ readonly more: boolean; readonly texts: readonly StoredText[] }> {
    const partition = notesPartition(projectId);
    const page = await this.#table.query({
      partition,
      prefix: notePrefix(noteable),
      only: ['pk', 'sk', 'body', 'event'],
      limit,
    });
    const prefixes = NOTE_CLASSES.flatMap((noteClass) => [
      noteListPrefix(noteable, noteClass),
      discussionPrefix(noteable, noteClass),
    ]);
    // The note last: a run that ends here finds it again.
    await Promise.all(
      page.items.map(async (item) => {
        const { pk, sk, event } = item as unknown as Key & Pick<NoteRecord, 'event'>;
        for (const write of eventOf({ projectId, ...(event === undefined ? {} : { event }) }))
          await this.#table.delete(write);
        await this.#table.delete({ delete: { pk, sk } });
      }),
    );
    const beside = await Promise.all(
      prefixes.map((prefix) => deletePage(this.#table, { partition, prefix, limit })),
    );
    const more = page.next !== undefined || beside.includes(true);
    if (!more) await this.#table.delete({ delete: noteCountKey(projectId, noteable) });
    return { more, texts: page.items.map(({ body }) => body as StoredText) };
  }

  /** Merges the lists of the classes; their keys end in the time or nothing, and the id. */
  #merged(
    { classes }: NotesOf,
    direction: Direction,
    request: PageRequest,
    rowsOf: (noteClass: NoteClass) => ListRows,
  ): AsyncGenerator<Position> {
    const chunk = chunkFor(request, classes.length);
    const sources = classes.map((noteClass) => {
      const { prefix = '', ...rows } = rowsOf(noteClass);
      const only = rows.index === undefined ? ['sk'] : ['sk', rows.index];
      const query = { ...rows, ...(prefix === '' ? {} : { prefix }), only };
      return querySource(this.#table, query, direction, chunk, (item) => {
        const sk = item['sk'] as string;
        return {
          sort: rows.index === undefined ? sk.slice(prefix.length) : String(item[rows.index]),
          id: idOf(sk),
        };
      });
    });
    return mergeKeys(sources, direction);
  }

  /** @returns undefined above 10,000 */
  async #total({ projectId, noteable, classes }: NotesOf, counted: CountedOf): Promise<number | undefined> {
    const row = await this.#table.get(noteCountKey(projectId, noteable));
    const total = classes.reduce((sum, each) => sum + ((row?.[counted[each]] as number | undefined) ?? 0), 0);
    return total > MAX_TOTAL ? undefined : total;
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(writes);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      if (error.has('project')) throw new Missing('project');
      if (error.has('gone')) throw new Missing('note');
      for (const what of ['discussion', 'note']) if (error.has(what)) throw new Stale(what);
      throw error;
    }
  }
}

interface ListRows {
  readonly partition: string;
  readonly prefix?: string;
  readonly index?: 'byUpdated';
}

/** Attributes of the row of counts. */
type CountedOf = Readonly<Record<NoteClass, string>>;
const NOTES_OF: CountedOf = { comment: 'comments', internal: 'internalNotes', system: 'systemNotes' };
const DISCUSSIONS_OF: CountedOf = {
  comment: 'commentDiscussions',
  internal: 'internalDiscussions',
  system: 'systemDiscussions',
};

const keyOf = ({ projectId, noteable, id }: NoteAddress) => noteKey(projectId, noteable, id);

const listKeyOf = (note: NoteRecord) =>
  noteListKey(note.projectId, note.noteable, classOfNote(note), note.createdAt, note.id);

const listAttributes = (note: NoteRecord) => ({
  list: noteUpdatesPartition(note.projectId, note.noteable, classOfNote(note)),
  byUpdated: `${note.updatedAt}#${padded(note.id)}`,
});

/** The writes of new notes on one object, at least one, for a transaction that may be of their object too. */
export function noteWrites(...notes: readonly NoteRecord[]): Write[] {
  const added: Record<string, number> = {};
  const count = (attribute: string) => {
    added[attribute] = (added[attribute] ?? 0) + 1;
  };
  for (const note of notes) {
    count(NOTES_OF[classOfNote(note)]);
    if (note.inDiscussion === undefined) count(DISCUSSIONS_OF[classOfNote(note)]);
  }
  const { projectId, noteable } = notes[0]!;
  // One write for all: a transaction takes one for each row.
  return [...notes.flatMap(newRows), { update: noteCountKey(projectId, noteable), add: added }];
}

/** The rows of a new note; of one that is no reply, also its discussion. */
function newRows(note: NoteRecord): Write[] {
  const { projectId, noteable, id } = note;
  const noteClass = classOfNote(note);
  const discussion: DiscussionRecord = {
    firstId: id,
    projectId,
    noteable,
    noteClass,
    individual: note.discussed !== true,
    replies: [],
    version: 1,
  };
  const discussionRow = { put: { ...discussionKey(projectId, noteable, noteClass, id), ...discussion } };
  return [
    {
      put: { ...keyOf(note), ...note, who: userPartition(note.author.id), what: userRow('NOTE', id) },
      if: ABSENT,
      reason: 'note',
    },
    { put: { ...listKeyOf(note), ...listAttributes(note) } },
    ...(note.inDiscussion === undefined ? [discussionRow] : []),
  ];
}

const eventOf = ({ projectId, event }: Pick<NoteRecord, 'projectId' | 'event'>): Delete[] =>
  event === undefined ? [] : [{ delete: { pk: eventsPartition(projectId), sk: event } }];

/** Takes a deleted note off the counts, and its discussion with it if it was the last. */
const uncounted = ({ projectId, noteable, noteClass }: DiscussionRecord, isLast: boolean): Update => ({
  update: noteCountKey(projectId, noteable),
  add: { [NOTES_OF[noteClass]]: -1, ...(isLast ? { [DISCUSSIONS_OF[noteClass]]: -1 } : {}) },
});

const discussionKeyOf = ({ projectId, noteable, noteClass, firstId }: DiscussionRecord) =>
  discussionKey(projectId, noteable, noteClass, firstId);

const isUnchanged = ({ version }: DiscussionRecord) => ({
  if: `${PRESENT} AND #version = :version`,
  values: { version },
  reason: 'discussion',
});

const changedDiscussion = (
  discussion: DiscussionRecord,
  set: Partial<Pick<DiscussionRecord, 'individual' | 'replies' | 'headless'>>,
): Update => ({
  update: discussionKeyOf(discussion),
  set: { ...set, version: discussion.version + 1 },
  ...isUnchanged(discussion),
});

function withoutNote({ id }: NoteRecord, discussion: DiscussionRecord): Write[] {
  const replies = discussion.replies.filter((reply) => reply !== id);
  const headless = discussion.headless === true || id === discussion.firstId;
  const isLast = headless && replies.length === 0;
  return [
    isLast
      ? { delete: discussionKeyOf(discussion), ...isUnchanged(discussion) }
      : changedDiscussion(discussion, { replies, ...(headless ? { headless } : {}) }),
    uncounted(discussion, isLast),
  ];
}

function fromItem({ pk: _p, sk: _s, who: _w, what: _a, ...note }: Item): NoteRecord {
  return note as unknown as NoteRecord;
}

function discussionFrom({ pk: _p, sk: _s, ...discussion }: Item): DiscussionRecord {
  return discussion as unknown as DiscussionRecord;
}
