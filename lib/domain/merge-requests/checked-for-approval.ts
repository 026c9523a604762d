/** Merge requests whose approvals are looked at: which of their changes have code owners is found by their check. */

import type { Oid } from '../../git/oid.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { tipOf } from './branch-tip.ts';
import { verdictOf } from './mergeability.ts';

/** The record, with a verdict on its heads of now where that is found out in time. */
export async function checkedForApproval(
  deps: Deps,
  access: ProjectAccess,
  read: MergeRequestRecord,
): Promise<{ readonly record: MergeRequestRecord; readonly targetSha: Oid | undefined }> {
  const targetSha = await tipOf(deps, access, read.targetBranch);
  const { record } = await verdictOf(deps, access, read, { targetSha });
  return { record, targetSha };
}
