/**
 * Removal from a group also removes the memberships in its descendants. The request itself removes as many as it has
 * time for. A message enqueued in the transaction of the removal has a worker remove the rest, including those that the
 * index of a user's memberships did not contain yet.
 */

import type { GroupRecord } from '../../records/groups.ts';
import type { MemberRecord, MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { UserRecord } from '../../records/users.ts';
import { Missing } from '../../store/errors.ts';
import { MAINTENANCE, message, outboxWrite, outboxWrites } from '../../store/outbox/outbox.ts';
import { checkUnmoved } from '../../store/placement/group.ts';
import type { Put } from '../../store/table/write.ts';
import { log } from '../../telemetry/log.ts';
import {
  type AuditAuthor,
  auditedSource,
  authorIn,
  type Requester,
  requesterOf,
} from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { membershipActivity } from '../events/record.ts';
import { byNobody, prepareMemberHooks } from '../hook-events/members.ts';
import { memberRemoved } from './audit.ts';

/** The maintenance job that removes a user's memberships in the descendants of a group they left. */
export const LEAVE_JOB = 'group.remove-descendant-memberships';

/** The removal of a user from a group and its descendants. */
export interface MembershipCascade {
  /** Enqueues the job; for the transaction that removes the user from the group. */
  readonly enqueue: Put;
  /** Removes memberships in descendants, after that transaction. Never throws: the job is enqueued anyway. */
  finish(): Promise<void>;
}

/** Bounds of the request itself: number of memberships, and milliseconds. */
const REQUEST_BOUNDS = { left: 500, ms: 10_000 };

/** @param author who requests it */
export function membershipCascade(
  deps: Deps,
  groupId: number,
  userId: number,
  author: AuditAuthor,
): MembershipCascade {
  const leaver: Leaver = { groupId, userId, until: deps.now().toISOString(), by: requesterOf(author) };
  const job = () => message(MAINTENANCE, LEAVE_JOB, { ...leaver });
  return {
    // The outbox sweep sends it half a minute later, when the index contains all earlier memberships.
    enqueue: outboxWrite(job()),
    async finish() {
      const { left, ms } = REQUEST_BOUNDS;
      try {
        if (await removeDescendantMemberships(deps, leaver, { left, deadline: Date.now() + ms })) return;
      } catch (error) {
        log('warn', 'membership cascade left to a worker', { error: String(error) });
      }
      // The rest need not wait for the sweep.
      try {
        await deps.store.outbox.commit([], [job()]);
      } catch (error) {
        log('warn', 'membership cascade deferred to the outbox sweep', { error: String(error) });
      }
    },
  };
}

interface Leaver {
  readonly groupId: number;
  readonly userId: number;
  /** ISO 8601: memberships given later stay. */
  readonly until: string;
  readonly by?: Requester;
}

interface Bounds {
  /** Number of memberships that may still be removed. */
  left: number;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

/** A leaver with a lazy read of the user, for audit events. */
type Leaving = Leaver & { readonly named: () => Promise<Pick<UserRecord, 'id' | 'name'>> };

/**
 * Removes memberships in the descendants of a group that were given until then; all of them by default. Idempotent.
 * @returns whether none are left
 */
export async function removeDescendantMemberships(
  deps: Deps,
  leaver: Leaver,
  bounds: Bounds = { left: Number.POSITIVE_INFINITY, deadline: Number.POSITIVE_INFINITY },
): Promise<boolean> {
  const { userId } = leaver;
  let user: Promise<UserRecord | undefined> | undefined;
  const named = async () => {
    user ??= deps.store.users.get(userId);
    return (await user) ?? deletedUser(userId);
  };
  const leaving = { ...leaver, named };
  const of = async (kind: MemberSource['kind']): Promise<boolean> => {
    let page: MemberSource[] = [];
    for await (const { source } of deps.store.members.ofUser(userId, [kind])) {
      if (page.push(source) < PAGE_SIZE) continue;
      if (!(await leave(deps, leaving, page, bounds))) return false;
      page = [];
    }
    return page.length === 0 || leave(deps, leaving, page, bounds);
  };
  const done = await Promise.allSettled([of('group'), of('project')]);
  for (const end of done) if (end.status === 'rejected') throw end.reason;
  return done.every((end) => end.status === 'fulfilled' && end.value);
}

/** Memberships read together. */
const PAGE_SIZE = 100;
/** Memberships removed in one transaction, with five items each. */
const BATCH_SIZE = 20;

/** @param sources of one kind @returns whether all of them were processed within the bounds */
async function leave(
  deps: Deps,
  leaving: Leaving,
  sources: readonly MemberSource[],
  bounds: Bounds,
): Promise<boolean> {
  const inside = await insideAmong(deps, leaving, sources);
  for (let ended = 0; ended < inside.length; ) {
    // Groups and projects share the bounds.
    if (bounds.left <= 0 || Date.now() > bounds.deadline) return false;
    const batch = inside.slice(ended, ended + Math.min(BATCH_SIZE, bounds.left));
    bounds.left -= batch.length;
    ended += batch.length;
    await endTogether(deps, leaving, batch);
  }
  return Date.now() <= bounds.deadline;
}

interface Inside {
  readonly resource: GroupRecord | ProjectRecord;
  readonly member: MemberRecord;
}

/** @param sources of one kind */
async function insideAmong(
  { store }: Deps,
  { groupId, userId, until }: Leaver,
  sources: readonly MemberSource[],
): Promise<Inside[]> {
  const [places, members] = await Promise.all([
    placesOf(store, sources),
    store.members.ofUserIn(userId, sources),
  ]);
  return places.flatMap((resource, i) => {
    const member = members[i];
    const ends = member !== undefined && member.createdAt <= until;
    return ends && resource?.ancestorIds.includes(groupId) ? [{ resource, member }] : [];
  });
}

/** Attempts when other requests remove the same memberships. */
const ATTEMPTS = 5;

/**
 * Removes memberships in one transaction, each with its audit event, what hooks hear, and in projects with one in the feed. The
 * groups must not have moved: at the top level a group inherits no owner, and the leaver may be its only one.
 */
async function endTogether(deps: Deps, leaving: Leaving, inside: readonly Inside[]): Promise<void> {
  const { members } = deps.store;
  const [user, tell] = await Promise.all([leaving.named(), prepareMemberHooks(deps, byNobody(deps))]);
  const eventsOf = async ({ resource, member: { source } }: Inside) => [
    ...('parentId' in resource ? [checkUnmoved(resource)] : []),
    await memberRemoved(deps, authorIn(leaving), auditedSource(source.kind, resource), user),
    ...(await membershipActivity(deps, source, user.id, 'left')),
  ];
  let ending = inside;
  for (let n = 0; ending.length > 0; n++) {
    try {
      const events = await Promise.all(ending.map(eventsOf));
      const told = ending.flatMap(({ resource, member }) => tell(resource, member, 'remove'));
      await members.removeMany(
        ending.map(({ member }) => member),
        [...events.flat(), ...outboxWrites(told)],
      );
      await deps.store.outbox.deliver(told);
      return;
    } catch (error) {
      if (!(error instanceof Missing) || n === ATTEMPTS) throw error;
    }
    const sources = ending.map(({ member }) => member.source);
    ending = await insideAmong(deps, leaving, sources);
  }
}

/** Stands for a user whose account is being deleted. */
export const deletedUser = (id: number) => ({ id, name: 'Deleted User' });

const placesOf = (
  store: Deps['store'],
  sources: readonly MemberSource[],
): Promise<(GroupRecord | ProjectRecord | undefined)[]> =>
  sources[0]?.kind === 'group'
    ? store.groups.getMany(sources.map(({ id }) => id))
    : store.projects.getMany(sources.map(({ id }) => id));
