/** Projects that a user has contributed to. */

import type { UserRecord } from '../../records/users.ts';
import { maySeeProfile } from '../accounts/accounts.ts';
import type { Actor } from '../actor.ts';
import { dayBefore } from '../days.ts';
import type { Deps } from '../deps.ts';
import { listProjects, type ProjectListInput } from './projects.ts';

/** Contributions are looked for in this number of days. */
const DAYS = 365;

/**
 * Lists projects that the actor can see, and that the user pushed to or commented in during the last year. Projects of the
 * user's own namespace are left out. Empty if the actor may not see the user's profile.
 */
export async function listContributedProjects(
  deps: Deps,
  actor: Actor,
  user: UserRecord,
  query: ProjectListInput,
): ReturnType<typeof listProjects> {
  if (!maySeeProfile(actor, user)) return { items: [], total: 0, more: false };
  const since = new Date(`${dayBefore(deps.now(), DAYS)}T00:00:00Z`);
  return listProjects(deps, actor, {
    ...query,
    among: await deps.store.events.contributedTo(user.id, since),
    where: ({ project }) => project.namespaceKind !== 'user' || project.ownerId !== user.id,
  });
}
