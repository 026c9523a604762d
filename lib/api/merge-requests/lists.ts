import type { Actor } from '../../domain/actor.ts';
import type { Selection } from '../../domain/merge-requests/conditions.ts';
import {
  listMergeRequests,
  MERGE_REQUEST_ORDERS,
  type MergeRequestScope,
} from '../../domain/merge-requests/list.ts';
import { group, project, signedIn } from '../../http/access.ts';
import { MAX_OFFSET } from '../../http/pagination.ts';
import * as p from '../../http/params.ts';
import { type ApiDeps, countedOrAfter, endpoint, IN_ORDER_OF_CREATION } from '../endpoint.ts';
import {
  choiceOf,
  labelsOf,
  milestoneOf,
  names,
  numberOrWord,
  peopleOf,
  searchedIn,
} from '../tracked/filters.ts';
import { askedIn, presentedMergeRequests, simpleMergeRequests } from './presented.ts';
import * as shapes from './shapes.ts';

const area = 'merge-requests';
const errors = [
  { status: 404, description: 'Project or group not found' },
  {
    status: 405,
    description: `The offset exceeds ${MAX_OFFSET}, or keyset pagination does not support the order`,
  },
];

const LISTED = { ...IN_ORDER_OF_CREATION, noun: 'Merge Request' } as const;

const SCOPES = [
  ...(['created_by_me', 'assigned_to_me', 'reviews_for_me', 'all'] as const),
  ...(['created-by-me', 'assigned-to-me'] as const),
] as const;

/** What may also be excluded. */
const selection = () => ({
  author_id: p.integer({ description: 'ID of the author' }),
  author_username: p.string({ description: 'Username of the author' }),
  assignee_id: numberOrWord('ID of a user to whom they are assigned'),
  assignee_username: names('Usernames of users to whom they are assigned'),
  reviewer_id: numberOrWord('ID of a user who is asked to review them'),
  reviewer_username: p.string({
    description: 'Username of a user who is asked to review them; `None`, `Any`',
  }),
  labels: p.list(p.string(), {
    maxItems: 100,
    documentedAsText: true,
    description: 'Titles of labels; `None` or `Any` are allowed',
  }),
  milestone: p.string({ description: 'Title of the milestone; `None` or `Any` are allowed' }),
  my_reaction_emoji: p.string({
    description: 'Emoji that the caller awarded; `None` or `Any` are allowed',
  }),
});

export const EXCLUSIVE = () => [
  p.mutuallyExclusive('assignee_id', 'assignee_username'),
  p.mutuallyExclusive('author_id', 'author_username'),
  p.mutuallyExclusive('reviewer_id', 'reviewer_username'),
];

/** IDs of users, `None` or `Any`. */
const ids = (description: string) =>
  p.list(p.string(), {
    maxItems: 5,
    documentedAsText: true,
    description: `${description}, at most 5; \`None\` or \`Any\` are allowed`,
  });

export const filterFields = () => ({
  ...selection(),
  not: p.object(selection(), { description: 'Return only those that do not match these' }, EXCLUSIVE()),
  state: p.oneOf(['opened', 'closed', 'locked', 'merged', 'all'], {
    description: 'Return only merge requests in this state',
  }),
  order_by: p.oneOf(MERGE_REQUEST_ORDERS, { default: 'created_at', description: 'Sort order' }),
  sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction' }),
  view: p.oneOf(['simple'], { description: '`simple`: with few fields' }),
  with_labels_details: p.boolean({ default: false, description: 'Return labels with all their fields' }),
  with_merge_status_recheck: p.boolean({
    default: false,
    description: 'Let a worker find out which of them can be merged',
  }),
  created_after: p.datetime({ description: 'Return only those created at this time or later' }),
  created_before: p.datetime({ description: 'Return only those created at this time or earlier' }),
  updated_after: p.datetime({ description: 'Return only those changed at this time or later' }),
  updated_before: p.datetime({ description: 'Return only those changed at this time or earlier' }),
  approver_ids: ids('Users whom rules name as approvers of them'),
  approved_by_ids: ids('Users who approved them'),
  source_branch: p.string({ description: 'Source branch' }),
  target_branch: p.string({ description: 'Target branch' }),
  search: p.string({ description: 'Return only those that contain these words' }),
  in: searchedIn(),
  wip: p.oneOf(['yes', 'no'], { description: 'Return only drafts, or none of them' }),
  environment: p.string({ description: 'Environment that they were deployed to' }),
  deployed_after: p.datetime({ description: 'Return only those deployed at this time or later' }),
  deployed_before: p.datetime({ description: 'Return only those deployed at this time or earlier' }),
});

export const scopeField = (byDefault: 'created_by_me' | 'all') =>
  p.oneOf(SCOPES, {
    default: byDefault,
    description: "Return only the caller's own, or those assigned to them, or those that they are to review",
  });

const query = (scope: 'created_by_me' | 'all') => () =>
  p.params({ ...filterFields(), scope: scopeField(scope) }, EXCLUSIVE());

const nonArchived = () =>
  p.boolean({ default: true, description: 'Leave out merge requests of archived projects' });

const ofInstance = endpoint({
  method: 'GET',
  path: '/merge_requests',
  area,
  summary: 'List merge requests',
  description: "The caller's own by default; of everybody with `scope=all`.",
  access: signedIn(),
  query: query('created_by_me'),
  returns: { body: shapes.mergeRequests },
  ...LISTED,
  errors,
  handle: ({ actor, query, page, request }, deps) => {
    // Also those of archived projects: only the list of a group leaves them out.
    const all = { ...query, non_archived: false };
    return listed(deps, actor, { kind: 'instance' }, all, countedOrAfter(page), request.baseUrl);
  },
});

const ofGroup = endpoint({
  method: 'GET',
  path: '/groups/:id/merge_requests',
  area,
  summary: 'List the merge requests of a group',
  description: 'Of all projects below the group.',
  access: group('read_group'),
  query: () =>
    p.params({ ...filterFields(), scope: scopeField('all'), non_archived: nonArchived() }, EXCLUSIVE()),
  returns: { body: shapes.mergeRequests },
  ...LISTED,
  errors,
  handle: ({ actor, group: access, query, page, request }, deps) =>
    listed(deps, actor, { kind: 'group', access }, query, countedOrAfter(page), request.baseUrl),
});

const ofProject = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests',
  area,
  summary: 'List the merge requests of a project',
  description: 'Those whose target branch is in the project.',
  access: project('read_merge_requests'),
  query: () =>
    p.params(
      {
        ...filterFields(),
        scope: scopeField('all'),
        iids: p.list(p.integer(), { maxItems: 100, description: 'Numbers in the project' }),
      },
      EXCLUSIVE(),
    ),
  returns: { body: shapes.mergeRequests },
  ...LISTED,
  errors,
  handle: ({ actor, project: access, query, page, request }, deps) =>
    listed(deps, actor, { kind: 'project', access }, query, countedOrAfter(page), request.baseUrl),
});

type GivenSelection = p.Output<ReturnType<typeof selection>>;
type Query = p.Output<ReturnType<typeof filterFields>> & {
  readonly scope: (typeof SCOPES)[number];
  readonly non_archived?: boolean;
  readonly iids?: readonly number[];
  /** Commits, one of which merged it. */
  readonly landed?: ReadonlySet<string>;
};

export async function listed(
  deps: ApiDeps,
  actor: Actor,
  scope: MergeRequestScope,
  query: Query,
  page: Parameters<typeof listMergeRequests>[3] extends infer P ? Omit<P, 'order' | 'direction'> : never,
  baseUrl: string,
) {
  const nothing = { items: [], total: 0, more: false };
  const { environment, deployed_after: after, deployed_before: before } = query;
  const isDeployed = environment !== undefined || after !== undefined || before !== undefined;
  const [given, not] = await Promise.all([
    selectionOf(deps, query),
    query.not === undefined ? undefined : selectionOf(deps, query.not as GivenSelection),
  ]);
  if (given.namesNobody) return nothing;
  const input = {
    ...given.selection,
    // Nothing is of a user whom nobody is, so there is nothing to leave out for them.
    not: not?.selection,
    scope,
    iids: query.iids,
    landed: query.landed,
    deployed: isDeployed ? { environment, after, before } : undefined,
    state: query.state === 'all' ? undefined : query.state,
    mine: MINE[query.scope],
    nonArchived: query.non_archived,
    approvedByIds: idsOf(query.approved_by_ids),
    approverIds: idsOf(query.approver_ids),
    sourceBranch: query.source_branch || undefined,
    targetBranch: query.target_branch || undefined,
    draft: query.wip === undefined ? undefined : query.wip === 'yes',
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    updatedAfter: query.updated_after,
    updatedBefore: query.updated_before,
    search: query.search?.trim() ? query.search : undefined,
    ...(query.search?.trim()
      ? { searchIn: query.in.split(',').map((part) => part.trim()) as ('title' | 'description')[] }
      : {}),
  };
  const order = { order: query.order_by, direction: query.sort };
  const found = await listMergeRequests(deps, actor, input, { ...page, ...order });
  const items =
    query.view === 'simple'
      ? await simpleMergeRequests(deps, found.items, baseUrl)
      : await presentedMergeRequests(deps, found.items, baseUrl, askedIn(scope), {
          labelDetails: query.with_labels_details,
          recheck: query.with_merge_status_recheck,
        });
  return { ...found, items };
}

const MINE: Readonly<Record<(typeof SCOPES)[number], 'author' | 'assignee' | 'reviewer' | undefined>> = {
  created_by_me: 'author',
  'created-by-me': 'author',
  assigned_to_me: 'assignee',
  'assigned-to-me': 'assignee',
  reviews_for_me: 'reviewer',
  all: undefined,
};

/** @returns the conditions, without users whom nobody is, and whether one is named */
async function selectionOf(
  deps: ApiDeps,
  given: GivenSelection,
): Promise<{ readonly selection: Selection; readonly namesNobody: boolean }> {
  const { assignee_username: assigneeNames = [], author_username: authorName } = given;
  const reviewerWord = choiceOf(given.reviewer_username, (name) => ({ name }));
  const reviewerName = typeof reviewerWord === 'object' ? reviewerWord.name : undefined;
  const idOf = async (name: string) => (await deps.store.users.byUsername(name))?.id;
  const [assignees, authorId, reviewerId] = await Promise.all([
    Promise.all(assigneeNames.map(idOf)),
    authorName ? idOf(authorName) : undefined,
    reviewerName === undefined ? undefined : idOf(reviewerName),
  ]);
  const selection: Selection = {
    authorId: given.author_id ?? authorId,
    assigneeIds: peopleOf(
      given.assignee_id,
      assignees.filter((id) => id !== undefined),
    ),
    reviewerIds:
      typeof reviewerWord === 'string'
        ? reviewerWord
        : peopleOf(given.reviewer_id, reviewerId === undefined ? [] : [reviewerId]),
    labels: labelsOf(given.labels),
    milestone: milestoneOf(given),
    reaction: choiceOf(given.my_reaction_emoji, (text) => text),
  };
  const namesNobody =
    assignees.includes(undefined) ||
    (authorName ? authorId === undefined : false) ||
    (reviewerName !== undefined && reviewerId === undefined);
  return { selection, namesNobody };
}

function idsOf(given: readonly string[] | undefined) {
  if (given === undefined || given.length === 0) return undefined;
  const word = choiceOf(given[0], Number);
  // What is no id is nobody's.
  return typeof word === 'string' ? word : given.map((id) => (/^\d{1,15}$/.test(id) ? Number(id) : 0));
}

export const mergeRequestListEndpoints = [ofInstance, ofGroup, ofProject];
