import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import { TransactionRefused } from '../../store/errors.ts';
import { type OutboxMessage, outboxWrites } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import { mergeRequestTodos } from '../../store/todos/todos.ts';
import { can, requireAbility } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden, recordNotFound } from '../errors.ts';
import { readableMentions } from '../issues/mentions.ts';
import type { NoteCounts, NotedObject } from '../notes/noteable.ts';
import { enqueueNotification } from '../notifications/enqueue.ts';
import { formerMentions } from '../notifications/former-mentions.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { rootOf } from '../tracked/related.ts';
import { systemNoteWrites } from '../tracked/system-notes.ts';
import { getMergeRequest } from './find.ts';
import { isFormer } from './former-position.ts';

/** A merge request as an object of notes. It has no internal notes. @throws `404 Not found` */
export async function mergeRequestWithNotes(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<NotedObject> {
  const { mergeRequest } = await getMergeRequest(deps, actor, access, iid);
  const { id, title, projectId, author, diff } = mergeRequest;
  const isAuthor = actor.kind === 'user' && author.id === actor.user.id;
  return {
    access,
    projectId,
    noteable: { kind: 'merge-request', id },
    iid,
    classes: ['comment', 'system'],
    takesReplies: true,
    requireComment: (internal) => {
      requireAbility(actor, access, 'comment_on_merge_requests');
      const isOutsider = access.level === 0 && !isAdministrator(actor);
      if (internal || (mergeRequest.discussionLocked === true && isOutsider)) throw forbidden();
    },
    moderates: can(actor, access, 'moderate_notes'),
    resolves:
      can(actor, access, 'update_merge_request') ||
      (isAuthor && can(actor, access, 'comment_on_merge_requests')),
    positions: {
      find: async (request) => {
        const { positionOf } = await import('./positions.ts');
        return positionOf(deps, access, mergeRequest, request);
      },
      latest: async (positions) => {
        if (!positions.some((each) => isFormer(each, diff))) return positions;
        const { latestPositions } = await import('./moved-positions.ts');
        return latestPositions(deps, access, diff, positions);
      },
      suggested: async (text, position) => {
        const { suggestedIn } = await import('./suggestions.ts');
        return suggestedIn(deps, access, text, position);
      },
      isCurrent: (position) => mergeRequest.state === 'opened' && !isFormer(position, diff),
    },
    backdates: can(actor, access, 'backdate_notes'),
    readable: (notes) => readableMentions(deps, actor, notes),
    within: (counts, write) => counting(deps, actor, mergeRequest, access, counts, write),
    awards: {
      createdAt: mergeRequest.createdAt,
      vote: (votes) => deps.store.mergeRequests.voteWrite(mergeRequest, votes),
    },
    toDo: async (authorId, text, former) => {
      const target = { kind: 'merge-request', id, projectId: mergeRequest.projectId } as const;
      const finished = former === undefined && (await deps.store.todos.isPending(authorId, target));
      return (noteId) =>
        mergeRequestTodos(mergeRequest, {
          ...{ authorId, noteId, finished },
          described: text.includes('@'),
          ...(former === undefined ? {} : { former: formerMentions(former) }),
        });
    },
    eventTarget: (note) => ({
      type: note.position !== undefined ? 'DiffNote' : note.discussed === true ? 'DiscussionNote' : 'Note',
      id: note.id,
      title,
      mergeRequest: { id, iid },
    }),
    notification: (note) => ({ kind: 'merge-request-note', projectId, iid, noteId: note.id }),
  };
}

/** What a note adds to the counts of a merge request. */
export const countsOf = ({ notes, unresolved }: NoteCounts): Readonly<Record<string, number>> => ({
  ...(notes === 0 ? {} : { userNotesCount: notes }),
  ...(unresolved === 0 ? {} : { unresolvedCount: unresolved }),
});

/**
 * Counts in the record, as it is by then. @param read how it was: most often nothing has changed
 * @throws 404, 409 when others keep changing it
 */
async function counting(
  deps: Deps,
  actor: Actor,
  read: MergeRequestRecord,
  { project }: ProjectAccess,
  counts: NoteCounts,
  write: (alongside: readonly Write[]) => Promise<void>,
): Promise<void> {
  const { store, now } = deps;
  let known: MergeRequestRecord | undefined = read;
  let messages: readonly OutboxMessage[] = [];
  const attempt = async () => {
    const record = known ?? (await store.mergeRequests.get(read));
    known = undefined;
    if (record === undefined) throw recordNotFound();
    const { unresolvedCount } = record;
    // Of several who resolve the last discussions at once, one is the last.
    const exactly = isResolving(counts) ? { unresolvedCount } : {};
    const touch = store.mergeRequests.touch(record, now(), countsOf(counts), rootOf(project), exactly);
    const isLast = isResolving(counts) && unresolvedCount === 1;
    const told = isLast ? await allResolved(deps, actor, record) : { writes: [], messages: [] };
    messages = told.messages;
    await write([...touch, ...told.writes, ...outboxWrites(messages)]);
  };
  await retryOnConflict(attempt, isStale).catch((error: unknown) => {
    throw isStale(error) ? conflict('409 Conflict: Resource lock') : error;
  });
  if (messages.length > 0) await store.outbox.deliver(messages);
}

/** Whether a discussion is resolved; that one is open no more may also be as its notes are deleted. */
const isResolving = ({ notes, unresolved }: NoteCounts): boolean => notes === 0 && unresolved === -1;

/** What tells that no discussion is open any more. */
async function allResolved(deps: Deps, actor: Actor, { projectId, id, iid }: MergeRequestRecord) {
  const on = { projectId, noteable: { kind: 'merge-request', id }, iid } as const;
  const event = { kind: 'merge-request', projectId, iid, changes: [{ what: 'resolved' }] } as const;
  return {
    writes: await systemNoteWrites(deps, actor, on, [{ action: 'discussion', text: 'resolved all threads' }]),
    messages: [enqueueNotification(deps, actor, event)],
  };
}

const isStale = (error: unknown): boolean => error instanceof TransactionRefused && error.has('version');
