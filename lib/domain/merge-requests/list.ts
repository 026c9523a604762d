/** Lists of merge requests: of a project, of a group with all below it, and of the instance. */

import {
  type ListedMergeRequest,
  MERGE_REQUEST_STATES,
  type MergeRequestRecord,
  type MergeRequestState,
} from '../../records/merge-requests.ts';
import {
  LISTED_FIELDS,
  mergeRequestRanges as rangesIn,
  rangesOfCommit,
  rangesOfLong,
} from '../../store/merge-requests/kind.ts';
import type { Position } from '../../store/table/cursor.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import type { Listable, TrackedQuery } from '../../store/tracked/list.ts';
import type { PlaceRange } from '../../store/tracked/places.ts';
import { can } from '../access/permissions.ts';
import { listedAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { unauthorized } from '../errors.ts';
import { withAbove } from '../labels/containers.ts';
import { type AskedPage, pageByCursor } from '../page-by-cursor.ts';
import { withMe } from '../tracked/conditions.ts';
import { reactedTo, searchedIn } from '../tracked/filter-ranges.ts';
import { type ListScope, scopeId } from '../tracked/related.ts';
import { type Deployed, landingOf, type Matcher, type MergeRequestFilter, matcherOf } from './conditions.ts';
import type { FoundMergeRequest, ListedFound } from './related.ts';
import { withCommit } from './with-commit.ts';

export const MERGE_REQUEST_ORDERS = ['created_at', 'updated_at', 'title'] as const;
export type MergeRequestOrder = (typeof MERGE_REQUEST_ORDERS)[number];

export type MergeRequestScope = ListScope;

export interface MergeRequestListInput extends MergeRequestFilter {
  readonly scope: MergeRequestScope;
  /** The caller's own, those assigned to them, or those that they are to review. */
  readonly mine?: 'author' | 'assignee' | 'reviewer' | undefined;
  /** `locked`: there are none. */
  readonly state?: MergeRequestState | 'locked' | undefined;
  /** Leaves out those of archived projects; of a single project it says nothing. */
  readonly nonArchived?: boolean | undefined;
}

/** Filters whose conditions the ranges make true, if they are among the sources. */
type Covered = Set<keyof MergeRequestFilter>;

export type MergeRequestPage = PageRequest &
  AskedPage & {
    readonly order: MergeRequestOrder;
    readonly direction: 'asc' | 'desc';
  };

type Listed<M> = Page<M> & { readonly next?: string };

/**
 * @param page a cursor, that of the page before, goes with the order of creation only
 * @throws 401 where the caller's own are asked for without a caller; 400 for a cursor of another list
 */
export const listMergeRequests = (
  deps: Deps,
  actor: Actor,
  input: MergeRequestListInput,
  page: MergeRequestPage,
): Promise<Listed<ListedFound>> =>
  // What tells whether it has a commit is not among what lists show.
  listed(deps, actor, input, page, input.commitSha === undefined ? LISTED_FIELDS : undefined);

/** The same, with all that is stored of each. */
export const listWholeMergeRequests = (
  deps: Deps,
  actor: Actor,
  input: MergeRequestListInput,
  page: MergeRequestPage,
): Promise<Listed<FoundMergeRequest>> => listed(deps, actor, input, page);

/** @param only names of the fields that are read; absent: all */
async function listed(
  deps: Deps,
  actor: Actor,
  input: MergeRequestListInput,
  page: MergeRequestPage,
  only?: readonly string[],
): Promise<Listed<FoundMergeRequest>> {
  const { scope, ...filter } = input;
  const { order, direction } = page;
  const accesses: Accesses = new Map();
  const planned = await plan(deps, actor, input, accesses, order);
  if (planned === undefined) return { items: [], total: 0, more: false };
  const { query, states, isInOrder, isCut } = planned;
  const me = actor.kind === 'user' && actor.user.id;
  const which = ['merge-requests', scopeId(scope), filter, direction, me];
  const read = (after: { readonly after?: Position }) =>
    deps.store.mergeRequestList.page({
      ...query,
      page: page.page,
      perPage: page.perPage,
      ...(page.count === undefined ? {} : { count: page.count }),
      direction,
      ...after,
      ...(only === undefined ? {} : { only }),
      ...(isInOrder
        ? {}
        : {
            sortBy: async (records: readonly ListedMergeRequest[]) =>
              records.map((record) => (order === 'title' ? record.title.toLowerCase() : record.updatedAt)),
          }),
    });
  const found = await pageByCursor(which, page, read);
  const items = found.items.flatMap((mergeRequest): FoundMergeRequest[] => {
    const access = scope.kind === 'project' ? scope.access : accesses.get(mergeRequest.projectId);
    // An index may be late: the record decides.
    const isShown = access !== undefined && states.includes(mergeRequest.state);
    return isShown ? [{ mergeRequest, access }] : [];
  });
  return isCut() ? { ...found, items, total: undefined, truncated: true } : { ...found, items };
}

/** Counts what a list would show, at most {@link MAX_COUNTED}. */
export async function countMergeRequests(
  deps: Deps,
  actor: Actor,
  input: MergeRequestListInput,
): Promise<number> {
  const planned = await plan(deps, actor, input, new Map(), 'created_at');
  if (planned === undefined) return 0;
  const query = { ...planned.query, page: 1, perPage: 20, direction: 'desc' } as const;
  return deps.store.mergeRequestList.count(query, MAX_COUNTED);
}

/** Merge requests counted by walking through them. */
const MAX_COUNTED = 10_000;
/** Hits of a search that are judged for its total. */
const COUNTED_HITS = 200;

type Accesses = Map<number, ProjectAccess | undefined>;

interface Plan {
  readonly query: Omit<TrackedQuery<MergeRequestRecord>, 'direction' | 'sortBy' | keyof PageRequest>;
  readonly states: readonly MergeRequestState[];
  /** Whether the ranges have the order that is asked for. */
  readonly isInOrder: boolean;
  /** Whether something that decides was not looked at: the list may lack what it decides. */
  readonly isCut: () => boolean;
}

/** @returns undefined where nothing can be found */
async function plan(
  deps: Deps,
  actor: Actor,
  input: MergeRequestListInput,
  accesses: Accesses,
  order: MergeRequestOrder,
): Promise<Plan | undefined> {
  const { scope, state } = input;
  const filter = ownOf(actor, input);
  if (scope.kind === 'project' && !can(actor, scope.access, 'read_merge_requests')) return undefined;
  if (filter === undefined || state === 'locked') return undefined;
  // What is deployed is merged.
  const states = (state === undefined ? MERGE_REQUEST_STATES : [state]).filter(
    (each) => filter.deployed === undefined || each === 'merged',
  );
  if (states.length === 0) return undefined;
  const covered: Covered = new Set();
  const sources = await sourcesOf(deps, actor, filter, scope, states, covered);
  if (sources === undefined) return undefined;
  const isInOrder =
    order === 'created_at' || (order === 'updated_at' && sources.length === 0 && hasChangedOrder(scope));
  const residual = Object.entries(filter).some(
    ([name, value]) => value !== undefined && !covered.has(name as keyof MergeRequestFilter),
  );
  // Rows of words, of numbers, of reactions and of commits do not tell the state.
  const { terms, iids, reaction, commitSha } = filter;
  const isExact = [terms, iids, reaction, commitSha].every((value) => value === undefined);
  const isPlain = scope.kind === 'project' && sources.length === 0 && !residual;
  // Read beside the page; its failure is thrown where it is awaited.
  const total = isPlain ? totalOf(deps, scope.access.project.id, states) : undefined;
  total?.catch(() => {});
  const accessOf = (id: number) => (scope.kind === 'project' ? scope.access : accesses.get(id));
  const { deployed, approverIds } = filter;
  const { inDeployments, isCut } =
    deployed === undefined ? NOT_DEPLOYED : deployedIn(deps, actor, deployed, accessOf);
  const proposing =
    scope.kind === 'project' && commitSha !== undefined
      ? withCommit(deps, scope.access, commitSha)
      : undefined;
  const matchers = [
    matcherOf(deps, actor, filter, states),
    ...(proposing === undefined ? [] : [proposing.matches]),
    ...(approverIds === undefined ? [] : [namedApprovers(deps, actor, approverIds, accessOf)]),
    ...(inDeployments === undefined ? [] : [inDeployments]),
  ];
  return {
    states,
    isInOrder,
    isCut: () => isCut() || proposing?.isCut() === true,
    query: {
      sources: sources.length > 0 ? sources : [baseOf(scope, states, isInOrder ? order : 'created_at')],
      ...(scope.kind === 'project' && isExact ? {} : { listable: listableIn(deps, actor, input, accesses) }),
      ...(residual || !isExact ? { matches: inTurn(matchers) } : {}),
      ...(filter.terms === undefined ? {} : { countWalk: COUNTED_HITS }),
      ...(total === undefined ? {} : { total }),
    },
  };
}

/** What all of them hold for; each is asked about what those before it have left. */
const inTurn =
  (matchers: readonly Matcher<MergeRequestRecord>[]): Matcher<MergeRequestRecord> =>
  async (records) => {
    let left = records.map((record, i) => ({ record, i }));
    for (const matches of matchers) {
      if (left.length === 0) break;
      const verdicts = await matches(left.map(({ record }) => record));
      left = left.filter((_, i) => verdicts[i]);
    }
    const kept = new Set(left.map(({ i }) => i));
    return records.map((_, i) => kept.has(i));
  };

type AccessOf = (projectId: number) => ProjectAccess | undefined;

/** Rules, and what is deployed, are loaded where they are asked for: few lists do. */
function namedApprovers(
  deps: Deps,
  actor: Actor,
  wanted: NonNullable<MergeRequestFilter['approverIds']>,
  accessOf: AccessOf,
): Matcher {
  const named = import('../approvals/named.ts').then(({ approversNamed }) =>
    approversNamed(deps, actor, wanted, accessOf),
  );
  return async (records) => (await named)(records);
}

const NOT_DEPLOYED = { inDeployments: undefined, isCut: () => false } as const;

function deployedIn(
  deps: Deps,
  actor: Actor,
  deployed: Deployed,
  accessOf: AccessOf,
): { readonly inDeployments: Matcher; readonly isCut: () => boolean } {
  const looking = import('../environments/deployed.ts').then(
    ({ DeployedCommits }) => new DeployedCommits(deps, actor, deployed),
  );
  let cut = false;
  return {
    isCut: () => cut,
    inDeployments: async (records) => {
      const commits = await looking;
      const ids = [...new Set(records.map(({ projectId }) => projectId))];
      await commits.look(ids.flatMap((id) => accessOf(id) ?? []));
      cut = commits.cut;
      return records.map((record) => commits.has(record.projectId, landingOf(record)));
    },
  };
}

/** The filter with what "mine" asks for. @returns undefined where nothing can be found @throws 401 */
function ownOf(actor: Actor, input: MergeRequestListInput): MergeRequestFilter | undefined {
  const { scope: _s, mine, state: _t, nonArchived: _n, ...filter } = input;
  const me = actor.kind === 'user' ? actor.user.id : undefined;
  if (mine === undefined) return me === undefined ? { ...filter, reaction: undefined } : filter;
  if (me === undefined) throw unauthorized();
  if (mine === 'author')
    return filter.authorId === undefined || filter.authorId === me ? { ...filter, authorId: me } : undefined;
  const people = mine === 'assignee' ? 'assigneeIds' : 'reviewerIds';
  const ids = withMe(filter[people], me);
  return ids && { ...filter, [people]: ids };
}

/** The ranges of filters that have rows of their own. @returns undefined where a filter names what does not exist */
async function sourcesOf(
  deps: Deps,
  actor: Actor,
  filter: MergeRequestFilter,
  scope: MergeRequestScope,
  states: readonly MergeRequestState[],
  covered: Covered,
): Promise<PlaceRange[][] | undefined> {
  const sources: PlaceRange[][] = [];
  const projectId = scope.kind === 'project' ? scope.access.project.id : undefined;
  const rootId =
    scope.kind === 'group' ? (scope.access.group.ancestorIds[0] ?? scope.access.group.id) : undefined;
  const people = (facet: 'author' | 'assignee' | 'reviewer' | 'approver', ids: readonly number[]) => {
    for (const id of ids)
      sources.push(
        projectId === undefined
          ? rangesIn.ofPerson(facet, id, states, false)
          : rangesIn.by(projectId, facet, id, states),
      );
  };
  const { authorId, assigneeIds, reviewerIds, approvedByIds, labels, milestone, reaction, terms } = filter;
  if (authorId !== undefined) {
    people('author', [authorId]);
    covered.add('authorId');
  }
  for (const [name, facet, ids] of [
    ['assigneeIds', 'assignee', assigneeIds],
    ['reviewerIds', 'reviewer', reviewerIds],
    ['approvedByIds', 'approver', approvedByIds],
  ] as const) {
    if (typeof ids !== 'object' || ids.length === 0) continue;
    people(facet, ids);
    covered.add(name);
  }
  if (projectId !== undefined)
    for (const [name, facet] of [
      ['sourceBranch', 'source'],
      ['targetBranch', 'target'],
    ] as const) {
      const branch = filter[name];
      if (branch === undefined) continue;
      sources.push(rangesIn.by(projectId, facet, branch, states));
      covered.add(name);
    }
  if (projectId !== undefined && filter.iids !== undefined && filter.iids.length > 0) {
    sources.push(deps.store.mergeRequestList.rangesOfNumbers(projectId, filter.iids));
    covered.add('iids');
  }
  if (projectId !== undefined && filter.commitSha !== undefined) {
    sources.push([...rangesOfCommit(projectId, filter.commitSha), ...rangesOfLong(projectId)]);
    covered.add('commitSha');
  }
  if (typeof labels === 'object' && labels.length > 0 && scope.kind !== 'instance') {
    const titles = [...new Set(labels)];
    const ids =
      scope.kind === 'project' ? await deps.store.labels.idsOf(withAbove(scope.access), titles) : [];
    for (const [i, title] of titles.entries()) {
      if (projectId !== undefined && ids[i] === undefined) return undefined;
      sources.push(
        projectId === undefined
          ? rangesIn.ofRootBy(rootId!, 'label', title, states)
          : rangesIn.by(projectId, 'label', ids[i]!, states),
      );
    }
    covered.add('labels');
  }
  if (typeof milestone === 'object' && 'title' in milestone && scope.kind !== 'instance') {
    const { title } = milestone;
    const ids =
      scope.kind === 'project' ? await deps.store.milestones.titled(withAbove(scope.access), title) : [];
    if (projectId !== undefined && ids.length === 0) return undefined;
    sources.push(
      projectId === undefined
        ? rangesIn.ofRootBy(rootId!, 'milestone', title, states)
        : ids.flatMap((id) => rangesIn.by(projectId, 'milestone', id, states)),
    );
    covered.add('milestone');
  }
  if (reaction !== undefined && reaction !== 'none' && actor.kind === 'user') {
    const ranges = reactedTo('merge-request', actor.user.id, reaction);
    if (ranges === undefined) return undefined;
    sources.push(ranges);
    covered.add('reaction');
  }
  if (terms !== undefined) {
    const unions = await deps.store.mergeRequestList.rangesOfWords(searchedIn(projectId, rootId), terms);
    if (unions === undefined) return undefined;
    sources.push(...unions);
    covered.add('terms');
  }
  return sources;
}

const hasChangedOrder = (scope: MergeRequestScope): boolean => scope.kind !== 'instance';

function baseOf(
  scope: MergeRequestScope,
  states: readonly MergeRequestState[],
  order: MergeRequestOrder,
): PlaceRange[] {
  const byChange = order === 'updated_at';
  if (scope.kind === 'instance') return rangesIn.ofAll(states);
  if (scope.kind === 'project') {
    const { id } = scope.access.project;
    return byChange ? rangesIn.changedOfProject(id, states) : rangesIn.ofProject(id, states);
  }
  const { group } = scope.access;
  return rangesIn.ofRoot(group.ancestorIds[0] ?? group.id, states, byChange ? 'byUpdated' : 'byId');
}

/** Decides, by project, what a list may show of what its ranges find. */
function listableIn(
  deps: Deps,
  actor: Actor,
  { scope, nonArchived }: MergeRequestListInput,
  accesses: Accesses,
): (ids: readonly number[]) => Promise<Listable[]> {
  if (scope.kind === 'project')
    return async (ids) => ids.map((id) => (id === scope.access.project.id ? 'all' : 'none'));
  const read = listedAccesses(deps, actor);
  return async (ids) => {
    const found = await read(ids);
    return ids.map((id, i) => {
      const access = found[i];
      accesses.set(id, access);
      if (access === undefined || !can(actor, access, 'read_merge_requests')) return 'none';
      const { project } = access;
      if (scope.kind === 'group' && !project.ancestorIds.includes(scope.access.group.id)) return 'none';
      return nonArchived !== false && project.archived ? 'none' : 'all';
    });
  };
}

async function totalOf(deps: Deps, projectId: number, states: readonly MergeRequestState[]): Promise<number> {
  const [counts] = await deps.store.mergeRequests.counts([projectId]);
  return states.reduce((sum, state) => sum + counts![state], 0);
}
