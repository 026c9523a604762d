/** Filters lists by what the actor may see. Decided by the records, not by the index they were found in. */

import type { GroupRecord } from '../../records/groups.ts';
import type { MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ShareRecord } from '../../records/shares.ts';
import type { Viewer as StoreViewer, VisibilityFilter } from '../../store/projects/query.ts';
import { isAdministrator, type Viewer } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { MembershipCache } from './effective-level.ts';
import { groupAccess, projectAccess } from './open-request.ts';
import { canSee, canSeeGroup } from './permissions.ts';

export function viewerOf(actor: Viewer): StoreViewer {
  if (actor.kind === 'anonymous') return { kind: 'anonymous' };
  if (isAdministrator(actor)) return { kind: 'admin', id: actor.user.id };
  return { kind: 'user', id: actor.user.id, internal: !actor.user.external };
}

export const visibleProjects = (
  deps: Deps,
  actor: Viewer,
  options?: FilterOptions,
): VisibilityFilter<ProjectRecord> =>
  visibilityFilter(deps, actor, { kind: 'project', ...options }, async (project, memberships) => {
    const access = await projectAccess(actor, project, memberships);
    return access !== undefined && canSee(actor, access) ? access.level : undefined;
  });

export const visibleGroups = (
  deps: Deps,
  actor: Viewer,
  options?: FilterOptions,
): VisibilityFilter<GroupRecord> =>
  visibilityFilter(deps, actor, { kind: 'group', ...options }, async (group, memberships) => {
    const access = await groupAccess(actor, group, memberships);
    return access !== undefined && canSeeGroup(actor, access) ? access.level : undefined;
  });

interface FilterOptions {
  /**
   * For a page of records or more. The memberships that the index shows are read, as long as they are few, and all others
   * taken for none: a list may show one a moment late, and never one that has ended.
   */
  readonly many?: boolean;
}

/** Memberships that are fewer bytes together than those of the projects of a page. */
const FEW = 50;

/** What the index shows of a user. Read at once, beside a list's own first trip. */
class ListedMemberships {
  readonly #members: Readonly<Record<MemberSource['kind'], Promise<ReadonlySet<number> | undefined>>>;
  /** Their owner needs no membership of them. */
  readonly #owned: Promise<ReadonlySet<number> | undefined>;

  constructor({ store }: Deps, userId: number, kind: MemberSource['kind']) {
    const inProjects = kind === 'project';
    this.#members = {
      project: inProjects ? store.members.fewWithUser(userId, 'project', FEW) : Promise.resolve(undefined),
      group: store.members.fewWithUser(userId, 'group', FEW),
    };
    this.#owned = inProjects ? store.projects.fewOwnedBy(userId) : Promise.resolve(undefined);
    // A list that ends before it needs them does not wait for them.
    for (const read of [this.#members.project, this.#members.group, this.#owned]) read.catch(() => {});
  }

  /** Those in which the user is no member, or whose membership gives nothing. */
  async notIn(sources: readonly MemberSource[]): Promise<MemberSource[]> {
    const [project, group, owned] = await Promise.all([
      this.#members.project,
      this.#members.group,
      this.#owned,
    ]);
    const listed = { project, group };
    return sources.filter(
      ({ kind, id }) => listed[kind]?.has(id) === false || (kind === 'project' && owned?.has(id) === true),
    );
  }
}

/** One round trip per batch for what most records need; the cache is shared by all pages of a list. */
function visibilityFilter<R extends { ancestorIds: readonly number[]; shares: readonly ShareRecord[] }>(
  deps: Deps,
  actor: Viewer,
  { kind, many = false }: FilterOptions & { readonly kind: MemberSource['kind'] },
  levelOf: (
    record: R,
    memberships: MembershipCache,
  ) => Promise<Awaited<ReturnType<VisibilityFilter<R>['levels']>>[number]>,
): VisibilityFilter<R> {
  const memberships = new MembershipCache(deps);
  const userId = actor.kind === 'user' ? actor.user.id : undefined;
  const own = many && userId !== undefined ? new ListedMemberships(deps, userId, kind) : undefined;
  const readMembers = async (of: MemberSource['kind'], ids: readonly number[], groups: readonly number[]) => {
    const sources = ids.map((id): MemberSource => ({ kind: of, id }));
    const unread = sources.filter((source) => memberships.member(source) === null);
    const none = new Set(await own?.notIn(unread));
    memberships.exclude([...none]);
    await memberships.read(
      groups,
      unread.filter((source) => !none.has(source)),
      userId,
    );
  };
  return {
    async prefetch(ids) {
      if (userId !== undefined) await readMembers(kind, ids, []);
    },
    async levels(records) {
      const groups = new Set<number>();
      for (const record of records) {
        const related = [
          ...(record?.ancestorIds ?? []),
          ...(record?.shares ?? []).map((share) => share.groupId),
        ];
        for (const id of related) if (memberships.group(id) === null) groups.add(id);
      }
      if (groups.size > 0) await readMembers('group', [...groups], [...groups]);
      return Promise.all(
        records.map((record) => (record === undefined ? undefined : levelOf(record, memberships))),
      );
    },
  };
}
