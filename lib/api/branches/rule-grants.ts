/** What endpoints of protection rules take and tell of those who may do something. */

import type { Actor } from '../../domain/actor.ts';
import { type Grantees, granteesOf } from '../../domain/project-relations/grantees.ts';
import type { GrantInput } from '../../domain/refs/rule-grants.ts';
import * as p from '../../http/params.ts';
import { RULE_LEVELS, type RuleGrant, type RuleLevel } from '../../records/refs.ts';
import type { ApiDeps } from '../endpoint.ts';

/** Access level that a rule requires for an action; Maintainer when absent. */
export const ruleLevel = (verb: string) =>
  p.integer({
    values: RULE_LEVELS,
    description: `Access level required to ${verb}: 0 (no one), 30 (Developer), 40 (Maintainer, the default) or 60 (administrator)`,
  });

/** The entries of a list of those who are allowed to do something. */
export const grantList = (verb: string) =>
  p.array(
    p.object({
      id: p.integer({ description: 'Of the entry to change or remove; updates only' }),
      access_level: ruleLevel(verb),
      user_id: p.integer({ description: 'A member of the project' }),
      group_id: p.integer({
        description: 'A group that the project is in or shared with: its direct members',
      }),
      deploy_key_id: p.integer({ description: 'Refused: there are no deploy keys' }),
      _destroy: p.boolean({ description: 'Remove the entry' }),
    }),
    { maxItems: 100, description: `Who is allowed to ${verb}, each by a level, a user or a group` },
  );

type GivenGrants = readonly {
  readonly id?: number;
  readonly access_level?: number;
  readonly user_id?: number;
  readonly group_id?: number;
  readonly deploy_key_id?: number;
  readonly _destroy?: boolean;
}[];

/** @param level the parameter that names a level alone, which comes first */
export const grantInputs = (given: GivenGrants = [], level?: number): GrantInput[] => [
  ...(level === undefined ? [] : [{ level: level as RuleLevel }]),
  ...given.map((each) => ({
    id: each.id,
    level: each.access_level as RuleLevel | undefined,
    userId: each.user_id,
    groupId: each.group_id,
    deployKeyId: each.deploy_key_id,
    destroy: each._destroy,
  })),
];

/** Presents rules with the names of the users and groups in their grants, which are read together. */
export async function presentedRules<R, Shown>(
  deps: ApiDeps,
  actor: Actor,
  rules: readonly R[],
  grantsOf: (rule: R) => readonly RuleGrant[],
  present: (rule: R, grantees: Grantees) => Shown,
): Promise<Shown[]> {
  const grantees = await granteesOf(deps, actor, rules.flatMap(grantsOf));
  return rules.map((rule) => present(rule, grantees));
}
