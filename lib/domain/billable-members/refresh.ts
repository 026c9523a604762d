/** Finds everybody with access to an outermost group: its own members, those inside it, and those of invited groups. */

import { isExpired } from '../../records/expiry.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { type Billable, MEMBERSHIP_TYPES } from '../../store/billable-members/lists.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import { dayBefore } from '../days.ts';
import type { Deps } from '../deps.ts';

/** The daily job, and that of one group. */
export const REFRESH_ALL_JOB = 'billable.refresh-all';
export const REFRESH_JOB = 'billable.refresh';

/** A list that nobody asked for in so many days is kept no longer. */
const KEPT_DAYS = 30;
/** Who was not at it for so long has given up. */
const STALE_MS = 20 * 60_000;
/** Projects and groups that are read together. */
const SOME = 100;
/** Users that are read together. */
const USERS = 1000;
/** Promises written together. */
const PROMISES = 50;

/** How far a list is; its `listId` is that of the message it was begun with. */
export interface Refresh {
  readonly groupId: number;
  readonly listId: string;
  /** The last project or group that was looked into; absent: none. */
  readonly after?: MemberSource;
  /** Parts that keep what was found. */
  readonly parts: number;
}

/** Promises a new list of each group whose list is kept; those nobody asks for any more go. May come twice. */
export async function refreshAll({ store, now }: Deps): Promise<void> {
  const last = dayBefore(now(), KEPT_DAYS);
  let promised: OutboxMessage[] = [];
  for await (const groupId of store.billableLists.kept()) {
    const state = await store.billableLists.state(groupId);
    if ((state?.askedOn ?? '') < last) {
      await store.billableLists.forget(groupId);
      continue;
    }
    promised.push(message(MAINTENANCE, REFRESH_JOB, { groupId }));
    if (promised.length < PROMISES) continue;
    await store.outbox.commit([], promised);
    promised = [];
  }
  if (promised.length > 0) await store.outbox.commit([], promised);
}

/**
 * Makes a list, or goes on with one.
 * @param deadline milliseconds since 1970; no new step begins after it
 * @returns what is left to be done; undefined when the list is in force, somebody else makes one, or the group is no
 *   outermost one (any more)
 */
export async function refreshBillable(
  deps: Deps,
  refresh: Refresh,
  deadline: number,
): Promise<Refresh | undefined> {
  const { store, now } = deps;
  const { groupId, listId } = refresh;
  const group = await store.groups.get(groupId);
  if (group === undefined || group.parentId !== null) {
    await store.billableLists.forget(groupId);
    return undefined;
  }
  const mine =
    refresh.after === undefined
      ? await store.billableLists.begin(groupId, listId, now(), new Date(now().getTime() - STALE_MS))
      : await store.billableLists.goOn(groupId, listId, now());
  if (!mine) return undefined;
  const found = new Found();
  const after = await look(deps, group, found, refresh.after, deadline);
  if (after !== undefined) {
    const parts = await store.billableLists.keepHalf(groupId, listId, refresh.parts, found.kept());
    return { groupId, listId, after, parts };
  }
  for await (const kept of store.billableLists.half<Kept>(groupId, listId)) found.take(kept);
  await invitedPeople(deps, found);
  await store.billableLists.publish(groupId, listId, await people(deps, found), now());
  return undefined;
}

/** @returns the last place that was looked into, when there are more; undefined at the end */
async function look(
  deps: Deps,
  group: GroupRecord,
  found: Found,
  after: MemberSource | undefined,
  deadline: number,
): Promise<MemberSource | undefined> {
  const { groups, projects } = deps.store;
  for (const kind of ['group', 'project'] as const) {
    if (after?.kind === 'project' && kind === 'group') continue;
    const ids = kind === 'group' ? [group.id] : [];
    for (const row of ['DIRECT', 'DEEP'] as const)
      for await (const id of groups.rowsBelow(group.id, row, kind)) ids.push(id);
    const left = ids.sort((a, b) => a - b).filter((id) => after?.kind !== kind || id > after.id);
    for (let at = 0; at < left.length; at += SOME) {
      const some = left.slice(at, at + SOME);
      const records = await (kind === 'group' ? groups.getMany(some) : projects.getMany(some));
      const inside = records.filter((record) => record !== undefined && isInside(record, group));
      await Promise.all(inside.map((record) => lookInto(deps, found, kind, record!)));
      if (Date.now() > deadline) return { kind, id: some.at(-1)! };
    }
  }
  return undefined;
}

const isInside = (record: GroupRecord | ProjectRecord, { id }: GroupRecord): boolean =>
  record.deletedAt === null && (record.id === id || record.ancestorIds[0] === id);

async function lookInto(
  { store, now }: Deps,
  found: Found,
  kind: MemberSource['kind'],
  { id, shares }: GroupRecord | ProjectRecord,
): Promise<void> {
  for await (const { userId, accessLevel, createdAt, bot } of store.members.each({ kind, id }))
    if (bot !== true) found.person([userId, kind === 'group' ? 0 : 1, accessLevel, createdAt]);
  for (const share of shares)
    if (!isExpired(share, now()))
      found.invited([share.groupId, kind === 'group' ? 2 : 3, share.accessLevel, share.createdAt]);
}

/** Members of invited groups; where a project is what they are invited to, those of the groups above count as well. */
async function invitedPeople({ store }: Deps, found: Found): Promise<void> {
  for (const [groupId, type, level] of found.groups()) {
    const group = await store.groups.get(groupId);
    if (group === undefined) continue;
    for (const id of type === 3 ? [groupId, ...group.ancestorIds] : [groupId]) {
      for await (const { userId, accessLevel, createdAt, bot } of store.members.each({ kind: 'group', id }))
        if (bot !== true) found.person([userId, type, Math.min(level, accessLevel), createdAt]);
    }
  }
}

/** Those who have an account that may do something, and are people. */
async function people({ store }: Deps, found: Found): Promise<Billable[]> {
  const all = found.people();
  const listed: Billable[] = [];
  for (let at = 0; at < all.length; at += USERS) {
    const some = all.slice(at, at + USERS);
    const users = await store.users.getMany(some.map(([id]) => id));
    for (const [i, [userId, type, level, joined]] of some.entries()) {
      const user = users[i];
      if (user === undefined || user.state !== 'active' || user.type !== undefined) continue;
      const shown = user.profile['public_email'];
      listed.push({
        userId,
        type: MEMBERSHIP_TYPES[type]!,
        level,
        joined,
        activity: user.lastActivityOn ?? '',
        name: user.name,
        username: user.username,
        email: typeof shown === 'string' ? shown : '',
      });
    }
  }
  return listed;
}

/** An id, how it is found (`MEMBERSHIP_TYPES`), the level, and since when. */
type Row = readonly [id: number, type: number, level: number, since: string];
type Kept = { readonly person: Row } | { readonly invited: Row };

/** What was found so far, each once. */
class Found {
  readonly #people = new Map<number, Row>();
  /** By how they are invited as well. */
  readonly #groups = new Map<string, Row>();

  person(row: Row): void {
    this.#people.set(row[0], joined(this.#people.get(row[0]), row));
  }

  invited(row: Row): void {
    const key = `${row[0]} ${row[1]}`;
    this.#groups.set(key, joined(this.#groups.get(key), row));
  }

  take(kept: Kept): void {
    if ('person' in kept) this.person(kept.person);
    else this.invited(kept.invited);
  }

  kept(): Kept[] {
    return [...this.people().map((person) => ({ person })), ...this.groups().map((invited) => ({ invited }))];
  }

  people = (): Row[] => [...this.#people.values()];
  groups = (): Row[] => [...this.#groups.values()];
}

const joined = (a: Row | undefined, b: Row): Row =>
  a === undefined ? b : [a[0], Math.min(a[1], b[1]), Math.max(a[2], b[2]), a[3] < b[3] ? a[3] : b[3]];
