/** Whom the rules in force, those of code owners too, name as approvers of merge requests. */

import type { ApprovalRule, ApprovalRules } from '../../records/approvals.ts';
import type { ListedMergeRequest } from '../../records/merge-requests.ts';
import type { BranchRule } from '../../records/refs.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { groupAccesses } from '../groups/details.ts';
import { RuleSet } from '../refs/pattern.ts';
import type { Choice } from '../tracked/conditions.ts';
import { ownerRules } from './owner-rules.ts';
import { type ApprovalSettings, approvalSettings } from './settings.ts';
import { rulesInForce } from './state.ts';

type Named = Pick<ApprovalRule, 'userIds' | 'groupIds'>;

/**
 * Decides, for batches of merge requests, whether rules name all these users, themselves or as direct members of groups that
 * the actor can see; or whether rules name anybody.
 */
export function approversNamed(
  deps: Deps,
  actor: Actor,
  wanted: Choice<readonly number[]>,
  accessOf: (projectId: number) => ProjectAccess | undefined,
): (records: readonly ListedMergeRequest[]) => Promise<boolean[]> {
  const projects = new Map<number, RuledProject>();
  /** Of each group that is seen, those of the wanted who are members. */
  const groups = new Map<number, ReadonlySet<number>>();
  return async (records) => {
    const found = new Set(records.map(({ projectId }) => projectId));
    const ids = [...found].filter((id) => !projects.has(id));
    const [own, ofProjects] = await Promise.all([
      deps.store.approvalRules.ofMany(records),
      deps.store.approvalRules.ofMany(ids.map((projectId) => ({ projectId, iid: null }))),
    ]);
    for (const each of ofProjects) projects.set(each.projectId, new RuledProject(deps, each));
    const inForce = await Promise.all(
      records.map(async (record, i): Promise<readonly Named[]> => {
        const access = accessOf(record.projectId);
        if (access === undefined) return [];
        const rules = await projects.get(record.projectId)!.inForce(access, record, own[i]!.rules);
        return [...rules, ...ownerRules(deps, access, record, record.verdict?.owned ?? [], [])];
      }),
    );
    await readGroups(deps, actor, wanted, groups, inForce.flat());
    return inForce.map((rules) => {
      const names = rules.some(
        ({ userIds, groupIds }) => userIds.length > 0 || groupIds.some((id) => groups.has(id)),
      );
      if (wanted === 'any' || wanted === 'none') return names === (wanted === 'any');
      return wanted.every((userId) =>
        rules.some(
          ({ userIds, groupIds }) =>
            userIds.includes(userId) || groupIds.some((id) => groups.get(id)?.has(userId)),
        ),
      );
    });
  };
}

/** A project whose settings and protected branches are read where they matter, and once. */
class RuledProject {
  readonly #deps: Deps;
  readonly #rules: ApprovalRules;
  #settings: Promise<ApprovalSettings> | undefined;
  #protections: Promise<readonly BranchRule[]> | undefined;
  constructor(deps: Deps, rules: ApprovalRules) {
    this.#deps = deps;
    this.#rules = rules;
  }

  async inForce(
    access: ProjectAccess,
    { targetBranch }: ListedMergeRequest,
    ownRules: readonly ApprovalRule[],
  ): Promise<readonly ApprovalRule[]> {
    const { rules, projectId } = this.#rules;
    const regular = [...rules, ...ownRules].filter(({ type }) => type === 'regular');
    if (regular.length === 0) return [];
    const isScoped = regular.some((rule) => rule.allProtectedBranches || rule.protectedBranchIds.length > 0);
    if (isScoped) this.#protections ??= this.#deps.store.refRules.list(projectId, 'branch');
    if (ownRules.length > 0) this.#settings ??= approvalSettings(this.#deps, access);
    const [settings, all = []] = await Promise.all([this.#settings, this.#protections]);
    const target = {
      matchingIds: new Set(new RuleSet(all).matching(targetBranch).map(({ id }) => id)),
      allIds: new Set(all.map(({ id }) => id)),
    };
    const unruled = { allow_overrides_to_approver_list_per_merge_request: false };
    return rulesInForce({ settings: settings ?? unruled, rules, ownRules, target }).filter(
      ({ type }) => type === 'regular',
    );
  }
}

async function readGroups(
  deps: Deps,
  actor: Actor,
  wanted: Choice<readonly number[]>,
  groups: Map<number, ReadonlySet<number>>,
  rules: readonly Named[],
): Promise<void> {
  const ids = [...new Set(rules.flatMap(({ groupIds }) => groupIds))].filter((id) => !groups.has(id));
  if (ids.length === 0) return;
  const seen = (await groupAccesses(deps, actor, ids)).flatMap((access) => access?.group.id ?? []);
  const sources = seen.map((id) => ({ kind: 'group', id }) as const);
  const members = typeof wanted === 'string' || sources.length === 0 ? [] : wanted;
  const found = await Promise.all(members.map((userId) => deps.store.members.ofUserIn(userId, sources)));
  for (const [i, id] of seen.entries())
    groups.set(id, new Set(members.filter((_, of) => found[of]![i] !== undefined)));
}
