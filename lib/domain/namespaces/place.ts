/** Namespaces that can contain projects: personal ones and groups. */

import type { GroupRecord } from '../../records/groups.ts';
import type { UserRecord } from '../../records/users.ts';
import type { Visibility } from '../../records/visibility.ts';
import { type ProjectPlacement, placementInGroup } from '../../store/placement/project.ts';
import { locateGroup } from '../access/locate.ts';
import type { GroupAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { groupAccesses } from '../groups/details.ts';
import { isBelow } from '../visibility.ts';

export type Namespace =
  | { readonly kind: 'user'; readonly owner: UserRecord }
  | { readonly kind: 'group'; readonly access: GroupAccess };

/** IDs of groups and personal namespaces share one sequence. */
export const namespaceId = (namespace: Namespace): number =>
  namespace.kind === 'user' ? namespace.owner.namespaceId : namespace.access.group.id;

/** Returns a group by ID or path if the actor can see it, or the actor's own namespace. */
export async function visibleNamespace(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  idOrPath: string | number,
): Promise<Namespace | undefined> {
  const { user } = actor;
  const text = String(idOrPath);
  if (text.toLowerCase() === user.username.toLowerCase() || text === String(user.namespaceId))
    return { kind: 'user', owner: user };
  if (/^\d+$/.test(text) && !Number.isSafeInteger(Number(text))) return undefined;
  const { id } = await locateGroup(deps, text);
  const [access] = await groupAccesses(deps, actor, [id]);
  return access && { kind: 'group', access };
}

/** Returns the namespace attributes of a project's record. */
export function placeIn(namespace: Namespace, creator: UserRecord): ProjectPlacement {
  if (namespace.kind === 'group') {
    const { fullPath: _, ...place } = placementInGroup(namespace.access.group, { path: '' });
    return { ...place, ownerId: creator.id };
  }
  const { owner } = namespace;
  return {
    namespaceId: owner.namespaceId,
    namespacePath: owner.username,
    namespaceName: owner.name,
    namespaceKind: 'user',
    ownerId: owner.id,
    ancestorIds: [],
  };
}

/** Conditions of the store for a new project: the owner's project limit, or that the group exists and accepts it. */
export const boundBy = (namespace: Namespace): { owner: UserRecord } | { parent: GroupRecord } =>
  namespace.kind === 'user' ? { owner: namespace.owner } : { parent: namespace.access.group };

/** A project must not be more visible than its group. */
export function visibilityProblems(namespace: Namespace, visibility: Visibility): string[] {
  if (namespace.kind === 'user') return [];
  const { group } = namespace.access;
  return isBelow(group.visibility, visibility)
    ? [`${visibility} is not allowed in a ${group.visibility} group.`]
    : [];
}
