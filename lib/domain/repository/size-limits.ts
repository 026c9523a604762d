/** Size limits: the instance settings, capped by the limits of the service. */
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';
import { refused } from '../errors.ts';

const MB = 1024 ** 2;
/** The service's limit of one push, in bytes. */
export const MAX_PUSH_BYTES = 2 * 1024 ** 3;

/** Maximum size of one push in bytes. */
export async function maxPushBytes({ settings }: Deps): Promise<number> {
  const { receive_max_input_size: size } = await settings.current();
  return size === null ? MAX_PUSH_BYTES : Math.min(MAX_PUSH_BYTES, size * MB);
}

/** Maximum size of the pack of an import in bytes. */
export async function maxImportBytes({ settings, environment }: Deps): Promise<number> {
  const { max_import_size: size } = await settings.current();
  return size === 0 ? environment.importMaxBytes : Math.min(environment.importMaxBytes, size * MB);
}

/** 400 for a commit to a repository above its size limit. @param excess as returned by `sizeExcess` */
export const repositoryTooLarge = (excess: string) =>
  refused(`Your changes could not be committed, because this repository has exceeded ${excess}`);

/** Describes by how much a repository with its objects of Git LFS, as last measured, exceeds its size limit; undefined if it does not. */
export async function sizeExcess(
  { settings }: Deps,
  { repositorySize = 0, lfsObjectsSize = 0 }: Pick<ProjectRecord, 'repositorySize' | 'lfsObjectsSize'>,
): Promise<string | undefined> {
  const limit = (await settings.current()).repository_size_limit;
  const over = Math.ceil((repositorySize + lfsObjectsSize) / MB - limit);
  return limit > 0 && over > 0 ? `its size limit of ${limit} MB by ${over} MB` : undefined;
}
