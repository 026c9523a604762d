/** Promotion: a project's milestone becomes one of its group, and those with its title in other projects the same. */

import type { MilestoneRecord } from '../../records/milestones.ts';
import { AlreadyExists, LimitReached, Missing, Stale } from '../../store/errors.ts';
import { followDeletion } from '../../store/labels/uses.ts';
import { MAINTENANCE, message } from '../../store/outbox/outbox.ts';
import { requireGroupAbility } from '../access/permissions.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, refused } from '../errors.ts';
import { groupOfId } from '../groups/groups.ts';
import { above, containerOf } from '../labels/containers.ts';
import { eachProjectOf } from '../labels/group-projects.ts';
import { getMilestone } from './milestones.ts';

/** Merges milestones of projects into one of their group. */
export const MILESTONE_PROMOTED_JOB = 'milestone.promoted';

/**
 * Makes a project's milestone one of the project's group: the group's milestone with this title, if there is one.
 * @throws 400 for a project outside of groups, and where a group above has a milestone with this title;
 *   403 for callers who may not change milestones of the group; `404 Not found`; 409 for a concurrent change
 */
export async function promoteMilestone(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  id: number,
): Promise<{ readonly record: MilestoneRecord; readonly group: GroupAccess }> {
  const milestone = await getMilestone(deps, access, id);
  if (access.project.namespaceKind !== 'group') throw refused('Project does not belong to a group.');
  const group = await groupOfId(deps, actor, access.project.namespaceId);
  requireGroupAbility(actor, group, 'admin_group_milestone');
  const { milestones } = deps.store;
  const container = containerOf(group);
  const [sameTitle] = await milestones.titled([container], milestone.title);
  const present = sameTitle === undefined ? undefined : await milestones.get(sameTitle);
  const body = {
    milestoneId: present?.id ?? milestone.id,
    title: milestone.title,
    groupId: container.id,
  };
  const others = message(MAINTENANCE, MILESTONE_PROMOTED_JOB, body);
  try {
    if (present === undefined) {
      const promoted = await milestones.promote(milestone, container, above(group), deps.now(), {
        messages: [others],
      });
      return { record: promoted, group };
    }
    await milestones.remove(milestone, { messages: [gone(milestone, present.id), others] });
    return { record: present, group };
  } catch (error) {
    if (error instanceof Stale || error instanceof Missing)
      throw conflict('the milestone was changed by another request: try again');
    if (error instanceof AlreadyExists) throw refused('Title has already been taken');
    throw error instanceof LimitReached ? refused(error.message) : error;
  }
}

const gone = (milestone: MilestoneRecord, successorId: number) =>
  followDeletion({ facet: 'milestone', ...milestone }, successorId);

/**
 * Replaces the milestones of a group's projects that have the title of a milestone of the group by that one. Those in
 * projects of subgroups stay.
 * @param promoted.from id of a project: newer ones were done by an earlier run
 * @returns the body of the message that continues; undefined at the end
 */
export async function mergePromoted(
  deps: Deps,
  promoted: {
    readonly milestoneId: number;
    readonly title: string;
    readonly groupId: number;
    readonly from?: number;
  },
  deadline: number,
): Promise<object | undefined> {
  const { milestones } = deps.store;
  const { milestoneId, title, groupId, from } = promoted;
  const merge = async (projectIds: readonly number[]) => {
    const ids = await milestones.titled(
      projectIds.map((id) => ({ kind: 'project', id })),
      title,
    );
    for (const milestone of await milestones.getMany(ids)) {
      if (milestone === undefined) continue;
      await milestones
        .remove(milestone, { messages: [gone(milestone, milestoneId)] })
        .catch((error: unknown) => {
          // It was renamed, promoted or deleted.
          if (!(error instanceof Stale)) throw error;
        });
    }
  };
  const next = await eachProjectOf(deps, groupId, from, deadline, merge);
  return next === undefined ? undefined : { ...promoted, from: next };
}
