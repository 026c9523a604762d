/** Takes away what is left of deleted groups, with all inside: the innermost first, the group itself last. */

import type { GroupRecord } from '../../records/groups.ts';
import type { MemberSource } from '../../records/members.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { removeAbout } from '../custom-attributes/custom-attributes.ts';
import { Missing, Stale, TransactionRefused } from '../errors.ts';
import type { Members } from '../members/members.ts';
import { finishedMoveRows, removeTreeRows } from '../placement/tree.ts';
import type { ProjectShares } from '../project-relations/shares.ts';
import type { Projects } from '../projects/projects.ts';
import { groupKey, treeKey, treePartition } from '../row-keys/groups.ts';
import type { Key } from '../row-keys/key.ts';
import { runnersTokenKey } from '../row-keys/runners.ts';
import { statisticsKey } from '../row-keys/statistics.ts';
import type { Search } from '../search/search.ts';
import type { Table } from '../table/table.ts';
import { release } from '../table/unique-names.ts';
import { PRESENT, type Write } from '../table/write.ts';
import type { Groups } from './groups.ts';

const BATCH = 100;

/** Writes for the transaction that marks something as deleted. */
export type AlongsideRemoval = (
  kind: 'group' | 'project',
  record: GroupRecord | ProjectRecord,
) => Promise<readonly Write[]>;

const none: AlongsideRemoval = async () => [];

/** What a project or group has rows of, that go with it. */
interface OfResources {
  removeOfResource(resource: MemberSource): Promise<boolean>;
}

export class GroupRemoval {
  readonly #table: Table;
  readonly #groups: Groups;
  readonly #projects: Projects;
  readonly #shares: ProjectShares;
  readonly #members: Members;
  readonly #search: Search;
  readonly #owned: readonly OfResources[];

  constructor(
    table: Table,
    groups: Groups,
    projects: Projects,
    shares: ProjectShares,
    members: Members,
    search: Search,
    owned: readonly OfResources[],
  ) {
    this.#table = table;
    this.#groups = groups;
    this.#projects = projects;
    this.#shares = shares;
    this.#members = members;
    this.#search = search;
    this.#owned = owned;
  }

  /**
   * May be called any number of times; goes on where an earlier call stopped.
   * @param deadline milliseconds since 1970; no new step begins after it
   * @param alongside writes for the transaction in which a group or project inside goes
   * @returns whether nothing is left
   * @throws Error when the group is not deleted; then nothing was touched
   */
  async remove(groupId: number, deadline: number, alongside: AlongsideRemoval = none): Promise<boolean> {
    const group = await this.#groups.getEvenDeleted(groupId);
    if (group === undefined) return true;
    if (group.deletedAt === null) throw new Error(`group ${groupId} is not deleted`);
    return this.#empty(group, deadline, alongside);
  }

  /** Of a group that is marked, so that nothing comes in any more. */
  async #empty(group: GroupRecord, deadline: number, alongside: AlongsideRemoval): Promise<boolean> {
    for await (const id of this.#groups.rowsBelow(group.id, 'DIRECT', 'group')) {
      if (Date.now() > deadline) return false;
      const child = await this.#marked(id, group, alongside);
      if (child !== undefined && !(await this.#empty(child, deadline, alongside))) return false;
    }
    for await (const id of this.#groups.rowsBelow(group.id, 'DIRECT', 'project')) {
      if (Date.now() > deadline) return false;
      if (!(await this.#removeProject(id, group, alongside))) return false;
    }
    while (await this.#members.removeAll({ kind: 'group', id: group.id }))
      if (Date.now() > deadline) return false;
    for (const owned of this.#owned) {
      while (await owned.removeOfResource({ kind: 'group', id: group.id }))
        if (Date.now() > deadline) return false;
    }
    for await (const id of this.#groups.rowsBelow(group.id, 'SHARED', 'group')) {
      if (Date.now() > deadline) return false;
      await this.#uninvite(id, group.id);
    }
    if (!(await this.#shares.removeOfGroup(group.id, deadline))) return false;
    while (await this.#removeRows(group.id)) if (Date.now() > deadline) return false;
    await this.#search.index('group', group.id, async () => undefined);
    await this.#forget(group);
    return true;
  }

  /** Marks a child, so that what is listed inside it afterwards is all there will be. @returns undefined when it left */
  async #marked(
    id: number,
    parent: GroupRecord,
    alongside: AlongsideRemoval,
  ): Promise<GroupRecord | undefined> {
    const child = await this.#groups.getEvenDeleted(id);
    if (child === undefined || child.parentId !== parent.id || child.deletedAt !== null) {
      return child?.parentId === parent.id ? child : undefined;
    }
    try {
      const mark = {
        update: groupKey(id),
        set: { deletedAt: parent.deletedAt },
        remove: ['list', 'byId', 'byName', 'byPath'],
        add: { version: 1 },
        if: `${PRESENT} AND #parentId = :parent AND attribute_type(#deletedAt, :null)`,
        values: { parent: parent.id, null: 'NULL' },
        reason: 'group',
      };
      await this.#table.transact([mark, ...(await alongside('group', child))]);
    } catch (error) {
      if (!(error instanceof TransactionRefused && error.has('group'))) throw error;
      // It left, or another run marked it.
      const now = await this.#groups.getEvenDeleted(id);
      return now?.parentId === parent.id && now.deletedAt !== null ? now : undefined;
    }
    return this.#groups.getEvenDeleted(id);
  }

  /** As its owner would. @returns false when somebody else changed it */
  async #removeProject(id: number, group: GroupRecord, alongside: AlongsideRemoval): Promise<boolean> {
    const project = await this.#projects.get(id);
    if (project === undefined || project.namespaceId !== group.id) return true;
    try {
      await this.#projects.remove(project, { alongside: await alongside('project', project) });
      return true;
    } catch (error) {
      if (error instanceof Missing) return true;
      if (error instanceof Stale) return false;
      throw error;
    }
  }

  /** Nobody is a member of what is gone; what it was invited to need not know of it either. */
  async #uninvite(id: number, invited: number): Promise<void> {
    const group = await this.#groups.get(id);
    if (group === undefined) return;
    const shares = group.shares.filter(({ groupId }) => groupId !== invited);
    if (shares.length === group.shares.length) return;
    try {
      await this.#groups.update(group, { shares });
    } catch (error) {
      // A share with a group that is gone gives nobody anything.
      if (!(error instanceof Missing || error instanceof Stale)) throw error;
    }
  }

  /** Whatever rows are left under the group. @returns whether there may be more */
  async #removeRows(id: number): Promise<boolean> {
    const rows = { partition: treePartition(id), limit: BATCH, only: ['pk', 'sk'] };
    const page = await this.#table.query(rows);
    await Promise.all(page.items.map((item) => this.#table.delete({ delete: item as unknown as Key })));
    return page.next !== undefined;
  }

  /** Last of all the record with its rows under the groups above, which find it until then. */
  async #forget(group: GroupRecord): Promise<void> {
    while (await removeAbout(this.#table, { kind: 'group', id: group.id }));
    const shared = group.shares.map(({ groupId }) => treeKey(groupId, 'SHARED', 'group', group.id));
    await Promise.all(shared.map((row) => this.#table.delete({ delete: row })));
    try {
      await this.#table.transact([release('path', group.fullPath, { type: 'group', id: group.id }, 'path')]);
    } catch (error) {
      // Somebody else has the path by now, or an earlier run released it.
      if (!(error instanceof TransactionRefused)) throw error;
    }
    await this.#table.transact([
      ...removeTreeRows({ kind: 'group', ...group }),
      ...finishedMoveRows(group),
      { delete: groupKey(group.id) },
      { delete: statisticsKey({ kind: 'group', id: group.id }) },
      { delete: runnersTokenKey(group.id) },
    ]);
  }
}
