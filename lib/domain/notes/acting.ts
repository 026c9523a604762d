/** Notes whose texts have quick actions. */

import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest } from '../errors.ts';
import type { LoadedNote } from './loaded.ts';
import type { ActedNote, NotedObject } from './noteable.ts';
import { changeNote, deleteNote, requireChange } from './notes.ts';

/** What came of a text: what was written of it, or nothing, and what its quick actions changed. */
export type Acted<T> = Pick<ActedNote, 'changes' | 'summary'> & { readonly written: T | undefined };

/**
 * Runs the quick actions of a text, and writes what is left of it in one transaction with what they change.
 * @throws 400 where nothing is left, and the actions did nothing
 */
export async function acting<T>(
  on: NotedObject,
  text: string,
  write: (on: NotedObject, text: string) => Promise<T>,
): Promise<Acted<T>> {
  const acted = await on.act?.(text);
  if (acted === undefined) return unacted(await write(on, text));
  const written = hasText(acted) ? await write(acted.on, acted.text) : await acted.apply();
  return finished(acted, written ?? undefined);
}

/**
 * Changes the text of a note, after its quick actions were run; a text of nothing else deletes the note.
 * @throws as {@link changeNote}; 400 where nothing is left, and the actions did nothing
 */
export async function rewriting(
  deps: Deps,
  actor: Actor,
  on: NotedObject,
  { note, body }: LoadedNote,
  text: string,
): Promise<Acted<LoadedNote>> {
  const change = (rest: string) => changeNote(deps, actor, on, note.id, rest);
  requireChange(actor, on, note);
  const acted = text === body ? undefined : await on.act?.(text);
  if (acted === undefined) return unacted(await change(text));
  if (hasText(acted)) {
    await acted.apply();
    return finished(acted, await change(acted.text));
  }
  await deleteNote(deps, actor, acted.on, note.id, () => {});
  return finished(acted, undefined);
}

const unacted = <T>(written: T): Acted<T> => ({ written, changes: {}, summary: '' });

/** @throws 400 where a text has none, and its actions do nothing */
function hasText({ text, summary, changes }: ActedNote): boolean {
  if (text === '' && summary === '' && Object.keys(changes).length === 0)
    throw badRequest('Note {:commands=>["Failed to apply commands."]}');
  return text !== '';
}

async function finished<T>({ changes, summary, finish }: ActedNote, written: T): Promise<Acted<T>> {
  await finish();
  return { written, changes, summary };
}
