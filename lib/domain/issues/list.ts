/** Lists of issues: of a project, of a group with all below it, and of the instance. */

import { awardedName, EMOJI_NAME } from '../../records/award-emoji.ts';
import { ISSUE_CLASSES, type IssueClass, type IssueRecord } from '../../records/issues.ts';
import { arrangedPlace, placeInEpic, issueRanges as rangesIn } from '../../store/issues/kind.ts';
import type { LabelInProject } from '../../store/labels/labels.ts';
import type { Position } from '../../store/table/cursor.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { Listable, SearchedIn, TrackedQuery } from '../../store/tracked/list.ts';
import type { PlaceRange } from '../../store/tracked/places.ts';
import { rangesOfReaction } from '../../store/tracked/ranges.ts';
import { REPORTER } from '../access/levels.ts';
import { can } from '../access/permissions.ts';
import { listedAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import { dayOf } from '../days.ts';
import type { Deps } from '../deps.ts';
import { visibleEpics } from '../epics/related.ts';
import { unauthorized } from '../errors.ts';
import { iterationGroups } from '../iterations/iterations.ts';
import { withAbove } from '../labels/containers.ts';
import { labelsOf } from '../labels/of-records.ts';
import { type AskedPage, pageByCursor } from '../page-by-cursor.ts';
import { withMe } from '../tracked/conditions.ts';
import { type ListScope, milestonesOf, scopeId } from '../tracked/related.ts';
import { type IssueFilter, matcherOf } from './conditions.ts';
import type { FoundIssue } from './related.ts';

export const ISSUE_ORDERS = [
  ...(['created_at', 'updated_at', 'due_date', 'label_priority', 'milestone_due', 'popularity'] as const),
  ...(['priority', 'relative_position', 'title', 'weight'] as const),
] as const;
/** `epic`: as the issues of an epic are put in order by hand. */
export type IssueOrder = (typeof ISSUE_ORDERS)[number] | 'epic';

export type IssueScope = ListScope;

export interface IssueListInput extends IssueFilter {
  readonly scope: IssueScope;
  /** The caller's own issues, or those assigned to them. */
  readonly mine?: 'author' | 'assignee' | undefined;
  readonly state?: 'opened' | 'closed' | undefined;
  readonly confidential?: boolean | undefined;
  /** Leaves out issues of archived projects; of a single project it says nothing. */
  readonly nonArchived?: boolean | undefined;
}

/** Projects of a group, or of the instance, that were judged; records are asked for again when issues are shown. */
type Accesses = Map<number, ProjectAccess | undefined>;

/**
 * @param page a cursor, that of the page before, goes with the order of creation only; with a total, the page has a number
 * @throws 401 where the caller's own issues are asked for without a caller; 400 for a cursor of another list
 */
export async function listIssues(
  deps: Deps,
  actor: Actor,
  input: IssueListInput,
  page: PageRequest &
    AskedPage & {
      readonly order: IssueOrder;
      readonly direction: 'asc' | 'desc';
    },
): Promise<Page<FoundIssue> & { readonly next?: string }> {
  const accesses: Accesses = new Map();
  const planned = await plan(deps, actor, input, accesses, page.order);
  if (planned === undefined) return { items: [], total: 0, more: false };
  const { order, direction } = page;
  const sorted = order !== 'created_at' && !planned.isSource;
  const { scope, ...filter } = input;
  const which = ['issues', scopeId(scope), filter, direction, actor.kind === 'user' && actor.user.id];
  const read = (after: { readonly after?: Position }) =>
    deps.store.issueList.page({
      ...planned.query,
      page: page.page,
      perPage: page.perPage,
      ...(page.count === undefined ? {} : { count: page.count }),
      direction,
      ...after,
      ...(sorted ? { sortBy: (issues) => valuesOf(deps, issues, page) } : {}),
    });
  const found = await pageByCursor(which, page, read);
  const items = found.items.flatMap((issue): FoundIssue[] => {
    const access = scope.kind === 'project' ? scope.access : accesses.get(issue.projectId);
    // An index may be late: the record decides.
    return access !== undefined && maySeeIssue(actor, access, issue) ? [{ issue, access }] : [];
  });
  return { ...found, items };
}

export interface IssueStatistics {
  readonly opened: number;
  readonly closed: number;
}

/** Counts issues as a list of them would show, at most {@link MAX_COUNTED} of each state. */
export async function issueStatistics(
  deps: Deps,
  actor: Actor,
  input: Omit<IssueListInput, 'state'>,
): Promise<IssueStatistics> {
  const count = async (state: 'opened' | 'closed') => {
    const planned = await plan(deps, actor, { ...input, state }, new Map(), 'created_at');
    if (planned === undefined) return 0;
    const query = { ...planned.query, page: 1, perPage: 20, direction: 'desc' } as const;
    return deps.store.issueList.count(query, MAX_COUNTED);
  };
  const [opened, closed] = await Promise.all([count('opened'), count('closed')]);
  return { opened, closed };
}

/** Hits of a search that are judged for its total. */
const COUNTED_HITS = 200;

/** Issues counted by walking through them. */
const MAX_COUNTED = 10_000;

const isOf = (
  scope: IssueScope,
  { projectId }: Pick<IssueRecord, 'projectId'>,
): scope is Extract<IssueScope, { kind: 'project' }> =>
  scope.kind === 'project' && scope.access.project.id === projectId;

interface Plan {
  readonly query: Omit<TrackedQuery<IssueRecord>, 'direction' | keyof PageRequest>;
  /** Whether the ranges have the order that is asked for, where it is not that of creation. */
  readonly isSource: boolean;
}

/** @returns undefined where nothing can be found */
async function plan(
  deps: Deps,
  actor: Actor,
  input: IssueListInput,
  accesses: Accesses,
  order: IssueOrder,
): Promise<Plan | undefined> {
  const { scope, mine } = input;
  const me = actor.kind === 'user' ? actor.user.id : undefined;
  if (mine !== undefined && me === undefined) throw unauthorized();
  const classes = classesOf(input);
  const assigneeIds = mine === 'assignee' ? withMe(input.assigneeIds, me!) : input.assigneeIds;
  if (mine === 'assignee' && assigneeIds === undefined) return undefined;
  const given: IssueFilter =
    mine === 'author' ? { ...input, authorId: input.authorId ?? me } : { ...input, assigneeIds };
  // Nobody has no reactions to ask for.
  const filter: IssueFilter =
    me === undefined
      ? { ...given, reaction: undefined, not: given.not && { ...given.not, reaction: undefined } }
      : given;
  // The caller asks for their own issues, and for another author's: both have to hold.
  if (mine === 'author' && filter.authorId !== me) return undefined;
  const hidden = classes.filter((listClass) => listClass.endsWith('-confidential'));
  const plain = classes.filter((listClass) => !listClass.endsWith('-confidential'));
  const seesAll = readsConfidential(actor, scope);
  const sources = await sourcesOf(deps, actor, filter, {
    scope,
    me,
    // What the ranges of everybody's issues are read in; in a group, projects decide about confidential ones.
    classes: seesAll === true || (seesAll === undefined && me !== undefined) ? classes : plain,
    hidden: seesAll === true || me === undefined ? [] : hidden,
    all: classes,
  });
  if (sources === undefined) return undefined;
  const { ranges, exact, covered } = sources;
  const residual = Object.entries(filter).some(
    ([name, value]) => value !== undefined && !covered.has(name) && !PLANNED.has(name),
  );
  const needsMatcher = residual || !exact;
  const fulfils = matcherOf(deps, actor, filter, classes);
  const matches = async (issues: readonly IssueRecord[]) => {
    const verdicts = await fulfils(issues);
    // Rows of words and of reactions do not tell who may see an issue.
    return verdicts.map((verdict, i) => {
      const issue = issues[i]!;
      const access = isOf(scope, issue) ? scope.access : accesses.get(issue.projectId);
      return verdict && access !== undefined && maySeeIssue(actor, access, issue);
    });
  };
  // One's own confidential issues are in no range of another order than that of creation.
  const uniform = seesAll === true || me === undefined || hidden.length === 0;
  const ordered =
    (order === 'updated_at' && scope.kind !== 'instance') ||
    (order === 'relative_position' && scope.kind === 'project');
  const isSource = ordered && ranges === undefined && uniform;
  const sourceOrder = isSource ? order : 'created_at';
  const base = ranges ?? [baseOf(scope, classes, seesAll, me, hidden, plain, sourceOrder)];
  const unfiltered = ranges === undefined && !needsMatcher && scope.kind === 'project' && seesAll === true;
  // Read beside the page; its failure is thrown where it is awaited.
  const total = unfiltered ? totalOf(deps, scope.access.project.id, classes) : undefined;
  total?.catch(() => {});
  return {
    isSource,
    query: {
      sources: base,
      ...(scope.kind === 'project' && !covered.has('reaction')
        ? {}
        : { listable: listableIn(deps, actor, scope, input, accesses) }),
      ...(needsMatcher ? { matches } : {}),
      ...(filter.terms === undefined ? {} : { countWalk: COUNTED_HITS }),
      ...(total === undefined ? {} : { total }),
    },
  };
}

/** Fields of the input that are no conditions on records. */
const PLANNED = new Set(['scope', 'mine', 'state', 'confidential', 'nonArchived', 'searchIn']);

const classesOf = ({ state, confidential }: IssueListInput): IssueClass[] =>
  ISSUE_CLASSES.filter(
    (listClass) =>
      (state === undefined || listClass.startsWith(state)) &&
      (confidential === undefined || listClass.endsWith('-confidential') === confidential),
  );

/** Whether the actor sees every confidential issue there; undefined where projects differ. */
function readsConfidential(actor: Actor, scope: IssueScope): boolean | undefined {
  if (scope.kind === 'project') return can(actor, scope.access, 'read_confidential_issues');
  if (actor.kind === 'anonymous') return false;
  if (isAdministrator(actor)) return true;
  return scope.kind === 'group' && scope.access.level >= REPORTER ? true : undefined;
}

interface SourceInput {
  readonly scope: IssueScope;
  readonly me: number | undefined;
  readonly classes: readonly IssueClass[];
  /** Confidential classes of which the actor may only see their own. */
  readonly hidden: readonly IssueClass[];
  readonly all: readonly IssueClass[];
}

interface Sources {
  /** Absent: no filter has rows of its own. */
  readonly ranges: readonly (readonly PlaceRange[])[] | undefined;
  /** Whether all that the ranges find passes the filters that they are of. */
  readonly exact: boolean;
  /** Filters that the ranges are of. */
  readonly covered: ReadonlySet<string>;
}

/** @returns undefined where a filter names what does not exist, or is hidden */
async function sourcesOf(
  deps: Deps,
  actor: Actor,
  filter: IssueFilter,
  { scope, me, classes, hidden, all }: SourceInput,
): Promise<Sources | undefined> {
  const ranges: PlaceRange[][] = [];
  const covered = new Set<string>();
  const projectId = scope.kind === 'project' ? scope.access.project.id : undefined;
  let exact = true;
  const person = (facet: 'author' | 'assignee', userId: number) => {
    const own = userId === me;
    const seen = own ? all : classes;
    ranges.push(
      projectId === undefined
        ? rangesIn.ofPerson(facet, userId, seen, own)
        : rangesIn.by(projectId, facet, userId, seen, own),
    );
    // Another author's confidential issue that is assigned to the actor.
    if (!own && hidden.length > 0) withOwn(ranges.at(-1)!);
  };
  const withOwn = (union: PlaceRange[]) => {
    if (me === undefined || hidden.length === 0) return;
    for (const facet of ['author', 'assignee'] as const)
      union.push(
        ...(projectId === undefined
          ? rangesIn.ofPerson(facet, me, hidden, true)
          : rangesIn.by(projectId, facet, me, hidden, true)),
      );
    exact = false;
  };
  if (filter.authorId !== undefined) {
    person('author', filter.authorId);
    covered.add('authorId');
  }
  if (Array.isArray(filter.assigneeIds) && filter.assigneeIds.length > 0) {
    for (const id of filter.assigneeIds as readonly number[]) person('assignee', id);
    covered.add('assigneeIds');
  }
  const rootId =
    scope.kind === 'group' ? (scope.access.group.ancestorIds[0] ?? scope.access.group.id) : undefined;
  if (Array.isArray(filter.labels) && filter.labels.length > 0 && scope.kind !== 'instance') {
    const titles = [...new Set(filter.labels as readonly string[])];
    const ids =
      scope.kind === 'project' ? await deps.store.labels.idsOf(withAbove(scope.access), titles) : [];
    for (const [i, title] of titles.entries()) {
      if (projectId !== undefined && ids[i] === undefined) return undefined;
      const union =
        projectId === undefined
          ? rangesIn.ofRootBy(rootId!, 'label', title, classes)
          : rangesIn.by(projectId, 'label', ids[i]!, classes);
      withOwn(union);
      ranges.push(union);
    }
    covered.add('labels');
  }
  const { milestone } = filter;
  if (typeof milestone === 'object' && 'title' in milestone && scope.kind !== 'instance') {
    const { title } = milestone;
    const ids =
      scope.kind === 'project' ? await deps.store.milestones.titled(withAbove(scope.access), title) : [];
    if (projectId !== undefined && ids.length === 0) return undefined;
    const union =
      projectId === undefined
        ? rangesIn.ofRootBy(rootId!, 'milestone', title, classes)
        : ids.flatMap((id) => rangesIn.by(projectId, 'milestone', id, classes));
    withOwn(union);
    ranges.push(union);
    covered.add('milestone');
  }
  const { reaction } = filter;
  if (reaction !== undefined && reaction !== 'none' && me !== undefined) {
    if (!EMOJI_NAME.test(reaction)) return undefined;
    ranges.push(rangesOfReaction('issue', me, reaction === 'any' ? undefined : awardedName(reaction)));
    exact = false;
    covered.add('reaction');
  }
  if (projectId !== undefined && filter.iids !== undefined && filter.iids.length > 0) {
    ranges.push(deps.store.issueList.rangesOfNumbers(projectId, filter.iids));
    exact = false;
    covered.add('iids');
  }
  if (filter.terms !== undefined) {
    const where: SearchedIn =
      projectId !== undefined
        ? { kind: 'project', id: projectId }
        : rootId !== undefined
          ? { kind: 'root', id: rootId }
          : { kind: 'all' };
    const unions = await deps.store.issueList.rangesOfWords(where, filter.terms);
    if (unions === undefined) return undefined;
    ranges.push(...unions);
    exact = false;
    covered.add('terms');
  }
  const iterationIds = await chosenIterations(deps, scope, filter);
  if (iterationIds !== undefined) {
    if (iterationIds.length === 0) return undefined;
    const union = iterationIds.flatMap((id) =>
      projectId === undefined
        ? rangesIn.ofValue('iteration', id, classes)
        : rangesIn.by(projectId, 'iteration', id, classes),
    );
    withOwn(union);
    ranges.push(union);
    covered.add(filter.iterationTitle === undefined ? 'iterationId' : 'iterationTitle');
  }
  if (typeof filter.epicId === 'number') {
    if (!(await visibleEpics(deps, actor, [filter.epicId])).has(filter.epicId)) return undefined;
    const union =
      projectId === undefined
        ? rangesIn.ofValue('epic', filter.epicId, classes)
        : rangesIn.by(projectId, 'epic', filter.epicId, classes);
    withOwn(union);
    ranges.push(union);
    covered.add('epicId');
  }
  return { ranges: ranges.length === 0 ? undefined : ranges, exact, covered };
}

/**
 * The iterations that a filter leaves; undefined where it does not say which. Those of a title and the present ones are
 * known in a project, which can only have those of groups above it.
 */
async function chosenIterations(
  { store, now }: Deps,
  scope: IssueScope,
  { iterationId, iterationTitle }: IssueFilter,
): Promise<number[] | undefined> {
  if (typeof iterationId === 'number')
    return (await store.iterations.get(iterationId)) === undefined ? [] : [iterationId];
  if (scope.kind !== 'project') return undefined;
  const groups = iterationGroups(scope.access);
  if (iterationTitle !== undefined) return store.iterations.titled(groups, iterationTitle);
  return iterationId === 'current' ? store.iterations.onDay(groups, dayOf(now())) : undefined;
}

/** The ranges of a list without filters that have rows of their own. */
function baseOf(
  scope: IssueScope,
  classes: readonly IssueClass[],
  seesAll: boolean | undefined,
  me: number | undefined,
  hidden: readonly IssueClass[],
  plain: readonly IssueClass[],
  order: IssueOrder,
): PlaceRange[] {
  const general = seesAll === true || (seesAll === undefined && me !== undefined) ? classes : plain;
  const ownHidden = seesAll === true || me === undefined ? [] : hidden;
  const facets = ['author', 'assignee'] as const;
  if (scope.kind === 'project') {
    const { id } = scope.access.project;
    const own = facets.flatMap((facet) =>
      me === undefined ? [] : rangesIn.by(id, facet, me, ownHidden, true),
    );
    const inOrder =
      order === 'updated_at'
        ? rangesIn.changedOfProject
        : order === 'relative_position'
          ? rangesIn.arrangedOfProject
          : rangesIn.ofProject;
    return [...inOrder(id, general), ...own];
  }
  const own = facets.flatMap((facet) =>
    me === undefined ? [] : rangesIn.ofPerson(facet, me, ownHidden, true),
  );
  if (scope.kind === 'instance') return [...rangesIn.ofAll(general), ...own];
  const { group } = scope.access;
  const root = group.ancestorIds[0] ?? group.id;
  return [...rangesIn.ofRoot(root, general, order === 'updated_at' ? 'byUpdated' : 'byId'), ...own];
}

/** Decides, by project, what a list may show of what its ranges find. */
function listableIn(
  deps: Deps,
  actor: Actor,
  scope: IssueScope,
  { nonArchived }: IssueListInput,
  accesses: Accesses,
): (ids: readonly number[]) => Promise<Listable[]> {
  if (scope.kind === 'project') {
    const { access } = scope;
    accesses.set(access.project.id, access);
    return async (ids) => ids.map((id) => (id === access.project.id ? 'all' : 'none'));
  }
  const read = listedAccesses(deps, actor);
  return async (ids) => {
    const found = await read(ids);
    return ids.map((id, i) => {
      const access = found[i];
      accesses.set(id, access);
      if (access === undefined || !can(actor, access, 'read_issues')) return 'none';
      const { project } = access;
      if (scope.kind === 'group' && !project.ancestorIds.includes(scope.access.group.id)) return 'none';
      if (nonArchived !== false && project.archived) return 'none';
      return can(actor, access, 'read_confidential_issues') ? 'all' : 'plain';
    });
  };
}

async function totalOf(deps: Deps, projectId: number, classes: readonly IssueClass[]): Promise<number> {
  const [counts] = await deps.store.issues.counts([projectId]);
  return classes.reduce((sum, listClass) => sum + counts![listClass], 0);
}

/** What records are sorted by; null comes last. */
async function valuesOf(
  deps: Deps,
  issues: readonly IssueRecord[],
  { order, direction }: { readonly order: IssueOrder; readonly direction: 'asc' | 'desc' },
): Promise<(string | number | null)[]> {
  switch (order) {
    case 'created_at':
      return issues.map(({ createdAt }) => createdAt);
    case 'updated_at':
      return issues.map(({ updatedAt }) => updatedAt);
    case 'due_date':
      return issues.map(({ dueDate }) => dueDate);
    case 'popularity':
      return issues.map(({ upvotes }) => upvotes);
    case 'relative_position':
      return issues.map(arrangedPlace);
    case 'epic':
      return issues.map(placeInEpic);
    case 'title':
      return issues.map(({ title }) => title.toLowerCase());
    case 'weight':
      return issues.map(({ weight }) => weight);
    case 'milestone_due': {
      const milestones = await milestonesOf(deps, issues);
      return issues.map(({ milestoneId }) => milestones.get(milestoneId ?? 0)?.dueDate ?? null);
    }
    case 'label_priority':
      return labelPriorities(deps, issues);
    case 'priority': {
      const [milestones, labels] = await Promise.all([
        milestonesOf(deps, issues),
        labelPriorities(deps, issues),
      ]);
      // What is missing comes last in both directions.
      const last = direction === 'asc' ? '~' : '';
      return issues.map(({ milestoneId }, i) => {
        const due = milestones.get(milestoneId ?? 0)?.dueDate ?? last;
        return `${due}#${labels[i]?.toString().padStart(12, '0') ?? last}`;
      });
    }
  }
}

/** The highest priority among the labels of each, as its project ranks them, 0 being the highest. */
async function labelPriorities(deps: Deps, issues: readonly IssueRecord[]): Promise<(number | null)[]> {
  const labels = await labelsOf(deps, issues);
  const inProjects = new Map<string, LabelInProject>();
  const keyOf = (projectId: number, labelId: number) => `${projectId} ${labelId}`;
  for (const { projectId, labelIds } of issues)
    for (const id of labelIds) {
      const label = labels.get(id);
      if (label !== undefined) inProjects.set(keyOf(projectId, id), { label, projectId });
    }
  const found = await deps.store.labels.priorities([...inProjects.values()]);
  const ranks = new Map([...inProjects.keys()].map((key, i) => [key, found[i]!]));
  return issues.map(({ projectId, labelIds }) => {
    const priorities = labelIds.flatMap((id) => ranks.get(keyOf(projectId, id)) ?? []);
    return priorities.length === 0 ? null : Math.min(...priorities);
  });
}
