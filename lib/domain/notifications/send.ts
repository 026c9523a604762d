/**
 * Sends the mails of a notification, once to each recipient, also when the job is delivered again or was interrupted.
 * The audience is read in pages; settings, access and addresses are those of the moment.
 */

import { createHash } from 'node:crypto';
import type { UserRecord } from '../../records/users.ts';
import { TransactionRefused } from '../../store/errors.ts';
import type { NotificationScope } from '../../store/notifications/settings.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { canReceiveMail, mailAddressesOf } from './address.ts';
import type { NotificationContent, Stage } from './audience.ts';
import { contentOf } from './content.ts';
import type { Reason } from './decide.ts';
import type { DomainEvent, Notification } from './enqueue.ts';
import { effectiveSetting } from './levels.ts';
import { mailOf, withAuthor, withRenderedQuote } from './mail.ts';
import { mayRead, recipientOf } from './recipients.ts';
import { scopesOf } from './resources.ts';
import { unsubscribeLink } from './unsubscribe.ts';

/** Users that are read together. */
const PAGE_SIZE = 100;
/** Mails whose marks are one transaction: it has at most 100 writes, and a mail takes up to two. */
const BATCH_SIZE = 45;
/** Recipients whose access is checked concurrently. */
const CONCURRENCY = 10;
const CONSUMER = 'notification';

/**
 * @param id of the job; the same for all jobs about one event
 * @param deadline milliseconds since 1970; only the first page is started after it
 * @returns the job for the remaining pages; undefined when all are done
 */
export async function sendNotification(
  deps: Deps,
  id: string,
  notification: Notification,
  deadline: number,
): Promise<Notification | undefined> {
  for (let part: Notification | undefined = notification; part !== undefined; part = afterFirst(part)) {
    if (part !== notification && Date.now() > deadline) return { ...part, id };
    const left = await sendFirst(deps, id, part, deadline);
    if (left !== undefined) return left;
  }
  return undefined;
}

/** @returns the rest of a notification about several changes; undefined of one about a single one */
function afterFirst({ position: _, happening, ...notification }: Notification): Notification | undefined {
  if (!('changes' in happening) || happening.changes.length < 2) return undefined;
  const rest = { ...happening, changes: happening.changes.slice(1) } as DomainEvent;
  return { ...notification, happening: rest };
}

/** Each change of an issue or a merge request is a mail of its own. */
const partOf = (id: string, { happening }: Notification): string =>
  'changes' in happening ? `${id}.${happening.changes[0]?.what}` : id;

/** Sends the mails about the first change. @returns the job for the remaining pages; undefined when all are done */
async function sendFirst(
  deps: Deps,
  id: string,
  notification: Notification,
  deadline: number,
): Promise<Notification | undefined> {
  const found = await contentOf(deps, { ...notification, id });
  if (found === undefined) return undefined;
  const { html_emails_enabled: html } = await deps.settings.current();
  const content = html
    ? { ...found, mail: await withRenderedQuote(found.mail, notification.baseUrl) }
    : found;
  const { stages } = content.audience;
  const { position } = notification;
  // If the stage no longer exists, all stages start again: recipients are deduplicated.
  const first = Math.max(
    0,
    stages.findIndex(({ name }) => name === position?.stage),
  );
  let pages = 0;
  for (const stage of stages.slice(first)) {
    let after: number | undefined = stage.name === position?.stage ? position.after : 0;
    while (after !== undefined) {
      if (pages++ > 0 && Date.now() > deadline)
        return { ...notification, id, position: { stage: stage.name, after } };
      const page = await stage.find(after, PAGE_SIZE);
      if (page.ids.length > 0)
        await sendPage(deps, partOf(id, notification), notification, { ...content, stage }, page.ids);
      after = page.until;
    }
  }
  return undefined;
}

/** With the stage that found the users of a page. */
type StagedContent = NotificationContent & { readonly stage: Stage };

async function sendPage(
  deps: Deps,
  id: string,
  { baseUrl, actorId }: Notification,
  content: StagedContent,
  ids: readonly number[],
): Promise<void> {
  const { store } = deps;
  const recipients = await recipientsAmong(deps, id, content, ids);
  const { html_emails_enabled: html, email_author_in_body: withAuthorName } = await deps.settings.current();
  const author = withAuthorName && actorId !== null ? await store.users.get(actorId) : undefined;
  const mailContent = author === undefined ? content.mail : withAuthor(content.mail, author);
  const sender = { baseUrl, serviceName: deps.environment.serviceName, html };
  for (let i = 0; i < recipients.length; i += BATCH_SIZE) {
    const batch = await Promise.all(
      recipients.slice(i, i + BATCH_SIZE).map(async ({ user, address, reason }) => {
        const unsubscribe =
          content.unsubscribe && (await unsubscribeLink(deps, user.id, content.unsubscribe, baseUrl));
        const mail = mailOf(
          mailContent,
          { ...recipientOf(user.id, content.about), address, reason, unsubscribe },
          sender,
        );
        const joins = content.joins?.userIds.has(user.id) === true ? content.joins : undefined;
        const writes =
          joins === undefined
            ? []
            : [store.threads.joinWrite(joins.thread, user.id, joins.internal === true)];
        return { mail, writes, user };
      }),
    );
    await sendOnce(
      deps,
      batch.map(({ user, ...rest }) => ({ mark: markOf(id, user.id), ...rest })),
    );
  }
}

interface MarkedMail {
  readonly mark: string;
  readonly mail: OutboxMessage;
  readonly writes: readonly Write[];
}

/**
 * Sends each mail to its queue, and marks it. It needs no row of the outbox: whoever ends before the mark is called again, and
 * sends the mail again under the id that it had, by which the mail worker sends it once.
 */
async function sendOnce({ store: { processed, outbox, table }, now }: Deps, mails: readonly MarkedMail[]) {
  await outbox.send(mails.map(({ mark, mail }) => ({ ...mail, id: mailIdOf(mark) })));
  for (let remaining = mails; remaining.length > 0; ) {
    try {
      return await table.transact(
        remaining.flatMap(({ mark, writes }) => [processed.mark(CONSUMER, mark, now()), ...writes]),
      );
    } catch (error) {
      // A concurrent run of the same job has marked some.
      if (!(error instanceof TransactionRefused && error.has('processed'))) throw error;
      const done = await processed.filterHandled(
        CONSUMER,
        remaining.map(({ mark }) => mark),
      );
      remaining = remaining.filter(({ mark }) => !done.has(mark));
    }
  }
}

/** An id with the time of the notification's own, of which it is the mail to one user. */
const mailIdOf = (mark: string): string =>
  mark.slice(0, 10) + createHash('sha256').update(mark).digest('hex').slice(0, 16).toUpperCase();

const markOf = (id: string, userId: number): string => `${id}#${userId}`;

interface Recipient {
  readonly user: UserRecord;
  readonly address: string;
  readonly reason: Reason;
}

/** Returns the users of a page who are to be sent mail. */
async function recipientsAmong(
  deps: Deps,
  id: string,
  { audience, about, stage }: StagedContent,
  ids: readonly number[],
): Promise<Recipient[]> {
  const { store } = deps;
  const everything: NotificationScope[] = [...scopesOf(about.resource), undefined];
  const [users, relations, choices, done] = await Promise.all([
    store.users.getMany(ids),
    audience.relations(ids),
    store.notificationSettings.getMany(ids, everything),
    store.processed.filterHandled(
      CONSUMER,
      ids.map((userId) => markOf(id, userId)),
    ),
  ]);
  const candidates = ids.flatMap((userId, i) => {
    const [user, chosen] = [users[i], choices.get(userId)!];
    if (user === undefined || !canReceiveMail(user) || done.has(markOf(id, userId))) return [];
    const setting = effectiveSetting(chosen);
    const found = stage.relation === undefined ? [] : [stage.relation];
    const reason = audience.decide({ relations: new Set([...relations[i]!, ...found]), setting });
    return reason === undefined ? [] : [{ user, reason, chosen: chosen.at(-1)! }];
  });
  const addresses = await mailAddressesOf(deps, candidates);
  const recipients: Recipient[] = [];
  for (let i = 0; i < candidates.length; i += CONCURRENCY) {
    const batch = candidates.slice(i, i + CONCURRENCY);
    const allowed = await Promise.all(batch.map(({ user }) => mayRead(deps, user, about)));
    for (const [n, { user, reason }] of batch.entries())
      if (allowed[n]) recipients.push({ user, reason, address: addresses.get(user.id)! });
  }
  return recipients;
}
