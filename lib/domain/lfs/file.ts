import { parsePointer } from '../../git/lfs-pointer.ts';
import type { Download } from '../../store/blobs/downloads.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { OpenFile } from '../repository/read.ts';
import { isLfsEnabled } from './enabled.ts';

/**
 * What a file stands for, if it is a pointer of Git LFS in a project that uses it.
 * @returns undefined for any other file
 * @throws 404 when the project lacks the object
 */
export async function pointedTo(
  deps: Deps,
  { project }: ProjectAccess,
  { content }: OpenFile,
): Promise<Download | { readonly body: AsyncIterable<Uint8Array> } | undefined> {
  const pointer =
    'body' in content && content.body instanceof Uint8Array ? parsePointer(content.body) : undefined;
  if (pointer === undefined || !(await isLfsEnabled(deps, project))) return undefined;
  const { lfsObjects, downloads } = deps.store;
  const object = (await lfsObjects.find(project.id, [pointer.oid])).get(pointer.oid);
  if (object === undefined) throw notFound('File');
  return downloads.isLarge(object.size) ? { key: lfsObjects.keyOf(object) } : lfsObjects.open(object);
}
