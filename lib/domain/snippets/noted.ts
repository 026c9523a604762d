import { TransactionRefused } from '../../store/errors.ts';
import { can, requireAbility } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden, recordNotFound } from '../errors.ts';
import type { NotedObject } from '../notes/noteable.ts';
import { findSnippet } from './access.ts';

/** A snippet of a project as an object of notes. It has no internal notes. @throws `404 Not found` */
export async function snippetWithNotes(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
): Promise<NotedObject> {
  const { snippet } = await findSnippet(deps, actor, access, id);
  const { snippets } = deps.store;
  return {
    access,
    projectId: access.project.id,
    noteable: { kind: 'snippet', id },
    classes: ['comment', 'system'],
    takesReplies: true,
    requireComment: (internal) => {
      requireAbility(actor, access, 'comment_on_snippets');
      if (internal) throw forbidden();
    },
    moderates: can(actor, access, 'moderate_notes'),
    backdates: can(actor, access, 'backdate_notes'),
    within: (_change, write) =>
      write([snippets.stays(id)]).catch((error: unknown) => {
        throw error instanceof TransactionRefused && error.has('snippet') ? recordNotFound() : error;
      }),
    eventTarget: (note) => ({
      type: note.discussed === true ? 'DiscussionNote' : 'Note',
      id: note.id,
      title: snippet.title,
      snippet: { id, ...(snippet.visibility === 'public' ? {} : { hidden: true as const }) },
    }),
    notification: (note) => ({
      kind: 'snippet-note',
      projectId: access.project.id,
      snippetId: id,
      noteId: note.id,
    }),
    awards: { createdAt: snippet.createdAt, vote: () => snippets.stays(id) },
  };
}
