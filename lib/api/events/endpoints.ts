import { userNamed } from '../../domain/accounts/accounts.ts';
import { type FeedQuery, ownFeed, projectFeed, userFeed } from '../../domain/events/feed.ts';
import { listProjects } from '../../domain/projects/projects.ts';
import { anyone, project, signedIn } from '../../http/access.ts';
import { MAX_OFFSET, type OffsetPage } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { counted, endpoint } from '../endpoint.ts';
import { activityEvent } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'events';

/** `commented on` is how an event calls itself; the others are called as they are filtered. */
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
  action: p.oneOf(ACTIONS, { description: 'Only what was done so' }),
  target_type: p.oneOf(TARGET_TYPES, { description: 'Only what was done to one of these' }),
  before: p.date({ times: true, description: 'Only before that day' }),
  after: p.date({ times: true, description: 'Only after that day' }),
  sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'By time' }),
});

interface Filters {
  readonly action?: (typeof ACTIONS)[number] | undefined;
  readonly target_type?: (typeof TARGET_TYPES)[number] | undefined;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly sort: 'asc' | 'desc';
}

const feedQuery = (query: Filters, page: OffsetPage): FeedQuery => ({
  ...counted(page),
  action: query.action === 'commented on' ? 'commented' : query.action,
  targetType: query.target_type,
  before: query.before,
  after: query.after,
  direction: query.sort,
});

const common = {
  method: 'GET',
  area,
  scopes: ['read_user'],
  returns: { body: shapes.events },
  paginate: 'offset',
  noun: 'Event',
} as const;
const TOO_FAR = { status: 405, description: `An offset above ${MAX_OFFSET}` };

const own = endpoint({
  ...common,
  path: '/events',
  summary: 'List what you did',
  access: signedIn(),
  query: () =>
    p.params({
      ...filters(),
      scope: p.string({
        description: 'Any value: also what others did in projects you are a member of, those active last',
      }),
    }),
  errors: [TOO_FAR],
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

const ofUser = endpoint({
  ...common,
  path: '/users/:user_id/events',
  summary: 'List what a user did',
  description: 'As far as you may know of it. Of users with a private profile nothing is told.',
  access: anyone(),
  params: () => p.params({ user_id: p.string({ required: true, description: 'Id or username' }) }),
  query: () => p.params(filters()),
  errors: [{ status: 404, description: 'No such user' }, TOO_FAR],
  handle: async ({ actor, params, query, page, request }, deps) => {
    const user = await userNamed(deps, params.user_id);
    const found = await userFeed(deps, actor, user, feedQuery(query, page));
    return { ...found, items: found.items.map((item) => activityEvent(item, request.baseUrl)) };
  },
});

const ofProject = endpoint({
  ...common,
  path: '/projects/:id/events',
  summary: 'List what was done in a project',
  access: project('read_project', { anonymous: true }),
  query: () => p.params(filters()),
  errors: [TOO_FAR],
  handle: async ({ actor, project, query, page, request }, deps) => {
    const found = await projectFeed(deps, actor, project, feedQuery(query, page));
    return { ...found, items: found.items.map((item) => activityEvent(item, request.baseUrl)) };
  },
});

export const eventEndpoints = [own, ofUser, ofProject];
