import type { MemberSource } from '../../records/members.ts';
import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';

/** Takes a user off the issues, or the merge requests, of a project or of all projects below a group. */
export const UNASSIGN_ISSUES_JOB = 'issue.unassign';
export const UNASSIGN_MERGE_REQUESTS_JOB = 'merge-request.unassign';

/** For the transaction that removes the user from there. */
export const unassignMessages = ({ kind, id }: MemberSource, userId: number): OutboxMessage[] =>
  [UNASSIGN_ISSUES_JOB, UNASSIGN_MERGE_REQUESTS_JOB].map((job) =>
    message(MAINTENANCE, job, { kind, id, userId }),
  );
