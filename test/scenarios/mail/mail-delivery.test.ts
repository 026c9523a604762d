/** Delivery of mail: it is retried when SES throttles, and access is checked again before it is sent. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { mailMessage } from '../../../lib/domain/mail/message.ts';
import type { MailRecipient } from '../../../lib/domain/notifications/recipients.ts';
import { messageText, type OutboxMessage } from '../../../lib/store/outbox/outbox.ts';
import { processedKey } from '../../../lib/store/row-keys/outbox.ts';
import { type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Hands the worker messages as the queue does. @returns how many come again */
async function deliver(...messages: OutboxMessage[]): Promise<number> {
  const answer = await service.host.invoke('mail', {
    Records: messages.map((each) => ({ messageId: each.id, body: messageText(each), attributes: {} })),
  });
  return (answer as { batchItemFailures: unknown[] }).batchItemFailures.length;
}

/** What waits in the outbox is sent as if it were an hour later. */
async function anHourLater(): Promise<number> {
  const { sent } = await deps().store.outbox.sweep(new Date(Date.now() + 3_600_000), 0);
  await settled();
  return sent;
}

const letter = (to: string, more: object = {}): OutboxMessage => {
  const promise = mailMessage({ to, subject: 'Hello', text: 'A line.' });
  return { ...promise, body: { ...promise.body, ...more } };
};
const throttled = (on: string, times = 4) =>
  service.host.ses.faults.inject({
    on,
    fault: { kind: 'error', code: 'TooManyRequestsException' },
    // The SDK tries four times.
    times,
  });
/** How often the letter arrived; a mail that is sent behind it tells that nothing is under way. */
const received = async (to: string) => {
  await deliver(mailMessage({ to, subject: 'mark', text: 'after all others' }));
  return (await service.mailTo(to)).filter(({ subject }) => subject === 'Hello').length;
};

describe('a mail that SES throttles', () => {
  test('is postponed without using up its attempts, and is sent once', async () => {
    const mail = letter('busy@example.com');
    throttled('busy@example.com', 8);
    expect(await deliver(mail, mail)).toBe(0);
    // The first that comes again finds SES as busy.
    expect(await anHourLater()).toBe(1);
    expect(await deliver(mail)).toBe(0);
    expect(await anHourLater()).toBe(1);
    expect(await anHourLater()).toBe(0);
    expect(await received('busy@example.com')).toBe(1);
  });

  test('is postponed once by two simultaneous copies of its message', async () => {
    const mail = letter('both@example.com');
    const heal = throttled('both@example.com', Number.POSITIVE_INFINITY);
    expect(await Promise.all([deliver(mail), deliver(mail)])).toEqual([0, 0]);
    expect(await deliver(mail)).toBe(0);
    heal();
    // One that looks after the other's, and the one that was put off.
    expect(await anHourLater()).toBe(2);
    expect(await anHourLater()).toBe(0);
    expect(await received('both@example.com')).toBe(1);
  });

  test('is sent by one of two simultaneous copies when SES accepts it', async () => {
    const mail = letter('two@example.com');
    expect(await Promise.all([deliver(mail), deliver(mail)])).toEqual([0, 0]);
    // The other one looks after it, in case the first had died.
    expect(await anHourLater()).toBe(1);
    expect(await deliver(mail)).toBe(0);
    expect(await received('two@example.com')).toBe(1);
  });

  test('is sent by another worker when the lease of a worker that died has expired', async () => {
    const mail = letter('died@example.com');
    const { processed, table } = deps().store;
    expect(await processed.begin('mail', mail.id, new Date(), 600_000)).toBe('begun');
    expect(await Promise.all([deliver(mail), deliver(mail), deliver(mail)])).toEqual([0, 0, 0]);
    expect(await received('died@example.com')).toBe(0);
    await table.update({ update: processedKey('mail', mail.id), set: { until: Date.now() } });
    expect(await anHourLater()).toBe(3);
    expect(await anHourLater()).toBe(0);
    expect(await received('died@example.com')).toBe(1);
  });

  test('is given up after days of throttling', async () => {
    throttled('days@example.com');
    const since = new Date(Date.now() - 3 * 86_400_000).toISOString();
    expect(await deliver(letter('days@example.com', { since }))).toBe(1);
  });
});

describe('before a mail is sent the recipient’s access is checked again, and the recipient', () => {
  let owner: { id: number; token: string };
  const ask = async (method: string, path: string, json?: object, token = owner.token) => {
    const answer = await service.call(method, path, { token, ...(json === undefined ? {} : { json }) });
    if (answer.status >= 400)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const root = (method: string, path: string, json?: object) => ask(method, path, json, service.rootToken);
  let made = 0;
  /** A member of a private project in a group, and a mail to them that waits. */
  async function memberWithMail() {
    const name = `reader-${made++}`;
    const user = await service.user(name);
    const group = await ask('POST', '/groups', {
      name: `g-${name}`,
      path: `g-${name}`,
      visibility: 'private',
    });
    const project = await ask('POST', '/projects', { name, namespace_id: group.id, visibility: 'private' });
    await ask('POST', `/projects/${project.id}/members`, { user_id: user.id, access_level: 20 });
    await settled();
    const mailFor = (reader: Partial<MailRecipient> = {}) =>
      letter(`${name}@example.com`, {
        reader: {
          userId: user.id,
          source: { kind: 'project', id: project.id },
          ability: 'read_history',
          ...reader,
        },
      });
    return { name, user, group, project, mailFor };
  }
  beforeAll(async () => {
    owner = await service.user('owner');
  });

  test('gets it if nothing changed, from a project and from a group', async () => {
    const { name, mailFor, group, user } = await memberWithMail();
    expect(await deliver(mailFor())).toBe(0);
    expect(await received(`${name}@example.com`)).toBe(1);
    await ask('POST', `/groups/${group.id}/members`, { user_id: user.id, access_level: 10 });
    await settled();
    await deliver(mailFor({ source: { kind: 'group', id: group.id }, ability: 'read_group' }));
    expect(await received(`${name}@example.com`)).toBe(2);
  });

  type MemberWithMail = Awaited<ReturnType<typeof memberWithMail>>;
  test.each<[string, (of: MemberWithMail) => Promise<unknown>]>([
    [
      'is no member any more',
      ({ project, user }) => ask('DELETE', `/projects/${project.id}/members/${user.id}`),
    ],
    [
      'may read no code any more',
      ({ project, user }) => ask('PUT', `/projects/${project.id}/members/${user.id}`, { access_level: 10 }),
    ],
    ['was blocked', ({ user }) => root('POST', `/users/${user.id}/block`)],
    [
      'was deactivated',
      ({ user }) =>
        deps()
          .store.users.get(user.id)
          .then((was) => deps().store.users.update(was!, { state: 'deactivated' })),
    ],
    ['is gone', ({ user }) => root('DELETE', `/users/${user.id}`)],
    [
      'wants no mail any more',
      ({ user, project }) =>
        ask('PUT', `/projects/${project.id}/notification_settings`, { level: 'disabled' }, user.token),
    ],
    [
      'wants none of the group',
      ({ user, group }) =>
        root('PUT', `/groups/${group.id}/notification_settings?sudo=${user.id}`, { level: 'disabled' }),
    ],
    [
      'is told nothing by the project',
      ({ project }) => ask('PUT', `/projects/${project.id}`, { emails_disabled: true }),
    ],
    [
      'is told nothing by the group',
      ({ group }) => ask('PUT', `/groups/${group.id}`, { emails_disabled: true }),
    ],
    ['is told of a project that is gone', ({ project }) => ask('DELETE', `/projects/${project.id}`)],
    ['is told of what is in a group that is gone', ({ group }) => ask('DELETE', `/groups/${group.id}`)],
  ])('%s: gets nothing', async (_, act) => {
    const of = await memberWithMail();
    const mail = of.mailFor();
    await act(of);
    expect(await deliver(mail)).toBe(0);
    expect(await received(`${of.name}@example.com`)).toBe(0);
  });

  test('gets it at the notification address of that moment', async () => {
    const { name, user, mailFor } = await memberWithMail();
    const json = { email: `${name}-else@example.com`, skip_confirmation: true };
    await root('POST', `/users/${user.id}/emails`, json);
    await ask('PUT', '/notification_settings', { notification_email: json.email }, user.token);
    expect(await deliver(mailFor())).toBe(0);
    expect(await service.mailTo(json.email)).toHaveLength(1);
  });
});
