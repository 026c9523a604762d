import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';

/** The job that turns the invitations of an address into memberships of the user who confirmed it. */
export const CONFIRMED_JOB = 'email.confirmed';

/** For the transaction that confirms an address. */
export const addressConfirmed = (email: string): OutboxMessage =>
  message(MAINTENANCE, CONFIRMED_JOB, { email });
