/** The merge requests that close issues when they are merged, or did. */
import type { IssueRecord } from '../../records/issues.ts';
import type { TrackedAddress } from '../../records/tracked.ts';
import { can } from '../access/permissions.ts';
import { projectAccesses } from '../access/project-accesses.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';

/** Returns where they are, whoever may see them. None where merging closes no issues of the project. */
export const closersOf = (
  { closers = [] }: IssueRecord,
  { project }: ProjectAccess,
): readonly TrackedAddress[] => (project.settings['autoclose_referenced_issues'] === false ? [] : closers);

/**
 * Counts for each issue those that the actor may see, in their order. Projects that none of the issues is in are read
 * together, if there are any.
 */
export async function closerCounts(
  deps: Deps,
  actor: Actor,
  found: readonly { readonly issue: IssueRecord; readonly access: ProjectAccess }[],
): Promise<number[]> {
  const closers = found.map(({ issue, access }) => closersOf(issue, access));
  const accesses = new Map(found.map(({ access }) => [access.project.id, access]));
  const ids = closers.flatMap((each) => each.map(({ projectId }) => projectId));
  const unread = [...new Set(ids)].filter((id) => !accesses.has(id));
  const read = unread.length === 0 ? [] : await projectAccesses(deps, actor, unread);
  for (const access of read) if (access !== undefined) accesses.set(access.project.id, access);
  const isSeen = ({ projectId }: TrackedAddress): boolean => {
    const access = accesses.get(projectId);
    return access !== undefined && can(actor, access, 'read_merge_requests');
  };
  return closers.map((each) => each.filter(isSeen).length);
}
