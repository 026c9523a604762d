import { importMembers } from '../../domain/members/import.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

export const importEndpoint = endpoint({
  method: 'POST',
  path: '/projects/:id/import_project_members/:project_id',
  area: 'members',
  summary: 'Make the direct members of another project members of this one',
  description:
    'At the level they have there and at most your own. Who is a member already stays what they are.',
  access: project('admin_members'),
  params: () =>
    p.params({ project_id: p.integer({ required: true, description: 'Id of the other project' }) }),
  returns: { body: shapes.imported },
  errors: [
    { status: 404, description: 'No such project, or its members are hidden' },
    { status: 405, description: 'No new members here' },
    { status: 422, description: 'It has more than 1,000 direct members' },
  ],
  handle: async ({ actor, params, project }, deps) => {
    await importMembers(deps, actor, project, params.project_id);
    return { status: 'success' as const, message: 'Successfully imported' as const };
  },
});
