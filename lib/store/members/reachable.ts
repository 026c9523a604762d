/** What a user can access through memberships of groups: their descendants, and what the groups were invited to. */

import type { AccessLevel } from '../../records/members.ts';
import { groupKey, MOVED_AWAY, PENDING_MOVE, type TreeKind, treePartition } from '../row-keys/groups.ts';
import { idOf } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import {
  filteredBy,
  fixedIds,
  type IdSource,
  idsBelow,
  idsBelowMovingGroups,
  pendingMovesBelow,
  type Row,
  unionOf,
} from '../table/id-sources.ts';
import type { Table } from '../table/table.ts';
import type { Members } from './members.ts';

/** Maximum number of group memberships considered, the oldest groups first. */
const MAX_GROUPS = 1000;
/** Maximum number of project memberships that a list of groups considers, the oldest projects first. */
const MAX_PROJECTS = 1000;
/** Maximum number of shares followed from one group and its descendants. */
const MAX_SHARED = 1000;

interface Accessible {
  /** The groups the user is a direct member of. */
  readonly groups: readonly (Row & { readonly accessLevel: AccessLevel })[];
  /** Their ancestors. */
  readonly ancestors: ReadonlySet<number>;
  /** Those of the groups without an ancestor among them: all others are descendants of these. */
  readonly trees: readonly number[];
  readonly shared: OutsideTrees;
}

/** What the user's groups were invited to, and groups moved in below them whose descendants have no rows there yet. */
type OutsideTrees = Readonly<Record<TreeKind | 'settling', readonly number[]>>;

/** Loads records as the list does; undefined for those that the viewer may not see. */
type Load = (ids: readonly number[]) => Promise<readonly unknown[]>;

/**
 * Ids for one list; read once, when first needed. All reads are eventually consistent, at half the cost, as is the index of
 * memberships that they begin with: what a list shows is judged by its records.
 */
export class AccessibleIds {
  readonly #table: Table;
  readonly #members: Members;
  readonly #userId: number;
  readonly #from: number;
  #accessible: Promise<Accessible> | undefined;
  #ancestorsOfProjects: Promise<ReadonlySet<number>> | undefined;

  /** @param from only memberships of this level or more */
  constructor(table: Table, members: Members, userId: number, from: AccessLevel | 0 = 0) {
    this.#table = table;
    this.#members = members;
    this.#userId = userId;
    this.#from = from;
  }

  /** Projects in these groups and their descendants. */
  projects(load: Load): IdSource {
    return unionOf(async () => {
      const { trees, shared } = await this.#read();
      return [
        ...idsBelow(this.#table, trees, 'project'),
        ...this.#belowAll(shared.settling, 'project'),
        ...this.#belowAll(shared.group, 'project').map((set) => filteredBy(set, load)),
        filteredBy(fixed(shared.project), load),
      ];
    });
  }

  /** These groups, their descendants and, if requested, their ancestors and those of the user's projects. */
  groups(load: Load, options: { ancestors: boolean }): IdSource {
    return unionOf(async () => {
      const [{ groups, ancestors, trees, shared }, around] = await Promise.all([
        this.#read(),
        options.ancestors ? this.#projectAncestors() : new Set<number>(),
      ]);
      const above = options.ancestors ? [...ancestors, ...around] : [];
      return [
        fixedIds(groups),
        ...idsBelow(this.#table, trees, 'group'),
        ...this.#belowAll(shared.settling, 'group'),
        ...this.#belowAll(shared.group, 'group').map((set) => filteredBy(set, load)),
        filteredBy(fixed([...shared.group, ...above]), load),
      ];
    });
  }

  /** Only the groups the user is a direct member of. */
  direct(): IdSource {
    return unionOf(async () => [fixedIds((await this.#read()).groups)]);
  }

  async isDirectMember(groupId: number): Promise<boolean> {
    return (await this.#read()).groups.some(({ id }) => id === groupId);
  }

  /** Whether the user is a direct member of a descendant. */
  async isAbove(groupId: number): Promise<boolean> {
    const [{ ancestors }, around] = await Promise.all([this.#read(), this.#projectAncestors()]);
    return ancestors.has(groupId) || around.has(groupId);
  }

  /** Ancestors of the projects that the user is a direct member of, for the oldest of these memberships. */
  #projectAncestors(): Promise<ReadonlySet<number>> {
    this.#ancestorsOfProjects ??= this.#readProjectAncestors();
    return this.#ancestorsOfProjects;
  }

  async #readProjectAncestors(): Promise<ReadonlySet<number>> {
    const ids: number[] = [];
    for await (const { source, accessLevel } of this.#members.ofUser(this.#userId, ['project'])) {
      if (accessLevel >= this.#from) ids.push(source.id);
      if (ids.length >= MAX_PROJECTS) break;
    }
    const only = ['ancestorIds'];
    const records = await this.#table.batchGet(ids.map(projectKey), { only, consistent: false });
    return new Set(records.flatMap((record) => (record?.['ancestorIds'] as number[] | undefined) ?? []));
  }

  /** Descendants of these groups, including those of groups moved in that have no rows there yet. */
  #belowAll(ids: readonly number[], kind: TreeKind): IdSource[] {
    const settling = ids.map((id) =>
      idsBelowMovingGroups(this.#table, pendingMovesBelow(this.#table, id), kind),
    );
    return [...idsBelow(this.#table, ids, kind), ...settling];
  }

  #read(): Promise<Accessible> {
    this.#accessible ??= this.#readOnce();
    return this.#accessible;
  }

  async #readOnce(): Promise<Accessible> {
    const memberships: { id: number; accessLevel: AccessLevel }[] = [];
    for await (const { source, accessLevel } of this.#members.ofUser(this.#userId, ['group'])) {
      if (accessLevel >= this.#from) memberships.push({ id: source.id, accessLevel });
      if (memberships.length >= MAX_GROUPS) break;
    }
    const ids = memberships.map(({ id }) => id);
    const [records, invitations] = await Promise.all([
      this.#table.batchGet(ids.map(groupKey), { only: ['ancestorIds', 'visibility'], consistent: false }),
      this.#elsewhere(ids),
    ]);
    const own = new Set(ids);
    const ancestors = records.map((record) => (record?.['ancestorIds'] as number[] | undefined) ?? []);
    return {
      groups: memberships.flatMap((membership, i) => {
        const visibility = records[i]?.['visibility'] as string | undefined;
        return records[i] === undefined ? [] : [{ ...membership, visibility }];
      }),
      ancestors: new Set(ancestors.flat()),
      trees: ids.filter((_, i) => !ancestors[i]!.some((id) => own.has(id))),
      shared: invitations,
    };
  }

  async #elsewhere(ids: readonly number[]): Promise<OutsideTrees> {
    const found = { group: new Set<number>(), project: new Set<number>(), settling: new Set<number>() };
    const queue = [...ids];
    const reader = async () => {
      for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
        const { items } = await this.#table.query({
          partition: treePartition(id),
          ...MOVED_AWAY,
          limit: MAX_SHARED,
          only: ['sk'],
          consistent: false,
        });
        for (const { sk } of items as { sk: string }[]) {
          const what = sk.startsWith(PENDING_MOVE)
            ? 'settling'
            : sk.startsWith('SHARED#GROUP#')
              ? 'group'
              : 'project';
          found[what].add(idOf(sk));
        }
      }
    };
    await Promise.all(Array.from({ length: 16 }, reader));
    return { group: [...found.group], project: [...found.project], settling: [...found.settling] };
  }
}

const fixed = (ids: readonly number[]) => fixedIds(ids.map((id) => ({ id })));
