import type { Actor } from '../../domain/actor.ts';
import { type IssueScope, issueStatistics, listIssues } from '../../domain/issues/list.ts';
import { anyone, group, project } from '../../http/access.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import { type ApiDeps, countedOrAfter, endpoint, IN_ORDER_OF_CREATION } from '../endpoint.ts';
import { filterOf, listQuery, statisticsQuery } from './filters.ts';
import { askedIn, presentedIssues } from './presented.ts';
import * as shapes from './shapes.ts';

const area = 'issues';
const errors = [
  { status: 401, description: "The caller's own issues are asked for without a token" },
  { status: 404, description: 'Project or group not found' },
  {
    status: 405,
    description: `The offset exceeds ${MAX_OFFSET}, or keyset pagination does not support the order`,
  },
];
const LISTED = { ...IN_ORDER_OF_CREATION, noun: 'Issue' } as const;
type ListQuery = Parameters<typeof filterOf>[1] & {
  readonly state?: 'all' | 'opened' | 'closed';
  readonly order_by: Parameters<typeof listIssues>[3]['order'];
  readonly sort: 'asc' | 'desc';
  readonly with_labels_details: boolean;
};

const ofInstance = endpoint({
  method: 'GET',
  path: '/issues',
  area,
  summary: 'List issues',
  description: "The caller's own by default; of everybody with `scope=all`.",
  access: anyone(),
  query: listQuery('created_by_me'),
  returns: { body: shapes.issues },
  ...LISTED,
  errors,
  handle: ({ actor, query, page, request }, deps) =>
    listed(deps, actor, { kind: 'instance' }, query, countedOrAfter(page), request.baseUrl),
});

const ofGroup = endpoint({
  method: 'GET',
  path: '/groups/:id/issues',
  area,
  summary: 'List the issues of a group',
  description:
    "Of all projects below the group. The caller's own by default; of everybody with `scope=all`, and without a token.",
  access: group('read_group', { anonymous: true }),
  query: listQuery(),
  returns: { body: shapes.issues },
  ...LISTED,
  errors,
  handle: ({ actor, group: access, query, page, request }, deps) =>
    listed(
      deps,
      actor,
      { kind: 'group', access },
      ownByDefault(actor, query),
      countedOrAfter(page),
      request.baseUrl,
    ),
});

const ofProject = endpoint({
  method: 'GET',
  path: '/projects/:id/issues',
  area,
  summary: 'List the issues of a project',
  access: project('read_issues', { anonymous: true }),
  query: listQuery(),
  returns: { body: shapes.issues },
  ...LISTED,
  errors,
  handle: ({ actor, project: access, query, page, request }, deps) =>
    listed(deps, actor, { kind: 'project', access }, query, countedOrAfter(page), request.baseUrl),
});

/** Without a token nobody's issues are one's own. */
const ownByDefault = <Q extends { readonly scope?: unknown }>(actor: Actor, query: Q): Q =>
  query.scope === undefined && actor.kind === 'user' ? { ...query, scope: 'created_by_me' } : query;

async function listed(
  deps: ApiDeps,
  actor: Actor,
  scope: IssueScope,
  query: ListQuery,
  page: Parameters<typeof listIssues>[3] extends infer P ? Omit<P, 'order' | 'direction'> : never,
  baseUrl: string,
) {
  const filter = await filterOf(deps, query);
  if (filter === undefined) return { items: [], total: 0, more: false };
  const state = query.state === 'all' ? undefined : query.state;
  const order = { order: query.order_by, direction: query.sort };
  const found = await listIssues(deps, actor, { ...filter, scope, state }, { ...page, ...order });
  const options = { labelDetails: query.with_labels_details };
  const items = await presentedIssues(deps, actor, found.items, baseUrl, askedIn(scope), options);
  return { ...found, items };
}

const statisticsErrors = errors.slice(0, 2);

const statisticsOfInstance = endpoint({
  method: 'GET',
  path: '/issues_statistics',
  area,
  summary: 'Count issues',
  access: anyone(),
  query: statisticsQuery('created_by_me'),
  returns: { body: shapes.issueStatistics },
  errors: statisticsErrors,
  handle: ({ actor, query }, deps) => statistics(deps, actor, { kind: 'instance' }, query),
});

const statisticsOfGroup = endpoint({
  method: 'GET',
  path: '/groups/:id/issues_statistics',
  area,
  summary: 'Count the issues of a group',
  access: group('read_group', { anonymous: true }),
  query: statisticsQuery(),
  returns: { body: shapes.issueStatistics },
  errors: statisticsErrors,
  handle: ({ actor, group: access, query }, deps) =>
    statistics(deps, actor, { kind: 'group', access }, ownByDefault(actor, query)),
});

const statisticsOfProject = endpoint({
  method: 'GET',
  path: '/projects/:id/issues_statistics',
  area,
  summary: 'Count the issues of a project',
  access: project('read_issues', { anonymous: true }),
  query: statisticsQuery(),
  returns: { body: shapes.issueStatistics },
  errors: statisticsErrors,
  handle: ({ actor, project: access, query }, deps) =>
    statistics(deps, actor, { kind: 'project', access }, query),
});

async function statistics(
  deps: ApiDeps,
  actor: Actor,
  scope: IssueScope,
  query: Parameters<typeof filterOf>[1],
) {
  const filter = await filterOf(deps, query);
  const { opened, closed } =
    filter === undefined
      ? { opened: 0, closed: 0 }
      : await issueStatistics(deps, actor, { ...filter, scope });
  return { statistics: { counts: { all: opened + closed, closed, opened } } };
}

export const issueListEndpoints = [
  ofInstance,
  ofGroup,
  ofProject,
  statisticsOfInstance,
  statisticsOfGroup,
  statisticsOfProject,
];
