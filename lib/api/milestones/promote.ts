import { promoteMilestone } from '../../domain/milestones/promote.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json } from '../../http/reply.ts';
import { endpoint } from '../endpoint.ts';
import { groupUrl } from '../groups/present.ts';
import { milestone } from './present.ts';
import * as shapes from './shapes.ts';

export const promote = endpoint({
  method: 'POST',
  path: '/projects/:id/milestones/:milestone_id/promote',
  area: 'labels',
  summary: 'Promote a milestone of a project to a milestone of its group',
  description:
    "Milestones with the same title in the group's other projects become this milestone too, soon afterwards.",
  access: project('admin_milestone'),
  params: () => p.params({ milestone_id: p.integer({ required: true, description: 'ID of the milestone' }) }),
  returns: { status: 200, body: shapes.milestone },
  errors: [
    { status: 400, description: 'The project is in no group, or a group further above has the title' },
    { status: 403, description: 'The caller may not change milestones of the group' },
    { status: 404, description: 'The project has no such milestone' },
  ],
  handle: async ({ actor, project, params, request }, deps) => {
    const { record, group } = await promoteMilestone(deps, actor, project, params.milestone_id);
    return json(milestone(record, groupUrl(group.group, request.baseUrl), deps.now()));
  },
});
