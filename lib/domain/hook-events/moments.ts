/** What a message says of a record at the time of its change, because a worker may read a later state of it. */
import type { IssueRecord } from '../../records/issues.ts';
import type { MergeRequestRecord } from '../../records/merge-requests.ts';
import type { StoredText } from '../../records/texts.ts';
import type { Edited } from '../../records/tracked.ts';

/** Characters of a description: one that is longer, and changed again before the worker reads it, is told as it is then. */
const MAX_TEXT = 4_000;

export type IssueMoment = Partial<IssueRecord>;

export const issueMoment = (issue: IssueRecord): IssueMoment => ({
  title: issue.title,
  ...shortText(issue.description),
  state: issue.state,
  confidential: issue.confidential,
  type: issue.type,
  assigneeIds: issue.assigneeIds,
  labelIds: issue.labelIds,
  milestoneId: issue.milestoneId,
  dueDate: issue.dueDate,
  weight: issue.weight,
  healthStatus: issue.healthStatus,
  severity: issue.severity,
  discussionLocked: issue.discussionLocked,
  timeEstimate: issue.timeEstimate,
  timeSpent: issue.timeSpent,
  closedAt: issue.closedAt,
  movedTo: issue.movedTo,
  duplicatedTo: issue.duplicatedTo,
  updatedAt: issue.updatedAt,
  ...editedOf(issue),
});

export type MergeRequestMoment = Partial<MergeRequestRecord>;

/** @returns without the diff, of which the head is told beside */
export const mergeRequestMoment = (record: MergeRequestRecord): MergeRequestMoment => ({
  title: record.title,
  ...shortText(record.description),
  state: record.state,
  targetBranch: record.targetBranch,
  assigneeIds: record.assigneeIds,
  reviewerIds: record.reviewerIds,
  labelIds: record.labelIds,
  milestoneId: record.milestoneId,
  timeEstimate: record.timeEstimate,
  timeSpent: record.timeSpent,
  forceRemoveSource: record.forceRemoveSource,
  autoMerge: record.autoMerge,
  mergeError: record.mergeError,
  mergedById: record.mergedById,
  mergeCommitSha: record.mergeCommitSha,
  unresolvedCount: record.unresolvedCount,
  updatedAt: record.updatedAt,
  ...editedOf(record),
});

const editedOf = ({ updatedById, lastEdited }: Edited): Edited => ({
  ...(updatedById === undefined ? {} : { updatedById }),
  ...(lastEdited === undefined ? {} : { lastEdited }),
});

const shortText = (description: StoredText | null) =>
  description === null || (typeof description === 'string' && description.length <= MAX_TEXT)
    ? { description }
    : {};
