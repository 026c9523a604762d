/** Discussions that are resolved, and opened again. */

import {
  isResolvable,
  type NotePosition,
  type NoteRecord,
  type SystemNote,
  systemNote,
  unresolvedBy,
} from '../../records/notes.ts';
import { Stale } from '../../store/errors.ts';
import { repliedTo, rowOfReply } from '../../store/notes/discussions.ts';
import { noteWrites } from '../../store/notes/notes.ts';
import { signedIn } from '../access/permissions.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest, conflict, forbidden } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import type { NotedObject } from './noteable.ts';
import { type Discussion, discussionOf, discussionsOf } from './notes.ts';

/** What the service notes at the end of a discussion that it resolves. */
export interface LastWord extends SystemNote {
  readonly position?: NotePosition;
}

/**
 * Resolves a discussion with all notes in it, or opens it again. One that is so already stays as it is.
 * @param lastWord absent: nothing is noted
 * @throws 401, 403; `404 Discussion Not Found`; 400 for one that cannot be resolved; 409 when others keep changing it
 */
export async function resolveDiscussion(
  deps: Deps,
  actor: Actor,
  on: NotedObject,
  discussionId: string,
  resolved: boolean,
  lastWord?: LastWord,
): Promise<Discussion> {
  const { user } = signedIn(actor);
  const attempt = async () => {
    const before = await discussionOf(deps, on, discussionId);
    if (!isResolvable(before)) throw badRequest('Note is not resolvable');
    if (on.resolves !== true) throw forbidden();
    const { resolved: _, ...open } = before;
    if ((before.resolved !== undefined) === resolved) return before;
    const at = deps.now().toISOString();
    const note: NoteRecord | undefined =
      lastWord === undefined
        ? undefined
        : {
            ...systemNote(await deps.store.notes.nextId(), on, lastWord, user, at),
            ...(lastWord.position === undefined ? {} : { position: lastWord.position }),
            inDiscussion: before.firstId,
            discussed: true,
          };
    const told = note === undefined ? open : repliedTo(open, note.id);
    const after = resolved ? { ...told, resolved: { byId: user.id, at } } : told;
    await on.within({ notes: 0, unresolved: unresolvedBy(before, after) }, (alongside) =>
      deps.store.notes.resolve(before, after, [
        ...(note === undefined ? [] : [...noteWrites(note), ...rowOfReply(after, note.id)]),
        ...alongside,
      ]),
    );
    return after;
  };
  const isStale = (error: unknown) => error instanceof Stale;
  const after = await retryOnConflict(attempt, isStale).catch((error: unknown) => {
    throw isStale(error) ? conflict('409 Conflict: Resource lock') : error;
  });
  return (await discussionsOf(deps, on, [after]))[0]!;
}
