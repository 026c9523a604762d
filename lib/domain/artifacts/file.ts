/** One file out of an archive that a job has left. */
import { whole } from '../../bytes/whole.ts';
import type { JobArtifact } from '../../records/artifacts.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';
import { badRequest, notFound } from '../errors.ts';
import { making } from '../repository/downloads.ts';
import { BadZip, contentOf, findEntry, type ZipSource } from './zip.ts';

/** A file of an archive: whole where a response can carry it, otherwise a copy in the bucket. */
export type ArchivedFile = { readonly body: Uint8Array } | { readonly key: string };

/**
 * Reads a file of an archive: the end of the archive, its directory and the file, nothing else.
 * @throws 400 for a path that no file can have; 404 where there is no such file, or it cannot be read; 413
 */
export async function archivedFile(
  deps: Deps,
  { repositoryId }: ProjectRecord,
  archive: JobArtifact,
  path: string,
): Promise<ArchivedFile> {
  if (!isPath(path)) throw badRequest();
  const { downloads } = deps.store;
  const source = sourceOf(deps, archive);
  try {
    const entry = await findEntry(source, path);
    if (entry === undefined) throw notFound();
    if (!downloads.isLarge(entry.size)) return { body: await whole(contentOf(source, entry)) };
    const name = { artifact: archive.blob, path };
    const copy = await downloads.find(repositoryId, name);
    if (copy !== undefined) return copy;
    const made = await making(
      (limits) => downloads.make(repositoryId, name, contentOf(source, entry), limits),
      entry.size,
    );
    // What is large is not carried.
    if (!('key' in made)) throw notFound();
    return made;
  } catch (error) {
    if (error instanceof BadZip) throw notFound();
    throw error;
  }
}

export const sourceOf = ({ store }: Deps, { size, blob }: JobArtifact): ZipSource => ({
  size,
  read: (offset, length) => store.blobs.read(blob, offset, length),
  stream: (offset, length) => store.blobs.streamRange(blob, offset, length),
});

/** Whether a file within an archive can have this path. */
const isPath = (path: string): boolean =>
  path !== '' &&
  path.length <= 4096 &&
  path.isWellFormed() &&
  !path.includes('\0') &&
  !path.startsWith('/') &&
  !path.split('/').some((segment) => segment === '..' || segment === '.' || segment === '');
