import { canInGroup } from '../../domain/access/permissions.ts';
import { group } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { endpoint } from '../endpoint.ts';
import { groupEditEndpoints } from './edit.ts';
import { groupListEndpoints } from './lists.ts';
import { groupDetail } from './presented.ts';
import { groupProjectEndpoints } from './project-transfer.ts';
import * as shapes from './shapes.ts';

const area = 'groups';

const get = endpoint({
  method: 'GET',
  path: '/groups/:id',
  area,
  summary: 'Get a group',
  access: group('read_group', { anonymous: true }),
  query: () =>
    p.params({
      with_custom_attributes: p.boolean({
        default: false,
        description: 'Include custom attributes. Administrators only',
      }),
      with_projects: p.boolean({
        default: true,
        description:
          'Include the projects of the group, at most 100. Deprecated: use `GET /groups/:id/projects`',
      }),
    }),
  returns: { body: shapes.groupDetail },
  handle: ({ actor, group: access, query, request }, deps) =>
    groupDetail(deps, actor, access, request.baseUrl, {
      withProjects: query.with_projects,
      withCustomAttributes: query.with_custom_attributes,
      owned: canInGroup(actor, access, 'admin_group'),
    }),
});

export const groupEndpoints = [get, ...groupEditEndpoints, ...groupListEndpoints, ...groupProjectEndpoints];
