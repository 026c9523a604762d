/**
 * What people are told of changes to their accounts that they may not have made: at the address they have shown to be
 * theirs before, however much other mail they want.
 */

import type { UserRecord } from '../../records/users.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { mailMessage, oneLine } from '../mail/message.ts';

type Owner = Pick<UserRecord, 'name' | 'username' | 'email' | 'confirmedAt' | 'type'>;

/** @param user as they were @param by who chose the password */
export const passwordMails = (user: Owner, by: 'owner' | 'administrator'): OutboxMessage[] =>
  told(
    user,
    by === 'owner' ? 'Your password was changed' : 'Your password was changed by an administrator',
    `the password of your account "${user.username}" was changed${by === 'owner' ? '' : ' by an administrator'}.`,
  );

/** @param user as they were @param email the address that takes the place of theirs, at once or when it is confirmed */
export const addressMails = (user: Owner, email: string, when: 'now' | 'confirmed'): OutboxMessage[] =>
  told(
    user,
    when === 'now' ? 'Your e-mail address was changed' : 'Your e-mail address is to be changed',
    when === 'now'
      ? `the e-mail address of your account "${user.username}" was changed to ${email}. This one serves no longer.`
      : `the e-mail address of your account "${user.username}" is to be ${email}, as soon as its reader confirms it.`,
  );

function told({ name, email: to, confirmedAt, type }: Owner, subject: string, what: string): OutboxMessage[] {
  if (confirmedAt === null || type !== undefined) return [];
  const text = `Hello ${oneLine(name)},\n\n${what}\n\nIf that should not be, tell your administrator.\n`;
  return [mailMessage({ to, subject, text })];
}
