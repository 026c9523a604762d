import type { MemberSource } from '../../records/members.ts';
import type { Deps } from '../deps.ts';

/** Maximum number of memberships read: groups first, the oldest first. */
const MAX_MEMBERSHIPS = 1000;
/** Maximum number of memberships in descendants of one group that are checked with a consistent read. */
const MAX_CHECKED = 100;

/**
 * Returns the projects and groups of which a user is a direct member, by ancestor group ID. Read through an index,
 * which is eventually consistent.
 */
export async function membershipsInDescendants(
  { store }: Deps,
  userId: number,
): Promise<ReadonlyMap<number, readonly MemberSource[]>> {
  const ids = { group: [] as number[], project: [] as number[] };
  for await (const { source } of store.members.ofUser(userId)) {
    ids[source.kind].push(source.id);
    if (ids.group.length + ids.project.length >= MAX_MEMBERSHIPS) break;
  }
  const [groups, projects] = await Promise.all([
    store.groups.getMany(ids.group),
    store.projects.getMany(ids.project),
  ]);
  const byAncestor = new Map<number, MemberSource[]>();
  const add = (kind: MemberSource['kind'], records: typeof groups | typeof projects) => {
    for (const record of records) {
      if (record === undefined || record.deletedAt !== null) continue;
      for (const ancestor of record.ancestorIds)
        byAncestor.set(ancestor, [...(byAncestor.get(ancestor) ?? []), { kind, id: record.id }]);
    }
  };
  add('group', groups);
  add('project', projects);
  return byAncestor;
}

/** Whether a user is still a member of one of the sources. A consistent read: no access depends on a stale index. */
export async function isStillMember(
  { store }: Deps,
  userId: number,
  sources: readonly MemberSource[] | undefined,
): Promise<boolean> {
  if (sources === undefined) return false;
  const members = await store.members.ofUserIn(userId, sources.slice(0, MAX_CHECKED));
  return members.some((member) => member !== undefined);
}
