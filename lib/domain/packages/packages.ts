/** Generic packages: files of any kind under a name and version. */

import type { PackageFileRecord, PackageRecord, PackageStatus } from '../../records/packages.ts';
import { LimitReached, Missing, Stale } from '../../store/errors.ts';
import type { PackageOrder } from '../../store/row-keys/packages.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { conflict, forbidden, notFound, recordNotFound, refused } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';

/** The file that a caller names. */
export interface PackageFileName {
  readonly name: string;
  readonly version: string;
  readonly file: string;
}

/** Names of packages and files. */
export const PACKAGE_NAME = /^[A-Za-z0-9._+-]+$/;
/** Versions have no two dots in a row. */
export const PACKAGE_VERSION = /^(?!.*\.\.)[\w+.-]+$/;
/** Characters. */
export const MAX_PACKAGE_NAME = 255;

/** @throws 403 where the project has switched its packages off */
function requireEnabled({ project }: ProjectAccess): void {
  if (project.settings['packages_enabled'] === false) throw forbidden();
}

export interface PackageListQuery {
  readonly order: PackageOrder | 'created';
  readonly direction: 'asc' | 'desc';
  /** Part of the name, in any case. */
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  /** Absent: those that are not hidden. */
  readonly status?: string | undefined;
}

export async function listPackages(
  deps: Deps,
  access: ProjectAccess,
  { order, direction, name, type, status }: PackageListQuery,
  request: PageRequest,
): Promise<Page<PackageRecord>> {
  requireEnabled(access);
  // There is one type, and files that are being uploaded are in no package.
  const none = (type !== undefined && type !== 'generic') || (status !== undefined && !isStatus(status));
  if (none) return { items: [], total: 0, more: false };
  const part = name?.toLowerCase();
  const where = (record: PackageRecord) =>
    record.status === (status ?? 'default') &&
    (part === undefined || record.name.toLowerCase().includes(part));
  return deps.store.packages.page(access.project.id, { order, direction, where }, request);
}

const isStatus = (status: string): status is PackageStatus => status === 'default' || status === 'hidden';

/** @throws `404 Not found` */
export async function getPackage(deps: Deps, access: ProjectAccess, id: number): Promise<PackageRecord> {
  requireEnabled(access);
  const record = await deps.store.packages.get(access.project.id, id);
  if (record === undefined) throw recordNotFound();
  return record;
}

/** The other versions of a package that are not hidden, a hundred at most. */
export async function otherVersions(
  { store }: Deps,
  { id, projectId, name }: PackageRecord,
): Promise<readonly PackageRecord[]> {
  const found = await store.packages.ofName(projectId, name);
  return found.filter((each) => each.id !== id && each.status === 'default');
}

/** @throws `404 Not found` */
export async function listPackageFiles(
  deps: Deps,
  access: ProjectAccess,
  id: number,
  request: PageRequest,
): Promise<Page<PackageFileRecord>> {
  await getPackage(deps, access, id);
  return deps.store.packages.filesPage(id, request);
}

/** The newest file of the name. @throws `404 Not found` */
export async function findPackageFile(
  deps: Deps,
  access: ProjectAccess,
  named: PackageFileName,
): Promise<PackageFileRecord> {
  requireEnabled(access);
  const file = await deps.store.packages.newestFile(access.project.id, named);
  if (file === undefined) throw recordNotFound();
  return file;
}

/**
 * Stores a file, and makes its package if there is none. A file of the same name stays, and the new one is downloaded.
 * @param creatorId who makes the package
 * @throws 400 for a package that is full, 404 for a project that is deleted meanwhile, 413
 */
export async function uploadPackageFile(
  deps: Deps,
  creatorId: number,
  access: ProjectAccess,
  { name, version, file }: PackageFileName,
  status: PackageStatus,
  content: AsyncIterable<Uint8Array>,
): Promise<PackageFileRecord> {
  requireEnabled(access);
  const { packages } = deps.store;
  const { project } = access;
  const to = { projectId: project.id, name, version, status, creatorId };
  const stored = await packages.store(project.id, content, deps.now());
  try {
    return await retryOnConflict(
      () => packages.addFile(to, file, stored, deps.now()),
      (error) => error instanceof Stale,
    );
  } catch (error) {
    if (error instanceof LimitReached) throw refused(`The package has ${error.limit} files already`);
    if (error instanceof Missing) throw notFound('Project');
    throw error instanceof Stale ? conflict() : error;
  }
}

/**
 * @param unchanged called with the time of its creation; throws if that is later than the caller allows
 * @throws `404 Not found`; 409 while files of it are uploaded
 */
export async function deletePackage(
  deps: Deps,
  access: ProjectAccess,
  id: number,
  unchanged: (changed: string) => void,
): Promise<void> {
  await removing(async () => {
    const record = await getPackage(deps, access, id);
    unchanged(record.createdAt);
    await deps.store.packages.remove(record, deps.now());
  });
}

/**
 * @param unchanged as of {@link deletePackage}
 * @throws `404 Not found`; 409 while another file of the name is uploaded
 */
export async function deletePackageFile(
  deps: Deps,
  access: ProjectAccess,
  id: number,
  fileId: number,
  unchanged: (changed: string) => void,
): Promise<void> {
  await removing(async () => {
    await getPackage(deps, access, id);
    const file = await deps.store.packages.file(id, fileId);
    if (file === undefined) throw recordNotFound();
    unchanged(file.createdAt);
    await deps.store.packages.removeFile(file, deps.now());
  });
}

async function removing(attempt: () => Promise<void>): Promise<void> {
  try {
    await retryOnConflict(attempt, (error) => error instanceof Stale);
  } catch (error) {
    throw error instanceof Stale ? conflict() : error;
  }
}
