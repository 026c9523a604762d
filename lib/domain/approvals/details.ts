/** What approval rules name, as far as the caller may see it. */

import type { ApprovalRule } from '../../records/approvals.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { BranchRule } from '../../records/refs.ts';
import type { UserRecord } from '../../records/users.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { groupAccesses } from '../groups/details.ts';

/** Members of groups shown with a rule. */
const MAX_SHOWN = 100;

export interface RuleDetails {
  readonly rule: ApprovalRule;
  /** In the order of the rule, without deleted ones. */
  readonly users: readonly UserRecord[];
  /** Those that the caller can see. */
  readonly groups: readonly GroupRecord[];
  readonly hasHiddenGroups: boolean;
  /** The users, then members of the groups that the caller can see, {@link MAX_SHOWN} at most; without blocked accounts. */
  readonly approvers: readonly UserRecord[];
  readonly protectedBranches: readonly BranchRule[];
}

/** Reads users, groups and protected branches of all rules at once. */
export async function ruleDetails(
  deps: Deps,
  actor: Actor,
  { project }: Pick<ProjectAccess, 'project'>,
  rules: readonly ApprovalRule[],
): Promise<RuleDetails[]> {
  const groupIds = [...new Set(rules.flatMap((rule) => rule.groupIds))];
  const branches = rules.some(({ protectedBranchIds }) => protectedBranchIds.length > 0);
  const [groups, protections] = await Promise.all([
    groupIds.length === 0 ? [] : groupAccesses(deps, actor, groupIds),
    branches ? deps.store.refRules.list(project.id, 'branch') : [],
  ]);
  const seen = new Map(groups.flatMap((access) => (access ? [[access.group.id, access.group]] : [])));
  const members = await Promise.all(
    rules.map((rule) =>
      membersOf(
        deps,
        rule.groupIds.filter((id) => seen.has(id)),
      ),
    ),
  );
  const userIds = [...new Set([...rules.flatMap((rule) => rule.userIds), ...members.flat()])];
  const found = userIds.length === 0 ? [] : await deps.store.users.getMany(userIds);
  const users = new Map(found.flatMap((user) => (user ? [[user.id, user]] : [])));
  return rules.map((rule, i) => {
    const named = rule.userIds.flatMap((id) => users.get(id) ?? []);
    const more = members[i]!.flatMap((id) => (rule.userIds.includes(id) ? [] : (users.get(id) ?? [])));
    return {
      rule,
      users: named,
      groups: rule.groupIds.flatMap((id) => seen.get(id) ?? []),
      hasHiddenGroups: rule.groupIds.some((id) => !seen.has(id)),
      approvers: [...named, ...more].filter(({ state }) => state === 'active').slice(0, MAX_SHOWN),
      protectedBranches: protections.filter(({ id }) => rule.protectedBranchIds.includes(id)),
    };
  });
}

/** Returns members of groups, {@link MAX_SHOWN} at most. */
export async function membersOf({ store }: Deps, groupIds: readonly number[]): Promise<number[]> {
  if (groupIds.length === 0) return [];
  const sources = groupIds.map((id) => ({ source: { kind: 'group', id } as const }));
  const { items } = await store.members.listAll(sources, { page: 1, perPage: MAX_SHOWN });
  return items.map(({ userId }) => userId);
}
