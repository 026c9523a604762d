import { createHash, randomBytes } from 'node:crypto';
import type { UserRecord } from '../../records/users.ts';
import type { Confirmation } from '../../store/emails/emails.ts';
import { Missing, NameTaken, Stale, TransactionRefused } from '../../store/errors.ts';
import { type OutboxMessage, outboxWrite } from '../../store/outbox/outbox.ts';
import { sameName } from '../../store/table/unique-names.ts';
import type { Write } from '../../store/table/write.ts';
import { withoutAddress } from '../accounts/addresses.ts';
import { type AuditAuthor, audited, auditedUser } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { conflict, refused } from '../errors.ts';
import { addressConfirmed } from '../invitations/on-confirmed.ts';
import { mailMessage } from '../mail/message.ts';
import { auditedEmail } from './audit.ts';

/** The page that a mailed link leads to. */
const CONFIRMATION_PAGE = '/users/confirmation';
/** A link leads there for three days. */
const LIFETIME_MS = 3 * 86_400_000;

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * What goes into the transaction that adds an address, so that whoever reads its mail can confirm it.
 * @param asked `emailId` null for the address in the user's record, or for one that is to take its place
 */
export function confirmationOf(
  { store, now }: Deps,
  asked: Omit<Confirmation, 'expiresAt'>,
  baseUrl: string,
): { readonly alongside: readonly Write[]; readonly messages: readonly OutboxMessage[] } {
  const token = randomBytes(20).toString('base64url');
  const expiresAt = new Date(now().getTime() + LIFETIME_MS).toISOString();
  const link = `${baseUrl}${CONFIRMATION_PAGE}?confirmation_token=${token}`;
  const text = `Follow this link within three days to confirm that ${asked.email} is your address:\n\n${link}\n\nIf you did not ask for it, ignore this mail.\n`;
  return {
    alongside: [store.confirmations.createWrite(hashOf(token), { ...asked, expiresAt })],
    messages: [mailMessage({ to: asked.email, subject: 'Confirm your e-mail address', text })],
  };
}

/**
 * Once for each token.
 * @returns the address that is confirmed now
 * @throws 400 for a token that leads nowhere (any more), 409 when the address is somebody else's by now
 */
export async function confirmEmail(deps: Deps, author: AuditAuthor, token: string): Promise<string> {
  const { store, now } = deps;
  const hash = hashOf(token);
  const asked = await store.confirmations.get(hash, now());
  if (asked === undefined) throw spent();
  try {
    const user = await store.users.get(asked.userId);
    if (user === undefined) throw new Missing('user');
    if (asked.emailId === null) await confirmFirst(deps, author, user, hash, asked);
    else {
      const message = addressConfirmed(asked.email);
      const event = await audited(deps, author, auditedEmail(CONFIRMED, user, asked.email));
      await store.confirmations.confirm(hash, asked, now(), [outboxWrite(message), event]);
      await store.outbox.deliver([message]);
    }
  } catch (error) {
    if (error instanceof NameTaken) throw conflict('Email has already been taken');
    if (error instanceof Stale) throw conflict();
    throw error instanceof Missing || error instanceof TransactionRefused ? spent() : error;
  }
  return asked.email;
}

const CONFIRMED = { custom_message: 'Confirmed email' };

const spent = () => refused('Confirmation token is invalid');

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
    { now: now(), alongside: [store.confirmations.removeWrite(hash), event], messages: [addressConfirmed(email)] },
  );
}
