/** The parameters that filter and order lists of issues, and what they ask of the domain. */

import type { IssueFilter, Selection } from '../../domain/issues/conditions.ts';
import { DUE_DATES } from '../../domain/issues/conditions.ts';
import { ISSUE_ORDERS } from '../../domain/issues/list-order.ts';
import * as p from '../../http/params.ts';
import { HEALTH_STATUSES, ISSUE_STATES, ISSUE_TYPES } from '../../records/issues.ts';
import type { ApiDeps } from '../endpoint.ts';
import {
  choiceOf,
  labelsOf,
  milestoneOf,
  names,
  numberOrWord,
  peopleOf,
  searchedIn,
} from '../tracked/filters.ts';

const ITERATION = /^(none|any|current|\d{1,15})$/i;
const MILESTONE_WORDS = /^(none|any|upcoming|started|\d{1,15})$/i;

/** What may also be excluded. */
const selection = () => ({
  assignee_id: numberOrWord('ID of a user to whom the issues are assigned'),
  assignee_username: names('Usernames of users to whom the issues are assigned'),
  author_id: p.integer({ description: 'ID of the author' }),
  author_username: p.string({ description: 'Username of the author' }),
  iids: p.list(p.integer(), { maxItems: 100, description: 'Numbers of the issues in their projects' }),
  iteration_id: p.numberOrText({
    description: 'ID of the iteration; `None`, `Any` or `Current` are allowed',
    check: (value) =>
      value.trim() === '' || ITERATION.test(value)
        ? undefined
        : `should be an integer, 'None', 'Any' or 'Current', however got '${value.slice(0, 100)}'`,
  }),
  iteration_title: p.string({ description: 'Title of the iteration' }),
  labels: p.list(p.string(), {
    maxItems: 100,
    documentedAsText: true,
    description: 'Titles of labels; `None` or `Any` are allowed',
  }),
  milestone: p.string({ description: 'Title of the milestone; `None` or `Any` are allowed' }),
  milestone_id: p.string({
    documentedValues: ['None', 'Any', 'Upcoming', 'Started'],
    description: '`None`, `Any`, `Upcoming`, `Started` or the ID of a milestone',
    check: (value) =>
      value.trim() === '' || MILESTONE_WORDS.test(value) ? undefined : 'does not have a valid value',
  }),
  epic_id: numberOrWord('ID of the epic'),
  weight: numberOrWord('Weight'),
  my_reaction_emoji: p.string({
    description: 'Emoji that the caller awarded; `None` or `Any` are allowed',
  }),
});

const EXCLUSIVE = () => [
  p.mutuallyExclusive('assignee_id', 'assignee_username'),
  p.mutuallyExclusive('author_id', 'author_username'),
  p.mutuallyExclusive('milestone', 'milestone_id'),
  p.mutuallyExclusive('iteration_id', 'iteration_title'),
];

const SCOPES = ['created_by_me', 'assigned_to_me', 'all', 'created-by-me', 'assigned-to-me'] as const;

const filterFields = () => ({
  ...selection(),
  not: p.object(selection(), { description: 'Return only issues that do not match these' }, EXCLUSIVE()),
  confidential: p.boolean({ description: 'Return only issues that are confidential, or are not' }),
  created_after: p.datetime({ description: 'Return only issues created at this time or later' }),
  created_before: p.datetime({ description: 'Return only issues created at this time or earlier' }),
  updated_after: p.datetime({ description: 'Return only issues changed at this time or later' }),
  updated_before: p.datetime({ description: 'Return only issues changed at this time or earlier' }),
  due_date: p.string({
    documentedValues: DUE_DATES,
    description: 'Return only issues that are due then; 0: without a due date',
    check: (value) =>
      value === '' || (DUE_DATES as readonly string[]).includes(value)
        ? undefined
        : 'does not have a valid value',
  }),
  issue_type: p.oneOf(ISSUE_TYPES, { description: 'Return only issues of this type' }),
  health_status: p.oneOf([...HEALTH_STATUSES, 'None', 'Any'], {
    description: 'Return only issues with this health status',
  }),
  search: p.string({ description: 'Return only issues that contain these words' }),
  in: searchedIn(),
  non_archived: p.boolean({ default: true, description: 'Leave out issues of archived projects' }),
});

/** @param scope the default; undefined: all */
const scopeField = (scope?: 'created_by_me') =>
  p.oneOf(SCOPES, {
    ...(scope === undefined ? {} : { default: scope }),
    description: "Return only the caller's own issues, or those assigned to them",
  });

export const statisticsQuery = (scope?: 'created_by_me') => () =>
  p.params({ ...filterFields(), scope: scopeField(scope) }, EXCLUSIVE());

export const listQuery = (scope?: 'created_by_me') => () =>
  p.params(
    {
      ...filterFields(),
      scope: scopeField(scope),
      state: p.oneOf(['all', ...ISSUE_STATES], { description: 'Return only issues in this state' }),
      order_by: p.oneOf(ISSUE_ORDERS, { default: 'created_at', description: 'Sort order' }),
      sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction' }),
      with_labels_details: p.boolean({ default: false, description: 'Return labels with all their fields' }),
    },
    EXCLUSIVE(),
  );

type Query = Omit<p.Output<ReturnType<typeof filterFields>>, never> & {
  readonly scope?: (typeof SCOPES)[number];
};
type GivenSelection = p.Output<ReturnType<typeof selection>>;

/** @returns undefined where a user is named whom nobody is */
export async function filterOf(deps: ApiDeps, query: Query) {
  const [filter, not] = await Promise.all([
    selectionOf(deps, query),
    query.not === undefined ? undefined : selectionOf(deps, query.not as GivenSelection),
  ]);
  if (filter.namesNobody) return undefined;
  const { scope } = query;
  return {
    ...filter.selection,
    // Nothing is of a user whom nobody is, so there is nothing to leave out for them.
    not: not?.selection,
    type: query.issue_type,
    createdAfter: query.created_after,
    createdBefore: query.created_before,
    updatedAfter: query.updated_after,
    updatedBefore: query.updated_before,
    dueDate: (query.due_date || undefined) as IssueFilter['dueDate'],
    healthStatus: choiceOf(query.health_status, (text) => text),
    search: query.search?.trim() ? query.search : undefined,
    searchIn: query.in.split(',').map((part) => part.trim()) as NonNullable<IssueFilter['searchIn']>,
    confidential: query.confidential,
    nonArchived: query.non_archived,
    mine:
      scope === undefined || scope === 'all'
        ? undefined
        : scope.startsWith('created')
          ? ('author' as const)
          : ('assignee' as const),
  };
}

/** @returns the conditions, without users whom nobody is, and whether one is named */
async function selectionOf(
  deps: ApiDeps,
  given: GivenSelection,
): Promise<{ readonly selection: Selection; readonly namesNobody: boolean }> {
  const { assignee_username: assigneeNames = [], author_username: authorName } = given;
  const users = await Promise.all(
    [...assigneeNames, ...(authorName ? [authorName] : [])].map((name) => deps.store.users.byUsername(name)),
  );
  const ids = users.map((user) => user?.id);
  const assignees = ids.slice(0, assigneeNames.length).filter((id) => id !== undefined);
  const selection: Selection = {
    iids: given.iids,
    authorId: given.author_id ?? (authorName ? ids.at(-1) : undefined),
    assigneeIds: peopleOf(given.assignee_id, assignees),
    labels: labelsOf(given.labels),
    milestone: milestoneOf(given),
    iterationId: choiceOf(given.iteration_id, (text) => (/^current$/i.test(text) ? 'current' : Number(text))),
    iterationTitle: given.iteration_title || undefined,
    epicId: choiceOf(given.epic_id, Number),
    weight: choiceOf(given.weight, Number),
    reaction: choiceOf(given.my_reaction_emoji, (text) => text),
  };
  return { selection, namesNobody: ids.includes(undefined) };
}
