/** Builds the list of users with access to a top-level group: its own members, those of its descendants, and those of invited groups. */

import { isExpired } from '../../records/expiry.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { MemberRecord, MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { type BillableMember, MEMBERSHIP_TYPES } from '../../store/billable-members/lists.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Deps } from '../deps.ts';

/** The daily job, and that of one group. */
export const REFRESH_ALL_JOB = 'billable.refresh-all';
export const REFRESH_JOB = 'billable.refresh';

/** Projects and groups read together. */
const SOURCES_PAGE_SIZE = 100;
/** Users read together. */
const USERS_PAGE_SIZE = 1000;
/** Messages written together. */
const MESSAGES = 50;
/** Maximum time of a worker for one list in milliseconds; 100,000 users take about 15 seconds. */
const BUILD_MS = 5 * 60_000;

/** Enqueues a refresh of each group's list that is kept. Idempotent. */
export async function refreshAll({ store, now }: Deps): Promise<void> {
  let messages: OutboxMessage[] = [];
  for await (const groupId of store.billableLists.groupsToRefresh(now())) {
    messages.push(message(MAINTENANCE, REFRESH_JOB, { groupId }));
    if (messages.length < MESSAGES) continue;
    await store.outbox.commit([], messages);
    messages = [];
  }
  if (messages.length > 0) await store.outbox.commit([], messages);
}

/** The job of one group. Idempotent. @throws when the group is larger than a worker can read in its time */
export async function refreshList(deps: Deps, groupId: number): Promise<void> {
  if (!(await buildList(deps, groupId, Date.now() + BUILD_MS)))
    throw new Error(`the list of billable members of group ${groupId} takes too long`);
}

/**
 * Builds and publishes a new list. Does nothing if the ID is not (or no longer) that of a top-level group.
 * @param deadline milliseconds since 1970
 * @returns false when the deadline came first: nothing has changed
 */
export async function buildList(deps: Deps, groupId: number, deadline: number): Promise<boolean> {
  const group = await deps.store.groups.get(groupId);
  if (group === undefined || group.parentId !== null) return true;
  try {
    const people = await new Walk(deps, deadline).peopleOf(group);
    await deps.store.billableLists.publish(groupId, people, deps.now());
    return true;
  } catch (error) {
    if (error instanceof OutOfTime) return false;
    throw error;
  }
}

class OutOfTime extends Error {
  override readonly name = 'OutOfTime';
}

/** ID, membership type (an index of `MEMBERSHIP_TYPES`), access level, and start of the membership. */
type Row = readonly [id: number, type: number, level: number, since: string];

/** Collects the users of a group, each once. */
class Walk {
  readonly #deps: Deps;
  readonly #deadline: number;
  readonly #people = new Map<number, Row>();
  /** Invited groups, by ID and membership type. */
  readonly #invited = new Map<string, Row>();

  constructor(deps: Deps, deadline: number) {
    this.#deps = deps;
    this.#deadline = deadline;
  }

  /** Returns the active users, without bots. @throws OutOfTime */
  async peopleOf(group: GroupRecord): Promise<BillableMember[]> {
    for (const kind of ['group', 'project'] as const) await this.#lookBelow(group, kind);
    await this.#lookIntoInvited();
    const all = [...this.#people.values()];
    const people: BillableMember[] = [];
    for (let at = 0; at < all.length; at += USERS_PAGE_SIZE)
      people.push(...(await this.#billable(all.slice(at, at + USERS_PAGE_SIZE))));
    return people;
  }

  async #lookBelow(group: GroupRecord, kind: MemberSource['kind']): Promise<void> {
    const { groups, projects } = this.#deps.store;
    const ids = kind === 'group' ? [group.id] : [];
    for (const row of ['DIRECT', 'DEEP'] as const)
      for await (const id of groups.rowsBelow(group.id, row, kind)) ids.push(id);
    for (let at = 0; at < ids.length; at += SOURCES_PAGE_SIZE) {
      const some = ids.slice(at, at + SOURCES_PAGE_SIZE);
      const records = await (kind === 'group' ? groups.getMany(some) : projects.getMany(some));
      const inside = records.filter((record) => record !== undefined && isInside(record, group));
      await Promise.all(inside.map((record) => this.#lookInto(kind, record!)));
    }
  }

  async #lookInto(kind: MemberSource['kind'], { id, shares }: GroupRecord | ProjectRecord): Promise<void> {
    for await (const { userId, accessLevel, createdAt } of this.#membersOf({ kind, id }))
      join(this.#people, userId, [userId, kind === 'group' ? 0 : 1, accessLevel, createdAt]);
    for (const share of shares) {
      if (isExpired(share, this.#deps.now())) continue;
      const type = kind === 'group' ? 2 : 3;
      const row = [share.groupId, type, share.accessLevel, share.createdAt] as const;
      join(this.#invited, `${share.groupId} ${type}`, row);
    }
  }

  /** Adds the members of invited groups. For a group invited to a project, members of its ancestors count as well. */
  async #lookIntoInvited(): Promise<void> {
    for (const [groupId, type, level] of this.#invited.values()) {
      const group = await this.#deps.store.groups.get(groupId);
      if (group === undefined) continue;
      for (const id of type === 3 ? [groupId, ...group.ancestorIds] : [groupId]) {
        for await (const { userId, accessLevel, createdAt } of this.#membersOf({ kind: 'group', id }))
          join(this.#people, userId, [userId, type, Math.min(level, accessLevel), createdAt]);
      }
    }
  }

  /** Direct members, without bots. */
  async *#membersOf(source: MemberSource): AsyncGenerator<MemberRecord> {
    for await (const member of this.#deps.store.members.each(source)) {
      this.#checkTime();
      if (member.bot !== true) yield member;
    }
  }

  async #billable(rows: readonly Row[]): Promise<BillableMember[]> {
    this.#checkTime();
    const users = await this.#deps.store.users.getMany(rows.map(([id]) => id));
    return rows.flatMap(([userId, type, level, joined], i) => {
      const user = users[i];
      if (user === undefined || user.state !== 'active' || user.type !== undefined) return [];
      const email = user.profile['public_email'];
      return {
        userId,
        type: MEMBERSHIP_TYPES[type]!,
        level,
        joined,
        activity: user.lastActivityOn ?? '',
        name: user.name,
        username: user.username,
        email: typeof email === 'string' ? email : '',
      };
    });
  }

  #checkTime(): void {
    if (Date.now() > this.#deadline) throw new OutOfTime();
  }
}

const isInside = (record: GroupRecord | ProjectRecord, { id }: GroupRecord): boolean =>
  record.deletedAt === null && (record.id === id || record.ancestorIds[0] === id);

/** Keeps of two rows the first type, the highest level and the earliest day. */
function join<K>(rows: Map<K, Row>, key: K, row: Row): void {
  const known = rows.get(key);
  rows.set(
    key,
    known === undefined
      ? row
      : [
          row[0],
          Math.min(known[1], row[1]),
          Math.max(known[2], row[2]),
          known[3] < row[3] ? known[3] : row[3],
        ],
  );
}
