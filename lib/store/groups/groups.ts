/** Groups: record, path and position in the tree of groups. Moves are in `moves.ts`, lists in `list.ts`. */

import { type GroupRecord, MAX_DEPTH } from '../../records/groups.ts';
import { VISIBILITIES, type Visibility } from '../../records/visibility.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import { memberWrite } from '../members/item.ts';
import { itemsOf, MAINTENANCE, message, type Outbox, type OutboxMessage } from '../outbox/outbox.ts';
import {
  addTo,
  changeGroupName,
  checkNotDeleted,
  checkNotMoving,
  claimGroupPath,
  moveGroupPath,
  placementUnder,
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
import { indexed, indexMessage, withSearchRows } from '../search/search.ts';
import type { Counters } from '../table/counters.ts';
import type { Table } from '../table/table.ts';
import { type NameHolder, type Names, takenNames, vacate } from '../table/unique-names.ts';
import { PRESENT, type Update, type Write } from '../table/write.ts';

/** The job that moves a group's descendants after it: `{ groupId }`. */
export const MOVE_JOB = 'group.move';
/** The job that deletes the descendants of a deleted group, and then its own rows. */
export const DELETE_GROUP_JOB = 'group.delete';

export type NewGroup = Pick<
  GroupRecord,
  'name' | 'path' | 'visibility' | 'description' | 'creatorId' | 'settings' | 'avatar'
>;

/** What an update may set. A new path moves all descendants. */
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

/** A child is more visible than the requested visibility of the group. */
export class MoreVisibleInside extends Stale {
  readonly kind: 'group' | 'project';
  constructor(kind: 'group' | 'project') {
    super('visibility');
    this.kind = kind;
  }
}

/** Milliseconds for which a group rejects more visible children while its visibility is being lowered. */
const CEILING_MS = 60_000;
/** Maximum number of groups being moved in that are searched. */
const MAX_PENDING = 1000;

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
   * Creates a group with its path, its rows at its ancestors and its creator as owner, in one transaction. A group may not
   * be more visible than its parent.
   * @throws NameTaken `path`, `name`; LimitReached `depth`; Missing when the parent was deleted; Stale when it was moved, or is
   *   less visible
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
      ...placementUnder(parent, group),
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
      ...changeGroupName(undefined, record),
      memberWrite(owner),
      ...treeRows({ kind: 'group', ...record }),
      ...(parent === undefined ? [] : addTo(parent, record, new Date(at))),
      ...(options.about?.(record) ?? []),
      ...(options.alongside ?? []),
    ];
    const { messages = [] } = options;
    const index = indexed('group', id, [record.name, record.path], writes.length + itemsOf(messages));
    try {
      await this.#outbox.commit([...writes, ...index.writes], [...messages, ...index.messages]);
    } catch (error) {
      throw refusedByParent(error) ?? taken(error) ?? error;
    }
    return record;
  }

  /** Returns a group; undefined also for deleted ones. */
  async get(id: number): Promise<GroupRecord | undefined> {
    return existing(await this.getEvenDeleted(id));
  }

  /** Returns a group, or a deleted one whose rows the worker has not removed yet. */
  async getEvenDeleted(id: number): Promise<GroupRecord | undefined> {
    return groupOf(await this.#table.get(groupKey(id)));
  }

  /** In the order of the ids. Includes deleted groups (`deletedAt` is set), whose descendants count as deleted too. */
  async getMany(
    ids: readonly number[],
    options: { consistent?: boolean } = {},
  ): Promise<(GroupRecord | undefined)[]> {
    return (await this.#table.batchGet(ids.map(groupKey), options)).map(groupOf);
  }

  /** One read. Ignores case; follows redirects of previous paths. */
  async holderOfPath(fullPath: string): Promise<NameHolder | undefined> {
    const holder = await this.#names.holder('path', fullPath);
    return holder?.type === 'group' ? holder : undefined;
  }

  /** Two reads: the path, then the group. */
  async byPath(fullPath: string): Promise<GroupRecord | undefined> {
    const holder = await this.holderOfPath(fullPath);
    return holder && this.get(holder.id);
  }

  /** Whether a group has descendant groups more than `levels` levels below it. */
  async reachesBelow(id: number, levels: number): Promise<boolean> {
    const filter = { where: '#below > :levels', values: { levels }, only: ['sk'] };
    for (const row of ['DIRECT', 'DEEP'] as const) {
      const rows = { partition: treePartition(id), prefix: treePrefix(row, 'group'), ...filter };
      for await (const _ of this.#table.queryAll(rows)) return true;
    }
    return false;
  }

  /**
   * Whether a group has a project among its descendants. Includes groups that were just moved in and whose descendants
   * have no rows here yet. True while more than {@link MAX_PENDING} groups are being moved in.
   */
  async holdsProjects(id: number): Promise<boolean> {
    // The set grows while it is iterated.
    const pending = new Set([id]);
    for (const groupId of pending) {
      // Pending moves first: a move that finishes in between has its rows by then.
      const rows = { partition: treePartition(groupId), prefix: PENDING_MOVE, only: ['sk'] };
      for await (const { sk } of this.#table.queryAll(rows)) pending.add(idOf(sk as string));
      if (pending.size > MAX_PENDING) return true;
      for (const row of ['DIRECT', 'DEEP'] as const)
        for await (const _ of this.rowsBelow(groupId, row, 'project')) return true;
    }
    return false;
  }

  /** Ids of the children or deeper descendants of a group, newest first. May be stale while a group moves. */
  async *rowsBelow(id: number, row: TreeRow, kind: TreeKind): AsyncGenerator<number> {
    const rows = { partition: treePartition(id), prefix: treePrefix(row, kind), reverse: true };
    for await (const item of this.#table.queryAll({ ...rows, limit: 200, only: ['sk'] }))
      yield idOf(item['sk'] as string);
  }

  /**
   * Updates a group, on condition that its record is unchanged. Descendants follow a new parent, path or name some time
   * later (`moves.ts`), and are found below both paths until then; after a transfer, those that are more visible than
   * the group are made less visible as they follow. One move at a time: a group cannot move while it or an ancestor is
   * moving.
   * @param options.parents for another path, name or parent: the new ancestors, the parent first
   * @param options.mover the user who moves it: JSON data, for the message that moves the descendants
   * @throws Stale, Missing, NameTaken `path`, `name`; MoreVisibleInside
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
    const place = moves ? placementUnder(parent, { ...group, ...change }) : {};
    const updated: GroupRecord = {
      ...group,
      ...change,
      ...place,
      movedFrom: moves ? group.fullPath : group.movedFrom,
      updatedAt: now.toISOString(),
      version: group.version + 1,
    };
    const raised = visibilityRank(updated.visibility) > visibilityRank(group.visibility);
    const lowered = visibilityRank(updated.visibility) < visibilityRank(group.visibility);
    // A transfer lowers the visibility of descendants as they follow.
    if (lowered && !transfers) await this.#prepareLowering(group, updated.visibility, now);
    const { pk, sk, movedFrom, ...set } = groupItem(updated);
    const writes: Write[] = [
      {
        update: { pk, sk },
        // Otherwise only the move in progress may change it.
        set: moves ? { ...set, movedFrom } : set,
        ...(lowered ? { remove: ['ceiling', 'ceilingUntil'] } : {}),
        if: `${PRESENT} AND #version = :was AND attribute_type(#deletedAt, :null)${moves ? ' AND attribute_type(#movedFrom, :null)' : ''}`,
        values: { was: group.version, null: 'NULL' },
        reason: 'version',
      },
      ...(moves ? moveGroupPath(group, updated) : []),
      ...changeGroupName(group, updated),
      ...(transfers
        ? [
            ...moveRows({ kind: 'group', ...group }, { kind: 'group', ...updated }),
            ...pendingMoveRows(group, updated),
          ]
        : raised || lowered || moves
          ? treeRows({ kind: 'group', ...updated })
          : []),
      ...(parent === undefined
        ? []
        : moves
          ? [...addTo(parent, updated, now), ...parents.slice(1).map(checkNotMoving)]
          : raised
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
    const texts = [updated.name, updated.path];
    const renamed = moves ? ({ kind: 'group', id: group.id, texts } as const) : undefined;
    await withSearchRows(this.#table, renamed, writes.length + itemsOf(messages), (rows) =>
      this.#commit([...writes, ...rows], messages),
    );
    return updated;
  }

  /**
   * Deletes a group with immediate effect, also for its descendants: requests for these find a deleted ancestor. Its path
   * becomes free; a worker removes rows and files.
   * @param options.by the user who deletes it: JSON data, for the message to that worker
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
      vacate('path', group.fullPath, { type: 'group', id: group.id }, 'path'),
      ...changeGroupName(group, undefined),
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
   * Prepares a lower visibility in two steps, so that no more visible child can be added in between: first the group
   * rejects children above the new visibility for a minute; then its existing children are checked.
   */
  async #prepareLowering(group: GroupRecord, visibility: Visibility, now: Date): Promise<void> {
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
    const moreVisible = VISIBILITIES.slice(visibilityRank(visibility) + 1);
    for (const kind of ['group', 'project'] as const) {
      const rows = this.#table.queryAll({
        partition: treePartition(group.id),
        prefix: treePrefix('DIRECT', kind),
        where: `#visibility IN (${moreVisible.map((v) => `:${v}`).join(', ')})`,
        values: Object.fromEntries(moreVisible.map((v) => [v, v])),
        only: ['sk'],
      });
      for await (const _ of rows) {
        const removeCeiling: Update = {
          update: groupKey(group.id),
          remove: ['ceiling', 'ceilingUntil'],
          if: PRESENT,
        };
        await this.#table.update(removeCeiling);
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
