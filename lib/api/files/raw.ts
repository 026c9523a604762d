import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Deps } from '../../domain/deps.ts';
import { RAW_BLOBS, withinRate } from '../../domain/rate-limits/action-limits.ts';
import { codeOf, digestFile, type FileFacts, openFile } from '../../domain/repository/read.ts';
import type { RequestFacts } from '../../http/endpoint.ts';
import { brandHeaders } from '../../http/headers.ts';
import type { Reply } from '../../http/reply.ts';
import { download } from './download.ts';
import { contentDisposition, fileFacts, fileHeaders } from './present.ts';

export const NOT_CACHED = {
  'Cache-Control': 'max-age=0, private, must-revalidate, no-store, no-cache',
} as const;

/**
 * The raw content of a file with its facts as headers.
 * @param lfs whether a pointer of Git LFS is replaced with the content it stands for; facts stay those of the pointer
 * @throws 404, 429
 */
export async function rawFile(
  deps: Deps,
  project: ProjectAccess,
  { ref, path, lfs }: { readonly ref: string; readonly path: string; readonly lfs: boolean },
  { method }: RequestFacts,
): Promise<Reply> {
  const git = codeOf(deps, project);
  const subject = `${project.project.id} ${path}`;
  const as = (file: FileFacts) => ({
    type: 'text/plain; charset=utf-8',
    disposition: contentDisposition('inline', file.entry.name),
    headers: {
      ...NOT_CACHED,
      ...brandHeaders(deps.environment.serviceName, fileHeaders(fileFacts(file, ref))),
    },
  });
  if (method === 'HEAD') {
    const file = await withinRate(deps, RAW_BLOBS, subject, () => digestFile(git, ref, path));
    return download(deps, { body: new Uint8Array(0) }, as(file));
  }
  const at = { project: project.project, git };
  const file = await withinRate(deps, RAW_BLOBS, subject, () => openFile(deps, at, ref, path));
  if (!lfs) return download(deps, file.content, as(file));
  const { pointedTo } = await import('../../domain/lfs/file.ts');
  return download(deps, (await pointedTo(deps, project, file)) ?? file.content, as(file));
}
