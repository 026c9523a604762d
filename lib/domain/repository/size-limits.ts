/** The sizes that the instance's settings allow, within what it can hold at all. */
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';
import { refused } from '../errors.ts';

const MB = 1024 ** 2;
/** Bytes of one push. */
export const MAX_PUSH_BYTES = 2 * 1024 ** 3;

/** Bytes of one push. */
export async function maxPushBytes({ settings }: Deps): Promise<number> {
  const { receive_max_input_size: size } = await settings.current();
  return size === null ? MAX_PUSH_BYTES : Math.min(MAX_PUSH_BYTES, size * MB);
}

/** Bytes of the pack of one import. */
export async function maxImportBytes({ settings, environment }: Deps): Promise<number> {
  const { max_import_size: size } = await settings.current();
  return size === 0 ? environment.importMaxBytes : Math.min(environment.importMaxBytes, size * MB);
}

/** 400: no commit is made. @param excess as `sizeExcess` tells it */
export const tooLargeForMore = (excess: string) =>
  refused(`Your changes could not be committed, because this repository has exceeded ${excess}`);

/** Of a repository that has grown too large to take anything more, as it was measured last: the limit, and by how much. */
export async function sizeExcess(
  { settings }: Deps,
  { repositorySize = 0 }: Pick<ProjectRecord, 'repositorySize'>,
): Promise<string | undefined> {
  const limit = (await settings.current()).repository_size_limit;
  const over = Math.ceil(repositorySize / MB - limit);
  return limit > 0 && over > 0 ? `its size limit of ${limit} MB by ${over} MB` : undefined;
}
