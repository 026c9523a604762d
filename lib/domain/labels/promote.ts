/** Promotion: a project's label becomes one of its group, and labels with its title in other projects become the same. */

import type { LabelRecord } from '../../records/labels.ts';
import { AlreadyExists, LimitReached, Missing, Stale } from '../../store/errors.ts';
import { priorityWrites } from '../../store/labels/labels.ts';
import { MAINTENANCE, message } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import { requireGroupAbility } from '../access/permissions.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { refused } from '../errors.ts';
import { groupOfId } from '../groups/groups.ts';
import { above, containerOf } from './containers.ts';
import { eachProjectOf } from './group-projects.ts';
import { getLabel, LABEL_PROMOTED_JOB, removed } from './labels.ts';

/**
 * Makes a project's label one of the project's group: the group's label with this title, if there is one.
 * @throws 400 for a project outside of groups, and where a group above has a label with this title;
 *   403 for callers who may not change labels of the group; `404 Label Not Found`
 */
export async function promoteLabel(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  idOrTitle: string,
): Promise<{ readonly label: LabelRecord; readonly group: GroupAccess }> {
  const label = await getLabel(deps, access, idOrTitle, { inherited: false });
  if (access.project.namespaceKind !== 'group') throw cannotPromote();
  const group = await groupOfId(deps, actor, access.project.namespaceId);
  requireGroupAbility(actor, group, 'admin_group_label');
  const { labels } = deps.store;
  const container = containerOf(group);
  const [sameTitle] = await labels.idsOf([container], [label.title]);
  const present = sameTitle === undefined ? undefined : await labels.get(sameTitle);
  const body = { labelId: present?.id ?? label.id, title: label.title, groupId: container.id };
  const others = message(MAINTENANCE, LABEL_PROMOTED_JOB, body);
  try {
    if (present === undefined) {
      const writes = kept(label, label).filter((write) => 'put' in write);
      const change = { priority: null, ...(writes.length === 0 ? {} : { prioritized: true as const }) };
      const alongside = { writes, messages: [others] };
      const promoted = await labels.promote(label, container, above(group), deps.now(), alongside, change);
      return { label: promoted, group };
    }
    const messages = [...removed(label, present.id), others];
    await labels.remove(label, { writes: kept(label, present), messages });
    return { label: present, group };
  } catch (error) {
    const lost = [AlreadyExists, LimitReached, Missing, Stale].some((kind) => error instanceof kind);
    throw lost ? cannotPromote() : error;
  }
}

/** The project goes on with its priority, which the label of the group takes. */
const kept = ({ container, priority }: LabelRecord, successor: LabelRecord): Write[] =>
  priority === null ? [] : priorityWrites(successor, container.id, priority);

const cannotPromote = () => refused('Failed to promote project label to group label');

/**
 * Replaces the labels of a group's projects that have the title of a label of the group by that label. Those in projects
 * of subgroups stay.
 * @param from id of a project: newer ones were done by an earlier run
 * @returns the body of the message that continues; undefined at the end
 */
export async function mergePromoted(
  deps: Deps,
  promoted: {
    readonly labelId: number;
    readonly title: string;
    readonly groupId: number;
    readonly from?: number;
  },
  deadline: number,
): Promise<object | undefined> {
  const { labels } = deps.store;
  const { labelId, title, groupId, from } = promoted;
  const merge = async (projectIds: readonly number[]) => {
    const found = await Promise.all(projectIds.map((id) => labels.idsOf([{ kind: 'project', id }], [title])));
    const [successor, ...others] = await labels.getMany([
      labelId,
      ...found.flat().filter((id) => id !== undefined),
    ]);
    for (const label of others) {
      if (label === undefined) continue;
      const writes = successor === undefined ? [] : kept(label, successor);
      await labels.remove(label, { writes, messages: removed(label, labelId) }).catch((error: unknown) => {
        // It was renamed, promoted or deleted.
        if (!(error instanceof Stale)) throw error;
      });
    }
  };
  const next = await eachProjectOf(deps, groupId, from, deadline, merge);
  return next === undefined ? undefined : { ...promoted, from: next };
}
