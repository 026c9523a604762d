import { userNamed } from '../../domain/accounts/accounts.ts';
import { type FeedQuery, ownFeed, projectFeed, userFeed } from '../../domain/feeds/feed.ts';
import { listProjects } from '../../domain/projects/projects.ts';
import { anyone, project, signedIn } from '../../http/access.ts';
import { type KeysetPage, MAX_OFFSET, type OffsetPage } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { countedOrAfter, endpoint } from '../endpoint.ts';
import { activityEvent } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'events';

/** `commented on` is the `action_name` of events that the filter `commented` finds; both are accepted. */
const ACTIONS = [
  'approved',
  'closed',
  'commented',
  'commented on',
  'created',
  'destroyed',
  'expired',
  'joined',
  'left',
  'merged',
  'pushed',
  'reopened',
  'updated',
] as const;
const TARGET_TYPES = ['issue', 'milestone', 'merge_request', 'note', 'project', 'snippet', 'user'] as const;

const filters = () => ({
  action: p.oneOf(ACTIONS, { description: 'Return only events with this action' }),
  target_type: p.oneOf(TARGET_TYPES, { description: 'Return only events with a target of this type' }),
  before: p.date({ description: 'Return only events before this day (`YYYY-MM-DD`)' }),
  after: p.date({ description: 'Return only events after this day (`YYYY-MM-DD`)' }),
  sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction, by time of creation' }),
});

interface Filters {
  readonly action?: (typeof ACTIONS)[number] | undefined;
  readonly target_type?: (typeof TARGET_TYPES)[number] | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly sort: 'asc' | 'desc';
}

const feedQuery = (query: Filters, page: OffsetPage | KeysetPage): FeedQuery => ({
  ...countedOrAfter(page),
  action: query.action === 'commented on' ? 'commented' : query.action,
  targetType: query.target_type,
  before: query.before,
  after: query.after,
  direction: query.sort,
});

const sharedDeclaration = {
  method: 'GET',
  area,
  scopes: ['read_user'],
  returns: { body: shapes.events },
  paginate: 'offset+keyset',
  keyset: { marker: 'cursor' },
  noun: 'Event',
} as const;
const OFFSET_TOO_LARGE = { status: 405, description: `The offset exceeds ${MAX_OFFSET}` };

const listOwn = endpoint({
  ...sharedDeclaration,
  path: '/events',
  summary: 'List your own events',
  access: signedIn(),
  query: () =>
    p.params({
      ...filters(),
      scope: p.string({
        description:
          'With any value, also return the events of other users in the projects you are a member of, limited to the most recently active projects',
      }),
    }),
  errors: [OFFSET_TOO_LARGE],
  handle: async ({ actor, query, page, request }, deps) => {
    const others = query.scope !== undefined && query.scope !== '';
    const projects = (limit: number) =>
      listProjects(deps, actor, { page: 1, perPage: limit, membership: true, order: 'last_activity_at' });
    const found = await ownFeed(deps, actor, feedQuery(query, page), {
      ...(others && { projects: async (limit: number) => (await projects(limit)).items }),
    });
    return { ...found, items: found.items.map((item) => activityEvent(item, request.baseUrl)) };
  },
});

const listOfUser = endpoint({
  ...sharedDeclaration,
  path: '/users/:user_id/events',
  summary: 'List the events of a user',
  description:
    'Returns only events that the caller is allowed to see, and none of a user with a private profile.',
  access: anyone(),
  params: () =>
    p.params({ user_id: p.string({ required: true, description: 'ID or username of the user' }) }),
  query: () => p.params(filters()),
  errors: [{ status: 404, description: 'User not found' }, OFFSET_TOO_LARGE],
  handle: async ({ actor, params, query, page, request }, deps) => {
    const user = await userNamed(deps, params.user_id);
    const found = await userFeed(deps, actor, user, feedQuery(query, page));
    return { ...found, items: found.items.map((item) => activityEvent(item, request.baseUrl)) };
  },
});

const listOfProject = endpoint({
  ...sharedDeclaration,
  path: '/projects/:id/events',
  summary: 'List the events of a project',
  access: project('read_project', { anonymous: true }),
  query: () => p.params(filters()),
  errors: [OFFSET_TOO_LARGE],
  handle: async ({ actor, project, query, page, request }, deps) => {
    const found = await projectFeed(deps, actor, project, feedQuery(query, page));
    return { ...found, items: found.items.map((item) => activityEvent(item, request.baseUrl)) };
  },
});

export const eventEndpoints = [listOwn, listOfUser, listOfProject];
