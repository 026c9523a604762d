/**
 * The ranges of rows that lists of issues are read from: those of the filters that have rows of their own, or else of
 * all issues there.
 */

import type { IssueClass } from '../../records/issues.ts';
import { issueRanges as rangesIn } from '../../store/issues/kind.ts';
import type { PlaceRange } from '../../store/tracked/places.ts';
import type { Actor } from '../actor.ts';
import { dayOf } from '../days.ts';
import type { Deps } from '../deps.ts';
import { visibleEpics } from '../epics/related.ts';
import { iterationGroups } from '../iterations/iterations.ts';
import { withAbove } from '../labels/containers.ts';
import { reactedTo, searchedIn } from '../tracked/filter-ranges.ts';
import type { ListScope } from '../tracked/related.ts';
import type { IssueFilter } from './conditions.ts';
import type { IssueOrder } from './list-order.ts';

/** Where issues are looked for, and of which classes. */
export interface Searched {
  readonly scope: ListScope;
  /** The id of the actor. */
  readonly me: number | undefined;
  /** Of which everybody's issues are read; in a group, projects decide about confidential ones. */
  readonly classes: readonly IssueClass[];
  /** Of which the actor may only see their own issues. */
  readonly hidden: readonly IssueClass[];
  /** Of which the list is. */
  readonly all: readonly IssueClass[];
}

export interface FilterRanges {
  /** An issue is in one range of each union. Absent: no filter has rows of its own. */
  readonly unions: readonly (readonly PlaceRange[])[] | undefined;
  /** Whether all that the ranges find passes the filters that they are of. */
  readonly exact: boolean;
  /** Filters that the ranges are of. */
  readonly covered: ReadonlySet<string>;
}

/** What finds the issues that pass one filter: as in {@link FilterRanges}. */
interface Part {
  readonly of: keyof IssueFilter;
  readonly unions: readonly (readonly PlaceRange[])[];
  readonly exact: boolean;
}

/** Nothing passes: what the filter names does not exist, or is hidden. */
const NOTHING = 'nothing';

interface Asked extends Searched {
  readonly deps: Deps;
  readonly actor: Actor;
  readonly filter: IssueFilter;
  /** Of a list of a project. */
  readonly projectId: number | undefined;
  /** Of a list of a group: its outermost one. */
  readonly rootId: number | undefined;
  /** The actor's own issues of the hidden classes. */
  readonly own: readonly PlaceRange[];
}

/** @returns undefined where the filter is not given, or has no rows there */
type PartOf = (asked: Asked) => Found | Promise<Found>;
type Found = Part | typeof NOTHING | undefined;

/** Asked one after another. */
const PARTS: readonly PartOf[] = [
  ofAuthor,
  ofAssignees,
  ofLabels,
  ofMilestone,
  ofReaction,
  ofNumbers,
  ofTerms,
  ofIterations,
  ofEpic,
];

/** @returns undefined where a filter names what does not exist, or is hidden */
export async function filterRanges(
  deps: Deps,
  actor: Actor,
  filter: IssueFilter,
  searched: Searched,
): Promise<FilterRanges | undefined> {
  const { scope } = searched;
  const asked: Asked = {
    ...searched,
    ...{ deps, actor, filter },
    projectId: projectOf(scope),
    rootId: scope.kind === 'group' ? rootOf(scope) : undefined,
    own: ownRanges(searched),
  };
  const parts: Part[] = [];
  for (const partOf of PARTS) {
    const part = await partOf(asked);
    if (part === NOTHING) return undefined;
    if (part !== undefined) parts.push(part);
  }
  const all = parts.flatMap(({ unions }) => unions);
  return {
    unions: all.length === 0 ? undefined : all,
    exact: parts.every(({ exact }) => exact),
    covered: new Set(parts.map((part) => part.of)),
  };
}

/** The ranges of a list without filters that have rows of their own. */
export function baseRanges(searched: Searched, order: IssueOrder): PlaceRange[] {
  const { scope, classes } = searched;
  const own = ownRanges(searched);
  if (scope.kind === 'instance') return [...rangesIn.ofAll(classes), ...own];
  if (scope.kind === 'group')
    return [
      ...rangesIn.ofRoot(rootOf(scope), classes, order === 'updated_at' ? 'byUpdated' : 'byId'),
      ...own,
    ];
  const inOrder =
    order === 'updated_at'
      ? rangesIn.changedOfProject
      : order === 'relative_position'
        ? rangesIn.arrangedOfProject
        : rangesIn.ofProject;
  return [...inOrder(scope.access.project.id, classes), ...own];
}

const projectOf = (scope: ListScope): number | undefined =>
  scope.kind === 'project' ? scope.access.project.id : undefined;

const rootOf = ({ access: { group } }: Extract<ListScope, { kind: 'group' }>): number =>
  group.ancestorIds[0] ?? group.id;

const ownRanges = ({ scope, me, hidden }: Searched): PlaceRange[] =>
  me === undefined
    ? []
    : (['author', 'assignee'] as const).flatMap((facet) =>
        rangesOfPerson(projectOf(scope), facet, me, hidden, true),
      );

const rangesOfPerson = (
  projectId: number | undefined,
  facet: 'author' | 'assignee',
  userId: number,
  classes: readonly IssueClass[],
  own: boolean,
): PlaceRange[] =>
  projectId === undefined
    ? rangesIn.ofPerson(facet, userId, classes, own)
    : rangesIn.by(projectId, facet, userId, classes, own);

/** The actor's own hidden issues beside: whether they pass the filter, their records tell. */
const withOwn = (of: keyof IssueFilter, unions: readonly PlaceRange[][], own: Asked['own']): Part => ({
  of,
  unions: unions.map((union) => [...union, ...own]),
  exact: own.length === 0,
});

function ofAuthor({ filter: { authorId }, ...asked }: Asked): Found {
  return authorId === undefined ? undefined : ofPeople(asked, 'authorId', 'author', [authorId]);
}

function ofAssignees({ filter: { assigneeIds }, ...asked }: Asked): Found {
  if (!Array.isArray(assigneeIds) || assigneeIds.length === 0) return undefined;
  return ofPeople(asked, 'assigneeIds', 'assignee', assigneeIds as readonly number[]);
}

function ofPeople(
  { projectId, me, classes, all, own }: Omit<Asked, 'filter'>,
  of: keyof IssueFilter,
  facet: 'author' | 'assignee',
  userIds: readonly number[],
): Part {
  const unions = userIds.map((id) =>
    id === me
      ? rangesOfPerson(projectId, facet, id, all, true)
      : // Another author's confidential issue that is assigned to the actor.
        [...rangesOfPerson(projectId, facet, id, classes, false), ...own],
  );
  return { of, unions, exact: own.length === 0 || userIds.every((id) => id === me) };
}

async function ofLabels({ deps, filter, scope, projectId, rootId, classes, own }: Asked): Promise<Found> {
  if (!Array.isArray(filter.labels) || filter.labels.length === 0 || scope.kind === 'instance')
    return undefined;
  const titles = [...new Set(filter.labels as readonly string[])];
  if (projectId === undefined || scope.kind !== 'project') {
    const unions = titles.map((title) => rangesIn.ofRootBy(rootId!, 'label', title, classes));
    return withOwn('labels', unions, own);
  }
  const ids = await deps.store.labels.idsOf(withAbove(scope.access), titles);
  const unions: PlaceRange[][] = [];
  for (const id of ids) {
    if (id === undefined) return NOTHING;
    unions.push(rangesIn.by(projectId, 'label', id, classes));
  }
  return withOwn('labels', unions, own);
}

async function ofMilestone({ deps, filter, scope, projectId, rootId, classes, own }: Asked): Promise<Found> {
  const { milestone } = filter;
  if (typeof milestone !== 'object' || !('title' in milestone) || scope.kind === 'instance') return undefined;
  const { title } = milestone;
  if (projectId === undefined || scope.kind !== 'project')
    return withOwn('milestone', [rangesIn.ofRootBy(rootId!, 'milestone', title, classes)], own);
  const ids = await deps.store.milestones.titled(withAbove(scope.access), title);
  if (ids.length === 0) return NOTHING;
  const union = ids.flatMap((id) => rangesIn.by(projectId, 'milestone', id, classes));
  return withOwn('milestone', [union], own);
}

function ofReaction({ filter: { reaction }, me }: Asked): Found {
  if (reaction === undefined || reaction === 'none' || me === undefined) return undefined;
  const union = reactedTo('issue', me, reaction);
  return union === undefined ? NOTHING : { of: 'reaction', unions: [union], exact: false };
}

function ofNumbers({ deps, filter: { iids }, projectId }: Asked): Found {
  if (projectId === undefined || iids === undefined || iids.length === 0) return undefined;
  return { of: 'iids', unions: [deps.store.issueList.rangesOfNumbers(projectId, iids)], exact: false };
}

async function ofTerms({ deps, filter: { terms }, projectId, rootId }: Asked): Promise<Found> {
  if (terms === undefined) return undefined;
  const unions = await deps.store.issueList.rangesOfWords(searchedIn(projectId, rootId), terms);
  return unions === undefined ? NOTHING : { of: 'terms', unions, exact: false };
}

async function ofIterations({ deps, filter, scope, projectId, classes, own }: Asked): Promise<Found> {
  const ids = await chosenIterations(deps, scope, filter);
  if (ids === undefined) return undefined;
  if (ids.length === 0) return NOTHING;
  const union = ids.flatMap((id) => rangesOfValue(projectId, 'iteration', id, classes));
  return withOwn(filter.iterationTitle === undefined ? 'iterationId' : 'iterationTitle', [union], own);
}

async function ofEpic({ deps, actor, filter: { epicId }, projectId, classes, own }: Asked): Promise<Found> {
  if (typeof epicId !== 'number') return undefined;
  if (!(await visibleEpics(deps, actor, [epicId])).has(epicId)) return NOTHING;
  return withOwn('epicId', [rangesOfValue(projectId, 'epic', epicId, classes)], own);
}

const rangesOfValue = (
  projectId: number | undefined,
  facet: 'iteration' | 'epic',
  id: number,
  classes: readonly IssueClass[],
): PlaceRange[] =>
  projectId === undefined ? rangesIn.ofValue(facet, id, classes) : rangesIn.by(projectId, facet, id, classes);

/**
 * The iterations that a filter leaves; undefined where it does not say which. Those of a title and the present ones are
 * known in a project, which can only have those of groups above it.
 */
async function chosenIterations(
  { store, now }: Deps,
  scope: ListScope,
  { iterationId, iterationTitle }: IssueFilter,
): Promise<number[] | undefined> {
  if (typeof iterationId === 'number')
    return (await store.iterations.get(iterationId)) === undefined ? [] : [iterationId];
  if (scope.kind !== 'project') return undefined;
  const groups = iterationGroups(scope.access);
  if (iterationTitle !== undefined) return store.iterations.titled(groups, iterationTitle);
  return iterationId === 'current' ? store.iterations.onDay(groups, dayOf(now())) : undefined;
}
