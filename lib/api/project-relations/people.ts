import { projectGroups, projectUsers } from '../../domain/project-relations/people.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel } from '../../records/members.ts';
import { avatarUrl } from '../avatars/avatar-url.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { groupUrl } from '../groups/present.ts';
import { given } from '../projects/listing.ts';
import { userBasic } from '../users/present.ts';
import * as shapes from './shapes.ts';

const area = 'project-relations';

const users = endpoint({
  method: 'GET',
  path: '/projects/:id/users',
  area,
  summary: 'List the users of a project',
  description: 'All members of the project, inherited and invited ones included.',
  access: project('read_project', { anonymous: true }),
  query: () =>
    p.params({
      search: p.string({ description: 'Return only users whose name or username contains this text' }),
      skip_users: p.list(p.integer(), { description: 'Leave out the users with these ids' }),
    }),
  returns: { body: shapes.users },
  ...BY_ROWS,
  handle: async ({ actor, project, query, page, request }, deps) => {
    const found = await projectUsers(deps, actor, project, {
      ...counted(page),
      ...given({ search: query.search, skip: query.skip_users }),
    });
    return { ...found, items: found.items.map((user) => userBasic(user, request.baseUrl)) };
  },
});

const groups = endpoint({
  method: 'GET',
  path: '/projects/:id/groups',
  area,
  summary: 'List the groups of a project',
  description: 'Ancestor groups of the project and, on request, groups it is shared with.',
  access: project('read_project', { anonymous: true }),
  query: () =>
    p.params({
      search: p.string({ description: 'Return only groups whose name or path contains this text' }),
      skip_groups: p.list(p.integer(), { description: 'Leave out the groups with these ids' }),
      with_shared: p.boolean({
        default: false,
        description: 'Include groups that the project is shared with',
      }),
      shared_visible_only: p.boolean({
        default: false,
        description: 'Include only shared groups that are not private',
      }),
      shared_min_access_level: p.integer({
        values: [10, 20, 30, 40, 50],
        description: 'Include only shared groups with at least this access level',
      }),
    }),
  returns: { body: shapes.groups },
  paginate: 'offset',
  handle: async ({ actor, project, query, page, request }, deps) => {
    const minAccessLevel = query.shared_min_access_level as AccessLevel | undefined;
    const invited = query.with_shared
      ? { publicOnly: query.shared_visible_only, ...given({ minAccessLevel }) }
      : undefined;
    const found = await projectGroups(deps, actor, project, {
      ...counted(page),
      ...given({ search: query.search, skip: query.skip_groups, invited }),
    });
    return { ...found, items: found.items.map((group) => basic(group, request.baseUrl)) };
  },
});

const basic = (group: GroupRecord, baseUrl: string) => ({
  id: group.id,
  web_url: groupUrl(group, baseUrl),
  name: group.name,
  avatar_url: avatarUrl('group', group, baseUrl),
  full_name: group.fullName,
  full_path: group.fullPath,
});

export const peopleEndpoints = [users, groups];
