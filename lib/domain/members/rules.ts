/** Rules for giving memberships, the same for members and invitations. */

import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel, MemberRecord, MemberSource } from '../../records/members.ts';
import { LEVEL_NAMES, MAINTAINER } from '../access/levels.ts';
import { requireAbility, requireGroupAbility } from '../access/permissions.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError, forbidden, invalid, recordNotFound } from '../errors.ts';
import { type MembershipResource, parentsOf, sourceOf } from './list.ts';

/** Levels that a membership may have. A project has no owner level: it is owned by its namespace. */
const LEVELS: Readonly<Record<MemberSource['kind'], readonly number[]>> = {
  project: [10, 20, 30, 40],
  group: [10, 20, 30, 40, 50],
};

export interface MembershipInput {
  readonly accessLevel: number;
  /** `YYYY-MM-DD`; null clears it, undefined leaves it. */
  readonly expiresAt?: string | null | undefined;
}

/** Returns the level if the actor may grant it: at most their own. @throws 400, 401, 403 */
export function grantable(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  input: MembershipInput,
): AccessLevel {
  requireMemberAdmin(actor, resource);
  if (!LEVELS[sourceOf(resource).kind].includes(input.accessLevel)) {
    throw invalid({ access_level: ['is not included in the list'] });
  }
  if (input.expiresAt !== undefined && input.expiresAt !== null && input.expiresAt < today(deps)) {
    throw invalid({ expires_at: ['cannot be a date in the past'] });
  }
  if (!isAdministrator(actor) && input.accessLevel > resource.level) throw forbidden();
  return input.accessLevel as AccessLevel;
}

/**
 * Returns a membership that the actor may change: not one above the actor's level, and never that of a namespace's
 * owner, whose rights do not come from it. @throws 403, 404
 */
export async function requireLevelAbove(
  deps: Deps,
  actor: Actor,
  resource: MembershipResource,
  userId: number,
): Promise<MemberRecord> {
  const target = await deps.store.members.get(sourceOf(resource), userId);
  if (target === undefined) throw recordNotFound();
  // The membership of a bot ends with its token.
  if (isNamespaceOwner(resource, userId) || target.bot === true) throw forbidden();
  const reaches = isAdministrator(actor) || resource.level > MAINTAINER;
  if (!reaches && target.accessLevel > resource.level) throw forbidden();
  return target;
}

/**
 * Checks that a level is not below an inherited one, which it could not lower.
 * @param options.adding whether the membership is new: an ancestor group may lock the members of its projects
 * @throws 400, `405 Method Not Allowed`
 */
export async function requireLevelFits(
  deps: Deps,
  resource: MembershipResource,
  userId: number,
  level: AccessLevel,
  { adding }: { adding: boolean },
): Promise<void> {
  const parents = await parentsOf(deps, resource);
  if (adding) requireUnlocked(resource, parents);
  if (parents.length === 0) return;
  const sources = parents.map(({ id }) => ({ kind: 'group', id }) as const);
  const held = await deps.store.members.ofUserIn(userId, sources);
  const highest = Math.max(...held.map((member) => member?.accessLevel ?? 0)) as AccessLevel | 0;
  if (highest <= level || highest === 0) return;
  const { name } = parents[held.findIndex((member) => member?.accessLevel === highest)]!;
  throw invalid({
    access_level: [
      `should be greater than or equal to ${LEVEL_NAMES[highest]} inherited membership from group ${name}`,
    ],
  });
}

/** @param parents its ancestor groups @throws `405 Method Not Allowed` */
export function requireUnlocked(resource: MembershipResource, parents: readonly GroupRecord[]): void {
  if ('project' in resource && parents.some(({ settings }) => settings['membership_lock'] === true))
    throw new DomainError('method-not-allowed', '405 Method Not Allowed');
}

/** @throws 401, 403 */
export function requireMemberAdmin(actor: Actor, resource: MembershipResource): void {
  if ('project' in resource) requireAbility(actor, resource, 'admin_members');
  else requireGroupAbility(actor, resource, 'admin_group_members');
}

/** Whether the user owns the personal namespace of the project; this does not depend on memberships. */
export const isNamespaceOwner = (resource: MembershipResource, userId: number): boolean =>
  'project' in resource && resource.project.namespaceKind === 'user' && resource.project.ownerId === userId;

const today = (deps: Deps) => deps.now().toISOString().slice(0, 10);
