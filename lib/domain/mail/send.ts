/** Sends mail. A mail is enqueued in the transaction of the change that it is about. */

import { MailDelayed, MailRefused, TransactionRefused } from '../../store/errors.ts';
import type { Mail, Mailer } from '../../store/mail/transport.ts';
import { MAIL, messageAt, outboxWrite } from '../../store/outbox/outbox.ts';
import { log } from '../../telemetry/log.ts';
import type { Deps } from '../deps.ts';
import type { MailRecipient } from '../notifications/recipients.ts';
import { SEND } from './message.ts';

/** Dependencies of the mail worker. */
export interface MailDeps extends Deps {
  /** Undefined when no sender is configured: mails are dropped, which is logged. */
  readonly mailer: Mailer | undefined;
  /** Returns the current address of a recipient; undefined when they may no longer receive the mail. */
  readonly currentAddress: (deps: Deps, recipient: MailRecipient) => Promise<string | undefined>;
}

/** Body of the job. */
export interface WaitingMail extends Mail {
  /** The recipient; absent for mail to an address without a user. */
  readonly reader?: MailRecipient;
  /** When the first attempt was delayed (ISO 8601). */
  readonly since?: string;
  /** ID of the message that this one retries: see {@link retryAfterLease}. */
  readonly original?: string;
}

/**
 * Sends a mail and records it: a message that is delivered twice, even concurrently, is sent once. Only when the process
 * dies between the two steps, or the response of SES is lost, the mail is sent again: a duplicate does less harm than a
 * lost mail. When SES throttles, the mail is enqueued again for later, so that it does not end in the dead-letter queue.
 *
 * @param id of the message
 * @throws transient errors: the message is delivered again
 */
export async function sendMail(deps: MailDeps, id: string, waiting: WaitingMail): Promise<void> {
  const { store, now, mailer, currentAddress } = deps;
  const { reader, since, original = id, ...mail } = waiting;
  if (mailer === undefined) return logDropped(id, 'no sender is configured');
  const to = reader === undefined ? mail.to : await currentAddress(deps, reader);
  // Expected: not a warning.
  if (to === undefined)
    return log('info', 'mail not sent: the recipient may no longer receive it', { messageId: id });
  const state = await store.processed.begin(MAIL, original, now(), LEASE_MS);
  if (state === 'done') return;
  if (state === 'under way') return retryAfterLease(deps, waiting, original);
  try {
    await mailer.send(await withSettings(deps, { ...mail, to }));
  } catch (error) {
    if (error instanceof MailDelayed)
      return enqueueRetry(deps, original, waiting, since ?? now().toISOString(), error);
    await store.processed.release(MAIL, original);
    if (!(error instanceof MailRefused)) throw error;
    return logDropped(id, String((error.cause as Error).name));
  }
  await store.processed.end(MAIL, original, now());
}

/** Lease in milliseconds, longer than the timeout of the worker. */
const LEASE_MS = 65_000;

/**
 * Enqueues another message for the end of the lease, in case the process that is sending the mail dies. This message
 * ends successfully, because the queue gives up messages that return too often.
 */
async function retryAfterLease({ store, now }: Deps, waiting: WaitingMail, original: string): Promise<void> {
  const due = new Date(now().getTime() + LEASE_MS);
  await store.table.transact([outboxWrite(messageAt(MAIL, SEND, { ...waiting, original }, due))]);
}

/** Minimum and maximum delay before a throttled mail is retried; the actual delay is random, to spread the retries. */
const RETRY_AFTER_MS = [60_000, 900_000] as const;
/** After this time the message goes to the dead-letter queue. */
const MAX_DELAY_MS = 2 * 86_400_000;

/** Replaces the message by a later one. @throws the delaying error when the mail has been delayed for too long */
async function enqueueRetry(
  deps: Deps,
  id: string,
  { original: _, ...mail }: WaitingMail,
  since: string,
  error: MailDelayed,
): Promise<void> {
  const { store, now } = deps;
  const at = now();
  if (at.getTime() - Date.parse(since) > MAX_DELAY_MS) {
    await store.processed.release(MAIL, id);
    throw error;
  }
  const [least, most] = RETRY_AFTER_MS;
  const due = new Date(at.getTime() + least + Math.random() * (most - least));
  const retry = messageAt(MAIL, SEND, { ...mail, since }, due);
  try {
    await store.table.transact([store.processed.endWrite(MAIL, id, at), outboxWrite(retry)]);
    log('warn', 'mail delayed', { messageId: id, again: retry.id });
  } catch (refused) {
    // Another process took over after the lease ended.
    if (!(refused instanceof TransactionRefused && refused.has('processed'))) throw refused;
  }
}

/** Applies the instance settings: the additional text at the end, and whether mail contains HTML. */
async function withSettings({ settings }: Deps, mail: Mail): Promise<Mail> {
  const { email_additional_text: additionalText, html_emails_enabled: withHtml } = await settings.current();
  const { html, text, ...rest } = mail;
  const addition = additionalText?.trim() ?? '';
  return {
    ...rest,
    text: addition === '' ? text : `${text.trimEnd()}\n\n${addition}\n`,
    ...(html !== undefined && withHtml && { html: addition === '' ? html : withParagraph(html, addition) }),
  };
}

/** Adds a paragraph at the end of the body. */
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

/** Logs without the address or the text. */
function logDropped(id: string, reason: string): void {
  log('warn', 'mail not sent', { messageId: id, error: reason });
}
