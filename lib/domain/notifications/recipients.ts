/** Whether somebody may read what they would be sent: asked when mail is decided, and again when it is sent. */

import type { MemberSource } from '../../records/members.ts';
import type { UserRecord } from '../../records/users.ts';
import type { GroupAbility, ProjectAbility } from '../access/abilities/all.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { groupAccess, projectAccess } from '../access/open-request.ts';
import { can, canInGroup } from '../access/permissions.ts';
import type { Deps } from '../deps.ts';
import { addressesOf, isReached } from './address.ts';
import { effective } from './levels.ts';
import type { GroupResource } from './resources.ts';
import { groupResourceOf, isMuted, type ProjectResource, projectResourceOf, scopesOf } from './resources.ts';

/** What mail is about, and what one has to be allowed there to read it. */
export type About =
  | { readonly place: ProjectResource; readonly ability: ProjectAbility }
  | { readonly place: GroupResource; readonly ability: GroupAbility };

export async function mayRead(deps: Deps, user: UserRecord, { place, ability }: About): Promise<boolean> {
  const viewer = { kind: 'user', user } as const;
  const surroundings = new MembershipCache(deps);
  if (place.project !== undefined) {
    const access = await projectAccess(viewer, place.project, surroundings);
    return access !== undefined && can(viewer, access, ability as ProjectAbility);
  }
  const access = await groupAccess(viewer, place.groups[0]!, surroundings);
  return access !== undefined && canInGroup(viewer, access, ability as GroupAbility);
}

/** Whom a mail was decided for, and by what right: plain data, which travels with it. */
export interface MailRecipient {
  readonly userId: number;
  readonly source: MemberSource;
  readonly ability: About['ability'];
}

export const recipientOf = (userId: number, { place, ability }: About): MailRecipient => ({
  userId,
  source: scopesOf(place)[0]!,
  ability,
});

/**
 * Where they are sent it now: a mail may have waited for minutes, and in the dead letters for days.
 * @returns undefined when they are to be sent it no longer
 */
export async function currentAddress(
  deps: Deps,
  { userId, source, ability }: MailRecipient,
): Promise<string | undefined> {
  const [user, place] = await Promise.all([
    deps.store.users.get(userId),
    source.kind === 'project' ? projectResourceOf(deps, source.id) : groupResourceOf(deps, source.id),
  ]);
  if (user === undefined || !isReached(user) || place === undefined || isMuted(place)) return undefined;
  const [chosen, may] = await Promise.all([
    deps.store.notificationSettings.getMany([userId], [...scopesOf(place), undefined]),
    mayRead(deps, user, { place, ability } as About),
  ]);
  const choices = chosen.get(userId)!;
  if (!may || effective(choices).level === 'disabled') return undefined;
  return (await addressesOf(deps, [{ user, chosen: choices.at(-1)! }])).get(userId);
}
