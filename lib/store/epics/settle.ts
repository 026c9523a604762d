import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';

/** The job of epics, which are a later subject: `{ groupId }`. */
export const SETTLE_EPICS_JOB = 'epic.settle';

/** For the transaction that puts a group below other groups: its epics enter the lists there, and leave those they were below. */
export const settleEpicsMessage = (groupId: number): OutboxMessage =>
  message(MAINTENANCE, SETTLE_EPICS_JOB, { groupId });
