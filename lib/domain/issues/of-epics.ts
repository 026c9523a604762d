/** The issues of an epic: those that have it, in all projects below its group. */

import type { IssueRecord } from '../../records/issues.ts';
import { Missing, Stale } from '../../store/errors.ts';
import { placeInEpic } from '../../store/issues/kind.ts';
import type { Page, PageRequest } from '../../store/table/paging.ts';
import { can } from '../access/permissions.ts';
import type { GroupAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { getEpic } from '../epics/epics.ts';
import type { FoundEpic } from '../epics/related.ts';
import { conflict, forbidden, recordNotFound } from '../errors.ts';
import { retryOnConflict } from '../retry-on-conflict.ts';
import { changeIssue } from './change.ts';
import { getIssueById } from './issues.ts';
import { listIssues } from './list.ts';
import { between, isBetween, MAX_POSITION, MOVED_ALONG, spread } from './positions.ts';
import type { FoundIssue } from './related.ts';
import type { Neighbours } from './reorder.ts';

/** In the order that people arrange by hand, at first the newest first; archived projects included. @throws `404 Not found` */
export async function issuesOfEpic(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  iid: number,
  page: PageRequest,
): Promise<Page<FoundIssue>> {
  const { epic } = await getEpic(deps, actor, access, iid);
  return inOrder(deps, actor, epic.id, page);
}

const inOrder = (deps: Deps, actor: Actor, epicId: number, page: PageRequest): Promise<Page<FoundIssue>> =>
  listIssues(
    deps,
    actor,
    { scope: { kind: 'instance' }, epicId, nonArchived: false },
    { ...page, order: 'epic', direction: 'asc' },
  );

/** Issues among which one is put in order. */
const ARRANGED = 1000;

/**
 * Puts an issue of an epic between two others, or next to one, of those that the actor sees. Without others nothing changes.
 * @param neighbours ids of issues of the epic
 * @throws `404 Not found` for an epic or issues that the actor may not see, or that are not in it; 409
 */
export async function reorderInEpic(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  iid: number,
  issueId: number,
  neighbours: Neighbours,
): Promise<void> {
  const { epic } = await getEpic(deps, actor, access, iid);
  const attempt = async () => {
    const { items } = await inOrder(deps, actor, epic.id, { page: 1, perPage: ARRANGED });
    const issues = items.map(({ issue }) => issue);
    const find = (id: number) => {
      const found = issues.find((issue) => issue.id === id);
      if (found === undefined) throw recordNotFound();
      return found;
    };
    const issue = find(issueId);
    const others = issues.filter((each) => each !== issue);
    const positions = positionsIn(others, issue, rankBetween(others, neighbours, find));
    if (positions.length > 0) await deps.store.issues.arrangeInEpic(epic.id, positions);
  };
  await retryOnConflict(attempt, (error) => error instanceof Stale).catch((error: unknown) => {
    if (error instanceof Missing) throw recordNotFound();
    throw error instanceof Stale ? conflict('409 Conflict: Resource lock') : error;
  });
}

/** How many of the others the issue comes behind; undefined: it stays where it is. */
function rankBetween(
  others: readonly IssueRecord[],
  { beforeId, afterId }: Neighbours,
  find: (id: number) => IssueRecord,
): number | undefined {
  const at = (id: number | undefined) => (id === undefined ? -1 : others.indexOf(find(id)));
  const [before, after] = [at(beforeId), at(afterId)];
  if (before >= 0) return after >= 0 ? Math.max(before, after) : before + 1;
  return after >= 0 ? after : undefined;
}

/** @param behind how many of the others come before it. @returns what has to be written */
function positionsIn(
  others: readonly IssueRecord[],
  issue: IssueRecord,
  behind: number | undefined,
): { readonly issue: IssueRecord; readonly position: string }[] {
  if (behind === undefined) return [];
  const place = (at: number) => (others[at] === undefined ? undefined : placeInEpic(others[at]));
  const [low, high] = [place(behind - 1), place(behind)];
  if (isBetween(placeInEpic(issue), low, high)) return [];
  const position = between(low, high);
  if (position.length <= MAX_POSITION) return [{ issue, position }];
  const from = Math.max(0, behind - MOVED_ALONG);
  const along = [...others.slice(from, behind), issue, ...others.slice(behind, behind + MOVED_ALONG)];
  const positions = spread(place(from - 1), place(behind + MOVED_ALONG), along.length);
  return along.map((each, i) => ({ issue: each, position: positions[i]! }));
}

/** An issue of an epic. There is no record of the two together: an issue has one epic at most, so its id names them. */
export interface IssueOfEpic {
  readonly epic: FoundEpic;
  readonly found: FoundIssue;
}

/**
 * Puts an issue into an epic, out of the one that it is in.
 * @throws `404 Not found` for an epic or an issue that the actor may not see, or that are not below each other; 403; 409
 */
export async function addToEpic(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  iid: number,
  issueId: number,
): Promise<IssueOfEpic> {
  const epic = await getEpic(deps, actor, access, iid);
  const { access: at, issue } = await changeable(deps, actor, issueId);
  if (!at.project.ancestorIds.includes(access.group.id)) throw recordNotFound();
  const updatedAt = deps.now().toISOString();
  const changed = await changeIssue(deps, actor, at, issue.iid, () => ({
    epicId: epic.epic.id,
    updatedAt,
  }));
  return { epic, found: { issue: changed, access: at } };
}

/** Takes an issue out of an epic. @throws as {@link addToEpic}; 404 too when it is not in the epic */
export async function removeFromEpic(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  iid: number,
  issueId: number,
): Promise<IssueOfEpic> {
  const epic = await getEpic(deps, actor, access, iid);
  const { access: at, issue } = await changeable(deps, actor, issueId);
  const updatedAt = deps.now().toISOString();
  const changed = await changeIssue(deps, actor, at, issue.iid, ({ epicId }) => {
    if (epicId !== epic.epic.id) throw recordNotFound();
    return { epicId: null, updatedAt };
  });
  return { epic, found: { issue: changed, access: at } };
}

/** @throws `404 Not found`, 403 */
async function changeable(deps: Deps, actor: Actor, issueId: number): Promise<FoundIssue> {
  const found = await getIssueById(deps, actor, issueId);
  if (!can(actor, found.access, 'update_issue')) throw forbidden();
  return found;
}
