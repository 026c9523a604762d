/** Who is subscribed to a conversation, and who takes part in it: the same for every kind of object that has notes. */

import type { UserRecord } from '../../records/users.ts';
import { Missing } from '../../store/errors.ts';
import type { Thread } from '../../store/notes/participants.ts';
import { mapLimit } from '../../store/table/map-limit.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { projectAccess } from '../access/open-request.ts';
import { signedIn } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor, Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';

/** An object that people talk about, as its own subject hands it in. */
export interface Conversation {
  readonly access: ProjectAccess;
  readonly thread: Thread;
  /** Its author and assignees, who take part without a note. */
  readonly involvedIds: readonly number[];
  isVisibleTo(viewer: Viewer, access: ProjectAccess): boolean;
  /** Whether who sees it also sees its internal notes. */
  seesInternal(viewer: Viewer, access: ProjectAccess): boolean;
}

/** Whether users are subscribed to a conversation: as they said, otherwise if they take part in it. */
export async function isSubscribed(
  { store }: Deps,
  actor: Actor,
  { thread, involvedIds }: Pick<Conversation, 'thread' | 'involvedIds'>,
): Promise<boolean> {
  if (actor.kind !== 'user') return false;
  const [member] = await store.threads.getMany(thread, [actor.user.id]);
  return member!.subscribed ?? (member!.takesPart || involvedIds.includes(actor.user.id));
}

/** Subscribes the actor, or unsubscribes them. @returns false where that is so already */
export async function setSubscription(
  deps: Deps,
  actor: Actor,
  conversation: Conversation,
  subscribed: boolean,
): Promise<boolean> {
  const { user } = signedIn(actor);
  if ((await isSubscribed(deps, actor, conversation)) === subscribed) return false;
  try {
    await deps.store.threads.subscribe(conversation.thread, user.id, subscribed);
  } catch (error) {
    throw error instanceof Missing ? notFound('Project') : error;
  }
  return true;
}

/** Memberships of users that are read at the same time. */
const CONCURRENCY = 10;

/**
 * Lists those who take part in a conversation and may see it, by id. Who does so by internal notes alone is shown to those
 * who may read these.
 */
export function listParticipants(
  deps: Deps,
  actor: Actor,
  { access, thread, involvedIds, isVisibleTo, seesInternal }: Conversation,
  request: PageRequest,
): Promise<Page<UserRecord>> {
  const isPublic = isVisibleTo({ kind: 'anonymous' }, { ...access, level: 0 });
  const withInternal = seesInternal(actor, access);
  return deps.store.threads.participants(thread, involvedIds, withInternal, request, async (ids) => {
    const users = await deps.store.users.getMany(ids);
    if (isPublic) return users;
    const sees = new Set<UserRecord>();
    const present = users.filter((user) => user !== undefined);
    await mapLimit(CONCURRENCY, present, async (user) => {
      const viewer = { kind: 'user', user } as const;
      const seen = await projectAccess(viewer, access.project, new MembershipCache(deps));
      if (seen !== undefined && isVisibleTo(viewer, seen)) sees.add(user);
    });
    return users.map((user) => (user !== undefined && sees.has(user) ? user : undefined));
  });
}
