/**
 * Moves the descendants of a group after the group itself got another path, name or parent, and lowers their visibility
 * to the group's. It goes top-down, with a transaction per group and project, so that each is always found by its old
 * path or its new one.
 *
 * While `movedFrom` of a group is set, descendants may not have followed yet. Children added during the move are found
 * too, because children are listed after the group itself was moved.
 */

import { isDeepStrictEqual } from 'node:util';
import type { GroupRecord } from '../../records/groups.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Visibility } from '../../records/visibility.ts';
import { settleEpicsMessage } from '../epics/settle.ts';
import { TransactionRefused } from '../errors.ts';
import { UNLINK_JOB } from '../forks/forks.ts';
import { settleMessage } from '../labels/settle.ts';
import { MAINTENANCE, message, type Outbox, type OutboxMessage, outboxWrites } from '../outbox/outbox.ts';
import { moveGroupPath, placementUnder, visibilityRank } from '../placement/group.ts';
import { groupItem, isArriving } from '../placement/group-item.ts';
import { moveProjectPath, placementInGroup } from '../placement/project.ts';
import { fromItem } from '../placement/project-item.ts';
import { finishedMoveRows, moveRows } from '../placement/tree.ts';
import type { ProjectShares } from '../project-relations/shares.ts';
import { projectUpdate } from '../projects/update.ts';
import { groupKey, type TreeKind } from '../row-keys/groups.ts';
import { projectKey } from '../row-keys/projects.ts';
import type { Table } from '../table/table.ts';
import { type Check, PRESENT, type Write } from '../table/write.ts';
import type { Groups } from './groups.ts';

/** Progress of a move; `blocked`: a descendant is being moved elsewhere, or concurrent writers keep changing it. */
export type MoveProgress = 'done' | 'more' | 'blocked';

/** Returns a message to enqueue in the transaction that moves a project, if any; takes the project before the move. */
export type MoveMessage = (previous: ProjectRecord) => OutboxMessage | undefined;

/** State of one call. */
interface Run {
  /** Milliseconds since 1970. */
  readonly deadline: number;
  readonly messageFor: MoveMessage;
  /** Written to the outbox, and not delivered yet. */
  readonly undelivered: OutboxMessage[];
}

const BATCH_SIZE = 100;
const CONCURRENCY = 4;
/** Attempts per group or project, if it is changed concurrently. */
const ATTEMPTS = 5;

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
   * Moves all descendants of a group. Idempotent; may run concurrently, and continues where an earlier call stopped.
   * @param deadline milliseconds since 1970; no further group or project is started after it
   */
  async moveDescendants(
    groupId: number,
    deadline: number,
    messageFor: MoveMessage = () => undefined,
  ): Promise<MoveProgress> {
    const group = await this.#groups.get(groupId);
    if (group === undefined || group.movedFrom === null) return 'done';
    const run: Run = { deadline, messageFor, undelivered: [] };
    try {
      return await this.#moveDescendants(group, run);
    } finally {
      await this.#deliver(run);
    }
  }

  /** Moves all descendants of a group, then clears its `movedFrom`. */
  async #moveDescendants(group: GroupRecord, run: Run): Promise<MoveProgress> {
    let progress: MoveProgress = 'done';
    const note = (of: MoveProgress) => {
      if (of !== 'done' && progress !== 'more') progress = of;
    };
    if (!(await this.#shares.moveRows(group, run.deadline))) note('more');
    for await (const children of this.#children(group, 'group'))
      for (const id of children) note(await this.#moveGroup(id, group, run));
    for await (const children of this.#children(group, 'project')) {
      const ids = [...children];
      const work = async () => {
        for (let id = ids.pop(); id !== undefined; id = ids.pop())
          note(await this.#moveProject(id, group, run));
      };
      await Promise.all(Array.from({ length: CONCURRENCY }, work));
      await this.#deliver(run);
    }
    if (progress === 'done' && !(await this.#clearMovedFrom(group))) return 'blocked';
    return progress;
  }

  /** Yields the ids of children, a hundred at a time. */
  async *#children(group: GroupRecord, kind: TreeKind): AsyncGenerator<number[]> {
    let ids: number[] = [];
    for await (const id of this.#groups.rowsBelow(group.id, 'DIRECT', kind)) {
      ids.push(id);
      if (ids.length < BATCH_SIZE) continue;
      yield ids;
      ids = [];
    }
    if (ids.length > 0) yield ids;
  }

  async #moveGroup(id: number, parent: GroupRecord, run: Run): Promise<MoveProgress> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (Date.now() > run.deadline) return 'more';
      const child = await this.#groups.get(id);
      if (child === undefined || child.parentId !== parent.id) return 'done';
      // Its own descendants are moved to its current location before it moves on.
      if (child.movedFrom !== null) {
        const progress = await this.#moveDescendants(child, run);
        if (progress !== 'done') return progress;
        continue;
      }
      const placement = placementUnder(parent, child);
      const visibility = cappedVisibility(child, parent);
      const follows = samePlacement(child, placement) && child.fullName === placement.fullName;
      if (follows && child.visibility === visibility) return 'done';
      const moved = {
        ...child,
        ...placement,
        visibility,
        movedFrom: child.fullPath,
        version: child.version + 1,
      };
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
        checkLocation(parent),
      ]);
      if (refused === 'version') continue;
      if (refused !== undefined) return 'blocked';
    }
    return 'blocked';
  }

  async #moveProject(id: number, parent: GroupRecord, run: Run): Promise<MoveProgress> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (Date.now() > run.deadline) return 'more';
      const project = await this.#projectOf(id);
      if (project === undefined || project.deletedAt !== null || project.namespaceId !== parent.id)
        return 'done';
      const visibility = cappedVisibility(project, parent);
      if (visibility !== project.visibility) {
        const { writes, messages } = lowerVisibility(project, visibility);
        const refused = await this.#refused([...writes, checkLocation(parent)], messages);
        if (refused !== undefined && refused !== 'version') return 'blocked';
        continue;
      }
      const placement = placementInGroup(parent, project);
      if (samePlacement(project, placement) && project.namespaceName === placement.namespaceName)
        return 'done';
      const moved: ProjectRecord = { ...project, ...placement, version: project.version + 1 };
      const message = moved.fullPath === project.fullPath ? undefined : run.messageFor(project);
      const leaves = !isDeepStrictEqual(moved.ancestorIds, project.ancestorIds);
      const messages = [...(message === undefined ? [] : [message]), ...(leaves ? [settleMessage(id)] : [])];
      const refused = await this.#refused([
        {
          update: projectKey(id),
          set: { ...placement, version: moved.version },
          if: `${PRESENT} AND #version = :was AND attribute_type(#deletedAt, :null)`,
          values: { was: project.version, null: 'NULL' },
          reason: 'version',
        },
        ...moveProjectPath(project, moved),
        ...moveRows({ kind: 'project', ...project }, { kind: 'project', ...moved }),
        checkLocation(parent),
        ...outboxWrites(messages),
      ]);
      if (refused === undefined) {
        run.undelivered.push(...messages);
        return 'done';
      }
      if (refused !== 'version') return 'blocked';
    }
    return 'blocked';
  }

  /** Clears `movedFrom`, when all descendants have followed. @returns false when the group changed meanwhile */
  async #clearMovedFrom(group: GroupRecord): Promise<boolean> {
    const current = await this.#groups.get(group.id);
    if (current === undefined || current.movedFrom === null) return true;
    const writes: Write[] = [
      {
        update: groupKey(group.id),
        set: { movedFrom: null },
        if: `${PRESENT} AND #fullPath = :path AND #fullName = :name AND #movedFrom = :former AND #visibility = :visibility AND attribute_type(#deletedAt, :null)`,
        values: {
          path: group.fullPath,
          name: group.fullName,
          former: group.movedFrom,
          visibility: current.visibility,
          null: 'NULL',
        },
        reason: 'version',
      },
      ...(isArriving(current) ? finishedMoveRows(current) : []),
    ];
    const leaves = pathAbove(group.fullPath) !== pathAbove(group.movedFrom ?? '');
    const refused = await this.#refused(writes, leaves ? [settleEpicsMessage(group.id)] : []);
    return refused === undefined;
  }

  #deliver({ undelivered }: Run): Promise<void> {
    return this.#outbox.deliver(undelivered.splice(0));
  }

  async #projectOf(id: number): Promise<ProjectRecord | undefined> {
    return fromItem(await this.#table.get(projectKey(id)));
  }

  /** @returns the reason when the transaction was refused; undefined: it succeeded */
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

/** The path of the group that one is in, which may only have another name; of a top-level group none. */
const pathAbove = (fullPath: string): string => fullPath.slice(0, Math.max(0, fullPath.lastIndexOf('/')));

/** Checks that the group is still at the location its descendants are moved to. */
const checkLocation = ({ id, fullPath, fullName }: GroupRecord): Check => ({
  check: groupKey(id),
  if: `${PRESENT} AND #fullPath = :path AND #fullName = :name`,
  values: { path: fullPath, name: fullName },
  reason: 'parent',
});

/** Nothing may be more visible than the group it is in. */
const cappedVisibility = (node: { visibility: Visibility }, parent: GroupRecord): Visibility =>
  visibilityRank(node.visibility) > visibilityRank(parent.visibility) ? parent.visibility : node.visibility;

/** Lowers a project's visibility, which also schedules the removal of its fork relation. */
function lowerVisibility(
  project: ProjectRecord,
  visibility: Visibility,
): { writes: readonly Write[]; messages: readonly OutboxMessage[] } {
  const now = new Date();
  const { writes, messages } = projectUpdate(project, { visibility }, { now });
  const unlink = { projectId: project.id, before: now.toISOString() };
  return { writes, messages: [...messages, message(MAINTENANCE, UNLINK_JOB, unlink)] };
}

interface Placement {
  readonly fullPath: string;
  readonly ancestorIds: readonly number[];
}

const samePlacement = (a: Placement, b: Placement): boolean =>
  a.fullPath === b.fullPath && a.ancestorIds.join() === b.ancestorIds.join();
