import type { IssueRecord } from '../../records/issues.ts';
import type { Viewer } from '../actor.ts';
import { can } from './permissions.ts';
import type { ProjectAccess } from './types.ts';

/** Whether the viewer may know of the issue. Those who may not are told that there is none. */
export function maySeeIssue(
  viewer: Viewer,
  access: ProjectAccess,
  issue: Pick<IssueRecord, 'confidential' | 'author' | 'assigneeIds'>,
): boolean {
  if (!can(viewer, access, 'read_issues')) return false;
  return !issue.confidential || seesInternalNotes(viewer, access, issue);
}

/** Whether the viewer may know of internal notes on an issue that they see. */
export const seesInternalNotes = (
  viewer: Viewer,
  access: ProjectAccess,
  issue: Pick<IssueRecord, 'author' | 'assigneeIds'>,
): boolean => can(viewer, access, 'read_confidential_issues') || isOwn(viewer, issue);

/** Whether the viewer wrote the issue or has to work on it. */
export const isOwn = (viewer: Viewer, issue: Pick<IssueRecord, 'author' | 'assigneeIds'>): boolean =>
  viewer.kind === 'user' &&
  (issue.author.id === viewer.user.id || issue.assigneeIds.includes(viewer.user.id));
