/** Activity and memberships of users, for administrators. */

import { countWrittenIssues } from '../../domain/issues/counts.ts';
import { countMemberships, listMemberships } from '../../domain/members/user-memberships.ts';
import { countWrittenMergeRequests } from '../../domain/merge-requests/counts.ts';
import { activeSince } from '../../domain/users/users.ts';
import { administrator, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import { activity, membership } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'users';

const activities = endpoint({
  method: 'GET',
  path: '/user/activities',
  area,
  summary: 'List the last activity of users, oldest first',
  access: administrator(),
  query: () =>
    p.params({
      from: p.date({
        description: 'Return only activity since this date (`YYYY-MM-DD`); default: six months ago',
      }),
    }),
  returns: { body: shapes.activities },
  ...BY_ROWS,
  handle: async ({ query, page }, deps) => {
    const found = await activeSince(deps, query.from, counted(page));
    return { ...found, items: found.items.map(activity) };
  },
});

const memberships = endpoint({
  method: 'GET',
  path: '/users/:id/memberships',
  area,
  summary: 'List the memberships of a user',
  description: 'Direct memberships in projects and groups.',
  access: administrator(),
  params: () => p.params({ id: p.routeInteger({ description: 'Id of the user' }) }),
  query: () =>
    p.params({
      type: p.oneOf(['Project', 'Namespace'], {
        description: 'Return only memberships in projects, or only those in groups',
      }),
    }),
  returns: { body: shapes.memberships },
  ...BY_ROWS,
  errors: [{ status: 404, description: 'The user does not exist' }],
  handle: async ({ params, query, page }, deps) => {
    const kinds = query.type === undefined ? (['group', 'project'] as const) : [KINDS[query.type]];
    const found = await listMemberships(deps, params.id, kinds, counted(page));
    return { ...found, items: found.items.map(membership) };
  },
});

const associations = endpoint({
  method: 'GET',
  path: '/users/:id/associations_count',
  area,
  summary: 'Count the projects, groups, issues and merge requests of a user',
  description: 'Users can count their own, administrators those of every user.',
  access: signedIn(),
  params: () => p.params({ id: p.routeInteger({ description: 'Id of the user' }) }),
  returns: { body: shapes.associations },
  errors: [
    { status: 403, description: 'The user is not the caller' },
    { status: 404, description: 'The user does not exist' },
  ],
  handle: async ({ actor, params }, deps) => {
    const { group, project } = await countMemberships(deps, actor, params.id);
    const [issues, mergeRequests] = await Promise.all([
      countWrittenIssues(deps, params.id),
      countWrittenMergeRequests(deps, params.id),
    ]);
    return {
      ...{ groups_count: group, projects_count: project },
      ...{ issues_count: issues, merge_requests_count: mergeRequests },
    };
  },
});

const KINDS = { Project: 'project', Namespace: 'group' } as const;

export const overviewEndpoints = [activities, memberships, associations];
