import { notFound } from '../../domain/errors.ts';
import { demandBlobRate, RAW_BLOBS, withinRate } from '../../domain/rate-limits/action-limits.ts';
import { contributors } from '../../domain/repository/contributors.ts';
import { mergeBase } from '../../domain/repository/merge-base.ts';
import { blob, codeOf, listDirectory, openBlob } from '../../domain/repository/read.ts';
import { type Oid, parseOid } from '../../git/oid.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { reply } from '../../http/reply.ts';
import { commitBasic } from '../commits/present.ts';
import { endpoint } from '../endpoint.ts';
import { NOT_CACHED } from '../files/endpoints.ts';
import { contentDisposition } from '../files/present.ts';
import { projectUrl } from '../projects/present.ts';
import { archiveEndpoints } from './archive.ts';
import { compare } from './compare.ts';
import * as shapes from './shapes.ts';

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
      path: p.string({ description: 'Directory; the root when absent' }),
      ref: p.string({ description: 'Branch, tag or commit; the default branch when absent' }),
      recursive: p.boolean({ default: false, description: 'Everything below, in order of path' }),
    }),
  returns: { body: shapes.treeEntries },
  paginate: 'offset+keyset',
  keyset: { marker: 'page_token' },
  errors: [{ status: 404, description: 'No such revision or directory, or an empty repository' }],
  first: ({ query }) => ({ revisions: [query.ref ?? 'HEAD'] }),
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

const NO_BLOB = { status: 404, description: 'No such blob' };
const TOO_MANY_BLOBS = {
  status: 429,
  description: 'More than five above 10 MB in a minute; raw, more of this one than the settings allow',
};

const getBlob = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/blobs/:sha',
  area,
  summary: 'Get a blob with its content in Base64',
  access,
  returns: { body: shapes.blob },
  errors: [NO_BLOB, TOO_MANY_BLOBS],
  first: () => ({}),
  handle: async ({ project, params }, deps) => {
    const allow = (size: number) => demandBlobRate(deps, project.project.id, size);
    const data = await blobOf(params.sha, (oid) => blob(codeOf(deps, project), oid, allow));
    return {
      size: data.length,
      encoding: 'base64',
      content: Buffer.from(data).toString('base64'),
      sha: params.sha.toLowerCase(),
    };
  },
});

const getRawBlob = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/blobs/:sha/raw',
  area,
  summary: 'Get the content of a blob',
  access,
  returns: { type: 'text/plain' },
  errors: [NO_BLOB, TOO_MANY_BLOBS],
  first: () => ({}),
  handle: async ({ project, params }, deps) => {
    const { id } = project.project;
    const allow = (size: number) => demandBlobRate(deps, id, size);
    const { content } = await withinRate(deps, RAW_BLOBS, `${id} ${params.sha.toLowerCase()}`, () =>
      blobOf(params.sha, (oid) => openBlob(codeOf(deps, project), oid, allow)),
    );
    return reply({
      body: content,
      type: 'text/plain; charset=utf-8',
      headers: { ...NOT_CACHED, 'Content-Disposition': contentDisposition('inline', params.sha) },
    });
  },
});

const listContributors = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/contributors',
  area,
  summary: 'List who wrote the commits of a repository',
  description: 'Merges are not counted. Addresses that differ in case only are one.',
  access,
  query: () =>
    p.params({
      ref: p.string({ description: 'Branch, tag or commit; the default branch when absent' }),
      order_by: p.oneOf(['name', 'email', 'commits'], { default: 'commits' }),
      sort: p.oneOf(['asc', 'desc'], { default: 'asc' }),
    }),
  paginate: 'offset',
  errors: [{ status: 404, description: 'No such revision' }],
  first: ({ query }) => ({ revisions: [query.ref ?? 'HEAD'] }),
  handle: async ({ project, query, page }, deps) => {
    const all = await contributors(codeOf(deps, project), query.ref, query.order_by, query.sort);
    return {
      items: all
        .slice(page.offset, page.offset + page.perPage)
        // Counting lines was given up by the interface; the fields stayed.
        .map(({ name, email, commits }) => ({ name, email, commits, additions: 0, deletions: 0 })),
      total: all.length,
    };
  },
});

const getMergeBase = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/merge_base',
  area,
  summary: 'Get the best common ancestor of two or more commits',
  access,
  query: () =>
    p.params({
      refs: p.list(p.string(), {
        required: true,
        maxItems: 100,
        description: 'Two or more branches, tags or commits',
      }),
    }),
  errors: [
    { status: 400, description: 'Fewer than two refs, or refs that are none' },
    { status: 404, description: 'No common ancestor' },
  ],
  first: ({ query }) => ({ revisions: query.refs }),
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
];

async function blobOf<T>(sha: string, read: (oid: Oid) => Promise<T | undefined>): Promise<T> {
  const oid = parseOid(sha.toLowerCase());
  const found = oid && (await read(oid));
  if (found === undefined) throw notFound('Blob');
  return found;
}
