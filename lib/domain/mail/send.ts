/** Mail: promised in the transaction of what it tells of, sent by a worker. */

import { MailDelayed, MailRefused, TransactionRefused } from '../../store/errors.ts';
import type { Mail, Mailer } from '../../store/mail/transport.ts';
import { MAIL, messageAt, outboxWrite } from '../../store/outbox/outbox.ts';
import { log } from '../../telemetry/log.ts';
import type { Deps } from '../deps.ts';
import type { MailRecipient } from '../notifications/recipients.ts';
import { SEND } from './message.ts';

/** What the mail worker works with. */
export interface MailDeps extends Deps {
  /** None where no sender is configured: mails are dropped, and that is logged. */
  readonly mailer: Mailer | undefined;
  /** The address a recipient is sent a mail to now; undefined when they are to be sent it no longer. */
  readonly currentAddress: (deps: Deps, recipient: MailRecipient) => Promise<string | undefined>;
}

/** Body of the job: a mail that waits to be sent. */
export interface WaitingMail extends Mail {
  /** Whom it was decided for; absent for what is told to an address. */
  readonly reader?: MailRecipient;
  /** ISO time, when it was promised first. */
  readonly since?: string;
  /** Id of the message that this one is to look after: see {@link afterwards}. */
  readonly original?: string;
}

/**
 * Sends one, and remembers that it did: a message that comes twice sends once, also at the same moment. Only a process that
 * dies between the two, or loses SES's answer, sends again, since a mail too many does less harm than one that never comes.
 * What SES takes no more of for now is promised anew for later, so that many mails at once wait for their turn instead of
 * being given up.
 *
 * @param id of the message
 * @throws what may pass: the message is delivered again
 */
export async function sendMail(deps: MailDeps, id: string, waiting: WaitingMail): Promise<void> {
  const { store, now, mailer, currentAddress } = deps;
  const { reader, since, original = id, ...mail } = waiting;
  if (mailer === undefined) return dropped(id, 'no sender is configured');
  const to = reader === undefined ? mail.to : await currentAddress(deps, reader);
  // Nothing went wrong: nobody has to look.
  if (to === undefined) return log('info', 'mail not wanted any more', { messageId: id });
  const begun = await store.processed.begin(MAIL, original, now(), MAX_MS);
  if (begun === 'done') return;
  if (begun === 'under way') return afterwards(deps, waiting, original);
  try {
    await mailer.send(await asSet(deps, { ...mail, to }));
  } catch (error) {
    if (error instanceof MailDelayed)
      return later(deps, original, waiting, since ?? now().toISOString(), error);
    await store.processed.release(MAIL, original);
    if (!(error instanceof MailRefused)) throw error;
    return dropped(id, String((error.cause as Error).name));
  }
  await store.processed.end(MAIL, original, now());
}

/** Longer than the worker may run. */
const MAX_MS = 65_000;

/**
 * Somebody else is at it, and may die at it: another message looks after that when its time is over. This one is done
 * with, since a queue gives up what comes back to it too often.
 */
async function afterwards({ store, now }: Deps, waiting: WaitingMail, original: string): Promise<void> {
  const due = new Date(now().getTime() + MAX_MS);
  await store.table.transact([outboxWrite(messageAt(MAIL, SEND, { ...waiting, original }, due))]);
}

/** Milliseconds between which a mail that SES did not take tries again, so that they do not all come at once. */
const WAITS = [60_000, 900_000] as const;
/** Then somebody has to look. */
const MAX_WAITED_MS = 2 * 86_400_000;

/** Another message in the place of this one, which is done with. @throws what delayed it, when that goes on for days */
async function later(
  deps: Deps,
  id: string,
  { original: _, ...mail }: WaitingMail,
  since: string,
  error: MailDelayed,
): Promise<void> {
  const { store, now } = deps;
  const at = now();
  if (at.getTime() - Date.parse(since) > MAX_WAITED_MS) {
    await store.processed.release(MAIL, id);
    throw error;
  }
  const [least, most] = WAITS;
  const due = new Date(at.getTime() + least + Math.random() * (most - least));
  const again = messageAt(MAIL, SEND, { ...mail, since }, due);
  try {
    await store.table.transact([store.processed.endWrite(MAIL, id, at), outboxWrite(again)]);
    log('warn', 'mail delayed', { messageId: id, again: again.id });
  } catch (refused) {
    // Whoever took this one for dead has seen to it.
    if (!(refused instanceof TransactionRefused && refused.has('processed'))) throw refused;
  }
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
function dropped(id: string, why: string): void {
  log('warn', 'mail not sent', { messageId: id, error: why });
}
