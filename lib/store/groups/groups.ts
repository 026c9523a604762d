/** Groups: record, path and place in the tree of groups. Moves are in `group-moves.ts`, lists in `group-list.ts`. */

import { type GroupRecord, MAX_DEPTH } from '../../records/groups.ts';
import { VISIBILITIES, type Visibility } from '../../records/visibility.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { memberWrite } from '../members/item.ts';
import { MAINTENANCE, message, type Outbox, type OutboxMessage } from '../outbox/outbox.ts';
import {
  addTo,
  checkNotDeleted,
  checkNotMoving,
  claimGroupPath,
  moveGroupPath,
  placeBelow,
  refusedByParent,
  visibilityRank,
} from '../placement/group.ts';
import { groupItem, groupListAttributes, groupOf } from '../placement/group-item.ts';
import { moveRows, pendingMoveRows, treeRows } from '../placement/tree.ts';
import {
  groupKey,
  PENDING_MOVE,
  type TreeKind,
  type TreeRow,
  treePartition,
  treePrefix,
} from '../row-keys/groups.ts';
import { idOf } from '../row-keys/key.ts';
import { indexMessage } from '../search/search.ts';
import type { Counters } from '../table/counters.ts';
import type { Table } from '../table/table.ts';
import { leave, type NameHolder, type Names, takenNames } from '../table/unique-names.ts';
import { PRESENT, type Update, type Write } from '../table/write.ts';

/** The queue's job that carries a move on to what is below: `{ groupId }`. */
export const MOVE_JOB = 'group.move';
/** The job that takes away what is inside a deleted group, and then itself. */
export const DELETE_GROUP_JOB = 'group.delete';

export type NewGroup = Pick<
  GroupRecord,
  'name' | 'path' | 'visibility' | 'description' | 'creatorId' | 'settings' | 'avatar'
>;

/** What an update may set. A new path takes everything below along. */
export type GroupChange = Partial<
  Pick<
    GroupRecord,
    'name' | 'path' | 'visibility' | 'description' | 'settings' | 'shares' | 'deletion' | 'avatar' | 'sso'
  >
>;

interface Options {
  readonly now?: Date;
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

/** Something directly inside may be seen by more people than the group is to be. */
export class MoreVisibleInside extends Stale {
  readonly kind: 'group' | 'project';
  constructor(kind: 'group' | 'project') {
    super('visibility');
    this.kind = kind;
  }
}

/** As long as a group that becomes less visible refuses what is more visible, before anybody looked inside. */
const CEILING_MS = 60_000;
/** Groups on their way into one that are looked into. */
const MAX_COMING = 1000;

export class Groups {
  readonly #table: Table;
  readonly #names: Names;
  readonly #counters: Counters;
  readonly #outbox: Outbox;

  constructor(table: Table, names: Names, counters: Counters, outbox: Outbox) {
    this.#table = table;
    this.#names = names;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  /**
   * The group, its path, its rows below its ancestors and its creator's ownership: one transaction. What stands in a
   * less visible group is refused.
   * @throws NameTaken `path`; LimitReached `depth`; Missing when the parent is gone; Stale when it moved, or is less
   *   visible
   */
  async create(
    group: NewGroup,
    options: Options & {
      parent?: GroupRecord;
      ownerId: number;
      /** Further writes, once its id and its path are known. */
      about?: (group: GroupRecord) => readonly Write[];
    },
  ): Promise<GroupRecord> {
    const { parent } = options;
    const id = await this.#counters.next('namespace');
    const at = (options.now ?? new Date()).toISOString();
    const record: GroupRecord = {
      ...group,
      id,
      ...placeBelow(parent, group),
      createdAt: at,
      updatedAt: at,
      deletedAt: null,
      movedFrom: null,
      shares: [],
      version: 1,
    };
    if (record.ancestorIds.length >= MAX_DEPTH) throw new LimitReached('depth', MAX_DEPTH);
    const owner = {
      source: { kind: 'group', id },
      userId: options.ownerId,
      accessLevel: 50,
      createdAt: at,
      expiresAt: null,
      createdById: options.ownerId,
    } as const;
    const writes: Write[] = [
      { put: groupItem(record) },
      claimGroupPath(record),
      memberWrite(owner),
      ...treeRows({ kind: 'group', ...record }),
      ...(parent === undefined ? [] : addTo(parent, record, new Date(at))),
      ...(options.about?.(record) ?? []),
      ...(options.alongside ?? []),
    ];
    try {
      await this.#outbox.commit(writes, [indexMessage('group', id), ...(options.messages ?? [])]);
    } catch (error) {
      throw refusedByParent(error) ?? taken(error) ?? error;
    }
    return record;
  }

  /** Deleted groups are not there. */
  async get(id: number): Promise<GroupRecord | undefined> {
    return existing(await this.getEvenDeleted(id));
  }

  /** Also deleted ones that the worker has not taken away yet. */
  async getEvenDeleted(id: number): Promise<GroupRecord | undefined> {
    return groupOf(await this.#table.get(groupKey(id)));
  }

  /** In the order of the ids; deleted ones are told apart by `deletedAt`: what is inside them is gone too. */
  async getMany(ids: readonly number[]): Promise<(GroupRecord | undefined)[]> {
    return (await this.#table.batchGet(ids.map(groupKey))).map(groupOf);
  }

  /** One read. Case is ignored; former paths lead on. */
  async holderOfPath(fullPath: string): Promise<NameHolder | undefined> {
    const holder = await this.#names.holder('path', fullPath);
    return holder?.type === 'group' ? holder : undefined;
  }

  /** Two reads: the path, then the group. */
  async byPath(fullPath: string): Promise<GroupRecord | undefined> {
    const holder = await this.holderOfPath(fullPath);
    return holder && this.get(holder.id);
  }

  /** Whether groups stand more than so many levels below one. */
  async reachesBelow(id: number, levels: number): Promise<boolean> {
    const filter = { where: '#below > :levels', values: { levels }, only: ['sk'] };
    for (const row of ['DIRECT', 'DEEP'] as const) {
      const rows = { partition: treePartition(id), prefix: treePrefix(row, 'group'), ...filter };
      for await (const _ of this.#table.queryAll(rows)) return true;
    }
    return false;
  }

  /**
   * Whether a project stands anywhere below: also below what has just come in, of which the rows here do not know yet.
   * While a great many groups are coming in, one is taken to.
   */
  async holdsProjects(id: number): Promise<boolean> {
    // Those found on the way are looked at too.
    const coming = new Set([id]);
    for (const each of coming) {
      // First: what has arrived meanwhile is in the rows.
      const rows = { partition: treePartition(each), prefix: PENDING_MOVE, only: ['sk'] };
      for await (const { sk } of this.#table.queryAll(rows)) coming.add(idOf(sk as string));
      if (coming.size > MAX_COMING) return true;
      for (const row of ['DIRECT', 'DEEP'] as const)
        for await (const _ of this.rowsBelow(each, row, 'project')) return true;
    }
    return false;
  }

  /** Ids of what stands in a row below a group, the newest first: as far as the rows know. */
  async *rowsBelow(id: number, row: TreeRow, kind: TreeKind): AsyncGenerator<number> {
    const rows = { partition: treePartition(id), prefix: treePrefix(row, kind), reverse: true };
    for await (const item of this.#table.queryAll({ ...rows, limit: 200, only: ['sk'] }))
      yield idOf(item['sk'] as string);
  }

  /**
   * Changes what is given, on condition that the record is still the one that was read. Whatever is inside follows a
   * new place, path or name some time later (`group-moves.ts`), and is found below both paths until then; what is more visible than
   * a group that was put elsewhere is made less visible as it follows. One move at a time: a group does not move while it, or one above, is at it.
   * @param options.parents for another path, name or place: the groups it is to stand in, the innermost first
   * @param options.mover who moves it: plain data, for the message that brings along what is inside
   * @throws Stale, Missing, NameTaken `path`, MoreVisibleInside
   */
  async update(
    group: GroupRecord,
    change: GroupChange,
    options: Options & {
      parents?: readonly GroupRecord[];
      mover?: object;
    } = {},
  ): Promise<GroupRecord> {
    const parents = options.parents ?? [];
    if (
      options.parents === undefined &&
      group.parentId !== null &&
      (change.name ?? change.path) !== undefined
    )
      throw new TypeError('a group is named below its parents');
    const [parent] = parents;
    const now = options.now ?? new Date();
    const transfers = options.parents !== undefined && (parent?.id ?? null) !== group.parentId;
    const moves =
      transfers ||
      (change.path !== undefined && change.path !== group.path) ||
      (change.name !== undefined && change.name !== group.name);
    const place = moves ? placeBelow(parent, { ...group, ...change }) : {};
    const updated: GroupRecord = {
      ...group,
      ...change,
      ...place,
      movedFrom: moves ? group.fullPath : group.movedFrom,
      updatedAt: now.toISOString(),
      version: group.version + 1,
    };
    const rises = visibilityRank(updated.visibility) > visibilityRank(group.visibility);
    const sinks = visibilityRank(updated.visibility) < visibilityRank(group.visibility);
    // What moves along is made less visible on its way.
    if (sinks && !transfers) await this.#lower(group, updated.visibility, now);
    const { pk, sk, movedFrom, ...set } = groupItem(updated);
    const writes: Write[] = [
      {
        update: { pk, sk },
        // Otherwise the end of a move under way is its own.
        set: moves ? { ...set, movedFrom } : set,
        ...(sinks ? { remove: ['ceiling', 'ceilingUntil'] } : {}),
        if: `${PRESENT} AND #version = :was AND attribute_type(#deletedAt, :null)${moves ? ' AND attribute_type(#movedFrom, :null)' : ''}`,
        values: { was: group.version, null: 'NULL' },
        reason: 'version',
      },
      ...(moves ? moveGroupPath(group, updated) : []),
      ...(transfers
        ? [
            ...moveRows({ kind: 'group', ...group }, { kind: 'group', ...updated }),
            ...pendingMoveRows(group, updated),
          ]
        : rises || sinks || moves
          ? treeRows({ kind: 'group', ...updated })
          : []),
      ...(parent === undefined
        ? []
        : moves
          ? [...addTo(parent, updated, now), ...parents.slice(1).map(checkNotMoving)]
          : rises
            ? [checkNotDeleted(parent, updated.visibility, now)]
            : []),
      ...(options.alongside ?? []),
    ];
    const messages = [
      ...(moves
        ? [message(MAINTENANCE, MOVE_JOB, moveBody(group, options.mover)), indexMessage('group', group.id)]
        : []),
      ...(options.messages ?? []),
    ];
    await this.#commit(writes, messages);
    return updated;
  }

  /**
   * Gone at once for everybody, with all inside: whoever looks at something below finds a deleted ancestor. Its path is
   * free; rows and bytes are taken away by the worker. @param options.by plain data, for the message that promises that
   * @throws Stale, Missing
   */
  async remove(
    group: GroupRecord,
    options: Options & { by?: Readonly<Record<string, unknown>> } = {},
  ): Promise<void> {
    const at = (options.now ?? new Date()).toISOString();
    const writes: Write[] = [
      {
        update: groupKey(group.id),
        set: { deletedAt: at },
        remove: groupListAttributes,
        add: { version: 1 },
        if: `${PRESENT} AND #fullPath = :path AND attribute_type(#deletedAt, :null)`,
        values: { path: group.fullPath, null: 'NULL' },
        reason: 'version',
      },
      leave('path', group.fullPath, { type: 'group', id: group.id }, 'path'),
      ...(options.alongside ?? []),
    ];
    const messages = [
      message(MAINTENANCE, DELETE_GROUP_JOB, {
        groupId: group.id,
        ...(options.by && { by: options.by }),
      }),
      indexMessage('group', group.id),
      ...(options.messages ?? []),
    ];
    await this.#commit(writes, messages);
  }

  /**
   * Two steps, so that nothing more visible slips in between the look inside and the change: first the group takes
   * nothing above its new visibility, for a minute; then its children are looked at.
   */
  async #lower(group: GroupRecord, visibility: Visibility, now: Date): Promise<void> {
    const until = new Date(now.getTime() + CEILING_MS).toISOString();
    await this.#commit(
      [
        {
          update: groupKey(group.id),
          set: { ceiling: visibility, ceilingUntil: until },
          if: `${PRESENT} AND #version = :was`,
          values: { was: group.version },
          reason: 'version',
        },
      ],
      [],
    );
    const above = VISIBILITIES.slice(visibilityRank(visibility) + 1);
    for (const kind of ['group', 'project'] as const) {
      const rows = this.#table.queryAll({
        partition: treePartition(group.id),
        prefix: treePrefix('DIRECT', kind),
        where: `#visibility IN (${above.map((v) => `:${v}`).join(', ')})`,
        values: Object.fromEntries(above.map((v) => [v, v])),
        only: ['sk'],
      });
      for await (const _ of rows) {
        const open: Update = { update: groupKey(group.id), remove: ['ceiling', 'ceilingUntil'], if: PRESENT };
        await this.#table.update(open);
        throw new MoreVisibleInside(kind);
      }
    }
  }

  async #commit(writes: readonly Write[], messages: readonly OutboxMessage[]): Promise<void> {
    try {
      await this.#outbox.commit(writes, messages);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      const refusal = error.get('version');
      if (refusal !== undefined)
        throw existing(groupOf(refusal.item)) === undefined ? new Missing('group') : new Stale('group');
      throw refusedByParent(error) ?? taken(error) ?? error;
    }
  }
}

const moveBody = ({ id }: GroupRecord, mover?: object) => ({
  groupId: id,
  ...(mover === undefined ? {} : { mover }),
});

const taken = (error: unknown) => (error instanceof TransactionRefused ? takenNames(error) : undefined);

const existing = (group: GroupRecord | undefined): GroupRecord | undefined =>
  group?.deletedAt === null ? group : undefined;
