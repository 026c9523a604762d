import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';

/** The job of epics, which are a later subject: `{ groupId }`. */
export const SETTLE_EPICS_JOB = 'epic.settle';

/** For the transaction that puts a group below another top-level group: its epics enter the lists there. */
export const settleEpicsMessage = (groupId: number): OutboxMessage =>
  message(MAINTENANCE, SETTLE_EPICS_JOB, { groupId });
