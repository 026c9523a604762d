/** Lists of the notes and the discussions of one object: a range of slim rows for each class, merged. */

import type { Noteable, NoteClass } from '../../records/notes.ts';
import { idOf } from '../row-keys/key.ts';
import { noteCountKey } from '../row-keys/notes.ts';
import type { Position } from '../table/cursor.ts';
import { chunkFor, MAX_TOTAL, type PageRequest } from '../table/paging.ts';
import { behindRow, type Direction, mergeKeys, querySource } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';

/** The object whose notes are listed, and which of them. */
export interface NotesOf {
  readonly projectId: number;
  readonly noteable: Noteable;
  readonly classes: readonly NoteClass[];
}

interface ListRows {
  readonly partition: string;
  readonly prefix?: string;
  readonly index?: 'byUpdated';
}

/** Merges the lists of the classes; their keys end in the time or nothing, and the id. */
export function listedKeys(
  table: Table,
  { classes }: NotesOf,
  direction: Direction,
  request: PageRequest,
  rowsOf: (noteClass: NoteClass) => ListRows,
): AsyncGenerator<Position> {
  const chunk = chunkFor(request, classes.length);
  const after = request.rows?.after;
  const sources = classes.map((noteClass) => {
    const { prefix = '', ...rows } = rowsOf(noteClass);
    const only = rows.index === undefined ? ['sk'] : ['sk', rows.index];
    const query = { ...rows, ...(prefix === '' ? {} : { prefix }), only };
    const begun = behindRow(query, direction, after && prefix + after.sort);
    return querySource(table, begun, direction, chunk, (item) => {
      const sk = item['sk'] as string;
      return {
        sort: rows.index === undefined ? sk.slice(prefix.length) : String(item[rows.index]),
        id: idOf(sk),
      };
    });
  });
  return mergeKeys(sources, direction, after);
}

/** Attributes of the row of counts. */
type CountedOf = Readonly<Record<NoteClass, string>>;
export const NOTES_OF: CountedOf = {
  comment: 'comments',
  internal: 'internalNotes',
  system: 'systemNotes',
  event: 'eventNotes',
};
export const DISCUSSIONS_OF: CountedOf = {
  comment: 'commentDiscussions',
  internal: 'internalDiscussions',
  system: 'systemDiscussions',
  event: 'eventDiscussions',
};

/** @returns undefined above 10,000 */
export async function totalOf(
  table: Table,
  { projectId, noteable, classes }: NotesOf,
  counted: CountedOf,
): Promise<number | undefined> {
  const row = await table.get(noteCountKey(projectId, noteable));
  const total = classes.reduce((sum, each) => sum + ((row?.[counted[each]] as number | undefined) ?? 0), 0);
  return total > MAX_TOTAL ? undefined : total;
}
