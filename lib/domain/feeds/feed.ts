/** Event feeds, restricted to what the caller may see now. */

import type { Container } from '../../records/labels.ts';
import type { Noteable, NoteRecord } from '../../records/notes.ts';
import type { UserRecord } from '../../records/users.ts';
import { type EventRecord, facetName } from '../../store/events/events.ts';
import type { EventAction, EventFacet, EventTargetType } from '../../store/events/facet.ts';
import type { EventFilter, EventHeader, FeedRequest, FeedView } from '../../store/events/feed.ts';
import { epicEvents } from '../../store/events/kinds/epics.ts';
import { EVENT_FACETS, PROJECT_FACETS } from '../../store/events/kinds.ts';
import type { Page } from '../../store/table/paging.ts';
import type { ProjectAbility } from '../access/abilities/all.ts';
import { can, canInGroup } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { GroupAccess, ProjectAccess } from '../access/types.ts';
import { maySeeSnippet } from '../access/visible-snippets.ts';
import { maySeeProfile } from '../accounts/accounts.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { visibleEpics } from '../epics/related.ts';
import { groupAccesses } from '../groups/details.ts';
import { textsOf } from '../long-texts.ts';
import { pageByCursor } from '../page-by-cursor.ts';

export interface FeedQuery extends Omit<FeedRequest, 'now' | 'following'> {
  readonly action?: EventAction | undefined;
  readonly targetType?: EventTargetType | undefined;
  /** Of the page before. */
  readonly cursor?: string;
}

type Feed = Page<FeedItem> & { readonly next?: string };

/** An event with the records that it refers to. */
export interface FeedItem {
  readonly event: EventRecord;
  readonly author: UserRecord;
  /** Of a comment. */
  readonly note?: { readonly record: NoteRecord; readonly body: string } | undefined;
}

type SignedIn = Extract<Actor, { kind: 'user' }>;

/** Maximum number of projects in a feed with other users' events: those with the latest activity. */
const MAX_PROJECTS = 100;

/** @throws 400 for a cursor of another feed */
export async function projectFeed(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  query: FeedQuery,
): Promise<Feed> {
  return feed(deps, actor, [viewOf(actor, access, query)], query);
}

/** Empty if the actor may not see the user's activity. @throws 400 for a cursor of another feed */
export async function userFeed(deps: Deps, actor: Actor, user: UserRecord, query: FeedQuery): Promise<Feed> {
  if (!maySeeActivity(actor, user)) return { items: [], total: 0, more: false };
  return feed(
    deps,
    actor,
    [{ of: 'author', id: user.id, facets: facetsOf(query) }],
    query,
    eventFilter(deps, actor, actor.kind === 'user' && actor.user.id === user.id),
  );
}

/**
 * The actor's own events. @throws 400 for a cursor of another feed
 * @param options.projects lists the actor's projects, whose events are included
 */
export async function ownFeed(
  deps: Deps,
  actor: SignedIn,
  query: FeedQuery,
  options: { readonly projects?: (limit: number) => Promise<readonly ProjectAccess[]> },
): Promise<Feed> {
  const own: FeedView = { of: 'author', id: actor.user.id, facets: facetsOf(query) };
  if (options.projects === undefined) return feed(deps, actor, [own], query, eventFilter(deps, actor, true));
  const projects = await options.projects(MAX_PROJECTS);
  const views = [own, ...projects.map((access) => viewOf(actor, access, query))];
  return feed(deps, actor, views, query, eventFilter(deps, actor, true, projects));
}

async function feed(
  deps: Deps,
  actor: Actor,
  views: readonly FeedView[],
  { action, targetType, cursor, ...request }: FeedQuery,
  filter?: EventFilter,
): Promise<Feed> {
  const { eventFeed, users, notes } = deps.store;
  const { before, after, direction } = request;
  // Further views are of the projects that were active last, which change while a feed is read.
  const [{ of, id }] = views as readonly [FeedView];
  const viewer = actor.kind === 'user' && actor.user.id;
  const which = ['events', of, id, views.length > 1, action, targetType, before, after, direction, viewer];
  const page = await pageByCursor(which, { cursor }, (position) =>
    eventFeed.page(views, { ...request, following: position.after, now: deps.now() }, filter),
  );
  const commented = page.items.flatMap((event) => {
    const { projectId, target } = event;
    const noteable = notedBy(event);
    return target === null || noteable === undefined ? [] : [{ projectId, id: target.id, noteable }];
  });
  const [authors, commentNotes, ...hidden] = await Promise.all([
    users.shown(page.items.map(({ authorId }) => authorId)),
    notes.getMany(commented),
    hiddenIssues(deps, actor, page.items),
    ofDeletedMergeRequests(deps, page.items),
    hiddenSnippets(deps, actor, page.items),
    hiddenEpics(deps, actor, page.items),
  ]);
  const kept = commentNotes.filter((note) => note !== undefined);
  const bodies = await textsOf(
    deps,
    kept.map(({ body }) => body),
  );
  const notesById = new Map(kept.map((record, i) => [record.id, { record, body: bodies[i]! }]));
  const items = page.items.flatMap((event, i): FeedItem[] => {
    const author = authors[i];
    const { target } = event;
    const isNote = notedBy(event) !== undefined;
    const note = isNote && target !== null ? notesById.get(target.id) : undefined;
    // The event is about to be deleted together with its author or its note.
    if (author === undefined || (isNote && note === undefined)) return [];
    if (hidden.some((ids) => ids.has(event.id))) return [];
    return [{ event, author, note }];
  });
  return { ...page, items };
}

/** What a note is on that is the target of an event. */
function notedBy({ target, groupId }: EventRecord): Noteable | undefined {
  if (target === null) return undefined;
  const { commit, issue, mergeRequest, snippet, epic } = target;
  if (commit !== undefined) return { kind: 'commit', id: commit };
  if (mergeRequest !== undefined) return { kind: 'merge-request', id: mergeRequest.id };
  if (snippet !== undefined) return { kind: 'snippet', id: snippet.id };
  if (epic !== undefined) return { kind: 'epic', id: epic.id, groupId: groupId! };
  return issue && { kind: 'issue', id: issue.id };
}

/** Events about merge requests, and notes on them, that are deleted by now. @returns ids of the events */
async function ofDeletedMergeRequests(
  { store }: Deps,
  events: readonly EventRecord[],
): Promise<ReadonlySet<number>> {
  const about = events.flatMap(({ id, projectId, target }) => {
    const iid = target?.mergeRequest?.iid ?? (target?.type === 'MergeRequest' ? target.iid : undefined);
    return iid === undefined ? [] : [{ id, projectId, iid }];
  });
  const found = about.length === 0 ? [] : await store.mergeRequests.getMany(about);
  return new Set(about.filter((_, i) => found[i] === undefined).map(({ id }) => id));
}

/**
 * Events about issues, and notes on them, that are deleted by now, or were or are confidential and not the actor's to see:
 * who takes part in an issue sees it. @returns ids of the events
 */
async function hiddenIssues(
  deps: Deps,
  actor: Actor,
  events: readonly EventRecord[],
): Promise<ReadonlySet<number>> {
  const about = events.flatMap(({ id, projectId, target }) => {
    const iid = target?.issue?.iid ?? (target?.type === 'Issue' ? target.iid : undefined);
    const confidential = target?.confidential === true || target?.issue?.confidential === true;
    return iid === undefined ? [] : [{ id, projectId, iid, confidential }];
  });
  if (about.length === 0) return new Set();
  const issues = await deps.store.issues.getMany(about);
  const me = actor.kind === 'user' ? actor.user.id : undefined;
  const doubtful = about.filter(({ confidential }, i) => {
    const issue = issues[i];
    const own = issue?.author.id === me || (me !== undefined && issue?.assigneeIds.includes(me));
    return issue === undefined || ((issue.confidential || confidential) && !own);
  });
  const projectIds = [...new Set(doubtful.map(({ projectId }) => projectId))];
  const accesses = projectIds.length === 0 ? [] : await projectAccesses(deps, actor, projectIds);
  const sees = new Map(
    accesses.map((access, i) => [
      projectIds[i]!,
      access !== undefined && can(actor, access, 'read_confidential_issues'),
    ]),
  );
  const deleted = new Set(about.filter((_, i) => issues[i] === undefined).map(({ id }) => id));
  return new Set(
    doubtful.filter(({ id, projectId }) => deleted.has(id) || !sees.get(projectId)).map(({ id }) => id),
  );
}

/** Notes on snippets that are deleted by now, or not the actor's to see. @returns ids of the events */
async function hiddenSnippets(
  deps: Deps,
  actor: Actor,
  events: readonly EventRecord[],
): Promise<ReadonlySet<number>> {
  const about = events.flatMap(({ id, projectId, target }) =>
    target?.snippet === undefined ? [] : [{ id, projectId, snippetId: target.snippet.id }],
  );
  if (about.length === 0) return new Set();
  const projectIds = [...new Set(about.map(({ projectId }) => projectId))];
  const [snippets, accesses] = await Promise.all([
    deps.store.snippets.getMany(about.map(({ snippetId }) => snippetId)),
    projectAccesses(deps, actor, projectIds),
  ]);
  const isSeen = ({ projectId }: (typeof about)[number], i: number): boolean => {
    const snippet = snippets[i];
    return snippet !== undefined && maySeeSnippet(actor, snippet, accesses[projectIds.indexOf(projectId)]);
  };
  return new Set(about.filter((each, i) => !isSeen(each, i)).map(({ id }) => id));
}

/** Events about epics, and notes on them, that are deleted by now, or not the actor's to see. @returns ids of the events */
async function hiddenEpics(
  deps: Deps,
  actor: Actor,
  events: readonly EventRecord[],
): Promise<ReadonlySet<number>> {
  const about = events.flatMap(({ id, target }) => {
    const epicId = target?.epic?.id ?? (target?.type === 'Epic' ? target.id : undefined);
    return epicId === undefined ? [] : [{ id, epicId, internal: target?.epic?.confidential === true }];
  });
  const epics = await visibleEpics(
    deps,
    actor,
    about.map(({ epicId }) => epicId),
  );
  const isHidden = ({ epicId, internal }: (typeof about)[number]): boolean => {
    const found = epics.get(epicId);
    return found === undefined || (internal && !canInGroup(actor, found.access, 'read_confidential_epics'));
  };
  return new Set(about.filter(isHidden).map(({ id }) => id));
}

/** The facets that match the filters of the query; undefined for all. */
function facetsOf(
  { action, targetType }: FeedQuery,
  facets = EVENT_FACETS,
): readonly EventFacet[] | undefined {
  if (action === undefined && targetType === undefined) return undefined;
  return facets.filter(
    (facet) => facet.action === (action ?? facet.action) && facet.target === (targetType ?? facet.target),
  );
}

/** A project's events, of what the actor may read there. */
function viewOf(actor: Actor, access: ProjectAccess, query: FeedQuery): FeedView {
  const { id } = access.project;
  const facets = facetsOf(query, PROJECT_FACETS);
  const readable = readableIn(actor, access);
  if (PROJECT_FACETS.every(readable)) return { of: 'project', id, facets };
  return { of: 'project', id, facets: (facets ?? PROJECT_FACETS).filter(readable) };
}

/** The ability that reading an event of a facet needs, beside that of its project. */
function abilityOf({ action, target, about }: EventFacet): ProjectAbility | undefined {
  if (target === 'merge_request' || about === 'merge-request') return 'read_merge_requests';
  if (about === 'snippet') return 'read_snippets';
  if (about === 'hidden-snippet') return 'read_private_snippets';
  if (about !== undefined) return about === 'issue' ? 'read_issues' : 'read_confidential_issues';
  if (action === 'pushed' || target === 'note') return 'read_code';
  if (target === 'issue') return 'read_issues';
  if (target === 'wiki_page') return 'read_wiki';
  return target === 'milestone' ? 'read_milestone' : undefined;
}
const ABILITIES = new Map(PROJECT_FACETS.map((facet) => [facetName(facet), abilityOf(facet)]));
const ALL_ABILITIES = new Set([...ABILITIES.values()].filter((ability) => ability !== undefined));

const readableIn = (actor: Actor, access: ProjectAccess) => (facet: EventFacet) => {
  const ability = abilityOf(facet);
  return ability === undefined || can(actor, access, ability);
};

/** Whether a facet of one project or group passes. */
type Passes = (facet: string) => boolean;
const keyOf = ({ kind, id }: Container): string => `${kind} ${id}`;

/**
 * Filters events by the actor's access to their projects and groups, each of which is read once.
 * @param own whether all confidential ones are the actor's own: of these, records tell whether the actor may see them
 * @param seen projects that have been read already
 */
function eventFilter(
  deps: Deps,
  actor: Actor,
  own: boolean,
  seen: readonly ProjectAccess[] = [],
): EventFilter {
  const inProject = (access: ProjectAccess | undefined): Passes => {
    if (access === undefined || !can(actor, access, 'read_project')) return () => false;
    const abilities = new Set([...ALL_ABILITIES].filter((one) => can(actor, access, one)));
    return (facet) => {
      const ability = ABILITIES.get(facet);
      const needed = own && ability === 'read_confidential_issues' ? 'read_issues' : ability;
      return needed === undefined || abilities.has(needed);
    };
  };
  const inGroup = (access: GroupAccess | undefined): Passes => {
    if (access === undefined || !canInGroup(actor, access, 'read_group')) return () => false;
    const seesAll = own || canInGroup(actor, access, 'read_confidential_epics');
    return (facet) => seesAll || !CONFIDENTIAL.has(facet);
  };
  const known = new Map<string, Passes>();
  for (const access of seen) known.set(keyOf({ kind: 'project', id: access.project.id }), inProject(access));
  const unknownOf = (kind: Container['kind'], headers: readonly EventHeader[]): number[] => {
    const ids = headers.flatMap(({ place }) => (place.kind === kind ? [place.id] : []));
    return [...new Set(ids)].filter((id) => !known.has(keyOf({ kind, id })));
  };
  return async (headers) => {
    const [projectIds, groupIds] = [unknownOf('project', headers), unknownOf('group', headers)];
    const [projects, groups] = await Promise.all([
      projectAccesses(deps, actor, projectIds),
      groupIds.length === 0 ? [] : groupAccesses(deps, actor, groupIds),
    ]);
    for (const [i, id] of projectIds.entries())
      known.set(keyOf({ kind: 'project', id }), inProject(projects[i]));
    for (const [i, id] of groupIds.entries()) known.set(keyOf({ kind: 'group', id }), inGroup(groups[i]));
    return headers.map(({ place, facet }) => known.get(keyOf(place))!(facet));
  };
}

/** Facets of groups that only readers of confidential epics see of others. */
const CONFIDENTIAL: ReadonlySet<string> = new Set(
  epicEvents.filter(({ about }) => about?.startsWith('confidential')).map(facetName),
);

/** Private profiles, and blocked or unconfirmed users, are visible only to themselves and to administrators. */
const maySeeActivity = (actor: Actor, user: UserRecord): boolean =>
  maySeeProfile(actor, user) &&
  (isAdministrator(actor) || (isConfirmed(user) && VISIBLE_STATES.has(user.state)));

const VISIBLE_STATES: ReadonlySet<UserRecord['state']> = new Set(['active', 'deactivated']);
const isConfirmed = ({ confirmedAt, type }: UserRecord) => confirmedAt !== null || type === 'project_bot';
