import type { RuleGrant } from '../../records/refs.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { groupAccesses } from '../groups/details.ts';

/** The names of users and groups in grants; those that do not exist any more are absent. */
export interface Grantees {
  readonly users: ReadonlyMap<number, string>;
  /** Null for a group that the actor cannot see. */
  readonly groups: ReadonlyMap<number, string | null>;
}

/** Reads nothing where grants have levels only. */
export async function granteesOf(deps: Deps, actor: Actor, grants: readonly RuleGrant[]): Promise<Grantees> {
  const userIds = [...new Set(grants.flatMap((grant) => ('userId' in grant ? [grant.userId] : [])))];
  const groupIds = [...new Set(grants.flatMap((grant) => ('groupId' in grant ? [grant.groupId] : [])))];
  const [users, groups, seen] = await Promise.all([
    userIds.length === 0 ? [] : deps.store.users.getMany(userIds),
    groupIds.length === 0 ? [] : deps.store.groups.getMany(groupIds),
    groupIds.length === 0 ? [] : groupAccesses(deps, actor, groupIds),
  ]);
  return {
    users: new Map(users.flatMap((user) => (user ? [[user.id, user.name]] : []))),
    groups: new Map(
      groups.flatMap((group, i) =>
        group && group.deletedAt === null ? [[group.id, seen[i]?.group.name ?? null]] : [],
      ),
    ),
  };
}
