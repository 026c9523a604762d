import { createHash, randomBytes } from 'node:crypto';
import type { UserRecord } from '../../records/users.ts';
import type { Confirmation } from '../../store/emails/emails.ts';
import { Missing, NameTaken, Stale, TransactionRefused } from '../../store/errors.ts';
import { type OutboxMessage, outboxWrites } from '../../store/outbox/outbox.ts';
import { sameName } from '../../store/table/unique-names.ts';
import type { Write } from '../../store/table/write.ts';
import { withoutAddress } from '../accounts/addresses.ts';
import { type AuditAuthor, audited, auditedUser } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, refused } from '../errors.ts';
import { addressConfirmed } from '../invitations/on-confirmed.ts';
import { mailMessage } from '../mail/message.ts';
import { auditedEmail } from './audit.ts';

/** Path of the page that the mailed link opens. */
const CONFIRMATION_PAGE = '/users/confirmation';
/** Lifetime of the link. */
const LIFETIME_MS = 3 * 86_400_000;

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * Returns the writes and the mail for the transaction that adds an address: the mail contains the confirmation link.
 * @param confirmation `emailId` null for the primary address, or for one that is to replace it
 */
export function confirmationOf(
  { store, now }: Deps,
  confirmation: Omit<Confirmation, 'expiresAt'>,
  baseUrl: string,
): { readonly alongside: readonly Write[]; readonly messages: readonly OutboxMessage[] } {
  const token = randomBytes(20).toString('base64url');
  const expiresAt = new Date(now().getTime() + LIFETIME_MS).toISOString();
  const link = `${baseUrl}${CONFIRMATION_PAGE}?confirmation_token=${token}`;
  const text = `Follow this link within three days to confirm that ${confirmation.email} is your email address:\n\n${link}\n\nIf you did not request this, ignore this mail.\n`;
  return {
    alongside: [store.confirmations.createWrite(hashOf(token), { ...confirmation, expiresAt })],
    messages: [mailMessage({ to: confirmation.email, subject: 'Confirm your email address', text })],
  };
}

/**
 * Confirms an address. A token works once.
 * @returns the confirmed address
 * @throws 400 for an invalid or expired token, 409 when another user has taken the address
 */
export async function confirmEmail(deps: Deps, author: AuditAuthor, token: string): Promise<string> {
  const { store, now } = deps;
  const hash = hashOf(token);
  const confirmation = await store.confirmations.get(hash, now());
  if (confirmation === undefined) throw invalidToken();
  try {
    const user = await store.users.get(confirmation.userId);
    if (user === undefined) throw new Missing('user');
    if (confirmation.emailId === null) await confirmFirst(deps, author, user, hash, confirmation);
    else {
      const message = addressConfirmed(confirmation.email);
      const event = await audited(deps, author, auditedEmail(CONFIRMED, user, confirmation.email));
      await store.confirmations.confirm(hash, confirmation, now(), [...outboxWrites([message]), event]);
      await store.outbox.deliver([message]);
    }
  } catch (error) {
    if (error instanceof NameTaken) throw conflict('Email has already been taken');
    if (error instanceof Stale) throw conflict();
    throw error instanceof Missing || error instanceof TransactionRefused ? invalidToken() : error;
  }
  return confirmation.email;
}

const CONFIRMED = { custom_message: 'Confirmed email' };

const invalidToken = () => refused('Confirmation token is invalid');

async function confirmFirst(
  deps: Deps,
  author: AuditAuthor,
  user: UserRecord,
  hash: string,
  { email }: Confirmation,
): Promise<void> {
  const { store, now } = deps;
  const isNext = typeof user.unconfirmedEmail === 'string' && sameName(user.unconfirmedEmail, email);
  if (!isNext && !sameName(user.email, email)) throw new Missing('email');
  const change = isNext
    ? {
        email: user.unconfirmedEmail!,
        unconfirmedEmail: null,
        profile: withoutAddress(user.profile, user.email),
      }
    : {};
  const event = await audited(
    deps,
    author,
    isNext
      ? {
          entity: auditedUser(user),
          details: { change: 'email address', from: user.email, to: user.unconfirmedEmail! },
        }
      : auditedEmail(CONFIRMED, user, email),
  );
  await store.users.update(
    user,
    { ...change, confirmedAt: now().toISOString() },
    {
      now: now(),
      alongside: [store.confirmations.removeWrite(hash), event],
      messages: [addressConfirmed(email)],
    },
  );
}
