import { accessesTo } from '../../domain/access/project-accesses.ts';
import type { ProjectAccess } from '../../domain/access/types.ts';
import type { Actor } from '../../domain/actor.ts';
import { askForHousekeeping } from '../../domain/maintenance/request.ts';
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
const changed = [{ status: 409, description: 'It changed meanwhile, or the group it is in moves' }];

const archiving = (path: string, archived: boolean, summary: string, description: string) =>
  endpoint({
    method: 'POST',
    path,
    area,
    summary,
    description,
    access: project('archive_project'),
    returns: { body: shapes.project },
    errors: [{ status: 400, description: 'It waits for its deletion' }, ...changed],
    handle: async ({ actor, project: access, request }, deps) =>
      shown(deps, actor, access, await archiveProject(deps, actor, access, archived), request.baseUrl),
  });

const archive = archiving(
  '/projects/:id/archive',
  true,
  'Archive a project',
  'From then on it takes no pushes and no comments. One that is archived stays so.',
);
const unarchive = archiving(
  '/projects/:id/unarchive',
  false,
  'Take a project out of the archive',
  'It takes pushes again.',
);

const transfer = endpoint({
  method: 'PUT',
  path: '/projects/:id/transfer',
  area,
  summary: 'Put a project into another namespace',
  description: 'It becomes no more visible than the group. The former path leads on.',
  access: project('change_namespace'),
  body: () =>
    p.params({ namespace: p.string({ required: true, description: 'Id or full path of the namespace' }) }),
  returns: { body: shapes.project },
  errors: [
    { status: 400, description: '`Failed to transfer project {...}`' },
    { status: 404, description: 'The namespace is absent, or not yours to see' },
    ...changed,
  ],
  handle: async ({ actor, project: access, body, request }, deps) => {
    const namespace = await namespaceToMoveTo(deps, actor, body.namespace);
    const moved = await transferProject(deps, actor, access, namespace);
    // What somebody is in it may hang on where it is.
    const [now] = await accessesTo(deps, actor, [moved.id]);
    return shown(deps, actor, now ?? access, moved, request.baseUrl);
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: '/projects/:id',
  area,
  summary: 'Delete a project',
  description:
    'One in a group waits for as many days as the instance has it, archived and under another name, and can be restored.',
  access: project('remove_project'),
  query: () =>
    p.params({
      permanently_remove: p.boolean({ description: 'At once, when it waits already' }),
      full_path: p.string({ description: 'Of the project, to be sure; needed with `permanently_remove`' }),
    }),
  returns: {
    body: acceptedShape,
    status: 202,
    description: 'Gone at once, unless it waits; what it held is taken away afterwards',
  },
  errors: [{ status: 400, description: 'It does not wait yet, or the path is another' }, ...changed],
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
  summary: 'Restore a project that waits for its deletion',
  access: project('remove_project'),
  returns: { body: shapes.project },
  errors: [{ status: 400, description: 'It does not wait for its deletion' }, ...changed],
  handle: async ({ actor, project: access, request }, deps) =>
    shown(deps, actor, access, await restoreProject(deps, actor, access), request.baseUrl),
});

const housekeeping = endpoint({
  method: 'POST',
  path: '/projects/:id/housekeeping',
  area,
  summary: "Have a project's repository put in order",
  description: 'Soon, by a worker; this happens without being asked for, too.',
  access: project('admin_project'),
  returns: { body: shapes.nothing },
  errors: [{ status: 409, description: 'It is under way' }],
  handle: async ({ project: access }, deps) => {
    await askForHousekeeping(deps, access);
    return null;
  },
});

export const lifecycleEndpoints = [archive, unarchive, transfer, remove, restore, housekeeping];

async function shown(
  deps: ApiDeps,
  actor: Actor,
  access: ProjectAccess,
  now: ProjectRecord,
  baseUrl: string,
) {
  return (await presented(deps, actor, [{ ...access, project: now }], baseUrl, false))[0];
}
