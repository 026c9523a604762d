/** Locks of files, by which users of Git LFS agree on who changes a file that cannot be merged. */
import { type LfsLock, MAX_LOCKED_PATH } from '../../records/lfs.ts';
import { Missing } from '../../store/errors.ts';
import { MAINTAINER } from '../access/levels.ts';
import { signedIn } from '../access/permissions.ts';
import type { GitAccess } from '../access/types.ts';
import { isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { conflict, DomainError, notFound, unprocessable } from '../errors.ts';

/** A lock with the name of who has it. */
export interface NamedLock extends LfsLock {
  readonly ownerName: string;
}

export interface LockPage {
  readonly locks: readonly NamedLock[];
  /** Of the next page. */
  readonly cursor?: string;
}

/** 409 for a path that is locked. */
export class AlreadyLocked extends DomainError {
  readonly lock: NamedLock;
  constructor(lock: NamedLock) {
    super('conflict', 'already locked');
    this.name = 'AlreadyLocked';
    this.lock = lock;
  }
}

/** Locks a path. The caller may push. @throws AlreadyLocked, 422 for what is no path */
export async function lockFile(deps: Deps, { actor, project }: GitAccess, path: unknown): Promise<NamedLock> {
  const { user } = signedIn(actor);
  const valid =
    typeof path === 'string' &&
    path.isWellFormed() &&
    !path.includes('\0') &&
    path !== '' &&
    Buffer.byteLength(path) <= MAX_LOCKED_PATH;
  if (!valid) throw unprocessable('path is not the path of a file');
  const lockedAt = deps.now().toISOString();
  try {
    const { lock, added } = await deps.store.lfsLocks.add(project.project, {
      path,
      userId: user.id,
      lockedAt,
    });
    const [named] = await withNames(deps, [lock]);
    if (!added) throw new AlreadyLocked(named!);
    return named!;
  } catch (error) {
    if (error instanceof Missing) throw notFound('Project');
    throw error;
  }
}

/**
 * Removes a lock. With `force` maintainers remove those of others. The caller may push.
 * @throws 403 for a lock of somebody else, 404
 */
export async function unlockFile(
  deps: Deps,
  { actor, project }: GitAccess,
  id: string,
  force: boolean,
): Promise<NamedLock> {
  const { user } = signedIn(actor);
  const lock = await deps.store.lfsLocks.get(project.project.id, id);
  if (lock === undefined) throw notFound('Lock');
  const [named] = await withNames(deps, [lock]);
  if (lock.userId !== user.id) {
    if (!force) throw new DomainError('forbidden', `'${lock.path}' is locked by ${named!.ownerName}`);
    if (project.level < MAINTAINER && !isAdministrator(actor))
      throw new DomainError('forbidden', 'You must have maintainer access to force delete a lock');
  }
  if (!(await deps.store.lfsLocks.remove(lock))) throw conflict('The lock has been removed meanwhile');
  return named!;
}

/** A page of the locks, or those of a path and with an id. */
export async function listLocks(
  deps: Deps,
  { project: { project } }: GitAccess,
  wanted: { readonly path?: string; readonly id?: string; readonly cursor?: string; readonly limit: number },
): Promise<LockPage> {
  const { lfsLocks } = deps.store;
  const { path, id, cursor, limit } = wanted;
  if (path !== undefined || id !== undefined) {
    const lock =
      path === undefined ? await lfsLocks.get(project.id, id!) : await lfsLocks.ofPath(project.id, path);
    const matches = lock !== undefined && (id === undefined || lock.id === id);
    return { locks: await withNames(deps, matches ? [lock] : []) };
  }
  if (cursor !== undefined && !/^[0-9a-z]{58}$/.test(cursor))
    throw unprocessable('cursor is not one of a page');
  const page = await lfsLocks.page(project.id, limit, cursor);
  const next = page.more ? page.locks.at(-1)?.id : undefined;
  return {
    locks: await withNames(deps, page.locks),
    ...(next === undefined ? {} : { cursor: next }),
  };
}

async function withNames(deps: Deps, locks: readonly LfsLock[]): Promise<NamedLock[]> {
  const ids = [...new Set(locks.map(({ userId }) => userId))];
  const users = ids.length === 0 ? [] : await deps.store.users.getMany(ids);
  return locks.map((lock) => ({ ...lock, ownerName: users[ids.indexOf(lock.userId)]?.name ?? '' }));
}
