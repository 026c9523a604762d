/** The users, groups and levels that protection rules name. */
import { isExpired } from '../../records/expiry.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { RULE_LEVELS, type RuleGrant, type RuleLevel } from '../../records/refs.ts';
import { MembershipCache } from '../access/effective-level.ts';
import { projectAccess } from '../access/open-request.ts';
import type { ProjectAccess } from '../access/types.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { recordNotFound, unprocessable } from '../errors.ts';

/** What one request says about one grant: a new one, or what becomes of the one with this id. */
export interface GrantInput {
  readonly id?: number | undefined;
  readonly level?: RuleLevel | undefined;
  readonly userId?: number | undefined;
  readonly groupId?: number | undefined;
  readonly deployKeyId?: number | undefined;
  readonly destroy?: boolean | undefined;
}

export type GrantedAction = 'push' | 'merge' | 'unprotect' | 'create' | 'deploy';

/** Maximum number of grants for one action of a rule: they are read and named with the rule. */
const MAX_GRANTS = 20;

/** Whether a grant lets the actor do what it is for. Administrators are refused by `No one` alone. */
export function grants(
  grant: RuleGrant,
  actor: Actor,
  { level }: Pick<ProjectAccess, 'level'>,
  memberOf: ReadonlySet<number>,
): boolean {
  if ('level' in grant) return grant.level !== 0 && (isAdministrator(actor) || level >= grant.level);
  return isAdministrator(actor) || namesActor(grant, actor, memberOf);
}

/** Whether a grant is for the actor by name, or for a group that they are in. */
export function namesActor(grant: RuleGrant, actor: Actor, memberOf: ReadonlySet<number>): boolean {
  if (actor.kind !== 'user' || 'level' in grant) return false;
  return 'userId' in grant ? grant.userId === actor.user.id : memberOf.has(grant.groupId);
}

/**
 * The groups named by rules that the actor is a direct member of, as far as the project is in them or shared with them.
 * Reads nothing where no such group is named.
 */
export async function grantedGroups(
  { store, now }: Deps,
  { project }: ProjectAccess,
  actor: Actor,
  named: readonly RuleGrant[],
): Promise<ReadonlySet<number>> {
  if (actor.kind !== 'user') return new Set();
  const ids = [...new Set(named.flatMap((grant) => ('groupId' in grant ? [grant.groupId] : [])))];
  const related = ids.filter((id) => hasAccess(project, id, now()));
  if (related.length === 0) return new Set();
  const sources = related.map((id) => ({ kind: 'group', id }) as const);
  const found = await store.members.ofUserIn(actor.user.id, sources);
  return new Set(related.filter((_, i) => found[i] !== undefined));
}

/** Whether a project is in a group, or shared with it. */
export const hasAccess = (
  { ancestorIds, shares }: Pick<ProjectRecord, 'ancestorIds' | 'shares'>,
  groupId: number,
  now: Date,
): boolean =>
  ancestorIds.includes(groupId) ||
  shares.some((share) => share.groupId === groupId && !isExpired(share, now));

/** The ids of a rule's grants are counted through all its actions. */
export const idsAfter = (all: readonly RuleGrant[]) => {
  let last = Math.max(0, ...all.map(({ id }) => id));
  return () => ++last;
};

/**
 * Applies what a request says to the grants of one action.
 * @throws 404 for an id that is not among them; 422 for a user or group without access to the project, a deploy key, a
 *   grant that is there already, and too many
 */
export async function changedGrants(
  deps: Deps,
  { project }: ProjectAccess,
  action: GrantedAction,
  current: readonly RuleGrant[],
  inputs: readonly GrantInput[],
  nextId: () => number,
): Promise<readonly RuleGrant[]> {
  const fail = (problem: string): never => {
    const name = `${action[0]!.toUpperCase()}${action.slice(1)} access levels`;
    throw unprocessable([`${name} ${problem}`]);
  };
  if (inputs.length > MAX_GRANTS) fail(`is too long (maximum is ${MAX_GRANTS})`);
  const result = new Map(current.map((grant) => [grant.id, grant]));
  for (const { id } of inputs) if (id !== undefined && !result.has(id)) throw recordNotFound();
  for (const { id, destroy } of inputs) if (destroy && id !== undefined) result.delete(id);
  for (const input of inputs) {
    if (input.destroy) continue;
    const id = input.id ?? nextId();
    const { level, userId, groupId, deployKeyId } = input;
    if (deployKeyId !== undefined) fail('deploy key is not enabled for this project');
    if ([level, userId, groupId].filter((of) => of !== undefined).length !== 1)
      fail('must each have one of access_level, user_id and group_id');
    if (level !== undefined) {
      if (!levelsFor(action).includes(level)) fail('access level is not included in the list');
      result.set(id, { id, level });
    } else if (userId !== undefined) result.set(id, { id, userId });
    else result.set(id, { id, groupId: groupId! });
  }
  const kept = [...result.values()];
  if (kept.length > MAX_GRANTS) fail(`is too long (maximum is ${MAX_GRANTS})`);
  for (const kind of ['level', 'userId', 'groupId'] as const) {
    const of = kept.flatMap((grant) =>
      kind in grant ? [(grant as unknown as Record<string, number>)[kind]] : [],
    );
    if (new Set(of).size < of.length) fail(`${KINDS[kind]} has already been taken`);
  }
  const added = kept.filter((grant) => current.find(({ id }) => id === grant.id) !== grant);
  if (added.some((grant) => 'groupId' in grant && !hasAccess(project, grant.groupId, deps.now())))
    fail('group does not have access to the project');
  const users = added.flatMap((grant) => ('userId' in grant ? [grant.userId] : []));
  if (!(await areMembers(deps, project, users))) fail('user is not a member of the project');
  return kept;
}

const KINDS = { level: 'access level', userId: 'user', groupId: 'group' } as const;

/** A rule that nobody may change could never be removed; what nobody may deploy to is no environment. */
const levelsFor = (action: GrantedAction): readonly RuleLevel[] =>
  action === 'unprotect' || action === 'deploy' ? RULE_LEVELS.filter((level) => level !== 0) : RULE_LEVELS;

async function areMembers(deps: Deps, project: ProjectRecord, ids: readonly number[]): Promise<boolean> {
  if (ids.length === 0) return true;
  const users = await deps.store.users.getMany(ids);
  const accesses = await Promise.all(
    users.map((user) => user && projectAccess({ kind: 'user', user }, project, new MembershipCache(deps))),
  );
  return accesses.every((access) => (access?.level ?? 0) > 0);
}
