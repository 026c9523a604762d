import type { AccessLevel } from '../../records/members.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError, notFound, unprocessable } from '../errors.ts';
import { parentsOf, sourceOf } from './list.ts';
import { addMember } from './members.ts';
import { requireMemberAdmin, requireUnlocked } from './rules.ts';

/** Maximum number of direct members of the source project. */
const MAX_IMPORTED = 1_000;
/** Members added concurrently. */
const CONCURRENCY = 8;

/**
 * Makes the direct members of another project members of this one, with their level there, but at most the actor's
 * own. Existing members, also those with a higher inherited level, do not change. Idempotent.
 * @throws 403, 405 where an ancestor group allows no new members, `404 Project Not Found` for another project whose members
 *   the actor may not read, 422 for one with more than 1,000
 */
export async function importMembers(
  deps: Deps,
  actor: Actor,
  resource: ProjectAccess,
  fromId: number,
): Promise<void> {
  requireMemberAdmin(actor, resource);
  const [[from], parents] = await Promise.all([
    projectAccesses(deps, actor, [fromId]),
    parentsOf(deps, resource),
  ]);
  if (from === undefined || !can(actor, from, 'read_members')) throw notFound('Project');
  requireUnlocked(resource, parents);
  const page = { page: 1, perPage: MAX_IMPORTED + 1 };
  const { items } = await deps.store.members.list(sourceOf(from), page);
  if (items.length > MAX_IMPORTED) throw unprocessable('Import failed');
  const most = isAdministrator(actor) ? 40 : Math.min(40, resource.level);
  const rest = items.filter(({ bot }) => bot !== true);
  const workers = Array.from({ length: CONCURRENCY }, async () => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
      const { userId, expiresAt } = next;
      const accessLevel = Math.min(next.accessLevel, most) as AccessLevel;
      await addMember(deps, actor, resource, userId, { accessLevel, expiresAt }).catch((error: unknown) => {
        if (!(error instanceof DomainError)) throw error;
      });
    }
  });
  await Promise.all(workers);
}
