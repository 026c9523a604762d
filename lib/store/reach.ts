/** What a user reaches through memberships of groups: all below these, and what they were invited to. */
import { groupKey, idOf, SHARED_ROWS, type TreeKind, treePartition } from './keys.ts';
import type { Members } from './members.ts';
import type { AccessLevel } from './records.ts';
import { judged, type Row, type RowSet, rowsAtHand, rowsOfAll, rowsOfTree } from './row-sets.ts';
import type { Table } from './table.ts';

/** Memberships of groups that a list looks at, the oldest groups first. */
const MAX_GROUPS = 1000;
/** Things that a list finds through invitations of one group, and of those below it. */
const MAX_SHARED = 1000;

interface Reached {
  /** The groups the user is a direct member of. */
  readonly groups: readonly (Row & { readonly accessLevel: AccessLevel })[];
  /** Groups above them. */
  readonly ancestors: ReadonlySet<number>;
  /** The outermost of the user's groups: all else of theirs is below these. */
  readonly trees: readonly number[];
  readonly shared: Readonly<Record<TreeKind, readonly number[]>>;
}

/** As the list loads what it shows: what the viewer may not see is not there. */
type Load = (ids: readonly number[]) => Promise<readonly unknown[]>;

/** For one list: read once, when it is first asked for. */
export class Reach {
  readonly #table: Table;
  readonly #members: Members;
  readonly #userId: number;
  readonly #from: number;
  #reached: Promise<Reached> | undefined;

  /** @param from only memberships of this level or more */
  constructor(table: Table, members: Members, userId: number, from: AccessLevel | 0 = 0) {
    this.#table = table;
    this.#members = members;
    this.#userId = userId;
    this.#from = from;
  }

  /** Projects in these groups and below. */
  projects(load: Load): RowSet {
    return rowsOfAll(async () => {
      const { trees, shared } = await this.#read();
      return [
        ...trees.flatMap((id) => this.#below(id, 'project')),
        ...shared.group.flatMap((id) => this.#below(id, 'project')).map((set) => judged(set, load)),
        judged(atHand(shared.project), load),
      ];
    });
  }

  /** These groups, those below and, when asked for, those above. */
  groups(load: Load, options: { ancestors: boolean }): RowSet {
    return rowsOfAll(async () => {
      const { groups, ancestors, trees, shared } = await this.#read();
      const above = options.ancestors ? [...ancestors] : [];
      return [
        rowsAtHand(groups),
        ...trees.flatMap((id) => this.#below(id, 'group')),
        ...shared.group.flatMap((id) => this.#below(id, 'group')).map((set) => judged(set, load)),
        judged(atHand([...shared.group, ...above]), load),
      ];
    });
  }

  /** Only the groups the user is a direct member of. */
  direct(): RowSet {
    return rowsOfAll(async () => [rowsAtHand((await this.#read()).groups)]);
  }

  async isDirectMember(groupId: number): Promise<boolean> {
    return (await this.#read()).groups.some(({ id }) => id === groupId);
  }

  /** Whether the user is a member of something inside. */
  async isAbove(groupId: number): Promise<boolean> {
    return (await this.#read()).ancestors.has(groupId);
  }

  #below(id: number, kind: TreeKind): RowSet[] {
    return (['DIRECT', 'DEEP'] as const).map((row) => rowsOfTree(this.#table, id, row, kind));
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
      this.#invitations(ids),
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

  async #invitations(ids: readonly number[]): Promise<Record<TreeKind, number[]>> {
    const shared = { group: new Set<number>(), project: new Set<number>() };
    const rest = [...ids];
    const reader = async () => {
      for (let id = rest.pop(); id !== undefined; id = rest.pop()) {
        const { items } = await this.#table.query({
          partition: treePartition(id),
          prefix: SHARED_ROWS,
          limit: MAX_SHARED,
          only: ['sk'],
        });
        for (const { sk } of items as { sk: string }[]) {
          shared[sk.startsWith('SHARED#GROUP#') ? 'group' : 'project'].add(idOf(sk));
        }
      }
    };
    await Promise.all(Array.from({ length: 16 }, reader));
    return { group: [...shared.group], project: [...shared.project] };
  }
}

const atHand = (ids: readonly number[]) => rowsAtHand(ids.map((id) => ({ id })));
