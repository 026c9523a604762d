import { MAINTAINER, OWNER } from '../../domain/access/levels.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import * as forks from '../../domain/forks/forks.ts';
import { listProjects } from '../../domain/projects/projects.ts';
import { project } from '../../http/access.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { noContent, notModified } from '../../http/reply.ts';
import { VISIBILITIES } from '../../records/visibility.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { relatedListParams } from '../projects/list-params.ts';
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
    'Copies the branches and tags of the source. The fork is filled in the background; `import_status` shows its progress.',
  access: project('read_project'),
  body: () =>
    p.params({
      name: p.string({ description: 'Name of the fork; default: the name of the source' }),
      path: p.string({ description: 'Path of the fork; default: the path of the source' }),
      description: p.string({
        nullable: true,
        description: 'Description of the fork; default: the description of the source',
      }),
      visibility: p.oneOf(VISIBILITIES, {
        description: 'Visibility of the fork; default and maximum: the visibility of the source',
      }),
      namespace_id: p.integer({
        description: 'Id of the namespace to fork into; default: your own namespace',
      }),
      namespace_path: p.string({ description: 'Path of the namespace to fork into' }),
      namespace: p.string({
        description: 'Deprecated: id or path of the namespace; use `namespace_id` or `namespace_path`',
      }),
    }),
  returns: { body: shapes.project },
  errors: [
    { status: 400, description: 'Invalid values by field' },
    { status: 403, description: 'The project limit of the user is reached' },
    {
      status: 404,
      description: 'The project or namespace does not exist, or the caller may not see or fork the project',
    },
    { status: 409, description: 'The name is taken, or the group was changed by another request' },
  ],
  handle: async ({ actor, project, body, request }, deps) => {
    const created = await forks.forkProject(deps, actor, project, {
      name: body.name || undefined,
      path: body.path || undefined,
      description: body.description,
      visibility: body.visibility,
      namespaces: [body.namespace_id ?? '', body.namespace_path ?? '', body.namespace ?? ''].filter(
        (namespace) => namespace !== '',
      ),
    });
    const access: ProjectAccess = {
      project: created,
      level: levelIn(created, actor.user.id),
    };
    return (await presented(deps, actor, [access], request.baseUrl, false))[0];
  },
});

/** Access level of the user who made the fork; only an administrator forks into another user's namespace. */
const levelIn = ({ namespaceKind, ownerId }: ProjectAccess['project'], userId: number) =>
  namespaceKind === 'group' ? MAINTAINER : ownerId === userId ? OWNER : 0;

const list = endpoint({
  method: 'GET',
  path: '/projects/:id/forks',
  area,
  summary: 'List the forks of a project',
  access: project('read_project', { anonymous: true }),
  query: relatedListParams,
  returns: { body: shapes.projectsListed },
  ...BY_ROWS,
  noun: 'Project',
  errors: [{ status: 405, description: `The offset is above ${MAX_OFFSET}` }],
  handle: async ({ actor, project, query, page, request }, deps) => {
    const found = await listProjects(deps, actor, {
      ...counted(page),
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
  summary: 'Create a fork relationship between two projects',
  description: 'The content of both projects stays as it is.',
  access: project('remove_project'),
  params: () =>
    p.params({
      forked_from_id: p.routeInteger({ description: 'Id of the project that this one becomes a fork of' }),
    }),
  returns: { body: shapes.project },
  errors: [
    {
      status: 400,
      description: 'The project is more visible than its source, or the source is a fork of the project',
    },
    { status: 409, description: 'The project is already a fork' },
    { status: 404, description: 'The source does not exist, or the caller may not see it' },
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
  summary: 'Delete the fork relationship of a project',
  description: 'Open merge requests between the project and those that it was related to are closed.',
  access: project('remove_project'),
  returns: { status: 204, description: 'The project is no longer a fork' },
  errors: [{ status: 304, description: 'The project is not a fork' }],
  handle: async ({ actor, project, unmodifiedSince }, deps) => {
    unmodifiedSince(project.project.updatedAt);
    return (await forks.endFork(deps, actor, project)) ? noContent() : notModified();
  },
});

export const forkEndpoints = [fork, list, relate, end];
