/**
 * Sends mail of what happened to those who are to hear of it: once to each, however often the job comes and wherever it
 * stopped. They are looked at in pages, and what each chose, may see and is reached by counts at that moment.
 */

import type { UserRecord } from '../../records/users.ts';
import { TransactionRefused } from '../../store/errors.ts';
import type { NotificationScope } from '../../store/notifications/settings.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { addressesOf, isReached } from './address.ts';
import type { NotificationContent } from './audience.ts';
import { contentOf } from './content.ts';
import type { Reason } from './decide.ts';
import type { Notification } from './enqueue.ts';
import { effective } from './levels.ts';
import { mailOf, withAuthor } from './mail.ts';
import { mayRead, recipientOf } from './recipients.ts';
import { scopesOf } from './resources.ts';
import { unsubscribeLink } from './unsubscribe.ts';

/** People who are looked at together. */
const PAGE = 100;
/** Of a transaction's hundred writes each reader takes three. */
const AT_ONCE = 30;
/** People whose rights are looked at side by side. */
const SIDE_BY_SIDE = 10;
const CONSUMER = 'notification';

/**
 * @param id of the job; the same for all jobs about one happening
 * @param deadline milliseconds since 1970; no page but the first begins after it
 * @returns what is left to do
 */
export async function sendNotification(
  deps: Deps,
  id: string,
  notification: Notification,
  deadline: number,
): Promise<Notification | undefined> {
  const bulletin = await contentOf(deps, { ...notification, id });
  if (bulletin === undefined) return undefined;
  const { stages } = bulletin.audience;
  const { position } = notification;
  // A stage that is there no longer is begun anew with the others: nobody is sent anything twice.
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
      const page = await stage.find(after, PAGE);
      if (page.ids.length > 0) await tell(deps, id, notification, bulletin, page.ids);
      after = page.until;
    }
  }
  return undefined;
}

async function tell(
  deps: Deps,
  id: string,
  { baseUrl, actorId }: Notification,
  bulletin: NotificationContent,
  ids: readonly number[],
): Promise<void> {
  const { store } = deps;
  const wanting = await readersAmong(deps, id, bulletin, ids);
  const { html_emails_enabled: html, email_author_in_body: named } = await deps.settings.current();
  const author = named && actorId !== null ? await store.users.get(actorId) : undefined;
  const letter = author === undefined ? bulletin.letter : withAuthor(bulletin.letter, author);
  const sender = { baseUrl, serviceName: deps.environment.serviceName, html };
  for (let i = 0; i < wanting.length; i += AT_ONCE) {
    const some = await Promise.all(
      wanting.slice(i, i + AT_ONCE).map(async ({ user, address, reason }) => {
        const unsubscribe =
          bulletin.unsubscribe && (await unsubscribeLink(deps, user.id, bulletin.unsubscribe, baseUrl));
        const mail = mailOf(
          letter,
          { ...recipientOf(user.id, bulletin.about), address, reason, unsubscribe },
          sender,
        );
        const joins = bulletin.joins?.userIds.has(user.id) === true ? bulletin.joins.thread : undefined;
        return { mail, writes: joins === undefined ? [] : [store.threads.joinWrite(joins, user.id)], user };
      }),
    );
    await promise(
      deps,
      some.map(({ user, ...rest }) => ({ mark: markOf(id, user.id), ...rest })),
    );
  }
}

interface Promised {
  readonly mark: string;
  readonly mail: OutboxMessage;
  readonly writes: readonly Write[];
}

/** Each once: what another run of the same job has promised meanwhile is left out. */
async function promise(deps: Deps, mails: readonly Promised[]): Promise<void> {
  const { processed, outbox } = deps.store;
  for (let left = mails; left.length > 0; ) {
    try {
      const writes = left.flatMap(({ mark, writes }) => [
        processed.mark(CONSUMER, mark, deps.now()),
        ...writes,
      ]);
      return await outbox.commit(
        writes,
        left.map(({ mail }) => mail),
      );
    } catch (error) {
      if (!(error instanceof TransactionRefused && error.has('processed'))) throw error;
      const done = await processed.filterHandled(
        CONSUMER,
        left.map(({ mark }) => mark),
      );
      left = left.filter(({ mark }) => !done.has(mark));
    }
  }
}

const markOf = (id: string, userId: number): string => `${id}#${userId}`;

interface Reading {
  readonly user: UserRecord;
  readonly address: string;
  readonly reason: Reason;
}

/** Those of a page who are to be sent mail now. */
async function readersAmong(
  deps: Deps,
  id: string,
  { audience, about }: NotificationContent,
  ids: readonly number[],
): Promise<Reading[]> {
  const { store } = deps;
  const everything: NotificationScope[] = [...scopesOf(about.place), undefined];
  const [users, relations, choices, done] = await Promise.all([
    store.users.getMany(ids),
    audience.relations(ids),
    store.notificationSettings.getMany(ids, everything),
    store.processed.filterHandled(
      CONSUMER,
      ids.map((userId) => markOf(id, userId)),
    ),
  ]);
  const reached = ids.flatMap((userId, i) => {
    const [user, chosen] = [users[i], choices.get(userId)!];
    if (user === undefined || !isReached(user) || done.has(markOf(id, userId))) return [];
    const setting = effective(chosen);
    const reason = audience.decide({ relations: relations[i]!, setting });
    return reason === undefined ? [] : [{ user, reason, chosen: chosen.at(-1)! }];
  });
  const addresses = await addressesOf(deps, reached);
  const readers: Reading[] = [];
  for (let i = 0; i < reached.length; i += SIDE_BY_SIDE) {
    const some = reached.slice(i, i + SIDE_BY_SIDE);
    const seen = await Promise.all(some.map(({ user }) => mayRead(deps, user, about)));
    for (const [n, { user, reason }] of some.entries())
      if (seen[n]) readers.push({ user, reason, address: addresses.get(user.id)! });
  }
  return readers;
}
