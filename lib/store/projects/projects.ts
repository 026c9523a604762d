/** Projects: creation, change and deletion. The writes of a change are in `update.ts`, lists in `list.ts`. */
import { ulid } from 'ulid';
import type { GroupRecord } from '../../records/groups.ts';
import type { ImportStatus } from '../../records/imports.ts';
import type { MemberRecord } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { Missing, Stale, type StoreError, TransactionRefused } from '../errors.ts';
import { forkOf, withDecrements } from '../forks/forks.ts';
import { memberWrite } from '../members/item.ts';
import type { Members } from '../members/members.ts';
import { itemsOf, MAINTENANCE, message, type Outbox, type OutboxMessage } from '../outbox/outbox.ts';
import { addTo, refusedByParent } from '../placement/group.ts';
import { addToPersonal, type Owner, refusedByOwner } from '../placement/personal-namespace.ts';
import { changeProjectName, claimProjectPath, type ProjectPlacement } from '../placement/project.ts';
import { fromItem, listAttributes, PROJECT_FIELDS, toItem } from '../placement/project-item.ts';
import { removeTreeRows, treeRows } from '../placement/tree.ts';
import { closeRepository, newRepository } from '../repository/state.ts';
import { forkKey } from '../row-keys/forks.ts';
import { idOf, orderedBy } from '../row-keys/key.ts';
import { projectKey } from '../row-keys/projects.ts';
import { userKey } from '../row-keys/users.ts';
import { INDEX_JOB, indexed, indexMessage, type Search, withSearchRows } from '../search/search.ts';
import type { Counters } from '../table/counters.ts';
import { fewOfUser } from '../table/id-sources.ts';
import type { Page } from '../table/paging.ts';
import type { Table } from '../table/table.ts';
import { type NameHolder, type Names, release, takenNames } from '../table/unique-names.ts';
import { PRESENT, type Update, type Write } from '../table/write.ts';
import { topicsChanged } from '../topics/assignments.ts';
import { ProjectList } from './list.ts';
import type { ListedProject, ProjectQuery } from './query.ts';
import { type ProjectChange, type ProjectUpdate, projectTransfer, projectUpdate } from './update.ts';

/** The maintenance queue's job that removes what is left of a deleted project: `{ projectId, repositoryId, networkId?, storagePrefix? }`. */
export const DELETE_PROJECT_JOB = 'project.delete';

export type NewProject = Omit<
  ProjectRecord,
  | 'id'
  | 'repositoryId'
  | 'importStatus'
  | 'importError'
  | 'fullPath'
  | 'createdAt'
  | 'updatedAt'
  | 'lastActivityAt'
  | 'deletedAt'
  | 'shares'
  | 'version'
> & {
  /** Until the import has ended, the repository is empty and read-only. Default `none`. */
  readonly importStatus?: 'none' | 'scheduled';
};

interface Options {
  readonly now?: Date;
  readonly alongside?: readonly Write[];
  readonly messages?: readonly OutboxMessage[];
}

interface RemovalOptions extends Options {
  /** Who asked for it. */
  readonly deleterId?: number;
}

export class Projects {
  readonly #table: Table;
  readonly #names: Names;
  readonly #counters: Counters;
  readonly #outbox: Outbox;
  readonly #list: ProjectList;

  constructor(
    table: Table,
    names: Names,
    counters: Counters,
    outbox: Outbox,
    search: Search,
    members: Members,
  ) {
    this.#table = table;
    this.#names = names;
    this.#counters = counters;
    this.#outbox = outbox;
    this.#list = new ProjectList(table, search, members);
  }

  /**
   * Creates a project with its path, its count of the owner or its rows at the ancestors, its creator's membership
   * (level 40) and an empty repository, whose HEAD points to `refs/heads/<headBranch>`, in one transaction.
   * @param options.owner of the personal namespace; @param options.parent the group that is its namespace
   * @throws NameTaken `path`, `name`; LimitReached, Missing when the owner or the group was deleted, Stale when the group was
   *   moved or is less visible
   */
  async create(
    project: NewProject,
    options: Options & {
      headBranch: string;
      owner?: Owner;
      parent?: GroupRecord;
      /** Whether its creator becomes a member; default true. */
      member?: boolean;
      /** Further writes and messages that need the project's id. */
      about?: (project: ProjectRecord) => Pick<Options, 'alongside' | 'messages'>;
    },
  ): Promise<ProjectRecord> {
    const id = await this.#counters.next('project');
    const at = (options.now ?? new Date()).toISOString();
    const record: ProjectRecord = {
      importStatus: 'none',
      importError: null,
      ...project,
      id,
      repositoryId: ulid(),
      fullPath: `${project.namespacePath}/${project.path}`,
      createdAt: at,
      updatedAt: at,
      lastActivityAt: at,
      deletedAt: null,
      shares: [],
      version: 1,
    };
    const about = options.about?.(record);
    const creator: MemberRecord = {
      source: { kind: 'project', id },
      userId: project.creatorId,
      accessLevel: 40,
      createdAt: at,
      expiresAt: null,
      createdById: project.creatorId,
    };
    const writes: Write[] = [
      { put: toItem(record) },
      claimProjectPath(record),
      ...changeProjectName(undefined, record),
      ...(options.owner === undefined ? [] : addToPersonal(options.owner, record.path)),
      ...(options.parent === undefined ? [] : addTo(options.parent, record, new Date(at))),
      ...treeRows({ kind: 'project', ...record }),
      ...(options.member === false ? [] : [memberWrite(creator)]),
      ...topicsChanged(undefined, record, new Date(at)),
      ...newRepository(record, options.headBranch),
      ...(options.alongside ?? []),
      ...(about?.alongside ?? []),
    ];
    const messages = [...(options.messages ?? []), ...(about?.messages ?? [])];
    const index = indexed('project', id, [record.name, record.path], writes.length + itemsOf(messages));
    try {
      await this.#outbox.commit([...writes, ...index.writes], [...messages, ...index.messages]);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      throw refusedByOwner(error) ?? refusedByParent(error) ?? takenNames(error) ?? error;
    }
    return record;
  }

  /** Returns a project; undefined also for deleted ones. */
  async get(id: number): Promise<ProjectRecord | undefined> {
    return existing(fromItem(await this.#table.get(projectKey(id))));
  }

  async getMany(ids: readonly number[]): Promise<(ProjectRecord | undefined)[]> {
    const items = await this.#table.batchGet(ids.map(projectKey), { only: PROJECT_FIELDS });
    return items.map((item) => existing(fromItem(item)));
  }

  /** Returns the ids of a user's personal projects, as the index shows them; undefined where they are many. */
  async fewOwnedBy(userId: number): Promise<ReadonlySet<number> | undefined> {
    const rows = await fewOfUser(this.#table, userId, 'OWN');
    return rows && new Set(rows.map(({ what }) => idOf(what as string)));
  }

  /** Returns a project, or a deleted one whose rows the worker has not removed yet. */
  async getEvenDeleted(id: number): Promise<ProjectRecord | undefined> {
    return fromItem(await this.#table.get(projectKey(id)));
  }

  /** One read: id, ancestors and repository, for the next round trip. Ignores case. */
  async holderOfPath(fullPath: string): Promise<NameHolder | undefined> {
    const holder = await this.#names.holder('path', fullPath);
    return holder?.type === 'project' ? holder : undefined;
  }

  /** Two reads: the path, then the project. */
  async byPath(fullPath: string): Promise<ProjectRecord | undefined> {
    const holder = await this.holderOfPath(fullPath);
    return holder === undefined ? undefined : this.get(holder.id);
  }

  /**
   * Updates a project, on condition that its record is unchanged.
   * @param options.parent as {@link projectUpdate} needs it
   * @throws Stale, also while the group moves or if it is less visible; Missing; NameTaken `path`, `name`
   */
  async update(
    project: ProjectRecord,
    change: ProjectChange,
    options: Options & { parent?: GroupRecord | undefined } = {},
  ): Promise<ProjectRecord> {
    const { now = new Date(), parent } = options;
    return this.#write(projectUpdate(project, change, { now, parent }), options);
  }

  /**
   * Transfers a project to another namespace in one transaction, which also changes who may see it.
   * @param place the target, with its owner or parent as in {@link create}
   * @throws NameTaken `path`, `name`; LimitReached, Stale, Missing
   */
  async transfer(
    project: ProjectRecord,
    { place, owner, parent }: { place: ProjectPlacement; owner?: Owner; parent?: GroupRecord },
    change: Pick<ProjectChange, 'visibility'>,
    options: Options = {},
  ): Promise<ProjectRecord> {
    const { now = new Date() } = options;
    const { updated, writes, messages } = projectTransfer(project, place, change, now);
    const into = [
      ...(owner === undefined ? [] : addToPersonal(owner, updated.path)),
      ...(parent === undefined ? [] : addTo(parent, updated, now)),
    ];
    const counted =
      project.namespaceKind === 'user'
        ? [{ key: userKey(project.ownerId), count: 'projectsCount', reason: 'former owner' }]
        : [];
    await withDecrements(counted, async (counts) => {
      await this.#write({ updated, writes: [...writes, ...into, ...counts], messages }, options);
    });
    return updated;
  }

  /**
   * The update of a project by a push, for the push's own transaction (`alongside` of a compare-and-swap).
   * Does not change the version, so that pushes do not conflict with edits of the record.
   */
  activity(id: number, at: Date, change: { defaultBranch?: string | null } = {}): Update {
    const lastActivityAt = at.toISOString();
    return {
      update: projectKey(id),
      set: { lastActivityAt, byActivity: orderedBy(lastActivityAt, id), ...change },
      if: `${PRESENT} AND attribute_type(#deletedAt, :null)`,
      values: { null: 'NULL' },
      reason: 'project',
    };
  }

  /** Changes the import status, for a transaction; refused as `import` in another state. Does not change the version. */
  importTransition(
    id: number,
    from: readonly ImportStatus[],
    to: ImportStatus,
    importError?: string,
  ): Update {
    return {
      update: projectKey(id),
      set: { importStatus: to, importError: importError ?? null },
      if: `${PRESENT} AND attribute_type(#deletedAt, :null) AND #importStatus IN (${from.map((status) => `:${status}`).join(', ')})`,
      values: { null: 'NULL', ...Object.fromEntries(from.map((status) => [status, status])) },
      reason: 'import',
    };
  }

  /** The end of an import and the update of a first push in one write: a transaction may write an item only once. */
  importCompletion(
    id: number,
    from: readonly ImportStatus[],
    at: Date,
    change: { defaultBranch?: string },
  ): Update {
    const end = this.importTransition(id, from, 'finished');
    return { ...end, set: { ...this.activity(id, at, change).set, ...end.set } };
  }

  /**
   * Deletes a project with immediate effect: marks the record, frees the path, leaves all lists, closes the repository. A
   * worker deletes rows and objects (`project.delete`). @throws Stale, Missing
   */
  async remove(project: ProjectRecord, options: RemovalOptions = {}): Promise<void> {
    const at = (options.now ?? new Date()).toISOString();
    const holder = { type: 'project', id: project.id } as const;
    const parent = project.forkedFromId;
    const writes: Write[] = [
      {
        update: projectKey(project.id),
        set: { deletedAt: at },
        remove: listAttributes,
        add: { version: 1 },
        if: `${PRESENT} AND #fullPath = :path AND #ancestorIds = :above AND attribute_type(#deletedAt, :null) AND ${forkOf(parent)}`,
        values: { path: project.fullPath, above: project.ancestorIds, null: 'NULL', parent },
        reason: 'version',
      },
      ...(parent === undefined ? [] : [{ delete: forkKey(parent, project.id) }]),
      release('path', project.fullPath, holder, 'path'),
      ...changeProjectName(project, undefined),
      ...removeTreeRows({ kind: 'project', ...project }),
      ...closeRepository(project.repositoryId),
      ...(options.alongside ?? []),
    ];
    const messages = [
      message(MAINTENANCE, DELETE_PROJECT_JOB, {
        projectId: project.id,
        repositoryId: project.repositoryId,
        ...(project.networkId === undefined ? {} : { networkId: project.networkId }),
        ...(project.storagePrefix ? { storagePrefix: project.storagePrefix } : {}),
        ...(options.deleterId === undefined ? {} : { deleterId: options.deleterId }),
      }),
      indexMessage('project', project.id),
      ...(options.messages ?? []),
    ];
    await withDecrements(
      [
        ...(project.namespaceKind === 'user'
          ? [{ key: userKey(project.ownerId), count: 'projectsCount', reason: 'owner' }]
          : []),
        ...(parent === undefined ? [] : [{ key: projectKey(parent), count: 'forksCount', reason: 'parent' }]),
      ],
      (counts) => this.#commit([...writes, ...counts], messages),
    );
  }

  /** Deletes the marked record: the worker's last step. */
  async removeRecord(id: number): Promise<void> {
    await this.#table.delete({ delete: projectKey(id) });
  }

  /** Projects that the viewer may see; default order: created_at descending. */
  list(query: ProjectQuery): Promise<Page<ListedProject>> {
    return this.#list.page(query);
  }

  async #write({ updated, writes, messages }: ProjectUpdate, options: Options): Promise<ProjectRecord> {
    const all = [...writes, ...(options.alongside ?? [])];
    const sent = [...messages, ...(options.messages ?? [])];
    const renamed = messages.some(({ type }) => type === INDEX_JOB)
      ? ({ kind: 'project', id: updated.id, texts: [updated.name, updated.path] } as const)
      : undefined;
    await withSearchRows(this.#table, renamed, all.length + sent.length, (rows) =>
      this.#commit([...all, ...rows], sent),
    );
    return updated;
  }

  async #commit(writes: readonly Write[], messages: readonly OutboxMessage[]): Promise<void> {
    try {
      await this.#outbox.commit(writes, messages);
    } catch (error) {
      if (!(error instanceof TransactionRefused)) throw error;
      throw refusedUpdate(error) ?? error;
    }
  }
}

/** @returns the error for a refused change, if one of the project's own writes was refused */
export function refusedUpdate(error: TransactionRefused): StoreError | undefined {
  const refusal = error.get('version');
  if (refusal !== undefined)
    return existing(fromItem(refusal.item)) === undefined ? new Missing('project') : new Stale('project');
  const known = refusedByOwner(error) ?? refusedByParent(error) ?? takenNames(error);
  return known ?? (error.has('moving') ? new Stale('owner') : undefined);
}

const existing = (project: ProjectRecord | undefined): ProjectRecord | undefined =>
  project?.deletedAt === null ? project : undefined;
