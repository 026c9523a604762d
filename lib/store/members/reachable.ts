/** What a user reaches through memberships of groups: all below these, and what they were invited to. */

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

/** Memberships of groups that a list looks at, the oldest groups first. */
const MAX_GROUPS = 1000;
/** Memberships of projects that a list of groups looks at, the oldest projects first. */
const MAX_PROJECTS = 1000;
/** Things that a list finds through invitations of one group, and of those below it. */
const MAX_SHARED = 1000;

interface Reached {
  /** The groups the user is a direct member of. */
  readonly groups: readonly (Row & { readonly accessLevel: AccessLevel })[];
  /** Groups above them. */
  readonly ancestors: ReadonlySet<number>;
  /** The outermost of the user's groups: all else of theirs is below these. */
  readonly trees: readonly number[];
  readonly shared: Elsewhere;
}

/** What the user's groups were invited to, and groups that came in below them and whose content has no rows there yet. */
type Elsewhere = Readonly<Record<TreeKind | 'settling', readonly number[]>>;

/** As the list loads what it shows: what the viewer may not see is not there. */
type Load = (ids: readonly number[]) => Promise<readonly unknown[]>;

/** For one list: read once, when it is first asked for. */
export class AccessibleIds {
  readonly #table: Table;
  readonly #members: Members;
  readonly #userId: number;
  readonly #from: number;
  #reached: Promise<Reached> | undefined;
  #around: Promise<ReadonlySet<number>> | undefined;

  /** @param from only memberships of this level or more */
  constructor(table: Table, members: Members, userId: number, from: AccessLevel | 0 = 0) {
    this.#table = table;
    this.#members = members;
    this.#userId = userId;
    this.#from = from;
  }

  /** Projects in these groups and below. */
  projects(load: Load): IdSource {
    return unionOf(async () => {
      const { trees, shared } = await this.#read();
      return [
        ...idsBelow(this.#table, trees, 'project'),
        ...this.#belowAll(shared.settling, 'project'),
        ...this.#belowAll(shared.group, 'project').map((set) => filteredBy(set, load)),
        filteredBy(atHand(shared.project), load),
      ];
    });
  }

  /** These groups, those below and, when asked for, those above, and above projects of the user's. */
  groups(load: Load, options: { ancestors: boolean }): IdSource {
    return unionOf(async () => {
      const [{ groups, ancestors, trees, shared }, around] = await Promise.all([
        this.#read(),
        options.ancestors ? this.#aroundProjects() : new Set<number>(),
      ]);
      const above = options.ancestors ? [...ancestors, ...around] : [];
      return [
        fixedIds(groups),
        ...idsBelow(this.#table, trees, 'group'),
        ...this.#belowAll(shared.settling, 'group'),
        ...this.#belowAll(shared.group, 'group').map((set) => filteredBy(set, load)),
        filteredBy(atHand([...shared.group, ...above]), load),
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

  /** Whether the user is a direct member of something inside. */
  async isAbove(groupId: number): Promise<boolean> {
    const [{ ancestors }, around] = await Promise.all([this.#read(), this.#aroundProjects()]);
    return ancestors.has(groupId) || around.has(groupId);
  }

  /** Groups that projects stand in that the user is a direct member of: of the oldest of these memberships. */
  #aroundProjects(): Promise<ReadonlySet<number>> {
    this.#around ??= this.#readAround();
    return this.#around;
  }

  async #readAround(): Promise<ReadonlySet<number>> {
    const ids: number[] = [];
    for await (const { source, accessLevel } of this.#members.ofUser(this.#userId, ['project'])) {
      if (accessLevel >= this.#from) ids.push(source.id);
      if (ids.length >= MAX_PROJECTS) break;
    }
    const records = await this.#table.batchGet(ids.map(projectKey), { only: ['ancestorIds'] });
    return new Set(records.flatMap((record) => (record?.['ancestorIds'] as number[] | undefined) ?? []));
  }

  /** What stands below these, with what came in below and has no rows there yet. */
  #belowAll(ids: readonly number[], kind: TreeKind): IdSource[] {
    const settling = ids.map((id) =>
      idsBelowMovingGroups(this.#table, pendingMovesBelow(this.#table, id), kind),
    );
    return [...idsBelow(this.#table, ids, kind), ...settling];
  }

  #read(): Promise<Reached> {
    this.#reached ??= this.#readOnce();
    return this.#reached;
  }

  async #readOnce(): Promise<Reached> {
    const memberships: { id: number; accessLevel: AccessLevel }[] = [];
    for await (const { source, accessLevel } of this.#members.ofUser(this.#userId, ['group'])) {
      if (accessLevel >= this.#from) memberships.push({ id: source.id, accessLevel });
      if (memberships.length >= MAX_GROUPS) break;
    }
    const ids = memberships.map(({ id }) => id);
    const [records, invitations] = await Promise.all([
      this.#table.batchGet(ids.map(groupKey), { only: ['ancestorIds', 'visibility'] }),
      this.#elsewhere(ids),
    ]);
    const mine = new Set(ids);
    const above = records.map((record) => (record?.['ancestorIds'] as number[] | undefined) ?? []);
    return {
      groups: memberships.flatMap((membership, i) => {
        const visibility = records[i]?.['visibility'] as string | undefined;
        return records[i] === undefined ? [] : [{ ...membership, visibility }];
      }),
      ancestors: new Set(above.flat()),
      trees: ids.filter((_, i) => !above[i]!.some((id) => mine.has(id))),
      shared: invitations,
    };
  }

  async #elsewhere(ids: readonly number[]): Promise<Elsewhere> {
    const found = { group: new Set<number>(), project: new Set<number>(), settling: new Set<number>() };
    const rest = [...ids];
    const reader = async () => {
      for (let id = rest.pop(); id !== undefined; id = rest.pop()) {
        const { items } = await this.#table.query({
          partition: treePartition(id),
          ...MOVED_AWAY,
          limit: MAX_SHARED,
          only: ['sk'],
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

const atHand = (ids: readonly number[]) => fixedIds(ids.map((id) => ({ id })));
