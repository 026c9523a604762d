/** Feeds of what people did, as whoever asks may know of it now. */

import type { UserRecord } from '../../records/users.ts';
import {
  EVENT_FACETS,
  type EventAction,
  type EventFacet,
  type EventRecord,
  type EventTargetType,
  facetName,
} from '../../store/events/events.ts';
import type { EventFilter, FeedRequest, FeedView } from '../../store/events/feed.ts';
import type { NoteRecord } from '../../store/notes/notes.ts';
import type { Page } from '../../store/table/paging.ts';
import { can } from '../access/permissions.ts';
import { accessesTo } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeProfile } from '../accounts/accounts.ts';
import type { Actor } from '../actor.ts';
import { isAdministrator } from '../actor.ts';
import type { Deps } from '../deps.ts';

export interface FeedQuery extends Omit<FeedRequest, 'now'> {
  readonly action?: EventAction | undefined;
  readonly targetType?: EventTargetType | undefined;
}

/** An event with what it shows of others. */
export interface FeedItem {
  readonly event: EventRecord;
  readonly author: UserRecord;
  /** What was said, of a comment. */
  readonly note?: NoteRecord | undefined;
}

type SignedIn = Extract<Actor, { kind: 'user' }>;

/** The projects in which others' events are looked for, those that were active last. */
const MAX_PROJECTS = 100;

export async function projectFeed(
  deps: Deps,
  actor: Actor,
  access: ProjectAccess,
  query: FeedQuery,
): Promise<Page<FeedItem>> {
  return feed(deps, [viewOf(actor, access, query)], query);
}

/** Of somebody whom others know not to look for, nothing is told. */
export async function userFeed(
  deps: Deps,
  actor: Actor,
  user: UserRecord,
  query: FeedQuery,
): Promise<Page<FeedItem>> {
  if (!isOpen(actor, user)) return { items: [], total: 0, more: false };
  return feed(deps, [{ of: 'author', id: user.id, facets: asked(query) }], query, judgeOf(deps, actor));
}

/** One's own. @param options.projects also what others did in these: one's projects, as a list of them tells */
export async function ownFeed(
  deps: Deps,
  actor: SignedIn,
  query: FeedQuery,
  options: { readonly projects?: (limit: number) => Promise<readonly ProjectAccess[]> },
): Promise<Page<FeedItem>> {
  const own: FeedView = { of: 'author', id: actor.user.id, facets: asked(query) };
  if (options.projects === undefined) return feed(deps, [own], query, judgeOf(deps, actor));
  const projects = await options.projects(MAX_PROJECTS);
  const views = [own, ...projects.map((access) => viewOf(actor, access, query))];
  return feed(deps, views, query, judgeOf(deps, actor, projects));
}

async function feed(
  deps: Deps,
  views: readonly FeedView[],
  { action: _a, targetType: _t, ...request }: FeedQuery,
  judge?: EventFilter,
): Promise<Page<FeedItem>> {
  const { eventFeed, users, notes } = deps.store;
  const page = await eventFeed.page(views, { ...request, now: deps.now() }, judge);
  const commented = page.items.flatMap(({ projectId, target }) =>
    target === null
      ? []
      : [{ projectId, id: target.id, noteable: { kind: 'commit', id: target.commit } } as const],
  );
  const [authors, said] = await Promise.all([
    users.getMany(page.items.map(({ authorId }) => authorId)),
    notes.getMany(commented),
  ]);
  const notesById = new Map(said.flatMap((note) => (note === undefined ? [] : [[note.id, note]])));
  const items = page.items.flatMap((event, i): FeedItem[] => {
    const author = authors[i];
    const note = event.target === null ? undefined : notesById.get(event.target.id);
    // What is about to be taken away, with its author or its note, is not told of any more.
    if (author === undefined || (event.target !== null && note === undefined)) return [];
    return [{ event, author, note }];
  });
  return { ...page, items };
}

/** What the filters leave; undefined for everything. */
function asked({ action, targetType }: FeedQuery): readonly EventFacet[] | undefined {
  if (action === undefined && targetType === undefined) return undefined;
  return EVENT_FACETS.filter(
    (facet) => facet.action === (action ?? facet.action) && facet.target === (targetType ?? facet.target),
  );
}

/** A project's events, as far as the actor may know of what they are about. */
function viewOf(actor: Actor, access: ProjectAccess, query: FeedQuery): FeedView {
  const { id } = access.project;
  const facets = asked(query);
  if (can(actor, access, 'read_code')) return { of: 'project', id, facets };
  return { of: 'project', id, facets: (facets ?? EVENT_FACETS).filter((facet) => !isAboutCode(facet)) };
}

const isAboutCode = ({ action, target }: EventFacet): boolean => action === 'pushed' || target === 'note';
const ABOUT_CODE = new Set(EVENT_FACETS.filter(isAboutCode).map(facetName));

/**
 * By the project of each, which is looked at once.
 * @param seen those that have been looked at
 */
function judgeOf(deps: Deps, actor: Actor, seen: readonly ProjectAccess[] = []): EventFilter {
  const known = new Map<number, { readonly code: boolean } | undefined>();
  const note = (id: number, access: ProjectAccess | undefined) => {
    const sees = access !== undefined && can(actor, access, 'read_project');
    known.set(id, sees ? { code: can(actor, access, 'read_code') } : undefined);
  };
  for (const access of seen) note(access.project.id, access);
  return async (headers) => {
    const unknown = [...new Set(headers.map(({ projectId }) => projectId))].filter((id) => !known.has(id));
    const accesses = await accessesTo(deps, actor, unknown);
    for (const [i, id] of unknown.entries()) note(id, accesses[i]);
    return headers.map(({ projectId, facet }) => {
      const may = known.get(projectId);
      return may !== undefined && (may.code || !ABOUT_CODE.has(facet));
    });
  };
}

/** Profiles that are private, or of people who are locked out or not confirmed, are their own and administrators'. */
const isOpen = (actor: Actor, user: UserRecord): boolean =>
  maySeeProfile(actor, user) && (isAdministrator(actor) || (isConfirmed(user) && LET_IN.has(user.state)));

const LET_IN: ReadonlySet<UserRecord['state']> = new Set(['active', 'deactivated']);
const isConfirmed = ({ confirmedAt, type }: UserRecord) => confirmedAt !== null || type === 'project_bot';
