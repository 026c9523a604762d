/** Billable members: all users with access to a top-level group, in a list that is refreshed daily. Also their removal. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupRecord } from '../../records/groups.ts';
import type { MemberRecord } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { UserRecord } from '../../records/users.ts';
import type { BillableList, BillableOrder, ListedMember } from '../../store/billable-members/lists.ts';
import { MAINTENANCE, message } from '../../store/outbox/outbox.ts';
import { folded } from '../../store/row-keys/key.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { readingAnew } from '../../store/table/read-once.ts';
import type { GroupAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest, notFound, recordNotFound, unavailable } from '../errors.ts';
import { membershipCascade } from '../members/cascade-removal.ts';
import { removeMember } from '../members/members.ts';
import { buildList, REFRESH_JOB } from './refresh.ts';

export interface BillableMember extends ListedMember {
  readonly user: UserRecord;
}

export const BILLABLE_SORTS = {
  access_level_asc: ['level', false],
  access_level_desc: ['level', true],
  last_joined: ['joined', true],
  name_asc: ['name', false],
  name_desc: ['name', true],
  oldest_joined: ['joined', false],
  // There are no sessions: the day of the last request stands for the last sign-in.
  oldest_sign_in: ['activity', false],
  recent_sign_in: ['activity', true],
  last_activity_on_asc: ['activity', false],
  last_activity_on_desc: ['activity', true],
} as const satisfies Record<string, readonly [BillableOrder, boolean]>;
export type BillableSort = keyof typeof BILLABLE_SORTS;

/** Milliseconds that the first request spends on building the list, or waits for another request that builds it. */
const BUILD_MS = 3_000;

/**
 * Lists billable members as of the last refresh, without users deleted since.
 * @param query.search part of a name, username or public address; for administrators also a whole address
 * @throws 400 for a subgroup; 503 until the first list is built
 */
export async function listBillable(
  deps: Deps,
  actor: Actor,
  { group }: GroupAccess,
  query: PageRequest & { search?: string | undefined; sort: BillableSort },
): Promise<Page<BillableMember>> {
  if (group.parentId !== null) throw badRequest();
  const [order, descending] = BILLABLE_SORTS[query.sort];
  const term = folded(query.search?.trim() ?? '');
  const lists = deps.store.billableLists;
  const list = await listInForce(deps, group.id);
  if (term === '') {
    const page = await lists.page(list, order, descending, query);
    return { ...page, items: await withUsers(deps, page.items) };
  }
  const anyEmail = term.includes('@') && isAdministrator(actor);
  const owner = anyEmail ? await deps.store.users.byEmail(term) : undefined;
  const found = await lists.search(
    list,
    order,
    descending,
    ({ userId, name, username, email }) =>
      userId === owner?.id || [name, username, email].some((text) => folded(text).includes(term)),
  );
  const first = (query.page - 1) * query.perPage;
  const items = await withUsers(deps, found.slice(first, first + query.perPage));
  return { items, total: found.length, more: first + query.perPage < found.length };
}

/** Returns the current list. Without one, the request builds it or leaves it to a worker. @throws 503 when it is not built in time */
async function listInForce(deps: Deps, groupId: number): Promise<BillableList> {
  const { billableLists, outbox } = deps.store;
  let list = await billableLists.getAndExtend(groupId, deps.now());
  if (list !== undefined) return list;
  const deadline = Date.now() + BUILD_MS;
  const isMine = await billableLists.claim(groupId, deps.now());
  if (isMine && !(await readingAnew(() => buildList(deps, groupId, deadline))))
    await outbox.commit([], [message(MAINTENANCE, REFRESH_JOB, { groupId })]);
  for (;;) {
    list = await billableLists.get(groupId, deps.now());
    if (list !== undefined) return list;
    if (Date.now() > deadline) throw unavailable();
    await sleep(200);
  }
}

async function withUsers({ store }: Deps, listed: readonly ListedMember[]): Promise<BillableMember[]> {
  const users = await store.users.getMany(listed.map(({ userId }) => userId));
  return listed.flatMap(({ userId, type }, i) => {
    const user = users[i];
    return user === undefined ? [] : [{ userId, type, user }];
  });
}

/** A direct membership in a group or one of its descendants. */
export interface MembershipInside {
  readonly record: MemberRecord;
  readonly subject: GroupRecord | ProjectRecord;
  readonly fullName: string;
}

/** Lists direct memberships in a group and its descendants: groups, then projects, by ID. @throws 400 for a subgroup, `404 User Not Found` */
export async function membershipsOf(
  deps: Deps,
  { group }: GroupAccess,
  userId: number,
  { page, perPage }: PageRequest,
): Promise<Page<MembershipInside>> {
  if (group.parentId !== null) throw badRequest();
  if ((await deps.store.users.get(userId)) === undefined) throw notFound('User');
  const inside = await membershipsIn(deps, group, userId);
  const first = (page - 1) * perPage;
  const shown = inside.slice(first, first + perPage);
  const above = shown.map(({ subject }) => ('namespaceId' in subject ? subject.namespaceId : subject.id));
  const groups = await deps.store.groups.getMany([...new Set(above)]);
  const names = new Map(groups.map((each) => [each?.id, each?.fullName]));
  const items = shown.map(({ record, subject }, i) => {
    const name = names.get(above[i]) ?? '';
    return { record, subject, fullName: 'namespaceId' in subject ? `${name} / ${subject.name}` : name };
  });
  return { items, total: inside.length, more: first + items.length < inside.length };
}

async function membershipsIn({ store }: Deps, group: GroupRecord, userId: number) {
  const found: { record: MemberRecord; subject: GroupRecord | ProjectRecord }[] = [];
  for (const kind of ['group', 'project'] as const) {
    let ids: number[] = [];
    const take = async () => {
      const [subjects, records] = await Promise.all([
        kind === 'group' ? store.groups.getMany(ids) : store.projects.getMany(ids),
        store.members.ofUserIn(
          userId,
          ids.map((id) => ({ kind, id })),
        ),
      ]);
      for (const [i, subject] of subjects.entries()) {
        const record = records[i];
        if (subject === undefined || record === undefined || subject.deletedAt !== null) continue;
        const isIt = kind === 'group' && subject.id === group.id;
        if (isIt || subject.ancestorIds[0] === group.id) found.push({ record, subject });
      }
      ids = [];
    };
    for await (const { source } of store.members.ofUser(userId, [kind])) {
      if (ids.push(source.id) === 100) await take();
    }
    if (ids.length > 0) await take();
  }
  return found;
}

/**
 * Removes a user from a group and its descendants; a worker completes the removal if there are many memberships.
 * @throws 400 for a subgroup; 403 for the last owner; 404 for a user without a membership in it, such as a member of an
 *   invited group only
 */
export async function removeBillable(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  userId: number,
): Promise<void> {
  const { group } = access;
  if (group.parentId !== null) throw badRequest();
  const user = await deps.store.users.get(userId);
  if (user === undefined || user.type !== undefined) throw notFound('User');
  const inside = await membershipsIn(deps, group, userId);
  if (inside.length === 0) throw recordNotFound();
  if (inside[0]!.subject.id === group.id && inside[0]!.record.source.kind === 'group')
    return removeMember(deps, actor, access, userId, { keepBelow: false, unassigns: false });
  const cascade = membershipCascade(deps, group.id, userId, actor);
  await deps.store.table.transact([cascade.enqueue]);
  await cascade.finish();
}
