/** What answers about merge requests show beside their records, read in batches. */

import { byId } from '../../records/by-id.ts';
import type { LabelRecord } from '../../records/labels.ts';
import type { ListedMergeRequest, MergeRequestRecord } from '../../records/merge-requests.ts';
import type { MilestoneRecord } from '../../records/milestones.ts';
import type { UserRecord } from '../../records/users.ts';
import { compareText } from '../../store/table/text-order.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Deps } from '../deps.ts';
import { labelsOf } from '../labels/of-records.ts';
import { textsOf } from '../long-texts.ts';
import { milestonesOf } from '../tracked/related.ts';

/** A merge request that the caller may see, with the project of its target branch. */
export interface FoundMergeRequest {
  readonly mergeRequest: MergeRequestRecord;
  readonly access: ProjectAccess;
}

/** The same as lists have it. */
export interface ListedFound {
  readonly mergeRequest: ListedMergeRequest;
  readonly access: ProjectAccess;
}

export interface ShownMergeRequest extends ListedFound {
  readonly description: string | null;
  /** Undefined: the account is deleted. */
  readonly author: UserRecord | undefined;
  readonly assignees: readonly UserRecord[];
  readonly reviewers: readonly UserRecord[];
  /** Null: not closed, or the account is deleted. */
  readonly closedBy: UserRecord | null;
  readonly mergedBy: UserRecord | null;
  /** Who asked for it to be merged when its pipeline succeeds. */
  readonly autoMergedBy: UserRecord | null;
  /** By title; without deleted ones. */
  readonly labels: readonly LabelRecord[];
  readonly milestone: MilestoneRecord | undefined;
}

/** @throws 413 when the descriptions are too long together */
export async function shownMergeRequests(
  deps: Deps,
  found: readonly ListedFound[],
): Promise<ShownMergeRequest[]> {
  const records = found.map(({ mergeRequest }) => mergeRequest);
  const ids = records.flatMap(({ author, assigneeIds, reviewerIds, closedById, mergedById, autoMerge }) =>
    [author.id, ...assigneeIds, ...reviewerIds, closedById, mergedById, autoMerge?.userId ?? null].filter(
      (id) => id !== null,
    ),
  );
  const [users, labels, milestones, descriptions] = await Promise.all([
    deps.store.users.shown([...new Set(ids)]),
    labelsOf(deps, records),
    milestonesOf(deps, records),
    textsOf(
      deps,
      records.map(({ description }) => description ?? ''),
    ),
  ]);
  const usersById = byId(users);
  const user = (id: number | null | undefined) => (id == null ? null : (usersById.get(id) ?? null));
  return found.map(({ mergeRequest, access }, i) => ({
    mergeRequest,
    access,
    description: mergeRequest.description === null ? null : descriptions[i]!,
    author: usersById.get(mergeRequest.author.id),
    assignees: mergeRequest.assigneeIds.flatMap((id) => usersById.get(id) ?? []),
    reviewers: mergeRequest.reviewerIds.flatMap((id) => usersById.get(id) ?? []),
    closedBy: user(mergeRequest.closedById),
    mergedBy: user(mergeRequest.mergedById),
    autoMergedBy: user(mergeRequest.autoMerge?.userId),
    labels: mergeRequest.labelIds
      .flatMap((id) => labels.get(id) ?? [])
      .toSorted((a, b) => compareText(a.title, b.title)),
    milestone: milestones.get(mergeRequest.milestoneId ?? 0),
  }));
}
