import type { NoteRecord } from '../../records/notes.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Deps } from '../deps.ts';
import { textsOf } from '../long-texts.ts';

/** A note with what an answer shows of it. */
export interface LoadedNote {
  readonly note: NoteRecord;
  readonly body: string;
  /** Undefined if the account was deleted. */
  readonly author: UserRecord | undefined;
}

/** Reads the texts and the authors of notes, beside each other. @throws 413 when the texts are too long together */
export async function loaded(deps: Deps, notes: readonly NoteRecord[]): Promise<LoadedNote[]> {
  const ids = [...new Set(notes.map(({ author }) => author.id))];
  const [bodies, accounts] = await Promise.all([
    textsOf(
      deps,
      notes.map(({ body }) => body),
    ),
    deps.store.users.getMany(ids),
  ]);
  const authors = new Map(ids.map((id, i) => [id, accounts[i]]));
  return notes.map((note, i) => ({ note, body: bodies[i]!, author: authors.get(note.author.id) }));
}
