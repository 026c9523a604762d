import type { EmailRecord } from '../../records/emails.ts';
import type { UserRecord } from '../../records/users.ts';

import { changeUser } from '../accounts/accounts.ts';
import { namesAddress, withoutAddress } from '../accounts/addresses.ts';
import { addressProblems } from '../accounts/sign-up-rules.ts';
import type { Actor } from '../actor.ts';
import { audited } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { invalid, notFound, tooManyRequests } from '../errors.ts';
import { addressConfirmed } from '../invitations/on-confirmed.ts';
import { orNotFound, translateStoreErrors } from '../keys/store-errors.ts';
import { emailProblems } from '../name-rules.ts';
import { auditedEmail } from './audit.ts';
import { confirmationOf } from './confirmation.ts';

export interface EmailInput {
  readonly email: string;
  /** Confirmed by an administrator: no mail is sent. */
  readonly confirmed: boolean;
  /** Base URL of the link in the mail. */
  readonly baseUrl: string;
}

/** Limit of confirmation mails per user. */
const LIMIT = { kind: 'email-confirmation', limit: 20, seconds: 3_600 } as const;

/**
 * Adds a secondary address. It belongs to the user once they have followed the link that is mailed to it.
 * @throws 400 by field for an invalid or taken address, or too many addresses; 429; 404 when the user is deleted
 */
export async function addEmail(
  deps: Deps,
  actor: Actor,
  owner: UserRecord,
  input: EmailInput,
): Promise<EmailRecord> {
  const userId = owner.id;
  const email = input.email.trim();
  const malformed = emailProblems(email);
  const problems = malformed.length > 0 ? malformed : await addressProblems(deps, email);
  if (problems.length > 0) throw invalid({ email: problems });
  const now = deps.now();
  if (!input.confirmed && !(await deps.store.rateLimits.take(LIMIT, String(userId), now))) {
    throw tooManyRequests('Too many addresses have been added. Try again later.');
  }
  const [id, event] = await Promise.all([
    deps.store.emails.nextId(),
    audited(deps, actor, auditedEmail({ add: 'email' }, owner, email)),
  ]);
  const record: EmailRecord = {
    id,
    userId,
    email,
    createdAt: now.toISOString(),
    confirmedAt: input.confirmed ? now.toISOString() : null,
  };
  const confirmation = { userId, emailId: record.id, email };
  const { alongside, messages } = input.confirmed
    ? { alongside: [], messages: [addressConfirmed(email)] }
    : confirmationOf(deps, confirmation, input.baseUrl);
  await translateStoreErrors(deps.store.emails.add(record, { alongside: [...alongside, event], messages }));
  return record;
}

/** @throws `404 Email Not Found` */
export async function getEmail(deps: Deps, userId: number, id: number): Promise<EmailRecord> {
  const email = await deps.store.emails.get(userId, id);
  if (email === undefined) throw notFound('Email');
  return email;
}

/**
 * Removes an address. The profile stops showing it first, before another user can take it.
 * @throws `404 Email Not Found` when it was removed concurrently
 */
export async function removeEmail(
  deps: Deps,
  actor: Actor,
  owner: UserRecord,
  email: EmailRecord,
): Promise<void> {
  await changeUser(deps, email.userId, ({ profile }) =>
    namesAddress(profile, email.email)
      ? { change: { profile: withoutAddress(profile, email.email) } }
      : undefined,
  );
  const event = await audited(deps, actor, auditedEmail({ remove: 'email' }, owner, email.email));
  await orNotFound(deps.store.emails.remove(email, { alongside: [event] }), 'Email');
}
