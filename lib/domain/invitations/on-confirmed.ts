import { MAINTENANCE, message, type OutboxMessage } from '../../store/outbox/outbox.ts';

/** The job that turns invitations of an address into memberships of whoever has confirmed it. */
export const CONFIRMED_JOB = 'email.confirmed';

/** For the transaction by which an address is known to be somebody's. */
export const addressConfirmed = (email: string): OutboxMessage =>
  message(MAINTENANCE, CONFIRMED_JOB, { email });
