/**
 * Notes: comments on objects of a project, and what the service notes there about changes. The notes of one object are
 * adjacent rows, oldest first. Lists are read from slim rows beside them, one for each note and one for each discussion,
 * so that a page costs the same however many notes there are and however long they are.
 */

import type { Container } from '../../records/labels.ts';
import {
  classOfNote,
  type DiscussionRecord,
  eventsOfChange,
  holderOf,
  NOTE_CLASSES,
  type Noteable,
  type NoteRecord,
  type Suggestion,
} from '../../records/notes.ts';
import type { StoredText } from '../../records/texts.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { checkSourceExists } from '../members/item.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';
import { eventsPartition } from '../row-keys/events.ts';
import { type Key, padded } from '../row-keys/key.ts';
import {
  discussionPrefix,
  furtherRepliesPrefix,
  mentionPrefix,
  noteCountKey,
  noteEventsOrder,
  noteKey,
  noteListKey,
  noteListPrefix,
  notePrefix,
  notesOfHolder,
  notesPartition,
  noteUpdatesPartition,
  suggestingNote,
} from '../row-keys/notes.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { cutPage, type Page, type PageRequest, pageOfRows } from '../table/paging.ts';
import type { Direction } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Delete, type Item, joined, PRESENT, type Update, type Write } from '../table/write.ts';
import {
  changedDiscussion,
  newDiscussion,
  repliedTo,
  rowOfReply,
  wholeDiscussion,
  withoutNote,
} from './discussions.ts';
import { DISCUSSIONS_OF, listedKeys, NOTES_OF, type NotesOf, totalOf } from './lists.ts';
import { wordRowsOf } from './words.ts';

export type { Noteable, NoteRecord } from '../../records/notes.ts';

/** What tells a note from the others. */
export type NoteAddress = Pick<NoteRecord, 'projectId' | 'noteable' | 'id'>;

export interface NoteOrder {
  readonly by: 'createdAt' | 'updatedAt';
  readonly direction: Direction;
}

/** Removes the notes of a deleted object, or what belonged to one deleted note: `{ projectId, noteable, noteId }`. */
export const REMOVE_NOTES_JOB = 'notes.remove';

/** For the transaction that deletes the object. */
export const removeNotesMessage = (projectId: number, noteable: Noteable): OutboxMessage =>
  message(MAINTENANCE, REMOVE_NOTES_JOB, { projectId, noteable });

/** For the transaction that deletes a note; none where notes have nothing that stays behind. */
export const noteRemovedMessages = ({ projectId, noteable, id }: NoteAddress): OutboxMessage[] =>
  noteable.kind === 'commit'
    ? []
    : [message(MAINTENANCE, REMOVE_NOTES_JOB, { projectId, noteable, noteId: id })];

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

  /** Allocates ids that follow each other. @returns the last of them */
  reserveIds(count: number): Promise<number> {
    return this.#counters.reserve('note', count);
  }

  /** Counts what has an id among the notes on an object: the notes and the discussions, of every class. */
  async countIds(projectId: number, noteable: Noteable): Promise<number> {
    const row = await this.#table.get(noteCountKey(projectId, noteable));
    const counted = [...Object.values(NOTES_OF), ...Object.values(DISCUSSIONS_OF)];
    return counted.reduce((sum, each) => sum + ((row?.[each] as number | undefined) ?? 0), 0);
  }

  /**
   * Stores a note that starts a discussion, or stands alone (without `discussed`).
   * @param alongside further writes of the same transaction; their refusals are thrown unchanged
   * @throws Missing when the project or group is deleted
   */
  create(note: NoteRecord, alongside: readonly Write[] = []): Promise<void> {
    return this.#transact([...noteWrites(note), checkSourceExists(holderOf(note)), ...alongside]);
  }

  /**
   * Stores a reply. A note that stood alone becomes the first of a discussion.
   * @throws Stale when the discussion changed meanwhile; Missing when the project or group is deleted
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
    const after = repliedTo(discussion, note.id);
    await this.#transact([
      ...becomesFirst,
      changedDiscussion(discussion, after),
      ...rowOfReply(after, note.id),
      ...noteWrites(note),
      checkSourceExists(holderOf(note)),
      ...alongside,
    ]);
  }

  /** Changes a note's text. @throws Stale when it was changed meanwhile, or is deleted */
  async change(
    note: NoteRecord,
    { body, updatedAt, suggestions }: Pick<NoteRecord, 'body' | 'updatedAt' | 'suggestions'>,
    alongside: readonly Write[] = [],
  ): Promise<NoteRecord> {
    const [before, after] = [wordRowsOf(note), wordRowsOf({ ...note, body })];
    const gone = without(before, after).map((row): Write => ({ delete: row }));
    const fresh = without(after, before).map((row): Write => ({ put: { ...row } }));
    await this.#transact([
      {
        update: keyOf(note),
        set: { body, updatedAt, ...suggestionAttributes({ id: note.id, suggestions }) },
        ...(suggestions === undefined && note.suggestions !== undefined
          ? { remove: ['suggestions', 'list', 'byId'] }
          : {}),
        ...unchanged(note),
        reason: 'note',
      },
      { update: listKeyOf(note), set: listAttributes({ ...note, updatedAt }), if: PRESENT, reason: 'note' },
      ...gone,
      ...fresh,
      ...alongside,
    ]);
    const { suggestions: _, ...rest } = note;
    return { ...rest, body, updatedAt, ...(suggestions === undefined ? {} : { suggestions }) };
  }

  /** Returns the notes with these ids that have suggestions, in the order requested. */
  async suggesting(ids: readonly number[]): Promise<(NoteRecord | undefined)[]> {
    const pages = await Promise.all(
      ids.map((id) => this.#table.query({ index: 'byId', partition: suggestingNote(id), limit: 1 })),
    );
    const keys = pages.map(({ items: [item] }) => item && { pk: item['pk'], sk: item['sk'] });
    const present = keys.filter((key) => key !== undefined) as Key[];
    const rows = present.length === 0 ? [] : await this.#table.batchGet(present);
    const notes = new Map(rows.flatMap((row) => (row === undefined ? [] : [[row['id'], fromItem(row)]])));
    return ids.map((id) => notes.get(id));
  }

  /** The write of suggestions that were applied, refused as `suggestion` where the note has changed. */
  appliedWrite(note: NoteRecord, suggestions: readonly Suggestion[]): Update {
    return {
      update: keyOf(note),
      set: { suggestions },
      if: `${PRESENT} AND #updatedAt = :was AND #suggestions = :before`,
      values: { was: note.updatedAt, before: note.suggestions },
      reason: 'suggestion',
    };
  }

  /** Resolves a discussion, or opens it again. @throws Stale when it changed meanwhile */
  async resolve(
    before: DiscussionRecord,
    after: DiscussionRecord,
    alongside: readonly Write[] = [],
  ): Promise<void> {
    await this.#transact([changedDiscussion(before, after), ...alongside]);
  }

  /**
   * Deletes a note, and its discussion with the last note of it. Its text in the bucket is left to the caller.
   * @param discussion undefined: it has none
   * @throws Stale when the note or the discussion changed meanwhile; Missing when the note is deleted
   */
  async remove(
    note: NoteRecord,
    discussion: DiscussionRecord | undefined,
    alongside: readonly Write[] = [],
  ): Promise<void> {
    await this.#transact([
      { delete: keyOf(note), ...unchanged(note), reason: 'gone' },
      { delete: listKeyOf(note) },
      ...wordRowsOf(note).map((row) => ({ delete: row })),
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
    const rows = { partition: notesPartition(projectId, noteable), prefix: notePrefix(noteable) };
    const page = await pageOfRows(this.#table, rows, request);
    return { items: page.items.map(fromItem), total: page.total, more: page.more };
  }

  /** Returns a page of the notes of some classes. @throws StoreError `bad-page` */
  async page(of: NotesOf, order: NoteOrder, request: PageRequest): Promise<Page<NoteRecord>> {
    const { projectId, noteable } = of;
    const keys = listedKeys(this.#table, of, order.direction, request, (noteClass) =>
      order.by === 'createdAt'
        ? { prefix: noteListPrefix(noteable, noteClass), partition: notesPartition(projectId, noteable) }
        : { partition: noteUpdatesPartition(projectId, noteable, noteClass), index: 'byUpdated' },
    );
    const load = (ids: readonly number[]) => this.getMany(ids.map((id) => ({ projectId, noteable, id })));
    const [total, page] = await Promise.all([
      totalOf(this.#table, of, NOTES_OF),
      cutPage(keys, request, { load }),
    ]);
    return { ...page, total };
  }

  /** Deletes up to `limit` rows of a deleted project or group. @returns whether any are left */
  removeOf(holder: Container, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: notesOfHolder(holder), limit });
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
    const partition = notesPartition(projectId, noteable);
    const page = await this.#table.query({ partition, prefix: notePrefix(noteable), limit });
    const prefixes = [
      mentionPrefix(noteable),
      furtherRepliesPrefix(noteable),
      ...NOTE_CLASSES.flatMap((noteClass) => [
        noteListPrefix(noteable, noteClass),
        discussionPrefix(noteable, noteClass),
      ]),
    ];
    // The note last: a run that ends here finds it again.
    await Promise.all(
      page.items.map(async (item) => {
        const note = fromItem(item);
        for (const write of eventOf(note)) await this.#table.delete(write);
        await Promise.all(wordRowsOf(note).map((row) => this.#table.delete({ delete: row })));
        await this.#table.delete({ delete: keyOf(note) });
      }),
    );
    const beside = await Promise.all(
      prefixes.map((prefix) => deletePage(this.#table, { partition, prefix, limit })),
    );
    const more = page.next !== undefined || beside.includes(true);
    if (!more) await this.#table.delete({ delete: noteCountKey(projectId, noteable) });
    return { more, texts: page.items.map(({ body }) => body as StoredText) };
  }

  async #transact(writes: readonly Write[]): Promise<void> {
    try {
      await this.#table.transact(joined(writes));
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      for (const what of ['project', 'group']) if (error.has(what)) throw new Missing(what);
      const gone = error.get('gone');
      if (gone !== undefined) throw gone.item === undefined ? new Missing('note') : new Stale('note');
      for (const what of ['discussion', 'note']) if (error.has(what)) throw new Stale(what);
      throw error;
    }
  }
}

const keyOf = ({ projectId, noteable, id }: NoteAddress) => noteKey(projectId, noteable, id);

const listKeyOf = (note: NoteRecord) =>
  noteListKey(note.projectId, note.noteable, classOfNote(note), note.createdAt, note.id);

const listAttributes = (note: NoteRecord) => ({
  list: noteUpdatesPartition(note.projectId, note.noteable, classOfNote(note)),
  byUpdated: `${note.updatedAt}#${padded(note.id)}`,
  ...(note.change === undefined
    ? {}
    : { byName: noteEventsOrder(note.change.kind, note.id, eventsOfChange(note.change)) }),
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

/** A discussion that is copied to another object, or a part of one. */
export interface CopiedDiscussion {
  /** The copy as it then is, with the notes of this part. */
  readonly discussion: DiscussionRecord;
  /** The copy as an earlier part left it. */
  readonly begun?: DiscussionRecord | undefined;
  readonly notes: readonly NoteRecord[];
}

/**
 * The writes of copies of discussions on one object, refused as `discussion` when one changed since an earlier part.
 * @param isGhost whether a user is the ghost, under whom no notes are found
 */
export function copiedWrites(
  copies: readonly CopiedDiscussion[],
  isGhost: (userId: number) => boolean,
): Write[] {
  const added: Record<string, number> = {};
  const count = (attribute: string) => {
    added[attribute] = (added[attribute] ?? 0) + 1;
  };
  const rows = copies.flatMap(({ discussion, begun, notes }) => {
    if (begun === undefined) count(DISCUSSIONS_OF[discussion.noteClass]);
    for (const note of notes) count(NOTES_OF[classOfNote(note)]);
    const row = begun === undefined ? wholeDiscussion(discussion) : changedDiscussion(begun, discussion);
    const rowsOf = (note: NoteRecord) => [
      ...noteRows(note, isGhost(note.author.id)),
      ...rowOfReply(discussion, note.id),
    ];
    return [row, ...notes.flatMap(rowsOf)];
  });
  const { projectId, noteable } = copies[0]!.discussion;
  return [...rows, { update: noteCountKey(projectId, noteable), add: added }];
}

/** The rows of a new note; of one that is no reply, also its discussion. */
const newRows = (note: NoteRecord): Write[] => [
  ...noteRows(note, false),
  ...(note.inDiscussion === undefined ? [newDiscussion(note)] : []),
];

function noteRows(note: NoteRecord, byGhost: boolean): Write[] {
  const found = byGhost ? {} : { who: userPartition(note.author.id), what: userRow('NOTE', note.id) };
  return [
    { put: { ...keyOf(note), ...note, ...suggestionAttributes(note), ...found }, if: ABSENT, reason: 'note' },
    { put: { ...listKeyOf(note), ...listAttributes(note) } },
    ...wordRowsOf(note).map((row) => ({ put: { ...row } })),
  ];
}

/** By which a note with suggestions is found. */
const suggestionAttributes = ({
  id,
  suggestions,
}: {
  readonly id: number;
  readonly suggestions?: readonly Suggestion[] | undefined;
}) => (suggestions === undefined ? {} : { suggestions, list: suggestingNote(id), byId: padded(id) });

const eventOf = (note: NoteRecord): Delete[] =>
  note.event === undefined ? [] : [{ delete: { pk: eventsPartition(holderOf(note)), sk: note.event } }];

const unchanged = ({ updatedAt }: NoteRecord) => ({
  if: `${PRESENT} AND #updatedAt = :was`,
  values: { was: updatedAt },
});

/** The keys that others do not have. */
const without = (keys: readonly Key[], others: readonly Key[]): Key[] =>
  keys.filter(({ sk }) => !others.some((other) => other.sk === sk));

function fromItem({ pk: _p, sk: _s, who: _w, what: _a, list: _l, byId: _i, ...note }: Item): NoteRecord {
  return note as unknown as NoteRecord;
}
