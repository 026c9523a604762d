/** Epics tell in notes which issues they get and lose. A note names its issue, and is for those who may see that. */

import type { EpicRecord } from '../../records/epics.ts';
import type { IssueRecord } from '../../records/issues.ts';
import { type NoteRecord, systemNote } from '../../records/notes.ts';
import { noteWrites } from '../../store/notes/notes.ts';
import type { Write } from '../../store/table/write.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';

interface EpicChange {
  readonly actor: Actor;
  readonly access: ProjectAccess;
  readonly before: IssueRecord | undefined;
  readonly after: IssueRecord;
  readonly toldElsewhere?: true;
}

/** The notes for the transaction of a change, which is refused as `epic` where one of the epics is deleted meanwhile. */
export async function toldInEpics(
  { store, now }: Deps,
  { actor, access, before, after, toldElsewhere }: EpicChange,
): Promise<{ readonly writes?: readonly Write[] }> {
  const from = before?.epicId ?? null;
  if (toldElsewhere === true || from === after.epicId) return {};
  const { user } = signedIn(actor);
  const { iid, projectId } = after;
  const name = `${access.project.fullPath}#${iid}`;
  const [removed, added] = await store.epics.getMany([from ?? 0, after.epicId ?? 0]);
  const told = [
    ...(removed === undefined ? [] : [{ epic: removed, text: `removed issue ${name}` }]),
    ...(added === undefined ? [] : [{ epic: added, text: `added issue ${name}` }]),
  ];
  if (told.length === 0) return {};
  const first = (await store.notes.reserveIds(told.length)) - told.length + 1;
  const at = now().toISOString();
  const mentionedIn = { kind: 'issue', projectId, iid } as const;
  const noteOf = ({ container, iid: number, id }: EpicRecord, text: string, noteId: number): NoteRecord =>
    systemNote(
      noteId,
      { projectId: 0, noteable: { kind: 'epic', id, groupId: container.id }, iid: number },
      { action: 'epic_issue', text, mentionedIn },
      user,
      at,
    );
  return {
    writes: told.flatMap(({ epic, text }, i) => [
      ...noteWrites(noteOf(epic, text, first + i)),
      store.epics.stays(epic.id),
    ]),
  };
}
