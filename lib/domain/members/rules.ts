/** What memberships may be given, and by whom; the same however they come about. */

import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel, MemberRecord, MemberSource } from '../../records/members.ts';
import { LEVEL_NAMES, MAINTAINER } from '../access/levels.ts';
import { requireAbility, requireGroupAbility } from '../access/permissions.ts';
import type { Actor } from '../actor.ts';
import { isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { DomainError, forbidden, invalid, recordNotFound } from '../errors.ts';
import { type MembershipResource, parentsOf, sourceOf } from './list.ts';

/** Levels that a membership may have: owning a project belongs to its namespace. */
const LEVELS: Readonly<Record<MemberSource['kind'], readonly number[]>> = {
  project: [10, 20, 30, 40],
  group: [10, 20, 30, 40, 50],
};

export interface MembershipInput {
  readonly accessLevel: number;
  /** `YYYY-MM-DD`; null clears it, undefined leaves it. */
  readonly expiresAt?: string | null | undefined;
}

/** The level, when the actor may give it: nobody grants above their own. @throws 400, 401, 403 */
export function grantable(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  input: MembershipInput,
): AccessLevel {
  requireMemberAdmin(actor, place);
  if (!LEVELS[sourceOf(place).kind].includes(input.accessLevel)) {
    throw invalid({ access_level: ['is not included in the list'] });
  }
  if (input.expiresAt !== undefined && input.expiresAt !== null && input.expiresAt <= today(deps)) {
    throw invalid({ expires_at: ['cannot be a date in the past'] });
  }
  if (!isAdministrator(actor) && input.accessLevel > place.level) throw forbidden();
  return input.accessLevel as AccessLevel;
}

/**
 * Somebody who stands higher than the actor is out of the actor's reach, and a namespace's owner out of everybody's:
 * that membership says nothing about their rights. @returns the membership
 */
export async function requireLevelAbove(
  deps: Deps,
  actor: Actor,
  place: MembershipResource,
  userId: number,
): Promise<MemberRecord> {
  const target = await deps.store.members.get(sourceOf(place), userId);
  if (target === undefined) throw recordNotFound();
  // A bot is a member as long as its token lives.
  if (isNamespaceOwner(place, userId) || target.bot === true) throw forbidden();
  const reaches = isAdministrator(actor) || place.level > MAINTAINER;
  if (!reaches && target.accessLevel > place.level) throw forbidden();
  return target;
}

/**
 * A membership adds nothing where a group above gives more, and must not seem to take away.
 * @param options.adding a new one: a group may keep the members of its projects to those who are its own
 * @throws 400, `405 Method Not Allowed`
 */
export async function requireLevelFits(
  deps: Deps,
  place: MembershipResource,
  userId: number,
  level: AccessLevel,
  { adding }: { adding: boolean },
): Promise<void> {
  const parents = await parentsOf(deps, place);
  if (adding) requireUnlocked(place, parents);
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

/** @param parents the groups that it stands in @throws `405 Method Not Allowed` */
export function requireUnlocked(place: MembershipResource, parents: readonly GroupRecord[]): void {
  if ('project' in place && parents.some(({ settings }) => settings['membership_lock'] === true))
    throw new DomainError('method-not-allowed', '405 Method Not Allowed');
}

/** @throws 401, 403 */
export function requireMemberAdmin(actor: Actor, place: MembershipResource): void {
  if ('project' in place) requireAbility(actor, place, 'admin_members');
  else requireGroupAbility(actor, place, 'admin_group_members');
}

/** The owner of a personal project is its owner whatever memberships say. */
export const isNamespaceOwner = (place: MembershipResource, userId: number): boolean =>
  'project' in place && place.project.namespaceKind === 'user' && place.project.ownerId === userId;

const today = (deps: Deps) => deps.now().toISOString().slice(0, 10);
