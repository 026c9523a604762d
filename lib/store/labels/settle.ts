import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';

/** The job of issues and merge requests, which are later subjects: `{ projectId }`. */
export const SETTLE_JOB = 'issue.settle';

/** For the transaction that puts a project under other groups: it keeps what it used of the groups that it left. */
export const settleMessage = (projectId: number): OutboxMessage =>
  message(MAINTENANCE, SETTLE_JOB, { projectId });
