/**
 * Security mails: changes of an account that its owner may not have made. They are sent to the address confirmed before
 * the change, whatever the notification settings say.
 */

import type { UserRecord } from '../../records/users.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { mailMessage, oneLine } from '../mail/message.ts';

type Owner = Pick<UserRecord, 'name' | 'username' | 'email' | 'confirmedAt' | 'type'>;

/** @param user the record before the change @param changedBy who chose the password */
export const passwordMails = (user: Owner, changedBy: 'owner' | 'administrator'): OutboxMessage[] =>
  accountMails(
    user,
    changedBy === 'owner' ? 'Your password was changed' : 'Your password was changed by an administrator',
    `the password of your account "${user.username}" was changed${changedBy === 'owner' ? '' : ' by an administrator'}.`,
  );

/** @param user the record before the change @param email the new address, which replaces the old one at once or when it is confirmed */
export const addressMails = (user: Owner, email: string, when: 'now' | 'confirmed'): OutboxMessage[] =>
  accountMails(
    user,
    when === 'now' ? 'Your email address was changed' : 'A change of your email address was requested',
    when === 'now'
      ? `the email address of your account "${user.username}" was changed to ${email}. This address is no longer used.`
      : `the email address of your account "${user.username}" will be changed to ${email} as soon as that address is confirmed.`,
  );

function accountMails(
  { name, email: to, confirmedAt, type }: Owner,
  subject: string,
  what: string,
): OutboxMessage[] {
  if (confirmedAt === null || type !== undefined) return [];
  const text = `Hello ${oneLine(name)},\n\n${what}\n\nIf you did not expect this change, contact your administrator.\n`;
  return [mailMessage({ to, subject, text })];
}
