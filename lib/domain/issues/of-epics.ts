/** The issues of an epic: those that have it, in all projects below its group. */

import type { Page, PageRequest } from '../../store/table/paging.ts';
import { can } from '../access/permissions.ts';
import type { GroupAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { getEpic } from '../epics/epics.ts';
import type { FoundEpic } from '../epics/related.ts';
import { forbidden, recordNotFound } from '../errors.ts';
import { changeIssue } from './change.ts';
import { getIssueById } from './issues.ts';
import { listIssues } from './list.ts';
import type { FoundIssue } from './related.ts';

/** The newest first, archived projects included. @throws `404 Not found` */
export async function issuesOfEpic(
  deps: Deps,
  actor: Actor,
  access: GroupAccess,
  iid: number,
  page: PageRequest,
): Promise<Page<FoundIssue>> {
  const { epic } = await getEpic(deps, actor, access, iid);
  return listIssues(
    deps,
    actor,
    { scope: { kind: 'instance' }, epicId: epic.id, nonArchived: false },
    { ...page, order: 'created_at', direction: 'desc' },
  );
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
