/**
 * Discussions: notes that belong together. One row names the first of them, and leads to them; replies after these have a
 * row each.
 */

import {
  classOfDiscussion,
  classOfNote,
  type DiscussionRecord,
  NOTE_CLASSES,
  type Noteable,
  type NoteRecord,
  REPLIES_IN_ROW,
} from '../../records/notes.ts';
import { idOf, type Key } from '../row-keys/key.ts';
import {
  discussionKey,
  discussionPrefix,
  furtherRepliesPrefix,
  furtherReplyKey,
  noteCountKey,
  notesPartition,
} from '../row-keys/notes.ts';
import { cutPage, type Page, type PageRequest } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { type Item, PRESENT, type Put, type Update, type Write } from '../table/write.ts';
import { DISCUSSIONS_OF, listedKeys, NOTES_OF, type NotesOf, totalOf } from './lists.ts';

export class Discussions {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /** Returns a page of discussions in the order of their first notes. @throws StoreError `bad-page` */
  async page(of: NotesOf, request: PageRequest): Promise<Page<DiscussionRecord>> {
    const { projectId, noteable, classes } = of;
    const keys = listedKeys(this.#table, of, 'asc', request, (noteClass) => ({
      prefix: discussionPrefix(noteable, noteClass),
      partition: notesPartition(projectId, noteable),
    }));
    const load = async (ids: readonly number[]) => {
      const keysOf = (id: number) =>
        classes.map((noteClass) => discussionKey(projectId, noteable, noteClass, id));
      const rows = await this.#table.batchGet(ids.flatMap(keysOf));
      const found = new Map(rows.flatMap((row) => (row === undefined ? [] : [[row['firstId'], row]])));
      return ids.map((id) => found.get(id)).map((row) => row && fromItem(row));
    };
    const [total, page] = await Promise.all([
      totalOf(this.#table, of, DISCUSSIONS_OF),
      cutPage(keys, request, { load }),
    ]);
    return { ...page, total };
  }

  /** Returns the discussion that begins with a note, if it is of one of the classes. */
  async get({ projectId, noteable, classes }: NotesOf, firstId: number) {
    const keys = classes.map((noteClass) => discussionKey(projectId, noteable, noteClass, firstId));
    const row = (await this.#table.batchGet(keys)).find((item) => item !== undefined);
    return row && fromItem(row);
  }

  /** Returns up to `limit` discussions of every class, in the order of their first notes. @param after a first note */
  async next(
    projectId: number,
    noteable: Noteable,
    after: number,
    limit: number,
  ): Promise<DiscussionRecord[]> {
    const partition = notesPartition(projectId, noteable);
    const pages = await Promise.all(
      NOTE_CLASSES.map((noteClass) =>
        this.#table.query({
          partition,
          from: discussionKey(projectId, noteable, noteClass, after + 1).sk,
          to: `${discussionPrefix(noteable, noteClass)}~`,
          limit,
        }),
      ),
    );
    const found = pages.flatMap(({ items }) => items.map(fromItem));
    return found.sort((a, b) => a.firstId - b.firstId).slice(0, limit);
  }

  /** Returns the discussion of a note; undefined for a note written before there were discussions. */
  async ofNote(note: NoteRecord): Promise<DiscussionRecord | undefined> {
    const row = await this.#table.get(keyOfNote(note));
    return row && fromItem(row);
  }

  /** Returns the ids of up to `limit` notes of a discussion, in their order. @param after an id */
  async noteIds(discussion: DiscussionRecord, after: number, limit: number): Promise<number[]> {
    const { firstId, headless, replies, projectId, noteable } = discussion;
    const named = [...(headless === true ? [] : [firstId]), ...replies].filter((id) => id > after);
    const further = hasFurther(discussion)
      ? await this.#table.query({
          partition: notesPartition(projectId, noteable),
          from: furtherReplyKey(projectId, noteable, firstId, after + 1).sk,
          to: `${furtherRepliesPrefix(noteable, firstId)}~`,
          only: ['sk'],
          limit,
        })
      : { items: [] };
    const ids = [...named, ...further.items.map(({ sk }) => idOf(sk as string))];
    return ids.sort((a, b) => a - b).slice(0, limit);
  }

  /** Whether a note is in a discussion. */
  async has(discussion: DiscussionRecord, noteId: number): Promise<boolean> {
    if (!isFurther(discussion, noteId)) return true;
    return hasFurther(discussion) && (await this.#table.get(furtherKey(discussion, noteId))) !== undefined;
  }

  /** Returns the discussions of notes, each once. */
  async ofNotes(notes: readonly NoteRecord[]): Promise<DiscussionRecord[]> {
    const keys = new Map(notes.map((note) => [note.inDiscussion ?? note.id, keyOfNote(note)]));
    const rows = await this.#table.batchGet([...keys.values()]);
    return rows.flatMap((row) => (row === undefined ? [] : [fromItem(row)]));
  }
}

const keyOfNote = (note: NoteRecord) =>
  discussionKey(note.projectId, note.noteable, classOfDiscussion(note), note.inDiscussion ?? note.id);

/** The discussion that a note starts, or that it stands for alone. */
export function newDiscussion(note: NoteRecord): Put {
  const { projectId, noteable, id } = note;
  const discussion: DiscussionRecord = {
    firstId: id,
    projectId,
    noteable,
    noteClass: classOfNote(note),
    individual: note.discussed !== true,
    replies: [],
    version: 1,
  };
  return wholeDiscussion(discussion);
}

/** A discussion after a reply. What was resolved is open again. */
export const repliedTo = (
  { resolved: _, ...discussion }: DiscussionRecord,
  noteId: number,
): DiscussionRecord => ({
  ...discussion,
  individual: false,
  ...(hasFurther(discussion) || discussion.replies.length >= REPLIES_IN_ROW
    ? { further: (discussion.further ?? 0) + 1 }
    : { replies: [...discussion.replies, noteId] }),
});

/** The row of a reply that the row of its discussion does not name; none for others. @param discussion after it */
export const rowOfReply = (discussion: DiscussionRecord, noteId: number): Put[] =>
  isFurther(discussion, noteId) ? [{ put: { ...furtherKey(discussion, noteId) } }] : [];

const hasFurther = ({ further = 0 }: DiscussionRecord): boolean => further > 0;

const isFurther = ({ firstId, replies }: DiscussionRecord, noteId: number): boolean =>
  noteId !== firstId && !replies.includes(noteId);

const furtherKey = ({ projectId, noteable, firstId }: DiscussionRecord, noteId: number): Key =>
  furtherReplyKey(projectId, noteable, firstId, noteId);

/** A discussion after a note of it is deleted; undefined: it goes with its last note. */
export function leftOf(discussion: DiscussionRecord, noteId: number): DiscussionRecord | undefined {
  const replies = discussion.replies.filter((reply) => reply !== noteId);
  const further = (discussion.further ?? 0) - (isFurther(discussion, noteId) ? 1 : 0);
  const headless = discussion.headless === true || noteId === discussion.firstId;
  if (headless && replies.length + further === 0) return undefined;
  return {
    ...{ ...discussion, replies },
    ...(discussion.further === undefined ? {} : { further }),
    ...(headless ? { headless } : {}),
  };
}

/** A discussion that is written with all that it has. */
export const wholeDiscussion = (discussion: DiscussionRecord): Put => ({
  put: { ...keyOf(discussion), ...discussion },
});

/** Refused as `discussion` when it changed meanwhile. */
export const changedDiscussion = (
  before: DiscussionRecord,
  { individual, replies, further, headless, resolved }: DiscussionRecord,
): Update => ({
  update: keyOf(before),
  set: {
    individual,
    replies,
    ...(further === undefined ? {} : { further }),
    ...(headless === undefined ? {} : { headless }),
    ...(resolved === undefined ? {} : { resolved }),
    version: before.version + 1,
  },
  ...(resolved === undefined && before.resolved !== undefined ? { remove: ['resolved'] } : {}),
  ...isUnchanged(before),
});

/** Takes a deleted note off its discussion, and the discussion off the list with its last note. */
export function withoutNote(note: NoteRecord, discussion: DiscussionRecord): Write[] {
  const left = leftOf(discussion, note.id);
  return [
    left === undefined
      ? { delete: keyOf(discussion), ...isUnchanged(discussion) }
      : changedDiscussion(discussion, left),
    ...(isFurther(discussion, note.id) ? [{ delete: furtherKey(discussion, note.id) }] : []),
    uncounted(note, discussion, left === undefined),
  ];
}

/** Takes a deleted note off the counts, and its discussion with it if it was the last. */
const uncounted = (
  note: NoteRecord,
  { projectId, noteable, noteClass }: DiscussionRecord,
  isLast: boolean,
): Update => ({
  update: noteCountKey(projectId, noteable),
  add: { [NOTES_OF[classOfNote(note)]]: -1, ...(isLast ? { [DISCUSSIONS_OF[noteClass]]: -1 } : {}) },
});

const keyOf = ({ projectId, noteable, noteClass, firstId }: DiscussionRecord) =>
  discussionKey(projectId, noteable, noteClass, firstId);

const isUnchanged = ({ version }: DiscussionRecord) => ({
  if: `${PRESENT} AND #version = :version`,
  values: { version },
  reason: 'discussion',
});

function fromItem({ pk: _p, sk: _s, ...discussion }: Item): DiscussionRecord {
  return discussion as unknown as DiscussionRecord;
}
