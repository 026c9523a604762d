import type { GroupAccess, ProjectAccess } from '../../domain/access/types.ts';
import { refused } from '../../domain/errors.ts';
import { listGroups } from '../../domain/groups/lists.ts';
import { SEARCHES, withinRate } from '../../domain/rate-limits/action-limits.ts';
import { type Searched, searchProjects, searchUsers } from '../../domain/search/search.ts';
import { group, project, type SignedInActor, signedIn } from '../../http/access.ts';
import type { OffsetPage } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { type ApiDeps, counted, endpoint } from '../endpoint.ts';
import { group as presentedGroup } from '../groups/present.ts';
import { presented } from '../projects/presented.ts';
import { userBasic } from '../users/present.ts';
import * as shapes from './shapes.ts';

const area = 'search';

/** What is looked for in files takes an index of its own, which there is none of. */
const INDEXED = ['blobs', 'commits', 'wiki_blobs', 'notes'] as const;
/** Found once there are any. */
const LATER = ['issues', 'merge_requests', 'milestones', 'snippet_titles'] as const;

const params = <const S extends string>(scopes: readonly S[]) =>
  p.params({
    scope: p.oneOf(scopes, { required: true }),
    search: p.string({ required: true, blank: false }),
    confidential: p.boolean({ description: 'Of issues' }),
    state: p.oneOf(['all', 'opened', 'closed', 'merged'], { description: 'Of issues and merge requests' }),
    order_by: p.oneOf(['created_at'], { description: 'Always the order' }),
    sort: p.oneOf(['asc', 'desc'], { default: 'desc' }),
  });

const described = {
  description:
    'Projects and groups by part of their name or path, users by part of their name or username, or a whole e-mail address.',
  returns: { body: shapes.found },
  paginate: 'offset',
  errors: [
    { status: 400, description: 'A scope that needs an index of files, which there is none of' },
    { status: 429, description: 'More in a minute than the settings allow' },
  ],
} as const;

const everywhere = endpoint({
  ...described,
  method: 'GET',
  path: '/search',
  area,
  summary: 'Search the instance',
  access: signedIn(),
  query: () => params(['projects', 'groups', 'users', ...LATER, ...INDEXED]),
  handle: ({ actor, query, page, request }, deps) => search(deps, actor, query, page, request.baseUrl),
});

const inGroup = endpoint({
  ...described,
  method: 'GET',
  path: '/groups/:id/search',
  area,
  summary: 'Search a group',
  access: group('read_group'),
  query: () => params(['projects', 'users', ...LATER, ...INDEXED]),
  handle: ({ actor, group: within, query, page, request }, deps) =>
    search(deps, actor, query, page, request.baseUrl, within),
});

const inProject = endpoint({
  ...described,
  method: 'GET',
  path: '/projects/:id/search',
  area,
  summary: 'Search a project',
  access: project('read_project'),
  query: () => params(['users', ...LATER, ...INDEXED]),
  handle: ({ actor, project: within, query, page, request }, deps) =>
    search(deps, actor, query, page, request.baseUrl, within),
});

export const searchEndpoints = [everywhere, inGroup, inProject];

/** @throws 429 beyond the limit of the settings */
const search: typeof found = (deps, actor, ...asked) =>
  withinRate(deps, SEARCHES, actor.user, () => found(deps, actor, ...asked));

async function found(
  deps: ApiDeps,
  actor: SignedInActor,
  { scope, search: term, sort }: { scope: string; search: string; sort: 'asc' | 'desc' },
  page: OffsetPage,
  baseUrl: string,
  within?: GroupAccess | ProjectAccess,
) {
  const searched: Searched = { ...counted(page), term, direction: sort };
  switch (scope) {
    case 'projects': {
      const found = await searchProjects(deps, actor, searched, within as GroupAccess | undefined);
      return { ...found, items: await presented(deps, actor, found.items, baseUrl, true) };
    }
    case 'groups': {
      const found = await listGroups(deps, actor, {
        ...counted(page),
        order: 'id',
        direction: sort,
        allAvailable: true,
        search: term,
      });
      const instance = await deps.settings.current();
      return { ...found, items: found.items.map((each) => presentedGroup(each.group, baseUrl, instance)) };
    }
    case 'users': {
      const found = await searchUsers(deps, actor, searched, within);
      return { ...found, items: found.items.map((user) => userBasic(user, baseUrl)) };
    }
    default:
      if ((INDEXED as readonly string[]).includes(scope))
        throw refused('Scope not supported without an index of files');
      return { items: [], total: 0, more: false };
  }
}
