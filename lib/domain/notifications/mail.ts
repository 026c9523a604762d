/** Letters to people who are to hear of something: plain text, the same as HTML, and what mail programs sort them by. */

import type { ProjectRecord } from '../../records/projects.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import { headerText, mailMessage, oneLine } from '../mail/message.ts';
import type { Reason } from './decide.ts';
import type { MailRecipient } from './recipients.ts';

/** What is told, to whomever it is. Names and texts in it are other people's. */
export interface MailContent {
  readonly subject: string;
  /** Sentences, of a line each. */
  readonly lines: readonly string[];
  /** Whether these say who did what they tell of. */
  readonly namesAuthor?: true;
  /** What somebody wrote, as they did. */
  readonly quote?: string;
  readonly url: string;
  /** Local parts of message ids, below the instance's host: of the conversation, and of this mail but for its reader. */
  readonly thread?: string;
  readonly message: string;
  readonly project?: Pick<ProjectRecord, 'id' | 'name' | 'path' | 'fullPath'>;
  /** By their names behind `X-<service>-`. */
  readonly facts: Readonly<Record<string, string>>;
}

export interface MailTarget extends MailRecipient {
  readonly address: string;
  readonly reason: Reason;
  /** What their link to hear no more leads to. */
  readonly unsubscribe: string | undefined;
}

export interface Sender {
  readonly baseUrl: string;
  readonly serviceName: string;
  readonly html: boolean;
}

/** Above it a text ends with a pointer to the rest. */
const MAX_QUOTE = 10_000;

const WHY: Readonly<Record<Reason, string>> = {
  own_activity: 'you asked for mail of what you do yourself',
  assigned: 'you are or were assigned to it',
  review_requested: 'your review is or was asked for',
  mentioned: 'you were mentioned',
  subscribed: 'you subscribed to it',
  author: 'you are its author',
  participating: 'you take part in it',
  member: 'you are a member',
  asked: 'you asked for it',
  watching: 'you watch this project',
  custom: 'you chose to hear of such events',
};

/** A letter that says who did what it tells of, as many of them do by themselves. */
export function withAuthor(
  letter: MailContent,
  { name, username }: { readonly name: string; readonly username: string },
): MailContent {
  if (letter.namesAuthor) return letter;
  return { ...letter, lines: [...letter.lines, `This was done by ${name} (@${username}).`] };
}

export function mailOf(letter: MailContent, reader: MailTarget, sender: Sender): OutboxMessage {
  const { address, reason, unsubscribe, userId, source, ability } = reader;
  const host = hostOf(sender.baseUrl);
  const quote = letter.quote === undefined ? undefined : shortened(letter.quote);
  const why = `You are sent this by ${host} because ${WHY[reason]}.`;
  const stop = unsubscribe === undefined ? [] : [`To hear no more of it: ${unsubscribe}`];
  const lines = letter.lines.map(oneLine);
  const blocks = [...lines, ...(quote === undefined ? [] : [quote]), letter.url];
  const text = `${blocks.join('\n\n')}\n\n-- \n${[why, ...stop].join('\n')}\n`;
  const mail = {
    to: address,
    subject: letter.subject,
    text,
    ...(sender.html ? { html: htmlOf({ lines, url: letter.url }, quote, why, unsubscribe) } : {}),
    headers: headersOf(letter, reader, sender, host),
    messageId: `<${letter.message}.to_${userId}@${host}>`,
  };
  return mailMessage(mail, { userId, source, ability });
}

function headersOf(
  { thread, project, facts }: MailContent,
  { reason, unsubscribe }: MailTarget,
  { serviceName }: Sender,
  host: string,
): Record<string, string> {
  const told = {
    ...(project === undefined
      ? {}
      : { Project: project.name, 'Project-Id': String(project.id), 'Project-Path': project.fullPath }),
    NotificationReason: reason,
    ...facts,
  };
  const headers: Record<string, string> = {
    Precedence: 'list',
    'X-Auto-Response-Suppress': 'All',
    // The first mail of a conversation names its beginning too: SES gives every mail an id of its own.
    ...(thread === undefined
      ? {}
      : { 'In-Reply-To': `<${thread}@${host}>`, References: `<${thread}@${host}>` }),
    // RFC 2919: a name, and an id of letters, digits, dots and hyphens below a domain.
    ...(project === undefined ? {} : { 'List-Id': listId(project, host) }),
    // RFC 8058: the form of the page, sent at once by the mail program.
    ...(unsubscribe === undefined
      ? {}
      : { 'List-Unsubscribe': `<${unsubscribe}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
  };
  // Filters know them by the other name too.
  for (const brand of [serviceName.replace(/[^A-Za-z0-9-]/g, ''), 'GitLab'])
    for (const [name, value] of Object.entries(told)) headers[`X-${brand}-${name}`] = headerText(value);
  return headers;
}

/** Octets (RFC 2919, section 4). */
const MAX_LIST_ID = 255;

function listId({ id, fullPath }: NonNullable<MailContent['project']>, host: string): string {
  const labels = fullPath.split('/').reverse();
  const below = labels.map((label) => label.replace(/[^A-Za-z0-9-]+/g, '-')).join('.');
  const most = Math.max(0, MAX_LIST_ID - `${id}..${host}`.length);
  const labelled = below.slice(0, most).replace(/[.-]+$/, '');
  return `${headerText(fullPath)} <${id}.${labelled === '' ? '' : `${labelled}.`}${host}>`;
}

const hostOf = (baseUrl: string): string => (URL.canParse(baseUrl) ? new URL(baseUrl).hostname : 'localhost');

function shortened(text: string): string {
  if (text.length <= MAX_QUOTE) return text;
  // Not between the halves of a character.
  return `${text.slice(0, MAX_QUOTE).replace(/[\uD800-\uDBFF]$/, '')}\n[...]`;
}

function htmlOf(
  { lines, url }: Pick<MailContent, 'lines' | 'url'>,
  quote: string | undefined,
  why: string,
  unsubscribe: string | undefined,
): string {
  const paragraphs = lines.map((line) => `<p>${escaped(line)}</p>`);
  const said =
    quote === undefined ? [] : [`<blockquote style="white-space:pre-wrap">${escaped(quote)}</blockquote>`];
  const link = `<p><a href="${escaped(url)}">${escaped(url)}</a></p>`;
  const stop = unsubscribe === undefined ? '' : ` <a href="${escaped(unsubscribe)}">Unsubscribe</a>`;
  const footer = `<p style="font-size:small;color:#666">${escaped(why)}${stop}</p>`;
  return `<!doctype html>\n<html><body>\n${[...paragraphs, ...said, link, footer].join('\n')}\n</body></html>\n`;
}

const escaped = (plain: string): string =>
  plain.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
