/**
 * What is inside a group follows it to another path, name or place, and becomes no more visible than the group: from the outside inwards, each group and project
 * in a transaction of its own, so that at each moment everything is found by its old path or its new one.
 *
 * A group that moved says in `movedFrom` that something inside may not have followed; that is cleared when all has.
 * Whoever comes into a group meanwhile is found among its children, which are listed after the group itself moved.
 */

import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import { TransactionRefused } from '../errors.ts';
import { UNLINK_JOB } from '../forks/forks.ts';
import { MAINTENANCE, message, type Outbox, type OutboxMessage, outboxWrite } from '../outbox/outbox.ts';
import { moveGroupPath, placeBelow, visibilityRank } from '../placement/group.ts';
import { groupItem, isArriving } from '../placement/group-item.ts';
import { moveProjectPath, placeInGroup } from '../placement/project.ts';
import { fromItem } from '../placement/project-item.ts';
import { finishedMoveRows, moveRows } from '../placement/tree.ts';
import type { ProjectShares } from '../project-relations/shares.ts';
import { projectUpdate } from '../projects/update.ts';
import { groupKey, type TreeKind } from '../row-keys/groups.ts';
import { projectKey } from '../row-keys/projects.ts';
import type { Table } from '../table/table.ts';
import { type Check, PRESENT, type Write } from '../table/write.ts';
import type { Groups } from './groups.ts';

/** How far a move came: `blocked` by something that is on its way elsewhere, or that others change all the time. */
export type MoveProgress = 'done' | 'more' | 'blocked';

/** What a project's move promises besides, by the project as it was: written in the transaction that moves it. */
export type MovePromise = (was: ProjectRecord) => OutboxMessage | undefined;

/** One call of `settle`. */
interface Run {
  /** Milliseconds since 1970. */
  readonly deadline: number;
  readonly promise: MovePromise;
  /** Promised, and not delivered yet. */
  readonly promised: OutboxMessage[];
}

const BATCH = 100;
const AT_ONCE = 4;
/** Tries at one node that others change. */
const TRIES = 5;

export class GroupMoves {
  readonly #table: Table;
  readonly #groups: Groups;
  readonly #shares: ProjectShares;
  readonly #outbox: Outbox;

  constructor(table: Table, groups: Groups, shares: ProjectShares, outbox: Outbox) {
    this.#table = table;
    this.#groups = groups;
    this.#shares = shares;
    this.#outbox = outbox;
  }

  /**
   * May be called any number of times, at once too; goes on where an earlier call stopped.
   * @param deadline milliseconds since 1970; no new node begins after it
   */
  async settle(
    groupId: number,
    deadline: number,
    promise: MovePromise = () => undefined,
  ): Promise<MoveProgress> {
    const group = await this.#groups.get(groupId);
    if (group === undefined || group.movedFrom === null) return 'done';
    const run: Run = { deadline, promise, promised: [] };
    try {
      return await this.#settle(group, run);
    } finally {
      await this.#deliver(run);
    }
  }

  /** Brings everything below a group to where it is, then clears its `movedFrom`. */
  async #settle(group: GroupRecord, run: Run): Promise<MoveProgress> {
    let progress: MoveProgress = 'done';
    const note = (of: MoveProgress) => {
      if (of !== 'done' && progress !== 'more') progress = of;
    };
    if (!(await this.#shares.follow(group, run.deadline))) note('more');
    for await (const children of this.#children(group, 'group'))
      for (const id of children) note(await this.#bringGroup(id, group, run));
    for await (const children of this.#children(group, 'project')) {
      const ids = [...children];
      const work = async () => {
        for (let id = ids.pop(); id !== undefined; id = ids.pop())
          note(await this.#bringProject(id, group, run));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
      await this.#deliver(run);
    }
    if (progress === 'done' && !(await this.#arrived(group))) return 'blocked';
    return progress;
  }

  /** Children by the hundred. */
  async *#children(group: GroupRecord, kind: TreeKind): AsyncGenerator<number[]> {
    let ids: number[] = [];
    for await (const id of this.#groups.rowsBelow(group.id, 'DIRECT', kind)) {
      ids.push(id);
      if (ids.length < BATCH) continue;
      yield ids;
      ids = [];
    }
    if (ids.length > 0) yield ids;
  }

  async #bringGroup(id: number, parent: GroupRecord, run: Run): Promise<MoveProgress> {
    for (let tries = 0; tries < TRIES; tries++) {
      if (Date.now() > run.deadline) return 'more';
      const child = await this.#groups.get(id);
      if (child === undefined || child.parentId !== parent.id) return 'done';
      // What is inside it comes to where it is now before it goes on.
      if (child.movedFrom !== null) {
        const settled = await this.#settle(child, run);
        if (settled !== 'done') return settled;
        continue;
      }
      const place = placeBelow(parent, child);
      const visibility = lower(child, parent);
      const follows = samePlace(child, place) && child.fullName === place.fullName;
      if (follows && child.visibility === visibility) return 'done';
      const moved = { ...child, ...place, visibility, movedFrom: child.fullPath, version: child.version + 1 };
      const { pk, sk, ...set } = groupItem(moved);
      const refused = await this.#refused([
        {
          update: { pk, sk },
          set,
          if: `${PRESENT} AND #version = :was AND attribute_type(#deletedAt, :null)`,
          values: { was: child.version, null: 'NULL' },
          reason: 'version',
        },
        ...moveGroupPath(child, moved),
        ...moveRows({ kind: 'group', ...child }, { kind: 'group', ...moved }),
        stands(parent),
      ]);
      if (refused === 'version') continue;
      if (refused !== undefined) return 'blocked';
    }
    return 'blocked';
  }

  async #bringProject(id: number, parent: GroupRecord, run: Run): Promise<MoveProgress> {
    for (let tries = 0; tries < TRIES; tries++) {
      if (Date.now() > run.deadline) return 'more';
      const project = await this.#projectOf(id);
      if (project === undefined || project.deletedAt !== null || project.namespaceId !== parent.id)
        return 'done';
      const visibility = lower(project, parent);
      if (visibility !== project.visibility) {
        const { writes, messages } = lowers(project, visibility);
        const refused = await this.#refused([...writes, stands(parent)], messages);
        if (refused !== undefined && refused !== 'version') return 'blocked';
        continue;
      }
      const place = placeInGroup(parent, project);
      if (samePlace(project, place) && project.namespaceName === place.namespaceName) return 'done';
      const moved: ProjectRecord = { ...project, ...place, version: project.version + 1 };
      const promised = moved.fullPath === project.fullPath ? undefined : run.promise(project);
      const refused = await this.#refused([
        {
          update: projectKey(id),
          set: { ...place, version: moved.version },
          if: `${PRESENT} AND #version = :was AND attribute_type(#deletedAt, :null)`,
          values: { was: project.version, null: 'NULL' },
          reason: 'version',
        },
        ...moveProjectPath(project, moved),
        ...moveRows({ kind: 'project', ...project }, { kind: 'project', ...moved }),
        stands(parent),
        ...(promised === undefined ? [] : [outboxWrite(promised)]),
      ]);
      if (refused === undefined) {
        if (promised !== undefined) run.promised.push(promised);
        return 'done';
      }
      if (refused !== 'version') return 'blocked';
    }
    return 'blocked';
  }

  /** All is where the group is, and under the groups above it. @returns false when it has moved on, or changed */
  async #arrived(group: GroupRecord): Promise<boolean> {
    const now = await this.#groups.get(group.id);
    if (now === undefined || now.movedFrom === null) return true;
    const refused = await this.#refused([
      {
        update: groupKey(group.id),
        set: { movedFrom: null },
        if: `${PRESENT} AND #fullPath = :path AND #fullName = :name AND #movedFrom = :former AND #visibility = :visibility AND attribute_type(#deletedAt, :null)`,
        values: {
          path: group.fullPath,
          name: group.fullName,
          former: group.movedFrom,
          visibility: now.visibility,
          null: 'NULL',
        },
        reason: 'version',
      },
      ...(isArriving(now) ? finishedMoveRows(now) : []),
    ]);
    return refused === undefined;
  }

  #deliver({ promised }: Run): Promise<void> {
    return this.#outbox.deliver(promised.splice(0));
  }

  async #projectOf(id: number): Promise<ProjectRecord | undefined> {
    return fromItem(await this.#table.get(projectKey(id)));
  }

  /** @returns why not, when the transaction was refused */
  async #refused(
    writes: readonly Write[],
    messages: readonly OutboxMessage[] = [],
  ): Promise<string | undefined> {
    try {
      if (messages.length === 0) await this.#table.transact(writes);
      else await this.#outbox.commit(writes, messages);
      return undefined;
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      return error.has('version') ? 'version' : (error.refusals[0]?.reason ?? 'refused');
    }
  }
}

/** That the group is still where its content is brought. */
const stands = ({ id, fullPath, fullName }: GroupRecord): Check => ({
  check: groupKey(id),
  if: `${PRESENT} AND #fullPath = :path AND #fullName = :name`,
  values: { path: fullPath, name: fullName },
  reason: 'parent',
});

/** Nothing is more visible than the group that it stands in. */
const lower = (node: { visibility: Visibility }, parent: GroupRecord): Visibility =>
  visibilityRank(node.visibility) > visibilityRank(parent.visibility) ? parent.visibility : node.visibility;

/** A project that becomes less visible leaves its fork relations too. */
function lowers(
  project: ProjectRecord,
  visibility: Visibility,
): { writes: readonly Write[]; messages: readonly OutboxMessage[] } {
  const now = new Date();
  const { writes, messages } = projectUpdate(project, { visibility }, { now });
  const unlink = { projectId: project.id, before: now.toISOString() };
  return { writes, messages: [...messages, message(MAINTENANCE, UNLINK_JOB, unlink)] };
}

interface Place {
  readonly fullPath: string;
  readonly ancestorIds: readonly number[];
}

const samePlace = (a: Place, b: Place): boolean =>
  a.fullPath === b.fullPath && a.ancestorIds.join() === b.ancestorIds.join();
