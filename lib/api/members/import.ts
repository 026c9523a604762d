import { importMembers } from '../../domain/members/import.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

export const importEndpoint = endpoint({
  method: 'POST',
  path: '/projects/:id/import_project_members/:project_id',
  area: 'members',
  summary: 'Import the members of another project',
  description:
    'Copies the direct members with their access levels, limited to your own level. Existing members are not changed.',
  access: project('admin_members'),
  params: () =>
    p.params({
      project_id: p.integer({ required: true, description: 'Id of the project whose members are imported' }),
    }),
  returns: { body: shapes.imported },
  errors: [
    { status: 404, description: 'The project does not exist, or the caller may not see its members' },
    { status: 405, description: 'A parent group has locked the membership of its projects' },
    { status: 422, description: 'The project has more than 1,000 direct members' },
  ],
  handle: async ({ actor, params, project }, deps) => {
    await importMembers(deps, actor, project, params.project_id);
    return { status: 'success' as const, message: 'Successfully imported' as const };
  },
});
