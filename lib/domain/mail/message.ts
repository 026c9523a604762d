import type { Mail } from '../../store/mail/transport.ts';
import { MAIL, message, type OutboxMessage } from '../../store/outbox/outbox.ts';
import { emailProblems } from '../name-rules.ts';
import type { MailRecipient } from '../notifications/recipients.ts';

export const SEND = 'mail.send';

/**
 * The promise of a mail, for `outbox.commit`. Its text travels through table and queue, both encrypted at rest, and is
 * gone from them when it is sent: what is secret in it ends soon and serves once.
 *
 * @param reader who is asked about again when it is sent: whether they may still read it, and where they are sent it
 */
export function mailMessage(mail: Mail, reader?: MailRecipient): OutboxMessage {
  if (emailProblems(mail.to).length > 0) throw new Error('mail to what is no address');
  const body = { ...mail, subject: headerText(mail.subject), ...(reader === undefined ? {} : { reader }) };
  return message(MAIL, SEND, body);
}

/** What others named, for a sentence: it ends no line, begins none, and turns nothing around that is beside it. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();

/** A line of mail has 998 characters at most (RFC 5322, section 2.1.1), and one without spaces is not folded. */
const MAX_HEADER = 500;

/** What others named, for a header. */
export function headerText(text: string): string {
  const line = oneLine(text);
  // Not between the halves of a character.
  return line.length <= MAX_HEADER ? line : `${line.slice(0, MAX_HEADER).replace(/[\uD800-\uDBFF]$/, '')}...`;
}
