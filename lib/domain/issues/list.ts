/** Lists of issues: of a project, of a group with all below it, and of the instance. */

import { ISSUE_CLASSES, type IssueClass, type IssueRecord } from '../../records/issues.ts';
import type { Position } from '../../store/table/cursor.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { Listable, TrackedQuery } from '../../store/tracked/list.ts';
import { REPORTER } from '../access/levels.ts';
import { can } from '../access/permissions.ts';
import { listedAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeIssue } from '../access/visible-issues.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { unauthorized } from '../errors.ts';
import { type AskedPage, pageByCursor } from '../page-by-cursor.ts';
import { withMe } from '../tracked/conditions.ts';
import { type ListScope, scopeId } from '../tracked/related.ts';
import { type IssueFilter, matcherOf } from './conditions.ts';
import { type IssueOrder, valuesOf } from './list-order.ts';
import { baseRanges, filterRanges, type Searched } from './list-ranges.ts';
import type { FoundIssue } from './related.ts';

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
  const plain = classes.filter((listClass) => !listClass.endsWith('-confidential'));
  const seesAll = readsConfidential(actor, scope);
  const searched: Searched = {
    scope,
    me,
    classes: seesAll === true || (seesAll === undefined && me !== undefined) ? classes : plain,
    hidden: seesAll === true || me === undefined ? [] : classes.filter((one) => !plain.includes(one)),
    all: classes,
  };
  const found = await filterRanges(deps, actor, filter, searched);
  if (found === undefined) return undefined;
  const { unions, exact, covered } = found;
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
  const uniform = searched.hidden.length === 0;
  const ordered =
    (order === 'updated_at' && scope.kind !== 'instance') ||
    (order === 'relative_position' && scope.kind === 'project');
  const isSource = ordered && unions === undefined && uniform;
  const unfiltered = unions === undefined && !needsMatcher && scope.kind === 'project' && seesAll === true;
  // Read beside the page; its failure is thrown where it is awaited.
  const total = unfiltered ? totalOf(deps, scope.access.project.id, classes) : undefined;
  total?.catch(() => {});
  return {
    isSource,
    query: {
      sources: unions ?? [baseRanges(searched, isSource ? order : 'created_at')],
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
