import type { IssueRecord } from '../../records/issues.ts';
import type { NoteClass } from '../../records/notes.ts';
import { TransactionRefused } from '../../store/errors.ts';
import type { Write } from '../../store/table/write.ts';
import { issueTodos } from '../../store/todos/todos.ts';
import { can, requireAbility } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import { seesInternalNotes } from '../access/visible-issues.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden, recordNotFound } from '../errors.ts';
import type { NoteCounts, NotedObject } from '../notes/noteable.ts';
import { formerMentions } from '../notifications/former-mentions.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { rootOf } from '../tracked/related.ts';
import { getIssue } from './issues.ts';
import { readableMentions } from './mentions.ts';

/**
 * An issue as an object of notes. Internal notes are for those who may read confidential issues, and for its author and
 * its assignees. @throws `404 Not found`
 */
export async function issueWithNotes(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<NotedObject> {
  const { issue } = await getIssue(deps, actor, access, iid);
  const { id, title, projectId, confidential } = issue;
  const seesInternal = seesInternalNotes(actor, access, issue);
  const classes: readonly NoteClass[] = seesInternal
    ? ['comment', 'internal', 'system']
    : ['comment', 'system'];
  return {
    access,
    projectId,
    noteable: { kind: 'issue', id },
    iid,
    classes,
    takesReplies: true,
    requireComment: (internal) => {
      requireAbility(actor, access, 'comment_on_issues');
      const isOutsider = access.level === 0 && !isAdministrator(actor);
      if ((issue.discussionLocked === true && isOutsider) || (internal && !seesInternal)) throw forbidden();
    },
    moderates: can(actor, access, 'moderate_notes'),
    backdates: can(actor, access, 'backdate_notes'),
    readable: (notes) => readableMentions(deps, actor, notes),
    within: ({ notes }, write) => counting(deps, issue, access, notes, write),
    awards: {
      createdAt: issue.createdAt,
      vote: (votes) => deps.store.issues.voteWrite(issue, votes),
    },
    toDo: async (authorId, text, former) => {
      const target = { kind: 'issue', id, projectId: issue.projectId } as const;
      const finished = former === undefined && (await deps.store.todos.isPending(authorId, target));
      return (noteId) =>
        issueTodos(issue, {
          ...{ authorId, noteId, finished },
          described: text.includes('@'),
          ...(former === undefined ? {} : { former: formerMentions(former) }),
        });
    },
    eventTarget: (note) => ({
      type: note.discussed === true ? 'DiscussionNote' : 'Note',
      id: note.id,
      title,
      issue: { id, iid, confidential: confidential || note.internal === true },
    }),
    notification: (note) => ({ kind: 'issue-note', projectId, iid, noteId: note.id }),
  };
}

/**
 * Counts a note in the record of the issue, as it is by then. @param read how it was: most often nothing has changed
 * @throws 404, 409 when others keep changing it
 */
function counting(
  deps: Deps,
  read: IssueRecord,
  { project }: ProjectAccess,
  change: NoteCounts['notes'],
  write: (alongside: readonly Write[]) => Promise<void>,
): Promise<void> {
  let known: IssueRecord | undefined = read;
  const attempt = async () => {
    const issue = known ?? (await deps.store.issues.get(read));
    known = undefined;
    if (issue === undefined) throw recordNotFound();
    await write(deps.store.issues.touch(issue, deps.now(), { userNotesCount: change }, rootOf(project)));
  };
  return retryOnConflict(attempt, isStale).catch((error: unknown) => {
    throw isStale(error) ? conflict('409 Conflict: Resource lock') : error;
  });
}

const isStale = (error: unknown): boolean => error instanceof TransactionRefused && error.has('version');
