import type { DetailedMergeStatus, MergeStatus } from '../../domain/merge-requests/merge-status.ts';
import type { ShownMergeRequest } from '../../domain/merge-requests/related.ts';
import { type DiffVersion, isDraft, MAX_COUNTED_FILES } from '../../records/merge-requests.ts';
import { labelDetails } from '../labels/present.ts';
import { projectUrl } from '../projects/present.ts';
import { type AskedIn, references, timeStats } from '../tracked/present.ts';
import { author, userBasic } from '../users/present.ts';

/** What was found out about merging. */
export interface ShownStatus {
  readonly status: MergeStatus;
  readonly detailed: DetailedMergeStatus;
  readonly hasConflicts: boolean;
}

/** How many files a version changes; `1000+` above that. */
export const countOfFiles = ({ fileCount }: DiffVersion): string | null =>
  fileCount === undefined
    ? null
    : fileCount > MAX_COUNTED_FILES
      ? `${MAX_COUNTED_FILES}+`
      : String(fileCount);

export function presentSimple({ mergeRequest, access, description }: ShownMergeRequest, baseUrl: string) {
  const { id, iid, projectId, title, state, createdAt, updatedAt } = mergeRequest;
  return {
    id,
    iid,
    project_id: projectId,
    title,
    description,
    state,
    created_at: createdAt,
    updated_at: updatedAt,
    web_url: `${projectUrl(access.project, baseUrl)}/-/merge_requests/${iid}`,
  };
}

export function presentMergeRequest(
  shown: ShownMergeRequest,
  { status, detailed, hasConflicts }: ShownStatus,
  baseUrl: string,
  askedIn: AskedIn,
  options: {
    readonly labelDetails?: boolean;
    readonly milestones?: ReadonlyMap<number, unknown>;
  } = {},
) {
  const { mergeRequest, access } = shown;
  const { project } = access;
  const user = (account: Parameters<typeof userBasic>[0] | null) =>
    account === null ? null : userBasic(account, baseUrl);
  const assignees = shown.assignees.map((each) => userBasic(each, baseUrl));
  const short = `!${mergeRequest.iid}`;
  const { count, completed } = mergeRequest.tasks;
  const isOfFork = mergeRequest.source.projectId !== mergeRequest.projectId;
  return {
    ...presentSimple(shown, baseUrl),
    merged_by: user(shown.mergedBy),
    merge_user: user(shown.mergedBy ?? shown.autoMergedBy),
    merged_at: mergeRequest.mergedAt,
    closed_by: user(shown.closedBy),
    closed_at: mergeRequest.closedAt,
    target_branch: mergeRequest.targetBranch,
    source_branch: mergeRequest.source.branch,
    user_notes_count: mergeRequest.userNotesCount,
    upvotes: mergeRequest.upvotes,
    downvotes: mergeRequest.downvotes,
    author: author(shown.author, mergeRequest.author, baseUrl),
    assignees,
    assignee: assignees[0] ?? null,
    reviewers: shown.reviewers.map((each) => userBasic(each, baseUrl)),
    source_project_id: mergeRequest.source.projectId,
    target_project_id: mergeRequest.projectId,
    labels: options.labelDetails ? shown.labels.map(labelDetails) : shown.labels.map(({ title }) => title),
    draft: isDraft(mergeRequest),
    work_in_progress: isDraft(mergeRequest),
    milestone: shown.milestone === undefined ? null : (options.milestones?.get(shown.milestone.id) ?? null),
    merge_when_pipeline_succeeds: mergeRequest.autoMerge !== null,
    merge_status: status,
    detailed_merge_status: detailed,
    sha: mergeRequest.diff.headSha,
    merge_commit_sha: mergeRequest.mergeCommitSha,
    squash_commit_sha: mergeRequest.squashCommitSha,
    discussion_locked: mergeRequest.discussionLocked,
    should_remove_source_branch: (mergeRequest.autoMerge ?? mergeRequest).removeSource ?? null,
    force_remove_source_branch: mergeRequest.forceRemoveSource,
    ...(isOfFork
      ? {
          allow_collaboration: mergeRequest.allowCollaboration,
          allow_maintainer_to_push: mergeRequest.allowCollaboration,
        }
      : {}),
    reference: short,
    references: references(short, project, askedIn),
    time_stats: timeStats(mergeRequest),
    squash: mergeRequest.squash,
    task_completion_status: { count, completed_count: completed },
    has_conflicts: hasConflicts,
    blocking_discussions_resolved:
      mergeRequest.unresolvedCount === 0 ||
      project.settings['only_allow_merge_if_all_discussions_are_resolved'] !== true,
    approvals_before_merge: mergeRequest.approvalsBeforeMerge,
  };
}
