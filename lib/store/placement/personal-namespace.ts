/**
 * A person's own namespace: what takes a project in, and what is in it follows its owner to another username or name.
 *
 * A user who has moved says in `movedFrom` that projects may still stand below the former username. Projects are found
 * through an index, which may be late: that is cleared by a call some time later, when whatever came in before the move
 * is in the index. Whoever comes in meanwhile comes in under the new username.
 */

import type { ProjectRecord } from '../../records/projects.ts';
import type { UserRecord } from '../../records/users.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import type { MovePromise } from '../groups/moves.ts';
import type { Outbox, OutboxMessage } from '../outbox/outbox.ts';
import { idOf } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import { userKey, userPartition } from '../row-keys/users.ts';
import type { Table } from '../table/table.ts';
import { freeName, sameName } from '../table/unique-names.ts';
import { PRESENT, type Write } from '../table/write.ts';
import type { Users } from '../users/users.ts';
import { moveProjectPath } from './project.ts';
import { fromItem } from './project-item.ts';

/** The owner as they were read: their projects' paths begin with the username. */
export type Owner = Pick<UserRecord, 'id' | 'username' | 'projectsLimit' | 'movedFrom'>;

/** For the transaction that puts a project of this path into a namespace. Refused as `own-namespace`, or a taken `path`. */
export function addToPersonal({ id, username, movedFrom }: Owner, path: string): Write[] {
  const former = movedFrom ?? null;
  const counted: Write = {
    update: userKey(id),
    add: { projectsCount: 1 },
    if:
      `${PRESENT} AND #projectsCount < #projectsLimit AND #username = :username` +
      ' AND (attribute_not_exists(#movedFrom) OR attribute_type(#movedFrom, :null) OR #movedFrom = :former)',
    values: { username, null: 'NULL', former },
    reason: 'own-namespace',
  };
  if (former === null || sameName(former, username)) return [counted];
  // It may still be held by something on its way to the new path.
  return [counted, freeName('path', `${former}/${path}`, 'path')];
}

/** @returns what the refusal of {@link addToPersonal} means */
export function refusedByOwner(error: TransactionRefused): Missing | LimitReached | Stale | undefined {
  const refusal = error.get('own-namespace');
  if (refusal === undefined) return undefined;
  if (refusal.item === undefined) return new Missing('owner');
  const { projectsCount, projectsLimit } = refusal.item as unknown as UserRecord;
  return projectsCount < projectsLimit ? new Stale('owner') : new LimitReached('projects', projectsLimit);
}

/** How far a move came: `blocked` by something that others change all the time. */
export type OwnMoveProgress = 'done' | 'more' | 'blocked';

const AT_ONCE = 4;
/** Tries at one project that others change. */
const TRIES = 5;

export class OwnNamespaces {
  readonly #table: Table;
  readonly #users: Users;
  readonly #outbox: Outbox;

  constructor(table: Table, users: Users, outbox: Outbox) {
    this.#table = table;
    this.#users = users;
    this.#outbox = outbox;
  }

  /**
   * Brings the projects that the index knows to where their owner is. May be called any number of times, at once too.
   * @param options.last the index has had its time: whatever was to follow has followed
   * @param options.deadline milliseconds since 1970; no new project begins after it
   */
  async settle(
    userId: number,
    { deadline, last }: { readonly deadline: number; readonly last: boolean },
    promise: MovePromise = () => undefined,
  ): Promise<OwnMoveProgress> {
    const owner = await this.#users.get(userId);
    if (owner === undefined) return 'done';
    let progress: OwnMoveProgress = 'done';
    const rows = this.#table.queryAll({
      index: 'byUser',
      partition: userPartition(userId),
      prefix: 'OWN#',
    });
    const work = async () => {
      for (let row = await rows.next(); !row.done; row = await rows.next()) {
        const came = await this.#bring(idOf(row.value['what'] as string), owner, { deadline, promise });
        if (came !== 'done' && progress !== 'more') progress = came;
        if (came === 'more') return;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (progress === 'done' && last && !(await this.#arrived(owner))) return 'blocked';
    return progress;
  }

  async #bring(
    id: number,
    owner: UserRecord,
    { deadline, promise }: { readonly deadline: number; readonly promise: MovePromise },
  ): Promise<OwnMoveProgress> {
    for (let tries = 0; tries < TRIES; tries++) {
      if (Date.now() > deadline) return 'more';
      const project = fromItem(await this.#table.get(projectKey(id)));
      if (project === undefined || project.deletedAt !== null || !isOwn(project, owner)) return 'done';
      const place = {
        namespacePath: owner.username,
        namespaceName: owner.name,
        fullPath: `${owner.username}/${project.path}`,
      };
      if (project.fullPath === place.fullPath && project.namespaceName === place.namespaceName) return 'done';
      const moved: ProjectRecord = { ...project, ...place, version: project.version + 1 };
      const promised = moved.fullPath === project.fullPath ? undefined : promise(project);
      const messages = promised === undefined ? [] : [promised];
      const writes: Write[] = [
        {
          update: projectKey(id),
          set: { ...place, version: moved.version },
          if: `${PRESENT} AND #version = :was AND attribute_type(#deletedAt, :null)`,
          values: { was: project.version, null: 'NULL' },
          reason: 'version',
        },
        ...(project.fullPath === moved.fullPath ? [] : moveProjectPath(project, moved)),
        {
          check: userKey(owner.id),
          if: `${PRESENT} AND #username = :username AND #name = :name`,
          values: { username: owner.username, name: owner.name },
          reason: 'owner',
        },
      ];
      const refused = await this.#refused(writes, messages);
      if (refused === undefined) return 'done';
      if (refused !== 'version') return 'blocked';
    }
    return 'blocked';
  }

  /** @returns false when they have moved on, or changed */
  async #arrived({ id, movedFrom, version }: UserRecord): Promise<boolean> {
    if ((movedFrom ?? null) === null) return true;
    const refused = await this.#refused([
      {
        update: userKey(id),
        set: { movedFrom: null, version: version + 1 },
        if: `${PRESENT} AND #version = :was`,
        values: { was: version },
        reason: 'version',
      },
    ]);
    return refused === undefined;
  }

  /** @returns why not, when the transaction was refused */
  async #refused(
    writes: readonly Write[],
    messages: readonly OutboxMessage[] = [],
  ): Promise<string | undefined> {
    try {
      await this.#outbox.commit(writes, messages);
      return undefined;
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      return error.has('version') ? 'version' : (error.refusals[0]?.reason ?? 'refused');
    }
  }
}

const isOwn = ({ namespaceKind, ownerId }: ProjectRecord, { id }: UserRecord): boolean =>
  namespaceKind === 'user' && ownerId === id;
