/** Notification mails: plain text, the same as HTML, and the headers that mail programs filter and group by. */

import type { ProjectRecord } from '../../records/projects.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { headerText, mailMessage, oneLine } from '../mail/message.ts';
import { rendered } from '../markdown/render.ts';
import type { Reason } from './decide.ts';
import type { MailRecipient } from './recipients.ts';

/** Content of a mail, the same for all recipients. Names and texts in it are untrusted. */
export interface MailContent {
  readonly subject: string;
  /** One sentence per line. */
  readonly lines: readonly string[];
  /** Whether `lines` name the actor. */
  readonly namesAuthor?: true;
  /** Text written by a user, verbatim. */
  readonly quote?: string;
  /** The same rendered, as sanitized HTML: {@link withRenderedQuote}. */
  readonly quoteHtml?: string;
  readonly url: string;
  /** Local parts of message IDs, at the instance's host: of the thread, and of this mail without its recipient. */
  readonly thread?: string;
  readonly message: string;
  readonly project?: Pick<ProjectRecord, 'id' | 'name' | 'path' | 'fullPath'>;
  /** Header values by name, without the prefix `X-<service>-`. */
  readonly facts: Readonly<Record<string, string>>;
}

export interface MailTarget extends MailRecipient {
  readonly address: string;
  readonly reason: Reason;
  /** URL of the unsubscribe link. */
  readonly unsubscribe: string | undefined;
}

export interface Sender {
  readonly baseUrl: string;
  readonly serviceName: string;
  readonly html: boolean;
}

/** Maximum length of a quote in UTF-16 code units; the rest is replaced by `[...]`. */
const MAX_QUOTE = 10_000;

const REASON_TEXTS: Readonly<Record<Reason, string>> = {
  own_activity: 'you chose to be notified of your own activity',
  assigned: 'you are or were assigned to it',
  review_requested: 'your review is or was requested',
  mentioned: 'you were mentioned',
  subscribed: 'you subscribed to it',
  author: 'you are its author',
  participating: 'you are a participant',
  member: 'you are a member',
  asked: 'you requested it',
  watching: 'you watch this project',
  custom: 'you chose to be notified of such events',
};

/** Adds the name of the actor to the content, unless its text contains it already. */
export function withAuthor(
  content: MailContent,
  { name, username }: { readonly name: string; readonly username: string },
): MailContent {
  if (content.namesAuthor) return content;
  return { ...content, lines: [...content.lines, `This was done by ${name} (@${username}).`] };
}

/** Renders the quote, once for all recipients: what they may see differs, so references in it stay text. */
export async function withRenderedQuote(content: MailContent, baseUrl: string): Promise<MailContent> {
  const { quote, project } = content;
  if (quote === undefined) return content;
  const projectUrl = project === undefined ? {} : { projectUrl: `${baseUrl}/${project.fullPath}` };
  return { ...content, quoteHtml: await rendered(shortened(quote), { baseUrl, ...projectUrl }) };
}

export function mailOf(content: MailContent, reader: MailTarget, sender: Sender): OutboxMessage {
  const { address, reason, unsubscribe, ...recipient } = reader;
  const host = hostOf(sender.baseUrl);
  const quote = content.quote === undefined ? undefined : shortened(content.quote);
  const why = `You received this mail from ${host} because ${REASON_TEXTS[reason]}.`;
  const footerLinks = unsubscribe === undefined ? [] : [`Unsubscribe: ${unsubscribe}`];
  const lines = content.lines.map(oneLine);
  const blocks = [...lines, ...(quote === undefined ? [] : [quote]), content.url];
  const text = `${blocks.join('\n\n')}\n\n-- \n${[why, ...footerLinks].join('\n')}\n`;
  const mail = {
    to: address,
    subject: content.subject,
    text,
    ...(sender.html ? { html: htmlOf(content, { lines, quote, why, unsubscribe }) } : {}),
    headers: headersOf(content, reader, sender, host),
    messageId: `<${content.message}.to_${recipient.userId}@${host}>`,
  };
  return mailMessage(mail, recipient);
}

function headersOf(
  { thread, project, facts }: MailContent,
  { reason, unsubscribe }: MailTarget,
  { serviceName }: Sender,
  host: string,
): Record<string, string> {
  const fields = {
    ...(project === undefined
      ? {}
      : { Project: project.name, 'Project-Id': String(project.id), 'Project-Path': project.fullPath }),
    NotificationReason: reason,
    ...facts,
  };
  const headers: Record<string, string> = {
    Precedence: 'list',
    'X-Auto-Response-Suppress': 'All',
    // The first mail of a thread refers to the thread too: SES replaces the ID of every mail by its own.
    ...(thread === undefined
      ? {}
      : { 'In-Reply-To': `<${thread}@${host}>`, References: `<${thread}@${host}>` }),
    // RFC 2919: a name, and an ID of letters, digits, dots and hyphens within a domain.
    ...(project === undefined ? {} : { 'List-Id': listId(project, host) }),
    // RFC 8058: the mail program submits the form of the page itself.
    ...(unsubscribe === undefined
      ? {}
      : { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
  };
  // Existing mail filters use the prefix of the original product.
  for (const brand of [serviceName.replace(/[^A-Za-z0-9-]/g, ''), 'GitLab'])
    for (const [name, value] of Object.entries(fields)) headers[`X-${brand}-${name}`] = headerText(value);
  return headers;
}

/** Maximum length in octets (RFC 2919, section 4). */
const MAX_LIST_ID = 255;

function listId({ id, fullPath }: NonNullable<MailContent['project']>, host: string): string {
  const labels = fullPath.split('/').reverse();
  const path = labels.map((label) => label.replace(/[^A-Za-z0-9-]+/g, '-')).join('.');
  const maxLength = Math.max(0, MAX_LIST_ID - `${id}..${host}`.length);
  const labelled = path.slice(0, maxLength).replace(/[.-]+$/, '');
  return `${headerText(fullPath)} <${id}.${labelled === '' ? '' : `${labelled}.`}${host}>`;
}

const hostOf = (baseUrl: string): string => (URL.canParse(baseUrl) ? new URL(baseUrl).hostname : 'localhost');

function shortened(text: string): string {
  if (text.length <= MAX_QUOTE) return text;
  // Do not split a surrogate pair.
  return `${text.slice(0, MAX_QUOTE).replace(/[\uD800-\uDBFF]$/, '')}\n[...]`;
}

interface Shown {
  readonly lines: readonly string[];
  readonly quote: string | undefined;
  readonly why: string;
  readonly unsubscribe: string | undefined;
}

function htmlOf({ url, quoteHtml }: MailContent, { lines, quote, why, unsubscribe }: Shown): string {
  const paragraphs = lines.map((line) => `<p>${escaped(line)}</p>`);
  const asWritten = (text: string) => `<div style="white-space:pre-wrap">${escaped(text)}</div>`;
  const quotes = quote === undefined ? [] : [`<blockquote>${quoteHtml ?? asWritten(quote)}</blockquote>`];
  const link = `<p><a href="${escaped(url)}">${escaped(url)}</a></p>`;
  const unsubscribeAnchor =
    unsubscribe === undefined ? '' : ` <a href="${escaped(unsubscribe)}">Unsubscribe</a>`;
  const footer = `<p style="font-size:small;color:#666">${escaped(why)}${unsubscribeAnchor}</p>`;
  return `<!doctype html>\n<html><body>\n${[...paragraphs, ...quotes, link, footer].join('\n')}\n</body></html>\n`;
}

const escaped = (plain: string): string =>
  plain.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
