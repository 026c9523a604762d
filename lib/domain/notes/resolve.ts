/** Discussions that are resolved, and opened again. */

import { isResolvable, unresolvedBy } from '../../records/notes.ts';
import { Stale } from '../../store/errors.ts';
import { signedIn } from '../access/permissions.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest, conflict, forbidden } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import type { NotedObject } from './noteable.ts';
import { type Discussion, discussionOf, discussionsOf } from './notes.ts';

/**
 * Resolves a discussion with all notes in it, or opens it again. One that is so already stays as it is.
 * @throws 401, 403; `404 Discussion Not Found`; 400 for one that cannot be resolved; 409 when others keep changing it
 */
export async function resolveDiscussion(
  deps: Deps,
  actor: Actor,
  on: NotedObject,
  discussionId: string,
  resolved: boolean,
): Promise<Discussion> {
  const { user } = signedIn(actor);
  const attempt = async () => {
    const before = await discussionOf(deps, on, discussionId);
    if (!isResolvable(before)) throw badRequest('Note is not resolvable');
    if (on.resolves !== true) throw forbidden();
    const { resolved: _, ...open } = before;
    if ((before.resolved !== undefined) === resolved) return before;
    const after = resolved ? { ...open, resolved: { byId: user.id, at: deps.now().toISOString() } } : open;
    await on.within({ notes: 0, unresolved: unresolvedBy(before, after) }, (alongside) =>
      deps.store.notes.resolve(before, after, alongside),
    );
    return after;
  };
  const isStale = (error: unknown) => error instanceof Stale;
  const after = await retryOnConflict(attempt, isStale).catch((error: unknown) => {
    throw isStale(error) ? conflict('409 Conflict: Resource lock') : error;
  });
  return (await discussionsOf(deps, on, [after]))[0]!;
}
