import { maySeeIssue, seesInternalNotes } from '../access/visible-issues.ts';
import type { Conversation } from '../notes/subscriptions.ts';
import type { FoundIssue } from './related.ts';

/** An issue as people talk about it. */
export const conversationOf = ({ issue, access }: FoundIssue): Conversation => ({
  access,
  thread: { projectId: issue.projectId, noteable: { kind: 'issue', id: issue.id } },
  involvedIds: [issue.author.id, ...issue.assigneeIds],
  isVisibleTo: (viewer, at) => maySeeIssue(viewer, at, issue),
  seesInternal: (viewer, at) => seesInternalNotes(viewer, at, issue),
});
