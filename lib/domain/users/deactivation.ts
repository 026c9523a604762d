/** Deactivation of accounts: they have no access until an administrator activates them again. */

import type { UserRecord } from '../../records/users.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { PlannedChange } from '../accounts/accounts.ts';
import { type AuditAuthor, audited, auditedUser } from '../audit-events/event.ts';
import type { Deps } from '../deps.ts';
import { mailMessage, oneLine } from '../mail/message.ts';
import { canReceiveMail } from '../notifications/address.ts';

/** Returns the change, the audit event and the mail for the transaction. */
export async function deactivation(
  deps: Deps,
  author: AuditAuthor,
  user: UserRecord,
): Promise<PlannedChange> {
  const details = { entity: auditedUser(user), details: { custom_message: 'Deactivated user' } };
  const [event, settings] = await Promise.all([audited(deps, author, details), deps.settings.current()]);
  const mailed = settings.user_deactivation_emails_enabled && canReceiveMail(user);
  return {
    change: { state: 'deactivated' },
    alongside: [event],
    messages: mailed ? [lastMail(user)] : [],
  };
}

const lastMail = ({ name, username, email }: UserRecord): OutboxMessage =>
  mailMessage({
    to: email,
    subject: 'Your account has been deactivated',
    text: `Hello ${oneLine(name)},

your account "${username}" has been deactivated. You will not be able to:

- access Git repositories or the API,
- receive any notifications.

What you made, and your memberships, stay as they are. To be let in again, or if you think that this is an error, ask
your administrator.
`,
  });
