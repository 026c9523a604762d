/** Mail: promised in the transaction of what it tells of, sent by a worker. */
import { MailRefused } from '../store/errors.ts';
import type { Mail, Mailer } from '../store/mailer.ts';
import { MAIL, message, type OutboxMessage } from '../store/outbox.ts';
import { log } from '../telemetry/log.ts';
import type { Deps } from './deps.ts';
import type { Job } from './jobs.ts';
import { emailProblems } from './paths.ts';

const SEND = 'mail.send';

/**
 * The promise of a mail, for `outbox.commit`. Its text travels through table and queue, both encrypted at rest, and is
 * gone from them when it is sent: what is secret in it ends soon and serves once.
 */
export function mailMessage(mail: Mail): OutboxMessage {
  if (emailProblems(mail.to).length > 0) throw new Error('mail to what is no address');
  // One line, whatever names are in it.
  const subject = mail.subject.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return message(MAIL, SEND, { ...mail, subject });
}

/**
 * Sends one, and remembers that it did: a message that comes twice sends once. Only a process that dies between the
 * two sends again, since a mail too many does less harm than one that never comes.
 *
 * @param mailer none where no sender is configured: the mail is dropped, and that is said
 * @throws what may pass: the message comes again
 */
export async function sendMail({ store, now }: Deps, mailer: Mailer | undefined, job: Job): Promise<void> {
  const mail = job.body as unknown as Mail;
  if (job.type !== SEND || typeof mail.to !== 'string') throw new Error(`no job is called ${job.type}`);
  if (mailer === undefined) return dropped(job, 'no sender is configured');
  if (await store.processed.has(MAIL, job.id)) return;
  try {
    await mailer.send(mail);
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    return dropped(job, String((error.cause as Error).name));
  }
  await store.processed.markNow(MAIL, job.id, now());
}

/** Says so without the address or the text. */
function dropped({ id }: Job, why: string): void {
  log('warn', 'mail not sent', { messageId: id, error: why });
}
