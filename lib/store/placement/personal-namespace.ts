/**
 * Personal namespaces: adding projects, and moving them when the owner's username or name changes.
 *
 * While `movedFrom` of a user is set, projects may still have paths below the previous username. Projects are found
 * through an eventually consistent index, so a later call clears it, when all projects added before the rename are in
 * the index. Projects added meanwhile get the new username.
 */

import type { ProjectRecord } from '../../records/projects.ts';
import type { UserRecord } from '../../records/users.ts';
import { LimitReached, Missing, Stale, TransactionRefused } from '../errors.ts';
import type { MoveMessage } from '../groups/moves.ts';
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

/** The owner as last read: the projects' paths begin with the username. */
export type Owner = Pick<UserRecord, 'id' | 'username' | 'projectsLimit' | 'movedFrom'>;

/** For a transaction that adds a project to a personal namespace. Refused as `own-namespace`, or as a taken `path`. */
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
  // A project that has not been moved yet may need it.
  return [counted, freeName('path', `${former}/${path}`, 'path')];
}

/** @returns the error for a refusal of {@link addToPersonal} */
export function refusedByOwner(error: TransactionRefused): Missing | LimitReached | Stale | undefined {
  const refusal = error.get('own-namespace');
  if (refusal === undefined) return undefined;
  if (refusal.item === undefined) return new Missing('owner');
  const { projectsCount, projectsLimit } = refusal.item as unknown as UserRecord;
  return projectsCount < projectsLimit ? new Stale('owner') : new LimitReached('projects', projectsLimit);
}

/** Progress of a move; `blocked`: concurrent writers keep changing something, or the index does not list all projects yet. */
export type PersonalMoveProgress = 'done' | 'more' | 'blocked';

const CONCURRENCY = 4;
/** Attempts per project, if it is changed concurrently. */
const ATTEMPTS = 5;

export class PersonalNamespaces {
  readonly #table: Table;
  readonly #users: Users;
  readonly #outbox: Outbox;

  constructor(table: Table, users: Users, outbox: Outbox) {
    this.#table = table;
    this.#users = users;
    this.#outbox = outbox;
  }

  /**
   * Moves the projects that are in the index to the owner's current username. Idempotent; may run concurrently. Clears
   * `movedFrom` when as many have moved as the owner has: then the index was up to date.
   * @param options.last the index is up to date by now, whatever the number
   * @param options.deadline milliseconds since 1970; no further project is started after it
   */
  async moveProjects(
    userId: number,
    { deadline, last }: { readonly deadline: number; readonly last: boolean },
    messageFor: MoveMessage = () => undefined,
  ): Promise<PersonalMoveProgress> {
    const owner = await this.#users.get(userId);
    if (owner === undefined) return 'done';
    let progress: PersonalMoveProgress = 'done';
    let moved = 0;
    const rows = this.#table.queryAll({
      index: 'byUser',
      partition: userPartition(userId),
      prefix: 'OWN#',
    });
    const work = async () => {
      for (let row = await rows.next(); !row.done; row = await rows.next()) {
        const result = await this.#moveProject(idOf(row.value['what'] as string), owner, {
          deadline,
          messageFor,
        });
        if (result === 'done') moved++;
        else if (result !== 'gone' && progress !== 'more') progress = result;
        if (result === 'more') return;
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    if (progress !== 'done' || (owner.movedFrom ?? null) === null) return progress;
    const all = last || moved === owner.projectsCount;
    return all && (await this.#clearMovedFrom(owner, last)) ? 'done' : 'blocked';
  }

  /** @returns `gone` when the project is not in the namespace any more */
  async #moveProject(
    id: number,
    owner: UserRecord,
    { deadline, messageFor }: { readonly deadline: number; readonly messageFor: MoveMessage },
  ): Promise<PersonalMoveProgress | 'gone'> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (Date.now() > deadline) return 'more';
      const project = fromItem(await this.#table.get(projectKey(id)));
      if (project === undefined || project.deletedAt !== null || !isOwn(project, owner)) return 'gone';
      const place = {
        namespacePath: owner.username,
        namespaceName: owner.name,
        fullPath: `${owner.username}/${project.path}`,
      };
      if (project.fullPath === place.fullPath && project.namespaceName === place.namespaceName) return 'done';
      const moved: ProjectRecord = { ...project, ...place, version: project.version + 1 };
      const message = moved.fullPath === project.fullPath ? undefined : messageFor(project);
      const messages = message === undefined ? [] : [message];
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

  /** @returns false when the user was renamed again or changed, or unless `last`, has another number of projects now */
  async #clearMovedFrom({ id, version, projectsCount }: UserRecord, last: boolean): Promise<boolean> {
    const refused = await this.#refused([
      {
        update: userKey(id),
        set: { movedFrom: null, version: version + 1 },
        if: `${PRESENT} AND #version = :was${last ? '' : ' AND #projectsCount = :count'}`,
        values: { was: version, ...(last ? {} : { count: projectsCount }) },
        reason: 'version',
      },
    ]);
    return refused === undefined;
  }

  /** @returns the reason when the transaction was refused; undefined: it succeeded */
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
