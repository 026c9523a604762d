/** Stars of projects. */

import type { UserRecord } from '../../records/users.ts';
import { Missing } from '../../store/errors.ts';
import type { ProjectQuery } from '../../store/projects/query.ts';
import type { StarRecord } from '../../store/stars/stars.ts';
import { MAX_OFFSET, type Page, type PageRequest } from '../../store/table/paging.ts';
import type { ProjectAccess } from '../access/types.ts';
import { maySeeProfile } from '../accounts/accounts.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { badRequest, notFound } from '../errors.ts';

type SignedIn = Extract<Actor, { kind: 'user' }>;

/** @returns the project with its new count; undefined when nothing changes. @throws 404 when it was deleted concurrently */
export async function setStar(
  deps: Deps,
  actor: SignedIn,
  access: ProjectAccess,
  starred: boolean,
): Promise<ProjectAccess | undefined> {
  const { stars, projects } = deps.store;
  const { id: projectId } = access.project;
  const { id: userId } = actor.user;
  try {
    const changed = starred
      ? await stars.add({ projectId, userId, createdAt: deps.now().toISOString() })
      : await stars.remove(projectId, userId);
    if (!changed) return undefined;
  } catch (error) {
    throw error instanceof Missing ? notFound('Project') : error;
  }
  const project = await projects.get(projectId);
  if (project === undefined) throw notFound('Project');
  return { ...access, project };
}

export interface Starrer {
  readonly user: UserRecord;
  readonly star: StarRecord;
}

/** Maximum number of rows read for a page, and rows read together. */
const MAX_LOOKED_AT = 10_000;
const BATCH = 100;

/**
 * Lists the users who starred a project, the oldest accounts first. Users with a private profile are shown only to
 * themselves and administrators.
 * @param query.search part of a name or username
 */
export async function listStarrers(
  deps: Deps,
  actor: Actor,
  { project }: ProjectAccess,
  { search, ...page }: PageRequest & { search?: string },
): Promise<Page<Starrer>> {
  const first = (page.page - 1) * page.perPage;
  if (first > MAX_OFFSET) throw badRequest();
  const term = search?.trim().toLowerCase() ?? '';
  const matches = ({ user }: Starrer) =>
    [user.name, user.username].some((text) => text.toLowerCase().includes(term));
  const items: Starrer[] = [];
  let lastShown: number | undefined;
  let total = 0;
  let looked = 0;
  let batch: StarRecord[] = [];
  const look = async () => {
    const users = await deps.store.users.getMany(batch.map(({ userId }) => userId));
    const starrers = batch.flatMap((star, i) => (users[i] === undefined ? [] : [{ star, user: users[i] }]));
    for (const starrer of starrers.filter(({ user }) => maySeeProfile(actor, user))) {
      if (items.length < page.perPage) lastShown = starrer.user.id;
      if (matches(starrer) && total++ >= first && items.length < page.perPage) items.push(starrer);
    }
    batch = [];
  };
  // Where the page is not full, behind those that were looked at.
  const end = () => {
    if (lastShown !== undefined) page.rows?.ended({ sort: '', id: lastShown });
  };
  for await (const star of deps.store.stars.ofProject(project.id, page.rows?.after?.id)) {
    batch.push(star);
    looked++;
    if (batch.length === BATCH) await look();
    // When another page is known to exist, only the total is missing.
    const isEnough = total > first + page.perPage && (!page.count || looked >= COUNTED);
    if (looked === MAX_LOOKED_AT || isEnough) {
      await look();
      end();
      return { items, total: undefined, more: total > first + items.length };
    }
  }
  await look();
  if (total > first + items.length) end();
  return { items, total: page.count ? total : undefined, more: total > first + items.length };
}

/** Maximum number of rows read for a total beyond the page. */
const COUNTED = 1000;

/** Narrows a list to the projects the actor has starred. */
export async function starredByActor(
  deps: Deps,
  actor: Actor,
  { starredBy, where }: Pick<ProjectQuery, 'starredBy' | 'where'>,
): Promise<Pick<ProjectQuery, 'starredBy' | 'where'>> {
  if (actor.kind === 'anonymous') return {};
  const { id } = actor.user;
  if (starredBy === undefined || starredBy === id) return { starredBy: id };
  const own = new Set<number>();
  for await (const starred of deps.store.stars.ofUser(id)) {
    if (own.add(starred).size === MAX_LOOKED_AT) break;
  }
  return { where: (listed) => own.has(listed.project.id) && (where?.(listed) ?? true) };
}
