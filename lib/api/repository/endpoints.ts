import { notFound } from '../../domain/errors.ts';
import { RAW_BLOBS, requireBlobRate, withinRate } from '../../domain/rate-limits/action-limits.ts';
import { contributors } from '../../domain/repository/contributors.ts';
import { mergeBase } from '../../domain/repository/merge-base.ts';
import { blob, blobDownload, codeOf, listDirectory, openBlob } from '../../domain/repository/read.ts';
import { type Oid, parseOid } from '../../git/oid.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { commitBasic } from '../commits/present.ts';
import { endpoint } from '../endpoint.ts';
import { jsonWithContent } from '../files/content-json.ts';
import { download, LARGE_DOWNLOAD } from '../files/download.ts';
import { contentDisposition } from '../files/present.ts';
import { NOT_CACHED } from '../files/raw.ts';
import { projectUrl } from '../projects/present.ts';
import { archiveEndpoints } from './archive.ts';
import { compare } from './compare.ts';
import * as shapes from './shapes.ts';
import { snapshotEndpoints } from './snapshot.ts';

const area = 'repository';
const access = project('read_code', { anonymous: true });

const tree = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/tree',
  area,
  summary: 'List the files and directories of a repository',
  access,
  query: () =>
    p.params({
      path: p.string({ description: 'Path of a directory; default: the root directory' }),
      ref: p.string({ description: 'Name of a branch or tag, or commit SHA; default: the default branch' }),
      recursive: p.boolean({
        default: false,
        description: 'List all subdirectories recursively, sorted by path',
      }),
    }),
  returns: { body: shapes.treeEntries },
  paginate: 'offset+keyset',
  keyset: { marker: 'page_token' },
  errors: [
    { status: 404, description: 'The revision or directory does not exist, or the repository is empty' },
  ],
  prefetch: ({ query }) => ({ revisions: [query.ref ?? 'HEAD'] }),
  handle: async ({ project, query, page }, deps) => {
    const listing = await listDirectory(codeOf(deps, project), query.ref ?? 'HEAD', {
      path: query.path?.replace(/^\/+|\/+$/g, '') ?? '',
      recursive: query.recursive,
      limit: page.perPage,
      ...(page.kind === 'offset' ? { offset: page.offset } : {}),
      ...(page.kind === 'keyset' && page.after !== undefined ? { after: page.after } : {}),
    });
    return {
      items: listing.entries.map(({ id, name, type, path, mode }) => ({ id, name, type, path, mode })),
      total: listing.total,
      more: listing.next !== undefined,
      next: listing.next,
    };
  },
});

const NO_BLOB = { status: 404, description: 'The blob does not exist' };
const TOO_MANY_BLOBS = {
  status: 429,
  description:
    'More than five blobs above 10 MB per minute; for raw content also the setting `raw_blob_request_limit`',
};

const blobSha = () => p.params({ sha: p.string({ required: true, description: 'SHA of the blob' }) });

const getBlob = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/blobs/:sha',
  area,
  summary: 'Get a blob with its Base64-encoded content',
  access,
  params: blobSha,
  returns: { body: shapes.blob },
  errors: [NO_BLOB, TOO_MANY_BLOBS],
  prefetch: () => ({}),
  handle: async ({ project, params }, deps) => {
    const allow = (size: number) => requireBlobRate(deps, project.project.id, size);
    const data = await blobOf(params.sha, (oid) => blob(codeOf(deps, project), oid, allow));
    const sha = params.sha.toLowerCase();
    return jsonWithContent({ size: data.length, encoding: 'base64', sha }, data);
  },
});

const getRawBlob = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/blobs/:sha/raw',
  area,
  summary: 'Get the raw content of a blob',
  access,
  params: blobSha,
  returns: { type: 'text/plain', redirect: LARGE_DOWNLOAD },
  errors: [NO_BLOB, TOO_MANY_BLOBS],
  prefetch: () => ({}),
  handle: async ({ project, params, request }, deps) => {
    const { id } = project.project;
    const git = codeOf(deps, project);
    const allow = (size: number) => requireBlobRate(deps, id, size);
    const content = await withinRate(deps, RAW_BLOBS, `${id} ${params.sha.toLowerCase()}`, () =>
      blobOf(params.sha, (oid) =>
        request.method === 'HEAD'
          ? openBlob(git, oid, allow).then((found) => found && { body: found.content })
          : blobDownload(deps, { project: project.project, git }, oid, allow),
      ),
    );
    return download(deps, content, {
      type: 'text/plain; charset=utf-8',
      disposition: contentDisposition('inline', params.sha),
      headers: NOT_CACHED,
    });
  },
});

const listContributors = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/contributors',
  area,
  summary: 'List the contributors of a repository',
  description: 'Merge commits are not counted. Email addresses are compared case-insensitively.',
  access,
  query: () =>
    p.params({
      ref: p.string({ description: 'Name of a branch or tag, or commit SHA; default: the default branch' }),
      order_by: p.oneOf(['name', 'email', 'commits'], {
        default: 'commits',
        description: 'Field to sort the contributors by',
      }),
      sort: p.oneOf(['asc', 'desc'], { default: 'asc', description: 'Sort direction' }),
    }),
  paginate: 'offset',
  anyOffset: true,
  errors: [{ status: 404, description: 'The revision does not exist' }],
  prefetch: ({ query }) => ({ revisions: [query.ref ?? 'HEAD'] }),
  handle: async ({ project, query, page }, deps) => {
    const all = await contributors(codeOf(deps, project), query.ref, query.order_by, query.sort);
    return {
      items: all
        .slice(page.offset, page.offset + page.perPage)
        // The REST interface no longer counts lines; the fields remain with 0.
        .map(({ name, email, commits }) => ({ name, email, commits, additions: 0, deletions: 0 })),
      total: all.length,
    };
  },
});

const getMergeBase = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/merge_base',
  area,
  summary: 'Get the merge base of two or more commits',
  access,
  query: () =>
    p.params({
      refs: p.list(p.string(), {
        required: true,
        maxItems: 100,
        description: 'Two or more branch names, tag names or commit SHAs',
      }),
    }),
  errors: [
    { status: 400, description: 'Fewer than two refs, or a ref that does not exist' },
    { status: 404, description: 'The commits have no common ancestor' },
  ],
  prefetch: ({ query }) => ({ revisions: query.refs }),
  handle: async ({ project, query, request }, deps) =>
    commitBasic(
      await mergeBase(codeOf(deps, project), query.refs),
      projectUrl(project.project, request.baseUrl),
    ),
});

export const repositoryEndpoints = [
  tree,
  getBlob,
  getRawBlob,
  listContributors,
  getMergeBase,
  compare,
  ...archiveEndpoints,
  ...snapshotEndpoints,
];

async function blobOf<T>(sha: string, read: (oid: Oid) => Promise<T | undefined>): Promise<T> {
  const oid = parseOid(sha.toLowerCase());
  const found = oid && (await read(oid));
  if (found === undefined) throw notFound('Blob');
  return found;
}
