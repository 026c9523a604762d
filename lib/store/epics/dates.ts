import { MAINTENANCE, message, type OutboxMessage } from '../outbox/outbox.ts';

/** The job of issues, which are a later subject: `{ epicId }`. */
export const EPIC_DATES_JOB = 'epic.dates';

/** For the transaction that changes which milestones the issues of an epic have: it takes its dates from these. */
export const epicDatesMessage = (epicId: number): OutboxMessage =>
  message(MAINTENANCE, EPIC_DATES_JOB, { epicId });
