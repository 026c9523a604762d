/** Sharing groups with groups. */

import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel } from '../../records/members.ts';
import { MAX_SHARES, type ShareRecord } from '../../records/shares.ts';
import { Missing, Stale, TransactionRefused } from '../../store/errors.ts';
import { inviteGroup, uninviteGroup } from '../../store/placement/group.ts';
import type { Write } from '../../store/table/write.ts';
import { LEVEL_NAMES } from '../access/levels.ts';
import type { GroupAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import { auditedResourceEvent } from '../audit-events/setting-changes.ts';
import type { Deps } from '../deps.ts';
import { conflict, invalid, notFound, refused } from '../errors.ts';
import { groupOfId, locked } from './groups.ts';

export interface ShareInput {
  readonly groupId: number;
  readonly accessLevel: AccessLevel;
  /** `YYYY-MM-DD` */
  readonly expiresAt: string | null;
}

/**
 * Shares a group: direct members of the invited group get at most the given level in it and its descendants.
 * @throws 404 for a group that does not exist, is hidden, or is outside the hierarchy where that is forbidden, 409 when
 *   it is already invited, 400
 */
export async function shareGroup(
  deps: Deps,
  actor: Actor,
  { group, parents }: GroupAccess,
  { groupId, accessLevel, expiresAt }: ShareInput,
): Promise<GroupRecord> {
  const invited = await groupOfId(deps, actor, groupId);
  if (groupId === group.id) throw refused('A group cannot be shared with itself');
  const outermost = parents.at(-1) ?? group;
  const outermostInvited = invited.parents.at(-1) ?? invited.group;
  const keepsIn = outermost.settings['prevent_sharing_groups_outside_hierarchy'] === true;
  if (keepsIn && outermost.id !== outermostInvited.id) throw notFound();
  const now = deps.now().toISOString();
  if (expiresAt !== null && expiresAt < now.slice(0, 10))
    throw invalid({ expires_at: ['cannot be a date in the past'] });
  const share: ShareRecord = { groupId, accessLevel, expiresAt, createdAt: now };
  const added = {
    add: 'group_access',
    as: LEVEL_NAMES[accessLevel],
    ...targeting(invited.group),
  };
  const alongside = [
    ...inviteGroup(groupId, group.id),
    await auditedResourceEvent(deps, actor, 'Group', group, { ...added, expiry_to: expiresAt ?? undefined }),
  ];
  return change(deps, group, alongside, (shares) => {
    // An expired share may be replaced.
    const others = shares.filter((other) => other.groupId !== groupId || !isOver(other, now));
    if (others.some((other) => other.groupId === groupId))
      throw conflict('The group has already been shared with this group');
    if (others.length >= MAX_SHARES)
      throw invalid({ shared_with_groups: [`is too long (maximum is ${MAX_SHARES} groups)`] });
    return [...others, share];
  });
}

const isOver = ({ expiresAt }: ShareRecord, now: string): boolean =>
  expiresAt !== null && expiresAt <= now.slice(0, 10);

/** @throws 404 `404 Group Link Not Found` */
export async function unshareGroup(
  deps: Deps,
  actor: Actor,
  { group }: GroupAccess,
  groupId: number,
): Promise<void> {
  const [invited] = await deps.store.groups.getMany([groupId]);
  const removed = {
    remove: 'group_access',
    ...targeting(invited ?? { id: groupId }),
  };
  const alongside = [
    ...uninviteGroup(groupId, group.id),
    await auditedResourceEvent(deps, actor, 'Group', group, removed),
  ];
  await change(deps, group, alongside, (shares) => {
    if (!shares.some((share) => share.groupId === groupId)) throw notFound('Group Link');
    return shares.filter((share) => share.groupId !== groupId);
  });
}

const targeting = ({ id, fullPath }: { readonly id: number; readonly fullPath?: string }) => ({
  target_id: id,
  target_type: 'Group',
  target_details: fullPath ?? null,
});

/** Attempts when other requests change the record. */
const ATTEMPTS = 5;

async function change(
  { store, now }: Deps,
  group: GroupRecord,
  alongside: readonly Write[],
  of: (shares: readonly ShareRecord[]) => ShareRecord[],
): Promise<GroupRecord> {
  let latest: GroupRecord | undefined = group;
  for (let tries = 1; latest !== undefined; tries++) {
    const parents = latest.parentId === null ? [] : await store.groups.getMany([latest.parentId]);
    try {
      return await store.groups.update(
        latest,
        { shares: of(latest.shares) },
        { now: now(), alongside, parents: parents.flatMap((parent) => parent ?? []) },
      );
    } catch (error) {
      if (error instanceof Missing) break;
      if (error instanceof TransactionRefused && error.has('invited')) break;
      if (!(error instanceof Stale) || tries === ATTEMPTS) throw locked(error);
      latest = await store.groups.get(group.id);
    }
  }
  throw notFound('Group');
}
