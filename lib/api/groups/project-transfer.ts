import { locateGroup, locateProject } from '../../domain/access/locate.ts';
import { accessesTo } from '../../domain/access/project-accesses.ts';
import { notFound } from '../../domain/errors.ts';
import { accessesToGroups } from '../../domain/groups/details.ts';
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
  summary: 'Put a project into a group',
  access: administrator(),
  params: () =>
    p.params({
      id: p.string({ required: true, description: 'Id or full path of the group' }),
      project_id: p.string({ required: true, description: 'Id or full path of the project' }),
    }),
  returns: { body: shapes.groupDetail },
  errors: [
    { status: 400, description: '`Failed to transfer project {...}`' },
    { status: 404, description: 'One of them is absent' },
    { status: 409, description: 'One of them changed meanwhile' },
  ],
  handle: async ({ actor, params, request }, deps) => {
    const [group, project] = await Promise.all([
      locateGroup(deps, params.id),
      locateProject(deps, params.project_id),
    ]);
    const [[into], [moved]] = await Promise.all([
      accessesToGroups(deps, actor, [group.id]),
      accessesTo(deps, actor, [project.id]),
    ]);
    if (into === undefined) throw notFound('Group');
    if (moved === undefined) throw notFound('Project');
    await transferProject(deps, actor, moved, { kind: 'group', access: into });
    return groupDetail(deps, actor, into, request.baseUrl, { withProjects: true });
  },
});

export const groupProjectEndpoints = [transfer];
