import { locateGroup, locateProject } from '../../domain/access/locate.ts';
import { projectAccesses } from '../../domain/access/project-accesses.ts';
import { notFound } from '../../domain/errors.ts';
import { groupAccesses } from '../../domain/groups/details.ts';
import { transferProject } from '../../domain/projects/transfer.ts';
import { administrator } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import { groupDetail } from './presented.ts';
import * as shapes from './shapes.ts';

const transfer = endpoint({
  method: 'POST',
  path: '/groups/:id/projects/:project_id',
  area: 'groups',
  summary: 'Transfer a project to a group',
  access: administrator(),
  params: () =>
    p.params({
      id: p.string({ required: true, description: 'ID or URL-encoded full path of the group' }),
      project_id: p.string({ required: true, description: 'ID or URL-encoded full path of the project' }),
    }),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 400, description: '`Failed to transfer project {...}`' },
    { status: 404, description: 'Group or project not found' },
    { status: 409, description: 'The group or project was changed by a concurrent request' },
  ],
  handle: async ({ actor, params, request }, deps) => {
    const [group, project] = await Promise.all([
      locateGroup(deps, params.id),
      locateProject(deps, params.project_id),
    ]);
    const [[groupAccess], [projectAccess]] = await Promise.all([
      groupAccesses(deps, actor, [group.id]),
      projectAccesses(deps, actor, [project.id]),
    ]);
    if (groupAccess === undefined) throw notFound('Group');
    if (projectAccess === undefined) throw notFound('Project');
    await transferProject(deps, actor, projectAccess, { kind: 'group', access: groupAccess });
    return groupDetail(deps, actor, groupAccess, request.baseUrl, { withProjects: true });
  },
});

export const groupProjectEndpoints = [transfer];
