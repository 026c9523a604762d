/** Quick actions in texts about issues. Most texts have none: what runs them is loaded when one may have some. */

import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { ActOn } from '../issues/issues.ts';
import { issueWithNotes } from '../issues/noted.ts';
import type { NotedObject } from '../notes/noteable.ts';
import { mayHaveActions } from './may-have-actions.ts';

/** For {@link createIssue} and {@link updateIssue}. @throws 400 for too many or too long actions */
export const inDescription =
  (deps: Deps, actor: Actor, access: ProjectAccess): ActOn =>
  async (description, issueOf) => {
    if (!mayHaveActions(description)) return undefined;
    const { actInDescription } = await import('./on-issues.ts');
    return actInDescription(deps, actor, access, description, issueOf);
  };

/** An issue as an object of notes, in which quick actions are run. @throws `404 Not found` */
export async function issueWithActions(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  iid: number,
): Promise<NotedObject> {
  const on = await issueWithNotes(deps, actor, access, iid);
  const act = async (text: string) => {
    if (!mayHaveActions(text)) return undefined;
    const { actInNote } = await import('./on-issues.ts');
    return actInNote(deps, actor, access, iid, on, text);
  };
  return { ...on, act };
}
