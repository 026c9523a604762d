import * as branches from '../../domain/branches/branches.ts';
import { notFound } from '../../domain/errors.ts';
import { pushProtection } from '../../domain/refs/collaboration.ts';
import { prefetchOf } from '../../domain/refs/list.ts';
import { codeOf } from '../../domain/repository/read.ts';
import { started } from '../../domain/started.ts';
import { project } from '../../http/access.ts';
import type { KeysetPage, OffsetPage } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { accepted, noContent } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { accepted as acceptedShape } from '../meta/shapes.ts';
import { projectUrl } from '../projects/present.ts';
import { branch } from './present.ts';
import { protectedBranchEndpoints } from './protected.ts';
import { branchProtectionEndpoints } from './protection.ts';
import * as shapes from './shapes.ts';

const area = 'branches';
const readable = project('read_history', { anonymous: true });
const absent = { status: 404, description: 'Branch not found' };
const branchName = () =>
  p.params({ branch: p.string({ required: true, description: 'Name of the branch' }) });

const listQuery = (
  { search, sort }: { readonly search?: string; readonly sort: branches.BranchOrder },
  page: OffsetPage | KeysetPage,
) =>
  branches.branchList({
    search,
    order: sort,
    offset: page.kind === 'offset' ? page.offset : 0,
    limit: page.perPage,
    after: page.kind === 'keyset' ? page.after : undefined,
  });

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/branches',
  area,
  summary: 'List the branches of a repository',
  access: readable,
  query: () =>
    p.params({
      search: p.string({
        description:
          'Return only branches whose name contains this text; `^term` matches the start of the name, `term$` its end',
      }),
      sort: p.oneOf(['name_asc', 'updated_asc', 'updated_desc'], {
        default: 'name_asc',
        description: 'Sort by name, or by the date of the last commit',
      }),
    }),
  returns: { body: shapes.branches },
  paginate: 'offset+keyset',
  keyset: { marker: 'page_token' },
  prefetch: ({ query, page }) => ({
    ...prefetchOf(page && listQuery(query, page)),
    head: true,
    rules: 'branch',
  }),
  handle: async ({ actor, project, query, page, request }, deps) => {
    const protection = started(pushProtection(deps, actor, project));
    const found = await branches.listBranches(codeOf(deps, project), listQuery(query, page));
    const url = projectUrl(project.project, request.baseUrl);
    const rules = await protection;
    return {
      items: found.items.map((record) => branch(record, url, rules, actor)),
      total: found.total,
      more: found.more,
      next: found.more ? found.items.at(-1)?.name : undefined,
    };
  },
});

const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/branches/:branch',
  area,
  summary: 'Get a branch',
  access: readable,
  params: branchName,
  returns: { body: shapes.branch },
  errors: [absent],
  prefetch: ({ params }) => ({ branches: [params.branch], head: true, rules: 'branch' }),
  handle: async ({ actor, project, params, request }, deps) => {
    const protection = started(pushProtection(deps, actor, project, params.branch));
    const record = await branches.getBranch(codeOf(deps, project), params.branch);
    return branch(record, projectUrl(project.project, request.baseUrl), await protection, actor);
  },
});

const head = endpoint({
  method: 'HEAD',
  path: '/projects/:id/repository/branches/:branch',
  area,
  summary: 'Check whether a branch exists',
  access: readable,
  params: branchName,
  returns: { status: 204 },
  errors: [absent],
  prefetch: ({ params }) => ({ branches: [params.branch], packs: false }),
  handle: async ({ project, params }, deps) => {
    if (!(await branches.branchExists(codeOf(deps, project), params.branch))) throw notFound('Branch');
    return noContent();
  },
});

const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/branches',
  area,
  summary: 'Create a branch',
  access: project('read_history'),
  body: () =>
    p.params({
      branch: p.string({ required: true, blank: false, description: 'Name of the new branch' }),
      ref: p.string({
        required: true,
        blank: false,
        description: 'Branch, tag or commit SHA to create the branch from',
      }),
    }),
  returns: { body: shapes.branch },
  errors: [
    { status: 400, description: 'The name is invalid, taken or protected, or `ref` does not exist' },
    { status: 403, description: 'Not allowed to push to the branch' },
  ],
  prefetch: ({ body }) => ({ revisions: [body.ref], branches: [body.branch], head: true, rules: 'branch' }),
  handle: async ({ actor, project, body, request }, deps) => {
    const { made, protection } = await branches.createBranch(deps, actor, project, {
      name: body.branch,
      ref: body.ref,
    });
    return branch(made, projectUrl(project.project, request.baseUrl), protection, actor);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/branches/:branch',
  area,
  summary: 'Delete a branch',
  access: project('read_history'),
  params: branchName,
  returns: { status: 204 },
  errors: [
    { status: 400, description: 'The branch is protected or is the default branch' },
    { status: 403, description: 'Not allowed to push to the branch' },
    absent,
  ],
  prefetch: ({ params }) => ({ branches: [params.branch], head: true, rules: 'branch' }),
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await branches.deleteBranch(deps, actor, project, params.branch, unmodifiedSince);
    return noContent();
  },
});

const removeMerged = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/merged_branches',
  area,
  summary: 'Delete merged branches',
  description:
    'Deletes the branches that are merged into the default branch, except protected branches. Runs in the background.',
  access: project('read_history'),
  returns: { body: acceptedShape, status: 202, description: 'The deletion is scheduled' },
  errors: [{ status: 403, description: 'Not allowed to push to the branch' }],
  handle: async ({ actor, project }, deps) => {
    await branches.requestDeleteMerged(deps, actor, project);
    return accepted();
  },
});

export const branchEndpoints = [
  list,
  get,
  head,
  create,
  remove,
  removeMerged,
  ...branchProtectionEndpoints,
  ...protectedBranchEndpoints,
];
