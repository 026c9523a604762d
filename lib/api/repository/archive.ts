import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import type { Deps } from '../../domain/deps.ts';
import { type ArchiveWanted, downloadArchive } from '../../domain/files/archives.ts';
import type { ArchiveFormat } from '../../git/archive.ts';
import { project } from '../../http/access.ts';
import type { RequestFacts } from '../../http/endpoint.ts';
import * as p from '../../http/params.ts';
import type { Reply } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { download, LARGE_DOWNLOAD } from '../files/download.ts';
import { contentDisposition } from '../files/present.ts';
import { refuseHotlink } from './hotlink.ts';

const area = 'repository';
const access = project('read_code', { anonymous: true });

/** Archive format by the suffix in the URL. */
const FORMATS = {
  'tar.gz': 'tar.gz',
  'tar.bz2': 'tar.bz2',
  tbz: 'tar.bz2',
  tbz2: 'tar.bz2',
  tb2: 'tar.bz2',
  bz2: 'tar.bz2',
  tar: 'tar',
  zip: 'zip',
} as const satisfies Record<string, ArchiveFormat>;
type Suffix = keyof typeof FORMATS;

const query = () =>
  p.params({
    sha: p.string({ description: 'Name of a branch or tag, or commit SHA; default: the default branch' }),
    path: p.string({ description: 'Path of a directory or file to download; default: the whole repository' }),
  });
const returns = {
  type: 'application/octet-stream',
  headers: ['Content-Disposition'],
  redirect: LARGE_DOWNLOAD,
};
const description = 'Pointers of Git LFS are replaced with the objects of the project that they lead to.';
const prefetch = ({ query }: { readonly query: { readonly sha?: string } }) => ({
  revisions: [query.sha || 'HEAD'],
  head: !query.sha,
});
const errors = [
  { status: 404, description: 'The revision or path does not exist' },
  { status: 406, description: 'The archive was requested as a subresource of a page (hotlinking)' },
  { status: 413, description: 'The archive would have too many files, or be too large' },
  { status: 429, description: 'More downloads per minute than `archive_download_limit` allows' },
];

const whole = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/archive',
  area,
  summary: 'Download an archive of a repository as tar.gz',
  description,
  access,
  query,
  returns,
  errors,
  prefetch,
  handle: ({ actor, project, query, request }, deps) =>
    archiveReply(deps, actor, project, { ref: query.sha, path: query.path }, 'tar.gz', request),
});

const inFormat = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/archive.:format',
  area,
  summary: 'Download an archive of a repository in a given format',
  description,
  access,
  params: () =>
    p.params({
      format: p.routeWord(Object.keys(FORMATS) as Suffix[], { description: 'Format of the archive' }),
    }),
  query,
  returns,
  errors,
  prefetch,
  handle: ({ actor, project, params, query, request }, deps) =>
    archiveReply(deps, actor, project, { ref: query.sha, path: query.path }, FORMATS[params.format], request),
});

export const archiveEndpoints = [whole, inFormat];

/** @throws 404, 406, 413, 429 */
export async function archiveReply(
  deps: Deps,
  actor: Actor,
  project: ProjectAccess,
  wanted: Pick<ArchiveWanted, 'ref' | 'path' | 'fileName'>,
  format: ArchiveFormat,
  { headers, method, sourceIp }: RequestFacts,
): Promise<Reply> {
  refuseHotlink(headers);
  const options = { ...wanted, format, sourceIp, headOnly: method === 'HEAD' };
  const { name, content } = await downloadArchive(deps, actor, project, options);
  return download(deps, content, {
    type: format === 'zip' ? 'application/zip' : 'application/octet-stream',
    disposition: contentDisposition('attachment', `${name}.${format}`),
    headers: {
      'Cache-Control': 'max-age=0, private, must-revalidate',
      'Content-Transfer-Encoding': 'binary',
    },
  });
}
