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
  return message(MAIL, SEND, { ...mail, subject: oneLine(mail.subject) });
}

/** What others named, for a sentence: it ends no line, begins none, and turns nothing around that is beside it. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();

/**
 * Sends one, and remembers that it did: a message that comes twice sends once. Only a process that dies between the
 * two sends again, since a mail too many does less harm than one that never comes.
 *
 * @param mailer none where no sender is configured: the mail is dropped, and that is said
 * @throws what may pass: the message comes again
 */
export async function sendMail(deps: Deps, mailer: Mailer | undefined, job: Job): Promise<void> {
  const { store, now } = deps;
  const mail = job.body as unknown as Mail;
  if (job.type !== SEND || typeof mail.to !== 'string') throw new Error(`no job is called ${job.type}`);
  if (mailer === undefined) return dropped(job, 'no sender is configured');
  if (await store.processed.has(MAIL, job.id)) return;
  try {
    await mailer.send(await asSet(deps, mail));
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    return dropped(job, String((error.cause as Error).name));
  }
  await store.processed.markNow(MAIL, job.id, now());
}

/** As the instance's settings have mail: with a text at its end, with HTML or without. */
async function asSet({ settings }: Deps, mail: Mail): Promise<Mail> {
  const { email_additional_text: more, html_emails_enabled: withHtml } = await settings.current();
  const { html, text, ...rest } = mail;
  const addition = more?.trim() ?? '';
  return {
    ...rest,
    text: addition === '' ? text : `${text.trimEnd()}\n\n${addition}\n`,
    ...(html !== undefined && withHtml && { html: addition === '' ? html : withParagraph(html, addition) }),
  };
}

/** At the end of what is shown. */
function withParagraph(html: string, text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  };
  const escaped = text.replace(/[&<>"]/g, (character) => entities[character]!).replace(/\n/g, '<br>');
  const end = html.lastIndexOf('</body>');
  const at = end < 0 ? html.length : end;
  return `${html.slice(0, at)}<p>${escaped}</p>${html.slice(at)}`;
}

/** Says so without the address or the text. */
function dropped({ id }: Job, why: string): void {
  log('warn', 'mail not sent', { messageId: id, error: why });
}
