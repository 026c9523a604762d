import { TransactionRefused } from '../../store/errors.ts';
import { canInGroup, requireGroupAbility } from '../access/permissions.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, recordNotFound } from '../errors.ts';
import type { NotedObject } from '../notes/noteable.ts';
import type { FoundEpic } from './related.ts';

/** An epic as an object of notes and awards. Internal notes are for those who may read confidential epics. */
export function epicWithNotes(deps: Deps, actor: Actor, { epic, access }: FoundEpic): NotedObject {
  const seesInternal = canInGroup(actor, access, 'read_confidential_epics');
  return {
    access,
    projectId: 0,
    noteable: { kind: 'epic', id: epic.id, groupId: access.group.id },
    iid: epic.iid,
    classes: seesInternal ? ['comment', 'internal', 'system'] : ['comment', 'system'],
    takesReplies: true,
    requireComment: (internal) => {
      requireGroupAbility(actor, access, 'comment_on_epics');
      if (internal && !seesInternal) throw forbidden();
    },
    moderates: canInGroup(actor, access, 'moderate_epic_notes'),
    backdates: canInGroup(actor, access, 'own_epics'),
    within: (_change, write) =>
      write([deps.store.epics.stays(epic.id)]).catch((error: unknown) => {
        throw error instanceof TransactionRefused && error.has('epic') ? recordNotFound() : error;
      }),
    eventTarget: (note) => ({
      type: note.discussed === true ? 'DiscussionNote' : 'Note',
      id: note.id,
      title: epic.title,
      epic: { id: epic.id, iid: epic.iid, confidential: epic.confidential || note.internal === true },
    }),
    notification: ({ id: noteId }) => ({
      kind: 'epic-note',
      groupId: access.group.id,
      epicId: epic.id,
      noteId,
    }),
    awards: { createdAt: epic.createdAt, vote: (votes) => deps.store.epics.voteWrite(epic.id, votes) },
  };
}
