/**
 * Invitations of groups to projects. The project's record lists them and is authoritative. Rows index the project under
 * the invited group, `SHARED#`, and under each of its ancestors, `SHAREDBELOW#`, whose members the invitation covers
 * too.
 */

import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { ShareRecord } from '../../records/shares.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import { fromItem } from '../placement/project-item.ts';
import { groupKey, sharedBelowKey, treeKey, treePartition, treePrefix } from '../row-keys/groups.ts';
import { idOf, type Key } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import type { Counters } from '../table/counters.ts';
import type { Table } from '../table/table.ts';
import { PRESENT, type Update, type Write } from '../table/write.ts';

/** Rows corrected concurrently after an invited group moved, and retries for a row that changes concurrently. */
const CONCURRENT_ROWS = 4;
const ATTEMPTS = 5;

export class ProjectShares {
  readonly #table: Table;
  readonly #counters: Counters;

  constructor(table: Table, counters: Counters) {
    this.#table = table;
    this.#counters = counters;
  }

  /** Allocates an id for a new share. */
  nextId(): Promise<number> {
    return this.#counters.next('project-share');
  }

  /**
   * @param shares all shares of the project after the change, including that of `invited`
   * @param alongside further writes of the same transaction
   * @throws Stale when the project changed since it was read, or the invited group moved or was deleted; Missing
   */
  async add(
    project: ProjectRecord,
    invited: GroupRecord,
    shares: readonly ShareRecord[],
    alongside: readonly Write[] = [],
  ): Promise<ProjectRecord> {
    const above = [...invited.ancestorIds];
    // An expired share may have left rows under the group's ancestors of that time.
    const left = (await this.#rowOf(invited.id, project.id))?.above ?? [];
    return this.#change(project, shares, [
      { put: { ...rowKey(invited.id, project.id), above } },
      ...movedRows(invited.id, project.id, left, above),
      {
        check: groupKey(invited.id),
        if: `${PRESENT} AND attribute_type(#deletedAt, :null) AND #ancestorIds = :above`,
        values: { null: 'NULL', above },
        reason: 'invited',
      },
      ...alongside,
    ]);
  }

  /** @param shares those that remain @param alongside further writes of the transaction @throws Stale, Missing */
  async remove(
    project: ProjectRecord,
    invitedId: number,
    shares: readonly ShareRecord[],
    alongside: readonly Write[] = [],
  ): Promise<ProjectRecord> {
    const row = await this.#rowOf(invitedId, project.id);
    const rows = row === undefined ? [] : removed(invitedId, project.id, row.above);
    return this.#change(project, shares, [...rows, ...alongside]);
  }

  /** Deletes the rows that index a deleted project. */
  async removeOfProject({ id, shares }: Pick<ProjectRecord, 'id' | 'shares'>): Promise<void> {
    for (const { groupId } of shares) await this.#removeRows(groupId, id);
  }

  /**
   * Deletes all invitations of a deleted group.
   * @param deadline milliseconds since 1970 @returns whether all were deleted
   */
  async removeOfGroup(groupId: number, deadline: number): Promise<boolean> {
    for await (const { projectId } of this.#rowsOf(groupId)) {
      if (Date.now() > deadline) return false;
      const project = fromItem(await this.#table.get(projectKey(projectId)));
      const shares = project?.shares.filter((share) => share.groupId !== groupId) ?? [];
      try {
        if (project?.deletedAt === null) await this.remove(project, groupId, shares);
        else await this.#removeRows(groupId, projectId);
      } catch (error) {
        if (!(error instanceof Stale)) throw error;
        return false;
      }
    }
    return true;
  }

  /**
   * Moves the rows under a group's ancestors to its current ancestors, after it moved.
   * @param deadline milliseconds since 1970 @returns whether all were moved in time
   */
  async moveRows({ id, ancestorIds }: GroupRecord, deadline: number): Promise<boolean> {
    const late: SharedRow[] = [];
    for await (const row of this.#rowsOf(id)) if (!same(row.above, ancestorIds)) late.push(row);
    let inTime = true;
    const work = async () => {
      for (let row = late.pop(); row !== undefined; row = late.pop()) {
        inTime &&= Date.now() <= deadline;
        if (inTime) await this.#bring(id, row, ancestorIds);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT_ROWS }, work));
    return inTime;
  }

  async #bring(groupId: number, row: SharedRow, to: readonly number[]): Promise<void> {
    const { projectId } = row;
    let above: readonly number[] | undefined = row.above;
    for (let tries = 0; above !== undefined && !same(above, to); tries++) {
      const writes: Write[] = [
        {
          update: rowKey(groupId, projectId),
          set: { above: [...to] },
          if: `${PRESENT} AND #above = :was`,
          values: { was: above },
          reason: 'row',
        },
        ...movedRows(groupId, projectId, above, to),
      ];
      try {
        await this.#table.transact(writes);
        return;
      } catch (error) {
        if (!(error instanceof TransactionRefused) || tries === ATTEMPTS) throw error;
        above = (await this.#rowOf(groupId, projectId))?.above;
      }
    }
  }

  async #removeRows(groupId: number, projectId: number): Promise<void> {
    const row = await this.#rowOf(groupId, projectId);
    if (row !== undefined) await this.#table.transact(removed(groupId, projectId, row.above));
  }

  async #rowOf(groupId: number, projectId: number): Promise<SharedRow | undefined> {
    const item = await this.#table.get(rowKey(groupId, projectId));
    return item && { projectId, above: item['above'] as number[] };
  }

  async *#rowsOf(groupId: number): AsyncGenerator<SharedRow> {
    const rows = { partition: treePartition(groupId), prefix: treePrefix('SHARED', 'project') };
    for await (const item of this.#table.queryAll(rows))
      yield { projectId: idOf(item['sk'] as string), above: item['above'] as number[] };
  }

  async #change(
    project: ProjectRecord,
    shares: readonly ShareRecord[],
    rows: readonly Write[],
  ): Promise<ProjectRecord> {
    const record: Update = {
      update: projectKey(project.id),
      set: { shares },
      add: { version: 1 },
      if: `${PRESENT} AND #version = :was AND attribute_type(#deletedAt, :null)`,
      values: { was: project.version, null: 'NULL' },
      reason: 'version',
    };
    try {
      await this.#table.transact([record, ...rows]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      const refusal = error.get('version');
      if (refusal !== undefined)
        throw fromItem(refusal.item)?.deletedAt === null ? new Stale('project') : new Missing('project');
      throw error.has('invited') ? new Stale('group') : error;
    }
    return { ...project, shares, version: project.version + 1 };
  }
}

interface SharedRow {
  readonly projectId: number;
  /** The ancestors of the invited group under which there are rows. */
  readonly above: readonly number[];
}

const rowKey = (groupId: number, projectId: number): Key => treeKey(groupId, 'SHARED', 'project', projectId);

function movedRows(
  groupId: number,
  projectId: number,
  from: readonly number[],
  to: readonly number[],
): Write[] {
  const left = from.filter((id) => !to.includes(id));
  const entered = to.filter((id) => !from.includes(id));
  return [
    ...left.map((id) => ({ delete: sharedBelowKey(id, groupId, projectId) })),
    ...entered.map((id) => ({ put: { ...sharedBelowKey(id, groupId, projectId) } })),
  ];
}

const removed = (groupId: number, projectId: number, above: readonly number[]): Write[] => [
  { delete: rowKey(groupId, projectId) },
  ...movedRows(groupId, projectId, above, []),
];

const same = (a: readonly number[], b: readonly number[]): boolean => a.join() === b.join();
