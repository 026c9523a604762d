/**
 * Memberships inside a group end with the one in it. The request that takes somebody out of the group takes them away
 * before it answers, as many as it has time for; a worker that is promised with the departure those that are left, and
 * those that the index of a user's memberships did not show yet.
 */

import type { GroupRecord } from '../../records/groups.ts';
import type { MemberRecord, MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { UserRecord } from '../../records/users.ts';
import { Missing } from '../../store/errors.ts';
import { MAINTENANCE, message, outboxWrite } from '../../store/outbox/outbox.ts';
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
import { memberRemoved } from './audit.ts';

/** The maintenance queue's job that ends a user's memberships below a group they left. */
export const LEAVE_JOB = 'group.remove-descendant-memberships';

/** Somebody who leaves a group. */
export interface MembershipCascade {
  /** Goes into the transaction that takes them out of the group. */
  readonly promise: Put;
  /** Takes them out of what is inside, behind that transaction. Never throws: the promise is kept all the same. */
  finish(): Promise<void>;
}

/** What a request takes away itself: so many memberships, in so many milliseconds. */
const MAX_AT_ONCE = { left: 500, ms: 10_000 };

/** @param author who asks for it */
export function membershipCascade(
  deps: Deps,
  groupId: number,
  userId: number,
  author: AuditAuthor,
): MembershipCascade {
  const leaver: Leaver = { groupId, userId, until: deps.now().toISOString(), by: requesterOf(author) };
  const job = () => message(MAINTENANCE, LEAVE_JOB, { ...leaver });
  return {
    // The sweep sends it half a minute later, when the index shows whatever was given before.
    promise: outboxWrite(job()),
    async finish() {
      const { left, ms } = MAX_AT_ONCE;
      try {
        if (await removeDescendantMemberships(deps, leaver, { left, deadline: Date.now() + ms })) return;
      } catch (error) {
        log('warn', 'a worker takes somebody out of what is inside a group', { error: String(error) });
      }
      // What is left is not to wait for that.
      try {
        await deps.store.outbox.commit([], [job()]);
      } catch (error) {
        log('warn', 'what is inside a group is left half a minute later', { error: String(error) });
      }
    },
  };
}

interface Leaver {
  readonly groupId: number;
  readonly userId: number;
  /** ISO 8601: whoever was let in again since stays. */
  readonly until: string;
  readonly by?: Requester;
}

interface Bounds {
  /** Memberships that may still be taken away. */
  left: number;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
}

/** A leaver with what records name them by, which is read where somebody has to be told. */
type Leaving = Leaver & { readonly named: () => Promise<Pick<UserRecord, 'id' | 'name'>> };

/**
 * Ends memberships below a group that were given until then, all of them without bounds. May come twice.
 * @returns whether there are no more
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
    let some: MemberSource[] = [];
    for await (const { source } of deps.store.members.ofUser(userId, [kind])) {
      if (some.push(source) < AT_ONCE) continue;
      if (!(await leave(deps, leaving, some, bounds))) return false;
      some = [];
    }
    return some.length === 0 || leave(deps, leaving, some, bounds);
  };
  const done = await Promise.allSettled([of('group'), of('project')]);
  for (const end of done) if (end.status === 'rejected') throw end.reason;
  return done.every((end) => end.status === 'fulfilled' && end.value);
}

/** Memberships looked at together. */
const AT_ONCE = 100;
/** Memberships that end in one transaction, which takes three items for each. */
const TOGETHER = 33;

/** @param sources of one kind @returns whether all of them were looked at, and there is time left */
async function leave(
  deps: Deps,
  leaving: Leaving,
  sources: readonly MemberSource[],
  bounds: Bounds,
): Promise<boolean> {
  const inside = await insideAmong(deps, leaving, sources);
  for (let ended = 0; ended < inside.length; ) {
    // Groups and projects have one bound.
    if (bounds.left <= 0 || Date.now() > bounds.deadline) return false;
    const some = inside.slice(ended, ended + Math.min(TOGETHER, bounds.left));
    bounds.left -= some.length;
    ended += some.length;
    await endTogether(deps, leaving, some);
  }
  return Date.now() <= bounds.deadline;
}

interface Inside {
  readonly place: GroupRecord | ProjectRecord;
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
  return places.flatMap((place, i) => {
    const member = members[i];
    const ends = member !== undefined && member.createdAt <= until;
    return ends && place?.ancestorIds.includes(groupId) ? [{ place, member }] : [];
  });
}

/** Tries while others end the same memberships. */
const TRIES = 5;

/**
 * Each with its event in the audit, and a project's with one in its feed. A group has to stand where it did: outside of
 * all others it inherits no owner, and who leaves may be its only one.
 */
async function endTogether(deps: Deps, leaving: Leaving, inside: readonly Inside[]): Promise<void> {
  const { members } = deps.store;
  const user = await leaving.named();
  const told = async ({ place, member: { source } }: Inside) => [
    ...('parentId' in place ? [checkUnmoved(place)] : []),
    await memberRemoved(deps, authorIn(leaving), auditedSource(source.kind, place), user),
    ...(await membershipActivity(deps, source, user.id, 'left')),
  ];
  let ending = inside;
  for (let n = 0; ending.length > 0; n++) {
    try {
      const events = await Promise.all(ending.map(told));
      await members.removeMany(
        ending.map(({ member }) => member),
        events.flat(),
      );
      return;
    } catch (error) {
      if (!(error instanceof Missing) || n === TRIES) throw error;
    }
    const sources = ending.map(({ member }) => member.source);
    ending = await insideAmong(deps, leaving, sources);
  }
}

/** Whose account is being deleted. */
export const deletedUser = (id: number) => ({ id, name: 'Deleted User' });

const placesOf = (
  store: Deps['store'],
  sources: readonly MemberSource[],
): Promise<(GroupRecord | ProjectRecord | undefined)[]> =>
  sources[0]?.kind === 'group'
    ? store.groups.getMany(sources.map(({ id }) => id))
    : store.projects.getMany(sources.map(({ id }) => id));
