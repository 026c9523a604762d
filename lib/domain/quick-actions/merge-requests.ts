/** Quick actions in texts about merge requests. What runs them is loaded when a text may have some. */

import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { ActOn } from '../merge-requests/merge-requests.ts';
import { mergeRequestWithNotes } from '../merge-requests/noted.ts';
import type { NotedObject } from '../notes/noteable.ts';
import { mayHaveActions } from './may-have-actions.ts';

/** For {@link createMergeRequest} and {@link updateMergeRequest}. @throws 400 for too many or too long actions */
export const inDescription =
  (deps: Deps, actor: Actor): ActOn =>
  async (access, description, mergeRequestOf) => {
    if (!mayHaveActions(description)) return undefined;
    const { actInDescription } = await import('./on-merge-requests.ts');
    return actInDescription(deps, actor, access, description, mergeRequestOf);
  };

/** A merge request as an object of notes, in which quick actions are run. @throws `404 Not found` */
export async function mergeRequestWithActions(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<NotedObject> {
  const on = await mergeRequestWithNotes(deps, actor, access, iid);
  const act = async (text: string) => {
    if (!mayHaveActions(text)) return undefined;
    const { actInNote } = await import('./on-merge-requests.ts');
    return actInNote(deps, actor, access, iid, on, text);
  };
  return { ...on, act };
}
