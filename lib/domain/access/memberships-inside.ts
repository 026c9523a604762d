import type { MemberSource } from '../../records/members.ts';
import type { Deps } from '../deps.ts';

/** Memberships looked at, groups first, the oldest first. */
const MAX_LOOKED_AT = 1000;
/** Memberships inside one group of which one must still be there. */
const MAX_ASKED = 100;

/** What a user is a direct member of, by the groups above it. Found through an index, which may be late. */
export async function membershipsInDescendants(
  { store }: Deps,
  userId: number,
): Promise<ReadonlyMap<number, readonly MemberSource[]>> {
  const ids = { group: [] as number[], project: [] as number[] };
  for await (const { source } of store.members.ofUser(userId)) {
    ids[source.kind].push(source.id);
    if (ids.group.length + ids.project.length >= MAX_LOOKED_AT) break;
  }
  const [groups, projects] = await Promise.all([
    store.groups.getMany(ids.group),
    store.projects.getMany(ids.project),
  ]);
  const inside = new Map<number, MemberSource[]>();
  const add = (kind: MemberSource['kind'], records: typeof groups | typeof projects) => {
    for (const record of records) {
      if (record === undefined || record.deletedAt !== null) continue;
      for (const above of record.ancestorIds)
        inside.set(above, [...(inside.get(above) ?? []), { kind, id: record.id }]);
    }
  };
  add('group', groups);
  add('project', projects);
  return inside;
}

/** Whether a user still is a member of one of these: no right hangs on a late index. */
export async function isStillMember(
  { store }: Deps,
  userId: number,
  sources: readonly MemberSource[] | undefined,
): Promise<boolean> {
  if (sources === undefined) return false;
  const members = await store.members.ofUserIn(userId, sources.slice(0, MAX_ASKED));
  return members.some((member) => member !== undefined);
}
