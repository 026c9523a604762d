/** Deletion protection: if it is on, only administrators delete projects, or groups that contain projects. */

import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { forbidden } from '../errors.ts';

const REASON = 'Only administrators can delete projects';

/** @throws 403 */
export async function requireProjectDeletion(deps: Deps, actor: Actor): Promise<void> {
  if (await isProtected(deps, actor)) throw forbidden(REASON);
}

/** @throws 403 for a group that contains a project at any depth */
export async function requireGroupDeletion(deps: Deps, actor: Actor, groupId: number): Promise<void> {
  if (!(await isProtected(deps, actor))) return;
  if (await deps.store.groups.holdsProjects(groupId)) throw forbidden(REASON);
}

const isProtected = async ({ settings }: Deps, actor: Actor): Promise<boolean> =>
  !isAdministrator(actor) && (await settings.current()).default_project_deletion_protection;
