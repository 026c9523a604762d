import { projectAccesses } from '../../domain/access/project-accesses.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { requestHousekeeping } from '../../domain/maintenance/request.ts';
import { archiveProject, askForDeletion, restoreProject } from '../../domain/projects/lifecycle.ts';
import { namespaceToMoveTo, transferProject } from '../../domain/projects/transfer.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { accepted } from '../../http/reply.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { accepted as acceptedShape } from '../meta/shapes.ts';
import { presented } from './presented.ts';
import * as shapes from './shapes.ts';

const area = 'projects';
const changed = [
  {
    status: 409,
    description: 'The project was changed by another request, or its group is being transferred',
  },
];

const archiving = (path: string, archived: boolean, summary: string, description: string) =>
  endpoint({
    method: 'POST',
    path,
    area,
    summary,
    description,
    access: project('archive_project'),
    returns: { body: shapes.project },
    errors: [{ status: 400, description: 'The project is scheduled for deletion' }, ...changed],
    handle: async ({ actor, project: access, request }, deps) =>
      shown(deps, actor, access, await archiveProject(deps, actor, access, archived), request.baseUrl),
  });

const archive = archiving(
  '/projects/:id/archive',
  true,
  'Archive a project',
  'An archived project accepts no pushes and no comments. Archiving it again has no effect.',
);
const unarchive = archiving(
  '/projects/:id/unarchive',
  false,
  'Unarchive a project',
  'The project accepts pushes and comments again.',
);

const transfer = endpoint({
  method: 'PUT',
  path: '/projects/:id/transfer',
  area,
  summary: 'Transfer a project to another namespace',
  description:
    'The visibility is limited to that of the new group. The former path still leads to the project.',
  access: project('change_namespace'),
  body: () =>
    p.params({
      namespace: p.string({
        required: true,
        description: 'Id or full path of the namespace to transfer the project to',
      }),
    }),
  returns: { body: shapes.project },
  errors: [
    { status: 400, description: '`Failed to transfer project {...}`' },
    { status: 404, description: 'The namespace does not exist, or the caller may not see it' },
    ...changed,
  ],
  handle: async ({ actor, project: access, body, request }, deps) => {
    const namespace = await namespaceToMoveTo(deps, actor, body.namespace);
    const moved = await transferProject(deps, actor, access, namespace);
    // The caller's access level can depend on the namespace.
    const [current] = await projectAccesses(deps, actor, [moved.id]);
    return shown(deps, actor, current ?? access, moved, request.baseUrl);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id',
  area,
  summary: 'Delete a project',
  description:
    'A project in a group is archived, renamed and scheduled for deletion after the number of days in the settings, if delayed deletion is on. Until then it can be restored.',
  access: project('remove_project'),
  query: () =>
    p.params({
      permanently_remove: p.boolean({
        description: 'Delete a project that is already scheduled for deletion immediately',
      }),
      full_path: p.string({
        description: 'Full path of the project as confirmation; required with `permanently_remove`',
      }),
    }),
  returns: {
    body: acceptedShape,
    status: 202,
    description: 'The project is deleted or scheduled for deletion; its data is removed in the background',
  },
  errors: [
    { status: 400, description: 'The project is not scheduled for deletion yet, or the path does not match' },
    ...changed,
  ],
  handle: async ({ actor, project: access, query, unmodifiedSince }, deps) => {
    unmodifiedSince(access.project.updatedAt);
    await askForDeletion(deps, actor, access, {
      permanently: query.permanently_remove,
      fullPath: query.full_path,
    });
    return accepted();
  },
});

const restore = endpoint({
  method: 'POST',
  path: '/projects/:id/restore',
  area,
  summary: 'Restore a project that is scheduled for deletion',
  access: project('remove_project'),
  returns: { body: shapes.project },
  errors: [{ status: 400, description: 'The project is not scheduled for deletion' }, ...changed],
  handle: async ({ actor, project: access, request }, deps) =>
    shown(deps, actor, access, await restoreProject(deps, actor, access), request.baseUrl),
});

const housekeeping = endpoint({
  method: 'POST',
  path: '/projects/:id/housekeeping',
  area,
  summary: 'Start housekeeping of a project',
  description: 'Runs in the background. Housekeeping also runs automatically.',
  access: project('admin_project'),
  returns: { body: shapes.nothing },
  errors: [{ status: 409, description: 'Housekeeping is already running' }],
  handle: async ({ project: access }, deps) => {
    await requestHousekeeping(deps, access);
    return null;
  },
});

export const lifecycleEndpoints = [archive, unarchive, transfer, remove, restore, housekeeping];

async function shown(
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  current: ProjectRecord,
  baseUrl: string,
) {
  return (await presented(deps, actor, [{ ...access, project: current }], baseUrl, false))[0];
}
