/** Locks of files for Git LFS: a row per locked path, whose key the lock's id begins with. */
import { ulid } from 'ulid';
import type { LfsLock } from '../../records/lfs.ts';
import { ConditionFailed, Missing, TransactionRefused } from '../errors.ts';
import { checkReadable } from '../repository/state.ts';
import { LFS_LOCK, lfsLockKey, lfsPartition, lockedPath } from '../row-keys/lfs.ts';
import { userKey, userPartition, userRow } from '../row-keys/users.ts';
import type { Table } from '../table/table.ts';
import { ABSENT, type Item, PRESENT } from '../table/write.ts';

/** What the id of a lock begins with: 32 hexadecimal digits. */
const PLACE = 32;

export class LfsLocks {
  readonly #table: Table;
  constructor(table: Table) {
    this.#table = table;
  }

  /**
   * Locks a path.
   * @returns the lock, or the one that another request has
   * @throws Missing when the project or the user is gone
   */
  async add(
    project: { readonly id: number; readonly repositoryId: string },
    { path, userId, lockedAt }: Omit<LfsLock, 'id' | 'projectId'>,
  ): Promise<{ readonly lock: LfsLock; readonly added: boolean }> {
    const place = lockedPath(path);
    const id = place + ulid(Date.parse(lockedAt)).toLowerCase();
    const lock: LfsLock = { id, projectId: project.id, path, userId, lockedAt };
    for (;;) {
      try {
        await this.#table.transact([
          {
            put: {
              ...lfsLockKey(project.id, place),
              ...lock,
              who: userPartition(userId),
              what: `${userRow('LFSLOCK', project.id)}#${place}`,
            },
            if: ABSENT,
            reason: 'lock',
          },
          { check: userKey(userId), if: PRESENT, reason: 'user' },
          checkReadable(project.repositoryId),
        ]);
        return { lock, added: true };
      } catch (error) {
        if (!(error instanceof TransactionRefused)) throw error;
        if (error.has('source')) throw new Missing('project');
        if (error.has('user')) throw new Missing('user');
      }
      const other = await this.#at(project.id, place);
      // None: it has been removed meanwhile.
      if (other !== undefined) return { lock: other, added: other.id === id };
    }
  }

  async get(projectId: number, id: string): Promise<LfsLock | undefined> {
    const lock = await this.#at(projectId, id.slice(0, PLACE));
    return lock?.id === id ? lock : undefined;
  }

  async ofPath(projectId: number, path: string): Promise<LfsLock | undefined> {
    return this.#at(projectId, lockedPath(path));
  }

  /** Returns a page of a project's locks. @param after id of the last lock of the page before */
  async page(
    projectId: number,
    limit: number,
    after?: string,
  ): Promise<{ readonly locks: readonly LfsLock[]; readonly more: boolean }> {
    const page = await this.#table.query({
      partition: lfsPartition(projectId),
      prefix: LFS_LOCK,
      limit,
      ...(after === undefined ? {} : { startKey: { ...lfsLockKey(projectId, after.slice(0, PLACE)) } }),
    });
    return { locks: page.items.map(ofItem), more: page.next !== undefined };
  }

  /** @returns whether it was there */
  async remove({ projectId, id }: Pick<LfsLock, 'projectId' | 'id'>): Promise<boolean> {
    try {
      await this.#table.delete({
        delete: lfsLockKey(projectId, id.slice(0, PLACE)),
        if: '#id = :id',
        values: { id },
      });
      return true;
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error;
      return false;
    }
  }

  async #at(projectId: number, place: string): Promise<LfsLock | undefined> {
    const item = await this.#table.get(lfsLockKey(projectId, place));
    return item && ofItem(item);
  }
}

function ofItem(item: Item): LfsLock {
  const { id, projectId, path, userId, lockedAt } = item as unknown as LfsLock;
  return { id, projectId, path, userId, lockedAt };
}
