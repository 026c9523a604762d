import {
  type DiscussionRecord,
  isResolvableNote,
  type NotePosition,
  type NoteRecord,
} from '../../records/notes.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Deps } from '../deps.ts';
import { textsOf } from '../long-texts.ts';
import type { NotedObject } from './noteable.ts';

/** A note with what an answer shows of it. */
export interface LoadedNote {
  readonly note: NoteRecord;
  readonly body: string;
  /** Undefined if the account was deleted. */
  readonly author: UserRecord | undefined;
  /** Where it is in the latest version of the diff; where it was written if that is not in it. */
  readonly position?: NotePosition;
  /** Whether its suggestions can still be applied. */
  readonly isCurrent?: boolean;
  /** Null: not resolved. Absent: the note is of no discussion that can be. */
  readonly resolution?: Resolution | null;
}

/** As {@link loaded}, with places in diffs as they are by now. */
export async function shown(
  deps: Deps,
  { positions }: NotedObject,
  notes: readonly NoteRecord[],
  discussions?: readonly DiscussionRecord[],
): Promise<LoadedNote[]> {
  const [all, places] = await Promise.all([
    loaded(deps, notes, discussions),
    positions?.latest(notes.map(({ position }) => position)),
  ]);
  if (positions === undefined || places === undefined) return all;
  return all.map((each, i) => {
    const position = places[i];
    return position === undefined ? each : { ...each, position, isCurrent: positions.isCurrent(position) };
  });
}

export interface Resolution {
  /** Undefined if the account was deleted. */
  readonly by: UserRecord | undefined;
  readonly at: string;
}

/**
 * Reads the texts and the authors of notes, beside each other.
 * @param discussions those of the notes, where they are known. @throws 413 when the texts are too long together
 */
export async function loaded(
  deps: Deps,
  notes: readonly NoteRecord[],
  discussions?: readonly DiscussionRecord[],
): Promise<LoadedNote[]> {
  const resolvable = notes.filter(isResolvableNote);
  const all =
    discussions ?? (resolvable.length === 0 ? [] : await deps.store.discussions.ofNotes(resolvable));
  const resolved = new Map(all.flatMap((each) => (each.resolved ? [[each.firstId, each.resolved]] : [])));
  const ids = [
    ...new Set([...notes.map(({ author }) => author.id), ...[...resolved.values()].map(({ byId }) => byId)]),
  ];
  const [bodies, accounts] = await Promise.all([
    textsOf(
      deps,
      notes.map(({ body }) => body),
    ),
    deps.store.users.shown(ids),
  ]);
  const users = new Map(ids.map((id, i) => [id, accounts[i]]));
  const resolutionOf = (note: NoteRecord): Resolution | null => {
    const found = resolved.get(note.inDiscussion ?? note.id);
    return found === undefined ? null : { by: users.get(found.byId), at: found.at };
  };
  return notes.map((note, i) => ({
    note,
    body: bodies[i]!,
    author: users.get(note.author.id),
    ...(isResolvableNote(note) ? { resolution: resolutionOf(note) } : {}),
  }));
}
