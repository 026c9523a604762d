import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel, HeldMembership, MemberSource } from '../../records/members.ts';
import type { ShareRecord } from '../../records/shares.ts';
import type { Deps } from '../deps.ts';
import { isStillMember, membershipsInDescendants } from './memberships-inside.ts';

/** The properties of a project or group that determine access levels. */
export interface Resource {
  readonly source: MemberSource;
  /** The parent group; null for a top-level group and in a personal namespace. */
  readonly parentId: number | null;
  /** Groups that the resource is shared with. */
  readonly shares: readonly ShareRecord[];
}

export interface EffectiveAccess {
  /** The highest level from direct and inherited memberships and from shares; 0: none. */
  readonly level: AccessLevel | 0;
  /** Its ancestor groups, the parent first. */
  readonly parents: readonly GroupRecord[];
}

/**
 * Returns a user's effective access level in a project or group: the highest level of a membership in it, in one of
 * its ancestors, or in a group that one of these is shared with. A share caps the level.
 *
 * @param userId undefined for an anonymous caller
 * @returns undefined if an ancestor is deleted, and thus the resource too
 */
export async function effectiveAccess(
  memberships: MembershipCache,
  resource: Resource,
  userId: number | undefined,
): Promise<EffectiveAccess | undefined> {
  for (;;) {
    const missing: Missing = { groups: new Set(), sources: new Map() };
    const access = new Evaluation(memberships, missing, userId).of(resource);
    if (missing.groups.size + missing.sources.size === 0) return access;
    await memberships.read([...missing.groups], [...missing.sources.values()], userId);
  }
}

/** Memberships that are read whole, for what the answer says of them; of more, only what decides access. */
const MAX_READ_WHOLE = 5;

/** Groups and memberships read so far in a request. What will be needed is prefetched in one batch. */
export class MembershipCache {
  readonly #deps: Deps;
  readonly #groups = new Map<number, GroupRecord | undefined>();
  readonly #members = new Map<string, HeldMembership | undefined>();
  #byAncestor: ReturnType<typeof membershipsInDescendants> | undefined;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** One round trip. */
  async read(
    groupIds: readonly number[],
    sources: readonly MemberSource[],
    userId: number | undefined,
  ): Promise<void> {
    const { groups } = this.#deps.store;
    const [records, memberships] = await Promise.all([
      groupIds.length === 0 ? [] : groups.getMany(groupIds),
      userId === undefined || sources.length === 0 ? [] : this.#held(userId, sources),
    ]);
    for (const [i, id] of groupIds.entries()) this.#groups.set(id, records[i]);
    for (const [i, source] of sources.entries()) this.#members.set(keyOf(source), memberships[i]);
  }

  #held(userId: number, sources: readonly MemberSource[]): Promise<(HeldMembership | undefined)[]> {
    const { members } = this.#deps.store;
    return sources.length <= MAX_READ_WHOLE
      ? members.ofUserIn(userId, sources)
      : members.heldBy(userId, sources);
  }

  /** The user is in none of these, as far as lists must know. */
  exclude(sources: readonly MemberSource[]): void {
    for (const source of sources) this.#members.set(keyOf(source), undefined);
  }

  /** @returns null if it was not read, undefined if it does not exist */
  group(id: number): GroupRecord | undefined | null {
    return this.#groups.has(id) ? this.#groups.get(id) : null;
  }

  member(source: MemberSource): HeldMembership | undefined | null {
    const key = keyOf(source);
    return this.#members.has(key) ? this.#members.get(key) : null;
  }

  /** Whether a user is a member of a descendant of a group. The user's memberships are read once. */
  async isInside(groupId: number, userId: number): Promise<boolean> {
    this.#byAncestor ??= membershipsInDescendants(this.#deps, userId);
    return isStillMember(this.#deps, userId, (await this.#byAncestor).get(groupId));
  }

  today(): string {
    return this.#deps.now().toISOString().slice(0, 10);
  }
}

/** Whether the group's share lock is on: shares of its projects with other groups have no effect. */
export const hasShareLock = ({ settings }: GroupRecord): boolean =>
  settings['share_with_group_lock'] === true;

const keyOf = ({ kind, id }: MemberSource) => `${kind} ${id}`;

interface Missing {
  readonly groups: Set<number>;
  readonly sources: Map<string, MemberSource>;
}

/** Evaluates a level from the cache and collects what has to be read in addition. */
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
    const parents = this.#ancestors(parentId);
    if (parents === undefined) return undefined;
    if (this.#userId === undefined) return { level: 0, parents };
    const levels = [source, ...parents.map(asSource)].map((member) => this.#levelIn(member));
    const shareLocked = source.kind === 'project' && parents.some(hasShareLock);
    for (const share of shareLocked ? [] : shares)
      levels.push(this.#levelByShare(share, source.kind === 'project'));
    for (const share of parents.flatMap((group) => group.shares))
      levels.push(this.#levelByShare(share, false));
    return { level: Math.max(...levels) as AccessLevel | 0, parents };
  }

  /** Ancestors from the parent upwards, as far as they are cached. @returns undefined if one is deleted */
  #ancestors(parentId: number | null): GroupRecord[] | undefined {
    const parents: GroupRecord[] = [];
    for (let id = parentId; id !== null; ) {
      const group = this.#known.group(id);
      if (group === null) {
        this.#missing.groups.add(id);
        break;
      }
      if (group === undefined || group.deletedAt !== null) return undefined;
      // Two concurrent moves can look like a cycle until both have finished.
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

  /**
   * The level that a share gives. For a share of a project, inherited memberships of the invited group count; for a
   * share of a group, only direct ones.
   */
  #levelByShare({ groupId, accessLevel, expiresAt }: ShareRecord, inherited: boolean): number {
    if (expiresAt !== null && expiresAt <= this.#known.today()) return 0;
    const invited = this.#ancestors(groupId);
    if (invited === undefined) return 0;
    const sources = inherited ? invited : invited.slice(0, 1);
    return Math.min(accessLevel, Math.max(0, ...sources.map((group) => this.#levelIn(asSource(group)))));
  }
}

const asSource = ({ id }: GroupRecord): MemberSource => ({ kind: 'group', id });
