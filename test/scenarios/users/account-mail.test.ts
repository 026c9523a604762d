/** Mail to users about changes to their accounts that another user made or could have made. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deps } from '../../../functions/deps.ts';
import { mailMessage } from '../../../lib/domain/mail/message.ts';
import { patchOf, person, scimGroup } from '../../harness/scim.ts';
import { type Service, startService } from '../../harness/service.ts';
import { settled } from '../../harness/settled.ts';

let service: Service;
let made = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const root = async (method: string, path: string, json: object) => {
  const answer = await service.call(method, path, { token: service.rootToken, json });
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
/** What an address was sent, with a last mail that tells that there are no others. */
async function sentTo(address: string): Promise<string[]> {
  await settled();
  await deps().store.outbox.commit([], [mailMessage({ to: address, subject: 'last', text: '' })]);
  for (let count = 1; ; count++) {
    const subjects = (await service.mailTo(address, count)).map(({ subject }) => subject!);
    if (subjects.includes('last')) return subjects.filter((subject) => subject !== 'last');
  }
}

const CHANGED = 'Your password was changed by an administrator';
test.each<[string, object, string[], string[]]>([
  ['another password', { password: 'a long new one 77' }, [CHANGED], []],
  ['none', { force_random_password: true }, [CHANGED], []],
  ['a link to choose one', { reset_password: true }, ['Choose a password'], []],
  ['another name', { name: 'Somebody Else' }, [], []],
  [
    'another address',
    { email: 'NEW' },
    ['A change of your email address was requested'],
    ['Confirm your email address'],
  ],
  [
    'another address at once',
    { email: 'NEW', skip_reconfirmation: true },
    ['Your email address was changed'],
    [],
  ],
  ['the same address, spelled otherwise', { email: 'OLD' }, [], []],
  [
    'both',
    { email: 'NEW', skip_reconfirmation: true, password: 'a long new one 77' },
    [CHANGED, 'Your email address was changed'],
    [],
  ],
])('an administrator’s change of an account sends the right mail, given %s', async (_, change, old, next) => {
  const name = `person-${made++}`;
  const { id, token } = await service.user(name);
  // It is about the account, not about what goes on.
  await service.call('PUT', '/notification_settings', { token, json: { level: 'disabled' } });
  const [before, after] = [`${name}@example.com`, `${name}@elsewhere.example`];
  const given = 'email' in change ? { email: change.email === 'NEW' ? after : before.toUpperCase() } : {};
  await root('PUT', `/users/${id}`, { ...change, ...given });
  expect((await sentTo(before)).sort()).toEqual(old.toSorted());
  expect(await sentTo(after)).toEqual(next);
});

test('an unconfirmed address gets no account mail', async () => {
  const { id } = await service.user('unproven', { skip_confirmation: false });
  await settled();
  const before = await sentTo('unproven@example.com');
  await root('PUT', `/users/${id}`, { password: 'a long new one 77' });
  expect(await sentTo('unproven@example.com')).toEqual(before);
});

test('choosing a password by the mailed link is confirmed by mail', async () => {
  const { id } = await service.user('chooser');
  await root('PUT', `/users/${id}`, { reset_password: true });
  const [mail] = await service.mailTo('chooser@example.com');
  const body = new URLSearchParams({
    reset_password_token: /reset_password_token=([\w-]+)/.exec(mail!.text!)![1]!,
    password: 'a long new one 77',
    password_confirmation: 'a long new one 77',
  });
  const answer = await fetch(`${service.url}/users/password`, { method: 'POST', body });
  expect(answer.status).toBe(200);
  expect(await sentTo('chooser@example.com')).toContain('Your password was changed');
});

test('an identity provider that changes the address causes account mail', async () => {
  const { token } = await service.user('hostess');
  const trusted = await scimGroup(service, token, 'corp', { trusted_email_domains: ['corp.example'] });
  await trusted.agent('POST', '/Users', person('anna'));
  await settled();
  const change = (value: string) =>
    trusted.agent('PATCH', '/Users/ext-anna', patchOf({ op: 'Replace', path: 'emails.value', value }));
  expect((await change('anna.smith@corp.example')).status).toBeLessThan(300);
  expect(await sentTo('anna@corp.example')).toEqual([
    'Access to the group corp was granted',
    'Your email address was changed',
  ]);
  expect((await change('anna@elsewhere.example')).status).toBeLessThan(300);
  expect(await sentTo('anna.smith@corp.example')).toEqual(['A change of your email address was requested']);
  expect(await sentTo('anna@elsewhere.example')).toEqual(['Confirm your email address']);
});
