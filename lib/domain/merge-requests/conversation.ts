import { can } from '../access/permissions.ts';
import type { Conversation } from '../notes/subscriptions.ts';
import type { FoundMergeRequest } from './related.ts';

/** A merge request as people talk about it: without internal notes. */
export const conversationOf = ({ mergeRequest, access }: FoundMergeRequest): Conversation => ({
  access,
  thread: { projectId: mergeRequest.projectId, noteable: { kind: 'merge-request', id: mergeRequest.id } },
  involvedIds: [mergeRequest.author.id, ...mergeRequest.assigneeIds, ...mergeRequest.reviewerIds],
  isVisibleTo: (viewer, at) => can(viewer, at, 'read_merge_requests'),
  seesInternal: () => true,
});
