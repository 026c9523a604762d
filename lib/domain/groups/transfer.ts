import { type GroupRecord, MAX_DEPTH } from '../../records/groups.ts';
import { Missing, NameTaken, Stale, TransactionRefused } from '../../store/errors.ts';
import { placementUnder } from '../../store/placement/group.ts';
import { OWNER } from '../access/levels.ts';
import { canInGroup } from '../access/permissions.ts';
import type { GroupAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { auditedResource } from '../audit-events/event.ts';
import { resourceMoved } from '../audit-events/setting-changes.ts';
import type { Deps } from '../deps.ts';
import { refused } from '../errors.ts';
import { memberAdded } from '../members/audit.ts';
import { groupPathProblems } from '../name-rules.ts';
import { moverOf } from '../notifications/enqueue.ts';
import { lower } from '../visibility.ts';
import { followed, groupOfId, locked, mayCreateTopLevel } from './groups.ts';

/**
 * Moves a group with its descendants into another group, or to the top level. Its former path redirects. If the new
 * parent is less visible, the visibility of the group and its descendants is lowered.
 * @param parentId undefined: to the top level
 * @throws 400 `Transfer failed: ...`, 404 for an absent or hidden parent, 409 while one of the groups is moving
 */
export async function transferGroup(
  deps: Deps,
  actor: Extract<Actor, { kind: 'user' }>,
  { group }: GroupAccess,
  parentId: number | undefined,
): Promise<GroupRecord> {
  if (parentId === undefined && group.parentId === null) throw failed('Group is already a root group.');
  const target = parentId === undefined ? undefined : await groupOfId(deps, actor, parentId);
  const parents = target === undefined ? [] : [target.group, ...target.parents];
  if (target !== undefined && target.group.id === group.parentId)
    throw failed('Group is already associated to the parent group.');
  const may = target === undefined ? mayCreateTopLevel(actor) : canInGroup(actor, target, 'create_subgroup');
  if (!may) throw failed("You don't have enough permissions.");
  if (parents.some(({ id }) => id === group.id))
    throw failed('Cannot transfer group to one of its subgroup.');
  const [problem] = groupPathProblems(group.path, target === undefined);
  if (problem !== undefined) throw failed(`Validation failed: Path ${problem}`);
  const room = MAX_DEPTH - parents.length - 1;
  if (room < 0 || (await deps.store.groups.reachesBelow(group.id, room)))
    throw failed(`Groups can be nested at most ${MAX_DEPTH} levels deep.`);
  const now = deps.now();
  const { groups, groupOwners } = deps.store;
  try {
    // A top-level group inherits no owner.
    const visibility = lower(group.visibility, target?.group.visibility ?? 'public');
    const moved = { ...group, ...placementUnder(target?.group, group), visibility };
    const secured =
      target === undefined ? await groupOwners.ensureOwner(group.id, actor.user.id, now) : undefined;
    const owner = { accessLevel: OWNER, expiresAt: null } as const;
    const alongside = [
      ...(secured === undefined ? [] : [secured]),
      ...(secured !== undefined && 'put' in secured
        ? [await memberAdded(deps, actor, auditedResource('Group', moved), actor.user, owner)]
        : []),
      ...(await resourceMoved(deps, actor, 'Group', group, moved)),
    ];
    const mover = moverOf(deps, actor);
    const options = { now, parents, alongside, mover };
    return await followed(deps, await groups.update(group, { visibility }, options), mover);
  } catch (error) {
    if (error instanceof TransactionRefused && error.has('owner')) throw locked(new Stale('group'));
    if (error instanceof NameTaken)
      throw failed(
        error.names.includes('path')
          ? 'The parent group already has a subgroup or a project with the same path.'
          : 'Validation failed: Name has already been taken',
      );
    throw error instanceof Missing ? locked(new Stale('group')) : locked(error);
  }
}

const failed = (why: string) => refused(`Transfer failed: ${why}`);
