/** The issues that merging would close. */
import { CorruptData } from '../../git/corrupt-data.ts';
import { ObjectMissing } from '../../git/objects.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { DomainError } from '../errors.ts';
import type { FoundIssue } from '../issues/related.ts';
import { textOfMergeRequest } from '../merge-requests/of-issues.ts';
import { proposedCommits } from '../merge-requests/proposed.ts';
import { issuesClosedBy } from './closing.ts';
import type { Reading } from './reading.ts';

/** Commits whose messages are read: as many as a push reads. */
const MAX_COMMITS = 100;

/**
 * Returns the issues that a merge request closes when it is merged, or closed, by what it says itself and by the messages
 * of its commits. None unless its target is the default branch.
 */
export async function issuesToBeClosed(
  deps: Deps,
  reading: Reading & { readonly project: ProjectAccess },
  record: MergeRequestRecord,
): Promise<FoundIssue[]> {
  const { project } = reading;
  if (record.targetBranch !== project.project.defaultBranch) return [];
  const [own, messages] = await Promise.all([
    textOfMergeRequest(deps.store, record),
    messagesOf(deps, project, record),
  ]);
  return issuesClosedBy(deps, [own, ...messages], reading);
}

/** None where the history is damaged, or too long to be walked. */
async function messagesOf(
  deps: Deps,
  access: ProjectAccess,
  { diff }: MergeRequestRecord,
): Promise<readonly string[]> {
  try {
    const { items } = await proposedCommits(deps, access, diff, { offset: 0, perPage: MAX_COMMITS });
    return items.map(({ message }) => message);
  } catch (error) {
    const isUnreadable = error instanceof ObjectMissing || error instanceof CorruptData;
    if (isUnreadable || error instanceof DomainError) return [];
    throw error;
  }
}
