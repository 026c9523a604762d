/**
 * To-dos: a row each in the partition of their user, pending and done ones apart, the newest first; and for each pending
 * one a row that names it by what it is about, so that there is one at most.
 */

import type { FormerMentions } from '../../records/notifications.ts';
import type { TodoRecord, TodoState, TodoTarget } from '../../records/todos.ts';
import type { TrackedAddress } from '../../records/tracked.ts';
import { TransactionRefused } from '../errors.ts';
import { MAINTENANCE, message, type Outbox, type OutboxMessage } from '../outbox/outbox.ts';
import { todoKey, todoPrefix, todosPartition, todoTargetKey } from '../row-keys/todos.ts';
import { userKey } from '../row-keys/users.ts';
import type { Counters } from '../table/counters.ts';
import { deletePage } from '../table/delete-page.ts';
import { behindRow } from '../table/sorted-sources.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT, type Write } from '../table/write.ts';

/** Creates the to-dos that a change of an issue, a merge request or an alert causes. */
export const ADD_TODOS_JOB = 'todos.add';
/** Marks a user's to-dos as done: `{ userId, upTo }`, up to that id. */
export const FINISH_TODOS_JOB = 'todos.finish';

/** What a change of an issue, a merge request or an alert, or a note on it, means for to-dos. */
export interface TodoCauses {
  readonly authorId: number;
  /** Users who were assigned. */
  readonly assignedIds?: readonly number[];
  /** Users who were asked for a review. */
  readonly reviewerIds?: readonly number[];
  /** Ids of approval rules whose approvers are asked; `all`: of every rule. */
  readonly approvalRules?: 'all' | readonly number[] | undefined;
  /** Whether its author has to see to it that it can be merged. */
  readonly unmergeable?: boolean;
  /** The head whose pipeline failed: whoever proposed it, or wants it merged, has to see to that. */
  readonly failedSha?: string | undefined;
  /** Whether there is a new text that may mention users: of the note, otherwise the description. */
  readonly described?: boolean;
  readonly noteId?: number | undefined;
  /** Whom the text mentioned before it changed. */
  readonly former?: FormerMentions | undefined;
  /** Whether the author has nothing left to do about it. */
  readonly finished?: boolean;
  /** Users who have nothing left to do about it unless they are assigned by then. */
  readonly releasedIds?: readonly number[];
}

/** The message for the transaction of the change; none where the change means nothing for to-dos. */
export const issueTodos = (issue: TrackedAddress, causes: TodoCauses): OutboxMessage[] =>
  todosMessage('issue', issue, causes);

export const mergeRequestTodos = (mergeRequest: TrackedAddress, causes: TodoCauses): OutboxMessage[] =>
  todosMessage('merge-request', mergeRequest, causes);

export const alertTodos = (alert: TrackedAddress, causes: TodoCauses): OutboxMessage[] =>
  todosMessage('alert', alert, causes);

function todosMessage(
  kind: TodoTarget['kind'],
  { projectId, iid }: TrackedAddress,
  {
    authorId,
    assignedIds = [],
    reviewerIds = [],
    approvalRules,
    unmergeable = false,
    described = false,
    finished = false,
    releasedIds = [],
    failedSha,
    noteId,
    former,
  }: TodoCauses,
): OutboxMessage[] {
  const users = assignedIds.length + reviewerIds.length + releasedIds.length;
  const asked = approvalRules !== undefined || failedSha !== undefined || unmergeable;
  if (users === 0 && !asked && !described && !finished) return [];
  const body = {
    ...{ kind, projectId, iid, authorId, assignedIds, reviewerIds, unmergeable, described, finished },
    ...(releasedIds.length === 0 ? {} : { releasedIds }),
    ...(failedSha === undefined ? {} : { failedSha }),
    ...(approvalRules === undefined ? {} : { approvalRules }),
    ...(described && noteId !== undefined ? { noteId } : {}),
    ...(described && former !== undefined ? { former } : {}),
  };
  return [message(MAINTENANCE, ADD_TODOS_JOB, body)];
}

/** To-dos that one transaction marks as done. */
const FINISHED_AT_ONCE = 30;

export class Todos {
  readonly #table: Table;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  constructor(table: Table, counters: Counters, outbox: Outbox) {
    this.#table = table;
    this.#counters = counters;
    this.#outbox = outbox;
  }

  /** Creates a pending to-do. @returns undefined where there is one about the same, or the user is deleted */
  async add(
    todo: Omit<TodoRecord, 'id' | 'state' | 'updatedAt'>,
    alongside: readonly Write[] = [],
  ): Promise<TodoRecord | undefined> {
    const { userId, target } = todo;
    const id = await this.#counters.next('todo');
    const record: TodoRecord = { ...todo, id, state: 'pending', updatedAt: todo.createdAt };
    try {
      await this.#table.transact([
        { put: { ...todoTargetKey(userId, target), todoId: id }, if: ABSENT, reason: 'target' },
        { put: itemOf(record) },
        { check: userKey(userId), if: PRESENT, reason: 'user' },
        ...alongside,
      ]);
      return record;
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      return undefined;
    }
  }

  async get(userId: number, id: number): Promise<TodoRecord | undefined> {
    const keys = (['pending', 'done'] as const).map((state) => todoKey(userId, state, id));
    const [pending, done] = await this.#table.batchGet(keys);
    return fromItem(pending ?? done);
  }

  /** Whether a user has a pending to-do about something. */
  async isPending(userId: number, target: Pick<TodoTarget, 'kind' | 'id' | 'projectId'>): Promise<boolean> {
    return (await this.#table.get(todoTargetKey(userId, target))) !== undefined;
  }

  /** Returns the pending to-do of a user about something. */
  async about(
    userId: number,
    target: Pick<TodoTarget, 'kind' | 'id' | 'projectId'>,
  ): Promise<TodoRecord | undefined> {
    const row = await this.#table.get(todoTargetKey(userId, target));
    return row === undefined ? undefined : this.get(userId, row['todoId'] as number);
  }

  /** Yields the to-dos of a user in a state, the newest first. @param after the id of one behind which to begin */
  async *ofUser(userId: number, state: TodoState, limit: number, after?: number): AsyncGenerator<TodoRecord> {
    const rows = { partition: todosPartition(userId), prefix: todoPrefix(state), limit };
    const begin = after === undefined ? undefined : todoKey(userId, state, after).sk;
    for await (const item of this.#table.queryAll(behindRow(rows, 'asc', begin)))
      if (item['sk'] !== begin) yield fromItem(item)!;
  }

  /** @returns undefined above `cap` */
  count(userId: number, state: TodoState, cap: number): Promise<number | undefined> {
    return this.#table.count({ partition: todosPartition(userId), prefix: todoPrefix(state) }, cap);
  }

  /**
   * Marks pending to-dos as done; those that are it by then are left alone.
   * @param todos of one user
   */
  async finish(todos: readonly TodoRecord[], at: Date): Promise<void> {
    for (let from = 0; from < todos.length; from += FINISHED_AT_ONCE) {
      const some = todos.slice(from, from + FINISHED_AT_ONCE);
      try {
        await this.#table.transact(some.flatMap((todo) => finishing(todo, at)));
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
        // One of them is done already: the others one by one.
        if (some.length > 1) for (const todo of some) await this.finish([todo], at);
      }
    }
  }

  /** Lets a worker mark all to-dos of a user up to an id as done. */
  async finishLater(userId: number, upTo: number): Promise<void> {
    await this.#outbox.commit([], [message(MAINTENANCE, FINISH_TODOS_JOB, { userId, upTo })]);
  }

  /** Deletes up to `limit` rows of a deleted user. @returns whether any are left */
  removeOfUser(userId: number, limit = 500): Promise<boolean> {
    return deletePage(this.#table, { partition: todosPartition(userId), limit });
  }
}

function finishing(todo: TodoRecord, at: Date): Write[] {
  const { userId, id, target } = todo;
  const done: TodoRecord = { ...todo, state: 'done', updatedAt: at.toISOString() };
  return [
    { delete: todoKey(userId, 'pending', id), if: PRESENT, reason: 'todo' },
    { delete: todoTargetKey(userId, target) },
    { put: itemOf(done) },
  ];
}

const itemOf = (todo: TodoRecord) => ({ ...todoKey(todo.userId, todo.state, todo.id), ...todo });

function fromItem(item: Item | undefined): TodoRecord | undefined {
  if (item === undefined) return undefined;
  const { pk: _p, sk: _s, ...todo } = item;
  return todo as unknown as TodoRecord;
}
