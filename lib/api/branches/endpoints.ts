import * as branches from '../../domain/branches/branches.ts';
import { notFound } from '../../domain/errors.ts';
import { prefetchOf } from '../../domain/refs/list.ts';
import { branchProtection } from '../../domain/refs/protection.ts';
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
const absent = { status: 404, description: 'No such branch' };

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
  summary: 'List the branches of a repository, by name',
  access: readable,
  query: () =>
    p.params({
      search: p.string({ description: 'Part of the name; `^term` at its start, `term$` at its end' }),
      sort: p.oneOf(['name_asc', 'updated_asc', 'updated_desc'], { default: 'name_asc' }),
    }),
  returns: { body: shapes.branches },
  paginate: 'offset+keyset',
  keyset: { marker: 'page_token' },
  prefetch: ({ query, page }) => prefetchOf(page && listQuery(query, page)),
  handle: async ({ actor, project, query, page, request }, deps) => {
    const protection = started(branchProtection(deps, project));
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
  returns: { body: shapes.branch },
  errors: [absent],
  prefetch: ({ params }) => ({ branches: [params.branch], head: true, rules: 'branch' }),
  handle: async ({ actor, project, params, request }, deps) => {
    const protection = started(branchProtection(deps, project));
    const record = await branches.getBranch(codeOf(deps, project), params.branch);
    return branch(record, projectUrl(project.project, request.baseUrl), await protection, actor);
  },
});

const head = endpoint({
  method: 'HEAD',
  path: '/projects/:id/repository/branches/:branch',
  area,
  summary: 'Tell whether a branch exists',
  access: readable,
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
      branch: p.string({ required: true, blank: false, description: 'Name' }),
      ref: p.string({ required: true, blank: false, description: 'Branch, tag or commit to start from' }),
    }),
  returns: { body: shapes.branch },
  errors: [
    { status: 400, description: 'Bad or taken name, nothing to start from, or a protected branch' },
    { status: 403, description: 'No right to push' },
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
  returns: { status: 204 },
  errors: [
    { status: 400, description: 'The default branch, or a protected one' },
    { status: 403, description: 'No right to push' },
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
  summary: 'Delete every branch that is merged into the default branch',
  access: project('read_history'),
  returns: { body: acceptedShape, status: 202, description: 'Done by a worker afterwards' },
  errors: [{ status: 403, description: 'No right to push' }],
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
