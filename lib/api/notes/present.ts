import type { LoadedNote, Resolution } from '../../domain/notes/loaded.ts';
import type { Discussion } from '../../domain/notes/notes.ts';
import { TYPES } from '../noteable-types.ts';
import { author as authorOf, userBasic } from '../users/present.ts';
import { shownPosition } from './shown-position.ts';

/** @param changes what the note's quick actions changed */
export function noteOf(
  { note, body, author, resolution, position = note.position }: LoadedNote,
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
    author: authorOf(author, note.author, baseUrl),
    created_at: note.createdAt,
    updated_at: note.updatedAt,
    system: note.system !== undefined,
    noteable_id: noteable.kind === 'commit' ? null : noteable.id,
    noteable_type: TYPES[noteable.kind],
    noteable_iid: note.iid ?? null,
    ...(noteable.kind === 'commit' ? { commit_id: noteable.id } : {}),
    ...(position === undefined ? {} : { position: shownPosition(position) }),
    resolvable: resolution !== undefined,
    ...(resolution === undefined ? {} : resolved(resolution, baseUrl)),
    confidential: internal,
    internal,
    commands_changes: changes,
  };
}

const resolved = (resolution: Resolution | null, baseUrl: string) => ({
  resolved: resolution !== null,
  resolved_by: resolution?.by === undefined ? null : userBasic(resolution.by, baseUrl),
  resolved_at: resolution?.at ?? null,
});

/** @param changes what the quick actions of its notes changed */
export const discussionOf = (
  { id, individual, notes }: Discussion,
  baseUrl: string,
  changes?: Parameters<typeof noteOf>[2],
) => ({
  id,
  individual_note: individual,
  notes: notes.map((note) => noteOf(note, baseUrl, changes)),
});
