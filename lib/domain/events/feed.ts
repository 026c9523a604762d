/** Event feeds, restricted to what the caller may see now. */

import type { Noteable, NoteRecord } from '../../records/notes.ts';
import type { UserRecord } from '../../records/users.ts';
import { type EventRecord, type EventTarget, facetName } from '../../store/events/events.ts';
import type { EventAction, EventFacet, EventTargetType } from '../../store/events/facet.ts';
import type { EventFilter, FeedRequest, FeedView } from '../../store/events/feed.ts';
import { EVENT_FACETS } from '../../store/events/kinds.ts';
import type { Page } from '../../store/table/paging.ts';
import type { ProjectAbility } from '../access/abilities/all.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeSnippet } from '../access/visible-snippets.ts';
import { maySeeProfile } from '../accounts/accounts.ts';
import { type Actor, isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';
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
    eventFilter(deps, actor),
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
  if (options.projects === undefined) return feed(deps, actor, [own], query, eventFilter(deps, actor));
  const projects = await options.projects(MAX_PROJECTS);
  const views = [own, ...projects.map((access) => viewOf(actor, access, query))];
  return feed(deps, actor, views, query, eventFilter(deps, actor, projects));
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
  const page = await pageByCursor(which, cursor, (position) =>
    eventFeed.page(views, { ...request, following: position.after, now: deps.now() }, filter),
  );
  const commented = page.items.flatMap(({ projectId, target }) => {
    const noteable = target === null ? undefined : notedBy(target);
    return target === null || noteable === undefined ? [] : [{ projectId, id: target.id, noteable }];
  });
  const [authors, commentNotes, hidden, deleted, unseen] = await Promise.all([
    users.shown(page.items.map(({ authorId }) => authorId)),
    notes.getMany(commented),
    hiddenIssues(deps, actor, page.items),
    ofDeletedMergeRequests(deps, page.items),
    hiddenSnippets(deps, actor, page.items),
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
    const isNote = target !== null && notedBy(target) !== undefined;
    const note = isNote ? notesById.get(target.id) : undefined;
    // The event is about to be deleted together with its author or its note.
    if (author === undefined || (isNote && note === undefined)) return [];
    if (hidden.has(event.id) || deleted.has(event.id) || unseen.has(event.id)) return [];
    return [{ event, author, note }];
  });
  return { ...page, items };
}

/** What a note is on that is the target of an event. */
function notedBy({ commit, issue, mergeRequest, snippet }: EventTarget): Noteable | undefined {
  if (commit !== undefined) return { kind: 'commit', id: commit };
  if (mergeRequest !== undefined) return { kind: 'merge-request', id: mergeRequest.id };
  if (snippet !== undefined) return { kind: 'snippet', id: snippet.id };
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
 * Events about issues, and notes on them, that are deleted by now, or confidential and not the actor's to see: the filter
 * of events knows the issues as they were then. @returns ids of the events
 */
async function hiddenIssues(
  deps: Deps,
  actor: Actor,
  events: readonly EventRecord[],
): Promise<ReadonlySet<number>> {
  const about = events.flatMap(({ id, projectId, target }) => {
    const iid = target?.issue?.iid ?? (target?.type === 'Issue' ? target.iid : undefined);
    return iid === undefined ? [] : [{ id, projectId, iid }];
  });
  if (about.length === 0) return new Set();
  const issues = await deps.store.issues.getMany(about);
  const me = actor.kind === 'user' ? actor.user.id : undefined;
  const doubtful = about.filter((_, i) => {
    const issue = issues[i];
    const own = issue?.author.id === me || (me !== undefined && issue?.assigneeIds.includes(me));
    return issue === undefined || (issue.confidential && !own);
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

/** The facets that match the filters of the query; undefined for all. */
function facetsOf({ action, targetType }: FeedQuery): readonly EventFacet[] | undefined {
  if (action === undefined && targetType === undefined) return undefined;
  return EVENT_FACETS.filter(
    (facet) => facet.action === (action ?? facet.action) && facet.target === (targetType ?? facet.target),
  );
}

/** A project's events, of what the actor may read there. */
function viewOf(actor: Actor, access: ProjectAccess, query: FeedQuery): FeedView {
  const { id } = access.project;
  const facets = facetsOf(query);
  const readable = readableIn(actor, access);
  if (EVENT_FACETS.every(readable)) return { of: 'project', id, facets };
  return { of: 'project', id, facets: (facets ?? EVENT_FACETS).filter(readable) };
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
const ABILITIES = new Map(EVENT_FACETS.map((facet) => [facetName(facet), abilityOf(facet)]));
const ALL_ABILITIES = new Set([...ABILITIES.values()].filter((ability) => ability !== undefined));

const readableIn = (actor: Actor, access: ProjectAccess) => (facet: EventFacet) => {
  const ability = abilityOf(facet);
  return ability === undefined || can(actor, access, ability);
};

/**
 * Filters events by the actor's access to their projects, each of which is read once.
 * @param seen projects that have been read already
 */
function eventFilter(deps: Deps, actor: Actor, seen: readonly ProjectAccess[] = []): EventFilter {
  const known = new Map<number, ReadonlySet<ProjectAbility> | undefined>();
  const note = (id: number, access: ProjectAccess | undefined) => {
    const sees = access !== undefined && can(actor, access, 'read_project');
    known.set(id, sees ? new Set([...ALL_ABILITIES].filter((one) => can(actor, access, one))) : undefined);
  };
  for (const access of seen) note(access.project.id, access);
  return async (headers) => {
    const unknown = [...new Set(headers.map(({ projectId }) => projectId))].filter((id) => !known.has(id));
    const accesses = await projectAccesses(deps, actor, unknown);
    for (const [i, id] of unknown.entries()) note(id, accesses[i]);
    return headers.map(({ projectId, facet }) => {
      const abilities = known.get(projectId);
      const needed = ABILITIES.get(facet);
      return abilities !== undefined && (needed === undefined || abilities.has(needed));
    });
  };
}

/** Private profiles, and blocked or unconfirmed users, are visible only to themselves and to administrators. */
const maySeeActivity = (actor: Actor, user: UserRecord): boolean =>
  maySeeProfile(actor, user) &&
  (isAdministrator(actor) || (isConfirmed(user) && VISIBLE_STATES.has(user.state)));

const VISIBLE_STATES: ReadonlySet<UserRecord['state']> = new Set(['active', 'deactivated']);
const isConfirmed = ({ confirmedAt, type }: UserRecord) => confirmedAt !== null || type === 'project_bot';
