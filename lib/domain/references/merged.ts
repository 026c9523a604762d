/** Issues that merge requests, with their commits, say they close. */
import type { Writer } from '../../store/notes/mentions.ts';
import { can } from '../access/permissions.ts';
import type { Deps } from '../deps.ts';
import { closeIssue } from './closing.ts';
import { readingOf, type WrittenInProject } from './mentioning.ts';
import { issuesToBeClosed } from './to-be-closed.ts';

/** @param deadline milliseconds since 1970. @returns whether it came to the end; it may run again */
export async function tellOfMerge(
  deps: Deps,
  { projectId, iid, ...merger }: Writer & { readonly projectId: number; readonly iid: number },
  deadline: number,
): Promise<boolean> {
  const reading = await readingOf(deps, projectId, merger);
  return reading === undefined || closeIssuesOf(deps, reading, iid, deadline);
}

/**
 * Closes the issues that a merge request says it closes, as its merger, once it is merged into the default branch.
 * @returns whether it came to the end
 */
export async function closeIssuesOf(
  deps: Deps,
  reading: WrittenInProject,
  iid: number,
  deadline = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const { actor, project } = reading;
  const projectId = project.project.id;
  const mergeRequest = await deps.store.mergeRequests.get({ projectId, iid });
  if (mergeRequest?.state !== 'merged' || !can(actor, project, 'read_merge_requests')) return true;
  const source = { kind: 'merge-request', projectId, iid } as const;
  for (const issue of await issuesToBeClosed(deps, reading, mergeRequest)) {
    if (Date.now() > deadline) return false;
    await closeIssue(deps, issue, { reading, source });
  }
  return true;
}
