import { projectGroups, projectUsers } from '../../domain/project-relations/people.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import type { GroupRecord } from '../../records/groups.ts';
import type { AccessLevel } from '../../records/members.ts';
import { avatarUrl } from '../avatars/avatar-url.ts';
import { counted, endpoint } from '../endpoint.ts';
import { groupUrl } from '../groups/present.ts';
import { given } from '../projects/listing.ts';
import { userBasic } from '../users/present.ts';
import * as shapes from './shapes.ts';

const area = 'project-relations';

const users = endpoint({
  method: 'GET',
  path: '/projects/:id/users',
  area,
  summary: 'List the users who are members of a project, by whatever membership',
  access: project('read_project', { anonymous: true }),
  query: () =>
    p.params({
      search: p.string({ description: 'Part of a name or username' }),
      skip_users: p.list(p.integer(), { description: 'Without these' }),
    }),
  returns: { body: shapes.users },
  paginate: 'offset',
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
  summary: 'List the groups that a project stands in, or is shared with',
  access: project('read_project', { anonymous: true }),
  query: () =>
    p.params({
      search: p.string({ description: 'Part of a name or path' }),
      skip_groups: p.list(p.integer(), { description: 'Without these' }),
      with_shared: p.boolean({ default: false, description: 'Also groups the project is shared with' }),
      shared_visible_only: p.boolean({
        default: false,
        description: 'Of these, only those that are not private',
      }),
      shared_min_access_level: p.integer({
        values: [10, 20, 30, 40, 50],
        description: 'Of these, only those that get this level',
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
    return { ...found, items: found.items.map((each) => basic(each, request.baseUrl)) };
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
