import { isInternal, type UserRecord } from '../../records/users.ts';
import { Missing } from '../../store/errors.ts';
import type { FollowRow } from '../../store/row-keys/users.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { MAX_FOLLOWING } from '../../store/users/follows.ts';
import { signedIn } from '../access/permissions.ts';
import { maySeeProfile, userOfId } from '../accounts/accounts.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { notFound, refused } from '../errors.ts';

/** @returns the user, or undefined when nothing changed; nobody follows themselves @throws 404; 400 at the limit */
export async function follow(deps: Deps, actor: Actor, userId: number): Promise<UserRecord | undefined> {
  const { user } = signedIn(actor);
  const followed = await userOfId(deps, userId);
  if (followed.id === user.id || isInternal(followed)) return undefined;
  try {
    const outcome = await deps.store.follows.follow(user.id, userId);
    if (outcome === 'full') throw refused(`You can't follow more than ${MAX_FOLLOWING} users.`);
    return outcome === 'done' ? followed : undefined;
  } catch (error) {
    throw error instanceof Missing ? notFound('User') : error;
  }
}

/** @returns the user, or undefined when nothing changed @throws 404 */
export async function unfollow(deps: Deps, actor: Actor, userId: number): Promise<UserRecord | undefined> {
  const { user } = signedIn(actor);
  const followed = await userOfId(deps, userId);
  if (followed.id === user.id) return undefined;
  return (await deps.store.follows.unfollow(user.id, userId)) === 'done' ? followed : undefined;
}

/** Lists followers or followed users; empty where the profile is private to others. @throws 404 */
export async function listFollows(
  deps: Deps,
  actor: Actor,
  userId: number,
  row: FollowRow,
  request: PageRequest,
): Promise<Page<UserRecord>> {
  const user = await userOfId(deps, userId);
  if (!maySeeProfile(actor, user)) return { items: [], total: 0, more: false };
  const page = await deps.store.follows.list(userId, row, request);
  const users = await deps.store.users.getMany(page.items);
  return { ...page, items: users.filter((one) => one !== undefined) };
}

/** Whether the actor follows a user; undefined for actors who cannot follow users. */
export async function isFollowed(deps: Deps, actor: Actor, user: UserRecord): Promise<boolean | undefined> {
  return actor.kind === 'user' ? deps.store.follows.follows(actor.user.id, user.id) : undefined;
}
