/** What administrators look up of all users: who was active, and who is a member of what. */
import { countMemberships, listMemberships } from '../../domain/members/user-memberships.ts';
import { activeSince } from '../../domain/users/users.ts';
import { administrator, signedIn } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { counted, endpoint } from '../endpoint.ts';
import { activity, membership } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'users';

const activities = endpoint({
  method: 'GET',
  path: '/user/activities',
  area,
  summary: 'List when users were last active, the longest ago first',
  access: administrator(),
  query: () => p.params({ from: p.date({ description: 'Not before this day; else half a year ago' }) }),
  returns: { body: shapes.activities },
  paginate: 'offset',
  handle: async ({ query, page }, deps) => {
    const found = await activeSince(deps, query.from, counted(page));
    return { ...found, items: found.items.map(activity) };
  },
});

const memberships = endpoint({
  method: 'GET',
  path: '/users/:id/memberships',
  area,
  summary: 'List what a user is a direct member of',
  access: administrator(),
  params: () => p.params({ id: p.routeInteger({ description: 'Id of the user' }) }),
  query: () => p.params({ type: p.oneOf(['Project', 'Namespace']) }),
  returns: { body: shapes.memberships },
  paginate: 'offset',
  errors: [{ status: 404, description: 'No such user' }],
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
  summary: 'Count what a user is a direct member of, and has written',
  description: 'Of oneself; administrators, of everybody.',
  access: signedIn(),
  params: () => p.params({ id: p.routeInteger({ description: 'Id of the user' }) }),
  returns: { body: shapes.associations },
  errors: [
    { status: 403, description: 'Of somebody else' },
    { status: 404, description: 'No such user' },
  ],
  handle: async ({ actor, params }, deps) => {
    const { group, project } = await countMemberships(deps, actor, params.id);
    // There are no issues and merge requests yet.
    return { groups_count: group, projects_count: project, issues_count: 0, merge_requests_count: 0 };
  },
});

const KINDS = { Project: 'project', Namespace: 'group' } as const;

export const overviewEndpoints = [activities, memberships, associations];
