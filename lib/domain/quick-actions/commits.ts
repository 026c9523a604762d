/** Quick actions in notes on commits. Most notes have none: what runs them is loaded when one may have some. */

import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import type { NotedObject } from '../notes/noteable.ts';
import { mayHaveActions } from './may-have-actions.ts';

/** A commit as an object of notes, in which quick actions are run. */
export const actingCommit =
  (deps: Deps, actor: Actor, access: ProjectAccess) =>
  (on: NotedObject): NotedObject => ({
    ...on,
    act: async (text) => {
      if (!mayHaveActions(text)) return undefined;
      const { actOnCommit } = await import('./on-commits.ts');
      return actOnCommit(deps, actor, access, on, text);
    },
  });
