import type { LoadedNote, Resolution } from '../../domain/notes/loaded.ts';
import type { Discussion } from '../../domain/notes/notes.ts';
import { shownPosition } from '../../domain/notes/shown-position.ts';
import { idOfSuggestion, type NotePosition, type NoteRecord } from '../../records/notes.ts';
import type { UserRecord } from '../../records/users.ts';
import { TYPES } from '../noteable-types.ts';
import { author as authorOf, publicEmail, userBasic } from '../users/present.ts';

/** @param changes what the note's quick actions changed */
export function noteOf(
  { note, body, author, resolution, isCurrent, position = note.position }: LoadedNote,
  baseUrl: string,
  changes: Readonly<Record<string, unknown>> = {},
) {
  const { noteable } = note;
  const internal = note.internal === true;
  return {
    id: note.id,
    type:
      note.line !== null || position !== undefined
        ? 'DiffNote'
        : note.discussed === true
          ? 'DiscussionNote'
          : null,
    body,
    attachment: null,
    author: noteAuthor(author, note.author, baseUrl),
    created_at: note.createdAt,
    updated_at: note.updatedAt,
    system: note.system !== undefined,
    noteable_id: noteable.kind === 'commit' ? null : noteable.id,
    noteable_type: TYPES[noteable.kind],
    noteable_iid: note.iid ?? null,
    ...(noteable.kind === 'commit' ? { commit_id: noteable.id } : {}),
    ...(position === undefined ? {} : { position: shownPosition(position) }),
    ...(position?.on.kind === 'text'
      ? { suggestions: suggestionsOf(note, position, isCurrent === true) }
      : {}),
    resolvable: resolution !== undefined,
    ...(resolution === undefined ? {} : resolved(resolution, baseUrl)),
    confidential: internal,
    internal,
    commands_changes: changes,
  };
}

/** As who the author is: with the address that they show to everyone. */
const noteAuthor = (account: UserRecord | undefined, recorded: NoteRecord['author'], baseUrl: string) => ({
  ...authorOf(account, recorded, baseUrl),
  email: account === undefined ? null : publicEmail(account),
  created_at: account === undefined || account.privateProfile ? null : account.createdAt,
});

export const suggestionsOf = (note: NoteRecord, { on }: NotePosition, isCurrent: boolean) =>
  (note.suggestions ?? []).map(({ above, below, from, to, applied = false }, index) => {
    const line = (on.kind === 'text' ? on.line.newLine : null) ?? 1;
    return {
      id: idOfSuggestion(note, index),
      from_line: line - above,
      to_line: line + below,
      appliable: isCurrent && !applied && from !== to,
      applied,
      from_content: from,
      to_content: to,
    };
  });

const resolved = (resolution: Resolution | null, baseUrl: string) => ({
  resolved: resolution !== null,
  resolved_by: resolution?.by === undefined ? null : userBasic(resolution.by, baseUrl),
  resolved_at: resolution?.at ?? null,
});

/** @param changes what the quick actions of its notes changed */
export const discussionOf = (
  { id, individual, notes, moreAfter }: Discussion,
  baseUrl: string,
  changes?: Parameters<typeof noteOf>[2],
) => ({
  id,
  individual_note: individual,
  notes: notes.map((note) => noteOf(note, baseUrl, changes)),
  ...(moreAfter === undefined ? {} : { more_notes_after: moreAfter }),
});
