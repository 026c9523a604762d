/**
 * Sends the mails of a notification, once to each recipient, also when the job is delivered again or was interrupted.
 * The audience is read in pages; settings, access and addresses are those of the moment.
 */

import { createHash } from 'node:crypto';
import type { UserRecord } from '../../records/users.ts';
import type { NotificationScope } from '../../store/notifications/settings.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { IdPage } from '../../store/table/id-page.ts';
import { readingOnce } from '../../store/table/read-once.ts';
import type { Update } from '../../store/table/write.ts';
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
/** Mails that are sent and marked together. */
const BATCH_SIZE = 45;
/** Recipients whose access is checked concurrently. */
const CONCURRENCY = 10;
/** Stages whose first pages are read at the same time. */
const STAGES_AT_ONCE = 20;
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
  const fromOf = (stage: Stage) => (stage.name === position?.stage ? position.after : 0);
  const left = stages.slice(first);
  // Most have few users or none.
  const begun: IdPage[] = [];
  // As many as one run looks at until its deadline.
  const looked = new Set<number>();
  let pages = 0;
  for (const [i, stage] of left.entries()) {
    if (i % STAGES_AT_ONCE === 0)
      begun.push(
        ...(await Promise.all(
          left.slice(i, i + STAGES_AT_ONCE).map((each) => each.find(fromOf(each), PAGE_SIZE)),
        )),
      );
    let after: number | undefined = fromOf(stage);
    for (let page: IdPage | undefined = begun[i]; after !== undefined; page = undefined) {
      if (pages++ > 0 && Date.now() > deadline)
        return { ...notification, id, position: { stage: stage.name, after } };
      page ??= await stage.find(after, PAGE_SIZE);
      // Whoever an earlier stage found is judged again only where this one tells more of them.
      const ids = stage.relation === undefined ? page.ids.filter((each) => !looked.has(each)) : page.ids;
      for (const each of ids) looked.add(each);
      if (ids.length > 0)
        await sendPage(deps, partOf(id, notification), notification, { ...content, stage }, ids);
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
  // The groups decide for all of them.
  const recipients = await readingOnce(() => recipientsAmong(deps, id, content, ids));
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
        return {
          mail,
          joins: joins && store.threads.joinWrite(joins.thread, user.id, joins.internal === true),
          user,
        };
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
  readonly joins: Update | undefined;
}

/**
 * Sends each mail to its queue, and marks it. It needs no row of the outbox: whoever ends before the mark is called again, and
 * sends the mail again under the id that it had, by which the mail worker sends it once.
 */
async function sendOnce({ store: { processed, outbox, table }, now }: Deps, mails: readonly MarkedMail[]) {
  await outbox.send(mails.map(({ mark, mail }) => ({ ...mail, id: mailIdOf(mark) })));
  await Promise.all(mails.map(({ joins }) => joins && table.update(joins)));
  // A concurrent run of the same job may have marked some: they are the same mails, and a condition would double the cost.
  await table.putAll(mails.map(({ mark }) => processed.mark(CONSUMER, mark, now()).put));
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
  const [users, relations, choices] = await Promise.all([
    store.users.getMany(ids),
    audience.relations(ids),
    // As they are to this reader; the worker that sends the mail reads them as they are.
    store.notificationSettings.getMany(ids, everything, { consistent: false }),
  ]);
  const chosenFor = ids.flatMap((userId, i) => {
    const [user, chosen] = [users[i], choices.get(userId)!];
    if (user === undefined || !canReceiveMail(user)) return [];
    const setting = effectiveSetting(chosen);
    const found = stage.relation === undefined ? [] : [stage.relation];
    const reason = audience.decide({ relations: new Set([...relations[i]!, ...found]), setting });
    return reason === undefined ? [] : [{ user, reason, chosen: chosen.at(-1)! }];
  });
  const done = await store.processed.filterHandled(
    CONSUMER,
    chosenFor.map(({ user }) => markOf(id, user.id)),
  );
  const candidates = chosenFor.filter(({ user }) => !done.has(markOf(id, user.id)));
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
