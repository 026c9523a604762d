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
  /** An administrator vouches for it: no mail is sent. */
  readonly confirmed: boolean;
  /** Where the link in the mail leads. */
  readonly baseUrl: string;
}

/** Mails that one user can have sent to addresses of others. */
const LIMIT = { kind: 'email-confirmation', limit: 20, seconds: 3_600 } as const;

/**
 * An address beside the first; it counts as the user's once they have followed the link that is mailed to it.
 * @throws 400 with problems by field: no address, one that somebody has, or more than one user may have; 429; 404 when
 *   the user is gone
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
  const asked = { userId, emailId: record.id, email };
  const { alongside, messages } = input.confirmed
    ? { alongside: [], messages: [addressConfirmed(email)] }
    : confirmationOf(deps, asked, input.baseUrl);
  await translateStoreErrors(deps.store.emails.add(record, { alongside: [...alongside, event], messages }));
  return record;
}

/** @throws `404 Email Not Found` */
export async function getEmail(deps: Deps, userId: number, id: number): Promise<EmailRecord> {
  const email = await deps.store.emails.get(userId, id);
  if (email === undefined) throw notFound('Email');
  return email;
}

/** It is shown and used no longer before it is somebody else's to have. @throws `404 Email Not Found` when somebody else was first */
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
