/** Sharing projects with groups. */

import { isExpired } from '../../records/expiry.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { MAX_SHARES, type ShareRecord } from '../../records/shares.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { hasShareLock } from '../access/effective-level.ts';
import { LEVEL_NAMES } from '../access/levels.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { auditedResourceEvent, targetingProject } from '../audit-events/setting-changes.ts';
import { dayOf } from '../days.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, notFound, refused } from '../errors.ts';
import { groupAccesses } from '../groups/details.ts';
import { locked } from '../groups/groups.ts';
import type { ShareInput } from '../groups/shares.ts';
import { parentsOf } from '../members/list.ts';

/** The share of a project has its own ID. */
export type ProjectShare = ShareRecord & { readonly id: number };

/** Attempts when other requests change the record. */
const ATTEMPTS = 5;

/**
 * Shares a project with a group: its members, also inherited ones, get at most the given level.
 * @throws 400 where the project's groups forbid sharing, or by field; 404 for a group that does not exist, is hidden, or
 *   is outside the hierarchy where that is forbidden; 409 for an already invited group or an ancestor
 */
export async function shareProject(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  { groupId, accessLevel, expiresAt }: ShareInput,
): Promise<ProjectShare> {
  const [parents, [found]] = await Promise.all([
    parentsOf(deps, access),
    groupAccesses(deps, actor, [groupId]),
  ]);
  if (parents.some(hasShareLock)) throw refused('The project sharing with group is disabled');
  if (found === undefined) throw notFound();
  const outermost = parents.at(-1);
  const keepsIn = outermost?.settings['prevent_sharing_groups_outside_hierarchy'] === true;
  if (keepsIn && outermost.id !== (found.parents.at(-1) ?? found.group).id) throw notFound();
  if (parents.some(({ id }) => id === groupId)) {
    throw conflict('Project cannot be shared with the group it is in or one of its ancestors.');
  }
  const now = deps.now();
  if (expiresAt !== null && expiresAt < dayOf(now))
    throw invalid({ expires_at: ['cannot be a date in the past'] });
  const id = await deps.store.projectShares.nextId();
  const share: ProjectShare = { id, groupId, accessLevel, expiresAt, createdAt: now.toISOString() };
  let invited: GroupRecord | undefined = found.group;
  await changing(deps, access.project, async (project) => {
    // An expired share may be replaced.
    const others = project.shares.filter((other) => other.groupId !== groupId || !isExpired(other, now));
    if (others.some((other) => other.groupId === groupId))
      throw conflict('Group already shared with this group');
    if (others.length >= MAX_SHARES)
      throw invalid({ shared_with_groups: [`is too long (maximum is ${MAX_SHARES} groups)`] });
    const here = invited ?? (await deps.store.groups.get(groupId));
    if (here === undefined) throw notFound();
    // On the next attempt the group is read again: it may have moved.
    invited = undefined;
    const given = { as: LEVEL_NAMES[accessLevel], expiry_to: expiresAt ?? undefined };
    const details = { add: 'project_access', ...given, ...targetingProject(project) };
    const event = await auditedResourceEvent(deps, actor, 'Group', here, details);
    await deps.store.projectShares.add(project, here, [...others, share], [event]);
  });
  return share;
}

/** @throws `404 Group Link Not Found` */
export async function unshareProject(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  groupId: number,
): Promise<void> {
  const invited = await deps.store.groups.getEvenDeleted(groupId);
  await changing(deps, project, async (latest) => {
    shareWith(latest, groupId, deps.now());
    const left = latest.shares.filter((share) => share.groupId !== groupId);
    const details = { remove: 'project_access', ...targetingProject(latest) };
    // Audit events of a purged group cannot be read.
    const events =
      invited === undefined ? [] : [await auditedResourceEvent(deps, actor, 'Group', invited, details)];
    await deps.store.projectShares.remove(latest, groupId, left, events);
  });
}

/** @throws `404 Group Link Not Found`, also for an expired share */
export function shareWith(project: ProjectRecord, groupId: number, now: Date): ShareRecord {
  const share = project.shares.find((each) => each.groupId === groupId && !isExpired(each, now));
  if (share === undefined) throw notFound('Group Link');
  return share;
}

/** Applies a change, again with the current record when another request changed it. */
async function changing(
  { store }: Deps,
  project: ProjectRecord,
  change: (latest: ProjectRecord) => Promise<void>,
): Promise<void> {
  let latest: ProjectRecord | undefined = project;
  for (let tries = 1; latest !== undefined; tries++) {
    try {
      return await change(latest);
    } catch (error) {
      if (error instanceof Missing) break;
      if (!(error instanceof Stale) || tries === ATTEMPTS) throw locked(error);
      latest = await store.projects.get(project.id);
    }
  }
  throw notFound('Project');
}

/** An invited group and its share. */
export interface Invitation {
  readonly group: GroupRecord;
  readonly share: ShareRecord;
}

/** Returns the groups that projects are shared with, as far as the actor can see them, by project ID. */
export async function invitationsTo(
  deps: Deps,
  actor: Actor,
  projects: readonly ProjectRecord[],
): Promise<Map<number, Invitation[]>> {
  const now = deps.now();
  const shares = projects.map((project) => project.shares.filter((share) => !isExpired(share, now)));
  const ids = [...new Set(shares.flat().map(({ groupId }) => groupId))];
  if (ids.length === 0) return new Map();
  const accesses = await groupAccesses(deps, actor, ids);
  const groups = new Map(ids.map((id, i) => [id, accesses[i]?.group]));
  return new Map(
    projects.map(({ id }, i) => {
      const known = shares[i]!.flatMap((share) => {
        const group = groups.get(share.groupId);
        return group === undefined ? [] : [{ group, share }];
      });
      return [id, known];
    }),
  );
}
