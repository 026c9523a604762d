import type { NoteRecord } from '../../records/notes.ts';
import { beginningOfText } from '../../records/texts.ts';
import type { Key } from '../row-keys/key.ts';
import { noteWordKey } from '../row-keys/notes.ts';
import { indexedWords } from '../search/words.ts';

/** Different words of a note that it is found by: each is a row. */
export const WORDS_OF_NOTE = 16;

/** The rows that searches find a note by; none for what the service wrote, and for notes in groups. */
export const wordRowsOf = (note: NoteRecord): Key[] =>
  note.system !== undefined || note.noteable.kind === 'epic'
    ? []
    : indexedWords('', beginningOfText(note.body), WORDS_OF_NOTE).map((word) => noteWordKey(word, note));
