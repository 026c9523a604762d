import { MAINTAINER, OWNER } from '../../domain/access/permissions.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import * as forks from '../../domain/forks/forks.ts';
import { listProjects } from '../../domain/projects/projects.ts';
import { project } from '../../http/access.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { noContent, notModified } from '../../http/reply.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { endpoint } from '../endpoint.ts';
import { listInput } from '../projects/listing.ts';
import { presented } from '../projects/presented.ts';
import * as shapes from '../projects/shapes.ts';

const area = 'projects';

const fork = endpoint({
  method: 'POST',
  path: '/projects/:id/fork',
  area,
  summary: 'Fork a project',
  description:
    'Answers at once; the content follows, and `import_status` tells how far it is. Branches and tags are taken over.',
  access: project('read_project'),
  body: () =>
    p.params({
      name: p.string({ description: "The source's when absent" }),
      path: p.string({ description: "The source's when absent" }),
      description: p.string({ nullable: true }),
      visibility: p.oneOf(VISIBILITIES, { description: "Never above the source's, which is the default" }),
      namespace_id: p.integer({ description: 'Of a group; your own namespace when absent' }),
      namespace_path: p.string({ description: 'The same by path' }),
      namespace: p.string({ description: 'Deprecated: an id or a path' }),
    }),
  returns: { body: shapes.project },
  errors: [
    { status: 400, description: 'Invalid, by field' },
    { status: 403, description: 'The project limit is reached' },
    { status: 404, description: 'Not yours to see or to fork; no such namespace' },
    { status: 409, description: 'The name is taken, or the group changed meanwhile' },
  ],
  handle: async ({ actor, project, body, request }, deps) => {
    const made = await forks.forkProject(deps, actor, project, {
      name: body.name || undefined,
      path: body.path || undefined,
      description: body.description,
      visibility: body.visibility,
      namespaces: [body.namespace_id ?? '', body.namespace_path ?? '', body.namespace ?? ''].filter(
        (namespace) => namespace !== '',
      ),
    });
    const access: ProjectAccess = {
      project: made,
      level: made.namespaceKind === 'user' ? OWNER : MAINTAINER,
    };
    return (await presented(deps, actor, [access], request.baseUrl, false))[0];
  },
});

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/forks',
  area,
  summary: "List a project's forks",
  access: project('read_project', { anonymous: true }),
  query: () =>
    p.params({
      archived: p.boolean({ description: 'Only archived, or only others' }),
      membership: p.boolean({ default: false, description: 'Only where you are a member' }),
      min_access_level: p.integer({
        values: [10, 20, 30, 40, 50],
        description: 'Only where you hold this level',
      }),
      order_by: p.oneOf(['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'], {
        default: 'created_at',
      }),
      owned: p.boolean({ default: false, description: 'Only your own' }),
      search: p.string({ description: 'Part of a name or path' }),
      simple: p.boolean({ default: false, description: 'Only the basic fields' }),
      sort: p.oneOf(['asc', 'desc'], { default: 'desc' }),
      starred: p.boolean({ default: false }),
      statistics: p.boolean({ default: false }),
      visibility: p.oneOf(VISIBILITIES),
      with_custom_attributes: p.boolean({ default: false }),
      with_issues_enabled: p.boolean({ default: false }),
      with_merge_requests_enabled: p.boolean({ default: false }),
    }),
  returns: { body: shapes.projectsListed },
  paginate: 'offset',
  noun: 'Project',
  errors: [{ status: 405, description: `An offset above ${MAX_OFFSET}` }],
  handle: async ({ actor, project, query, page, request }, deps) => {
    const found = await listProjects(deps, actor, {
      page: page.page,
      perPage: page.perPage,
      count: true,
      forksOf: project.project.id,
      membership: query.membership,
      ...listInput(query),
    });
    return {
      items: await presented(deps, actor, found.items, request.baseUrl, query.simple, query),
      total: found.total,
      more: found.more,
    };
  },
});

const relate = endpoint({
  method: 'POST',
  path: '/projects/:id/fork/:forked_from_id',
  area,
  summary: 'Say that a project is a fork of another',
  description: 'The two are related from then on; neither changes what it holds.',
  access: project('remove_project'),
  params: () => p.params({ forked_from_id: p.routeInteger({ description: 'Id of the source' }) }),
  returns: { body: shapes.project },
  errors: [
    { status: 400, description: 'More may see the project than its source, or the source descends from it' },
    { status: 409, description: 'It is a fork already' },
    { status: 404, description: 'Absent, or not yours to see' },
  ],
  handle: async ({ actor, project, params, request }, deps) => {
    const related = await forks.relateFork(deps, actor, project, params.forked_from_id);
    const access: ProjectAccess = { ...project, project: related };
    return (await presented(deps, actor, [access], request.baseUrl, false))[0];
  },
});

const end = endpoint({
  method: 'DELETE',
  path: '/projects/:id/fork',
  area,
  summary: 'End the relation of a fork to its source',
  access: project('remove_project'),
  returns: { status: 204, description: 'It is a project of its own from now on' },
  errors: [{ status: 304, description: 'It is no fork' }],
  handle: async ({ project, unmodifiedSince }, deps) => {
    unmodifiedSince(project.project.updatedAt);
    return (await forks.endFork(deps, project)) ? noContent() : notModified();
  },
});

export const forkEndpoints = [fork, list, relate, end];
