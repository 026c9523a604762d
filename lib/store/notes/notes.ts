/** Notes: comments on objects of a project. The notes of one object are adjacent rows, oldest first. */

import type { AuthorSnapshot } from '../../records/authors.ts';
import type { Noteable } from '../../records/notes.ts';
import { Missing, TransactionRefused } from '../errors.ts';
import { checkProjectExists } from '../placement/project-item.ts';
import { noteKey, notePrefix, notesPartition } from '../row-keys/notes.ts';
import { userPartition, userRow } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { type Page, type PageRequest, pageOfRows } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, type Write } from '../table/write.ts';

export type { AuthorSnapshot } from '../../records/authors.ts';
export type { Noteable } from '../../records/notes.ts';

export interface NoteRecord {
  readonly id: number;
  readonly projectId: number;
  readonly noteable: Noteable;
  /** At most {@link MAX_NOTE_BYTES} of UTF-8. */
  readonly body: string;
  readonly author: AuthorSnapshot;
  /** The line of a diff that the note is about. */
  readonly line: NotedLine | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A line that a diff added or deleted, with its line number on both sides, counted from 1. */
export interface NotedLine {
  /** Path in the new version; in the old version for a deleted file. */
  readonly path: string;
  readonly type: 'new' | 'old';
  readonly oldLine: number;
  readonly newLine: number;
}

/** A note is one item of the table, whose size limit is 400 KB. */
export const MAX_NOTE_BYTES = 300_000;

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
   * @param alongside further writes of the same transaction; their refusals are thrown unchanged
   * @throws Missing when the project is deleted
   */
  async create(note: NoteRecord, alongside: readonly Write[] = []): Promise<void> {
    const key = noteKey(note.projectId, note.noteable, note.id);
    try {
      await this.#table.transact([
        {
          put: {
            ...key,
            ...note,
            who: userPartition(note.author.id),
            what: userRow('NOTE', note.id),
          },
          if: ABSENT,
          reason: 'note',
        },
        checkProjectExists(note.projectId),
        ...alongside,
      ]);
    } catch (error) {
      const gone = error instanceof TransactionRefused && error.has('project');
      throw gone ? new Missing('project') : error;
    }
  }

  /** Returns the notes in the order requested; undefined for a deleted note. */
  async getMany(
    notes: readonly Pick<NoteRecord, 'projectId' | 'noteable' | 'id'>[],
  ): Promise<(NoteRecord | undefined)[]> {
    const keys = notes.map(({ projectId, noteable, id }) => noteKey(projectId, noteable, id));
    return (await this.#table.batchGet(keys)).map((item) => item && fromItem(item));
  }

  /** Returns the notes on one object, oldest first. */
  async list(projectId: number, noteable: Noteable, request: PageRequest): Promise<Page<NoteRecord>> {
    const rows = { partition: notesPartition(projectId), prefix: notePrefix(noteable) };
    const page = await pageOfRows(this.#table, rows, request);
    return { items: page.items.map(fromItem), total: page.total, more: page.more };
  }

  /** Deletes up to `limit` rows of a deleted project. @returns whether any are left */
  removeOfProject(projectId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: notesPartition(projectId), limit });
  }
}

function fromItem({ pk: _p, sk: _s, who: _w, what: _a, ...note }: Item): NoteRecord {
  return note as unknown as NoteRecord;
}
