import type { Mail } from '../../store/mail/transport.ts';
import { MAIL, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import { emailProblems } from '../name-rules.ts';
import type { MailRecipient } from '../notifications/recipients.ts';

export const SEND = 'mail.send';

/**
 * Returns a mail as a message for `outbox.commit`. Its text passes through table and queue, both encrypted at rest, and
 * is removed from them when it is sent. Secrets in it must expire soon and be usable once.
 *
 * @param reader the recipient, whose access and address are checked again when the mail is sent
 */
export function mailMessage(mail: Mail, reader?: MailRecipient): OutboxMessage {
  if (emailProblems(mail.to).length > 0) throw new Error('the recipient of a mail is not a valid address');
  const body = { ...mail, subject: headerText(mail.subject), ...(reader === undefined ? {} : { reader }) };
  return message(MAIL, SEND, body);
}

/** Makes untrusted text safe within a line: removes line breaks, control characters and changes of text direction. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();

/** A line of mail has at most 998 characters (RFC 5322, section 2.1.1), and text without spaces cannot be folded. */
const MAX_HEADER_LENGTH = 500;

/** Makes untrusted text safe within a header: one line, shortened. */
export function headerText(text: string): string {
  const line = oneLine(text);
  // Do not split a surrogate pair.
  return line.length <= MAX_HEADER_LENGTH
    ? line
    : `${line.slice(0, MAX_HEADER_LENGTH).replace(/[\uD800-\uDBFF]$/, '')}...`;
}
