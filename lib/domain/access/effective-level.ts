import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel, MemberRecord, MemberSource } from '../../records/members.ts';
import type { ShareRecord } from '../../records/shares.ts';
import type { Deps } from '../deps.ts';
import { isStillMember, membershipsInDescendants } from './memberships-inside.ts';

/** A project or group, as far as it decides who is what in it. */
export interface Resource {
  readonly source: MemberSource;
  /** The group it stands in; null for an outermost group and in a personal namespace. */
  readonly parentId: number | null;
  /** Groups it was shared with. */
  readonly shares: readonly ShareRecord[];
}

export interface EffectiveAccess {
  /** The highest level that memberships along the parents, and shares with other groups, give; 0: none. */
  readonly level: AccessLevel | 0;
  /** The groups it stands in, the innermost first. */
  readonly parents: readonly GroupRecord[];
}

/**
 * What a user is in a project or group: the highest level of a membership in it or in a group above it, or of one in a
 * group that one of these was shared with, which counts up to the level of the share.
 *
 * @param userId undefined for an anonymous caller
 * @returns undefined when a group above is deleted, and with it all inside
 */
export async function effectiveAccess(
  surroundings: MembershipCache,
  subject: Resource,
  userId: number | undefined,
): Promise<EffectiveAccess | undefined> {
  for (;;) {
    const missing: Missing = { groups: new Set(), sources: new Map() };
    const found = new Evaluation(surroundings, missing, userId).of(subject);
    if (missing.groups.size + missing.sources.size === 0) return found;
    await surroundings.read([...missing.groups], [...missing.sources.values()], userId);
  }
}

/** Groups and memberships that were read so far. What is known to be of use is read ahead, together. */
export class MembershipCache {
  readonly #deps: Deps;
  readonly #groups = new Map<number, GroupRecord | undefined>();
  readonly #members = new Map<string, MemberRecord | undefined>();
  #inside: ReturnType<typeof membershipsInDescendants> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** One round trip. */
  async read(
    groupIds: readonly number[],
    sources: readonly MemberSource[],
    userId: number | undefined,
  ): Promise<void> {
    const { groups, members } = this.#deps.store;
    const [found, memberships] = await Promise.all([
      groupIds.length === 0 ? [] : groups.getMany(groupIds),
      userId === undefined || sources.length === 0 ? [] : members.ofUserIn(userId, sources),
    ]);
    for (const [i, id] of groupIds.entries()) this.#groups.set(id, found[i]);
    for (const [i, source] of sources.entries()) this.#members.set(keyOf(source), memberships[i]);
  }

  /** Null when it was not read. */
  group(id: number): GroupRecord | undefined | null {
    return this.#groups.has(id) ? this.#groups.get(id) : null;
  }

  member(source: MemberSource): MemberRecord | undefined | null {
    const key = keyOf(source);
    return this.#members.has(key) ? this.#members.get(key) : null;
  }

  /** Whether a user is a member of something inside a group. What they are members of is read once. */
  async isInside(groupId: number, userId: number): Promise<boolean> {
    this.#inside ??= membershipsInDescendants(this.#deps, userId);
    return isStillMember(this.#deps, userId, (await this.#inside).get(groupId));
  }

  today(): string {
    return this.#deps.now().toISOString().slice(0, 10);
  }
}

/** Whether groups that are invited to projects in this one give their members nothing there. */
export const keepsProjectsToItself = ({ settings }: GroupRecord): boolean =>
  settings['share_with_group_lock'] === true;

const keyOf = ({ kind, id }: MemberSource) => `${kind} ${id}`;

interface Missing {
  readonly groups: Set<number>;
  readonly sources: Map<string, MemberSource>;
}

/** Walks what was read, and notes what else is needed. */
class Evaluation {
  readonly #known: MembershipCache;
  readonly #missing: Missing;
  readonly #userId: number | undefined;

  constructor(known: MembershipCache, missing: Missing, userId: number | undefined) {
    this.#known = known;
    this.#missing = missing;
    this.#userId = userId;
  }

  of({ source, parentId, shares }: Resource): EffectiveAccess | undefined {
    const parents = this.#above(parentId);
    if (parents === undefined) return undefined;
    if (this.#userId === undefined) return { level: 0, parents };
    const levels = [source, ...parents.map(asSource)].map((each) => this.#levelIn(each));
    const keptOut = source.kind === 'project' && parents.some(keepsProjectsToItself);
    for (const share of keptOut ? [] : shares) levels.push(this.#through(share, source.kind === 'project'));
    for (const share of parents.flatMap((group) => group.shares)) levels.push(this.#through(share, false));
    return { level: Math.max(...levels) as AccessLevel | 0, parents };
  }

  /** From the innermost outwards, as far as is known. @returns undefined when one is gone */
  #above(parentId: number | null): GroupRecord[] | undefined {
    const parents: GroupRecord[] = [];
    for (let id = parentId; id !== null; ) {
      const group = this.#known.group(id);
      if (group === null) {
        this.#missing.groups.add(id);
        break;
      }
      if (group === undefined || group.deletedAt !== null) return undefined;
      // Two moves at once could only seem to make a ring, for as long as they take.
      if (parents.includes(group)) break;
      parents.push(group);
      id = group.parentId;
    }
    return parents;
  }

  #levelIn(source: MemberSource): number {
    const member = this.#known.member(source);
    if (member === null) this.#missing.sources.set(keyOf(source), source);
    return member?.accessLevel ?? 0;
  }

  /** Members of a group that a project is shared with may have inherited that; those of a group's share not. */
  #through({ groupId, accessLevel, expiresAt }: ShareRecord, inherited: boolean): number {
    if (expiresAt !== null && expiresAt <= this.#known.today()) return 0;
    const invited = this.#above(groupId);
    if (invited === undefined) return 0;
    const givers = inherited ? invited : invited.slice(0, 1);
    return Math.min(accessLevel, Math.max(0, ...givers.map((group) => this.#levelIn(asSource(group)))));
  }
}

const asSource = ({ id }: GroupRecord): MemberSource => ({ kind: 'group', id });
