/** Epics that issues get: of groups above their project. */

import type { EpicRecord } from '../../records/epics.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound } from '../errors.ts';
import { visibleEpics } from './related.ts';

/** By its id, or by its number in the group that the project is directly in. Null or 0: none. */
export interface EpicChoice {
  readonly epicId?: number | null | undefined;
  readonly epicIid?: number | null | undefined;
}

/**
 * The epic that issues of a project shall have. @returns null for none, undefined where nothing is chosen
 * @throws `404 Not found` for an epic that the actor may not see, or of a group that is not above the project
 */
export async function epicFor(
  deps: Deps,
  actor: Actor,
  project: ProjectRecord,
  { epicId, epicIid }: EpicChoice,
): Promise<EpicRecord | null | undefined> {
  const chosen = epicId === undefined ? epicIid : epicId;
  if (chosen === undefined) return undefined;
  if (chosen === null || chosen === 0) return null;
  if (chosen < 0) throw recordNotFound();
  const [groupId] = project.ancestorIds.slice(-1);
  const epic =
    epicId === undefined
      ? await numberedEpic(deps, actor, groupId, chosen)
      : (await visibleEpics(deps, actor, [chosen])).get(chosen)?.epic;
  if (epic === undefined || !project.ancestorIds.includes(epic.container.id)) throw recordNotFound();
  return epic;
}

/** The epic with a number in a group. @returns undefined where there is none, or the actor may not see it */
export async function numberedEpic(
  deps: Deps,
  actor: Actor,
  groupId: number | undefined,
  iid: number,
): Promise<EpicRecord | undefined> {
  const found =
    groupId === undefined ? undefined : await deps.store.epics.numbered({ kind: 'group', id: groupId }, iid);
  return found && (await visibleEpics(deps, actor, [found.id])).get(found.id)?.epic;
}
