/** People who were not here for long are deactivated once a day, and told so; settings say whether, and after how long. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { handler as noon } from '../../../functions/daily.ts';
import { deps } from '../../../functions/deps.ts';
import { SYSTEM } from '../../../lib/domain/audit-events/event.ts';
import { deactivation } from '../../../lib/domain/users/deactivation.ts';
import { deactivateDormant } from '../../../lib/domain/users/dormant.ts';
import type { UserChange } from '../../../lib/store/users/users.ts';
import { type Service, startService } from '../../harness/service.ts';
import { changeSettings } from '../../harness/settings.ts';

let service: Service;
let names = 0;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(() =>
  changeSettings(service, {
    deactivate_dormant_users: true,
    deactivate_dormant_users_period: 90,
    user_deactivation_emails_enabled: true,
  }),
);

const root = (method: string, path: string, json?: unknown) =>
  service.call(method, path, { token: service.rootToken, ...(json === undefined ? {} : { json }) });
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
const store = () => deps().store;
const state = async (id: number) => (await store().users.get(id))!.state;
const set = async (id: number, change: UserChange) =>
  store().users.update((await store().users.get(id))!, change);

/** A user who registered so many days ago and was active on that day. */
async function person(came: number, here: number | null, more: Record<string, unknown> = {}) {
  const { id, username } = await service.user(`person-${++names}`, more);
  // No endpoint changes the day a user was created.
  const change = {
    createdAt: `${day(came)}T10:00:00.000Z`,
    lastActivityOn: here === null ? null : day(here),
  };
  await set(id, change as UserChange);
  return { id, username };
}
const walk = (after = 0, deadline = Date.now() + 60_000) => deactivateDormant(deps(), { after }, deadline);

describe('whether a user counts as dormant', () => {
  test.each([
    ['was last here 90 days ago', 400, 90, {}, 'deactivated'],
    ['was last here 89 days ago', 400, 89, {}, 'active'],
    ['came 90 days ago and was never here', 90, null, {}, 'deactivated'],
    ['came 89 days ago and was never here', 89, null, {}, 'active'],
    ['administers the instance', 400, 300, { admin: true }, 'active'],
    ['is external', 400, 300, { external: true }, 'deactivated'],
  ] as const)('is decided for one who %s', async (_, came, here, more, expected) => {
    const { id } = await person(came, here, more);
    expect(await walk()).toBeUndefined();
    expect(await state(id)).toBe(expected);
    await set(id, { state: 'blocked' });
  });

  test('is not asked of blocked users, bots and the ghost', async () => {
    const { id } = await person(400, 300);
    await set(id, { state: 'blocked' });
    const owner = await service.user('owner');
    const { body: project } = await service.call('POST', '/projects', {
      token: owner.token,
      json: { name: 'p' },
    });
    const made = await service.call('POST', `/projects/${project.id}/access_tokens`, {
      token: owner.token,
      json: { name: 'bot', scopes: ['api'] },
    });
    const bot = made.body.user_id as number;
    const long = { createdAt: `${day(400)}T10:00:00.000Z`, lastActivityOn: day(300) } as UserChange;
    await set(bot, long);
    await walk();
    expect([await state(id), await state(bot), await state(owner.id)]).toEqual([
      'blocked',
      'active',
      'active',
    ]);
  });

  test('depends on the configured days, at least 90, and never applies when disabled', async () => {
    const { id } = await person(400, 100);
    await changeSettings(service, { deactivate_dormant_users_period: 101 });
    await walk();
    await changeSettings(service, { deactivate_dormant_users: false, deactivate_dormant_users_period: 90 });
    await walk();
    expect(await state(id)).toBe('active');
    const few = await root('PUT', '/application/settings', { deactivate_dormant_users_period: 89 });
    expect([few.status, few.body]).toEqual([
      400,
      { message: { deactivate_dormant_users_period: ['must be greater than or equal to 90'] } },
    ]);
    // Before the first day there was nobody was here.
    await changeSettings(service, {
      deactivate_dormant_users: true,
      deactivate_dormant_users_period: 2_147_483_647,
    });
    expect(await walk()).toBeUndefined();
    expect(await state(id)).toBe('active');
    await changeSettings(service, { deactivate_dormant_users_period: 90 });
    await walk();
    expect(await state(id)).toBe('deactivated');
  });
});

test('dormant users are deactivated at noon, audited as the system, and lose access', async () => {
  const { id, username } = await person(400, null);
  const { body } = await root('POST', `/users/${id}/personal_access_tokens`, { name: 't', scopes: ['api'] });
  await noon();
  await expect.poll(() => state(id)).toBe('deactivated');
  expect((await service.call('GET', '/user', { token: body.token })).status).toBe(403);
  const events = await root('GET', `/audit_events?entity_type=User&entity_id=${id}`);
  expect(events.body[0]).toMatchObject({
    author_id: -1,
    details: { custom_message: 'Deactivated user', author_class: 'System', target_details: username },
  });
  const [mail] = await service.mailTo(`${username}@example.com`);
  expect(mail!.subject).toBe('Your account has been deactivated');
  expect(mail!.text).toContain(`your account "${username}" has been deactivated`);
  // A user who is activated again has as long as before to return.
  expect((await root('POST', `/users/${id}/activate`)).body).toBe(true);
  await set(id, { lastActivityOn: null });
  await walk();
  expect(await state(id)).toBe('active');
  await set(id, { activatedOn: day(90) });
  await walk();
  expect(await state(id)).toBe('deactivated');
});

test('a user active again before the job runs is kept, and the job may run twice', async () => {
  const { id } = await person(400, 300);
  const user = (await store().users.get(id))!;
  // Between what was read and what is written.
  await store().users.touch(id, day(0));
  const changed = store().users.update(user, { state: 'deactivated' }, { lastHereOn: user.lastActivityOn });
  await expect(changed).rejects.toThrow();
  await Promise.all([walk(), walk()]);
  expect(await state(id)).toBe('active');
  const others = await Promise.all([person(400, 300), person(400, null), person(400, 91)]);
  await Promise.all([walk(), walk(), walk()]);
  for (const other of others) {
    expect(await state(other.id)).toBe('deactivated');
    const events = await root('GET', `/audit_events?entity_type=User&entity_id=${other.id}`);
    const told = events.body.filter(
      (event: { details: { custom_message?: string } }) =>
        event.details.custom_message === 'Deactivated user',
    );
    expect(told).toHaveLength(1);
  }
});

test('the job on dormant users resumes page by page and stops when it starts too late', async () => {
  const first = await person(400, 300);
  const many = Array.from({ length: 120 }, (_, n) => n);
  for (let at = 0; at < many.length; at += 20)
    await Promise.all(many.slice(at, at + 20).map(() => person(400, 1)));
  const last = await person(400, 300);
  // Nothing is begun after the deadline.
  expect(await walk(0, Date.now() - 1)).toEqual({ after: 0 });
  expect(await state(first.id)).toBe('active');
  expect(await walk(first.id)).toBeUndefined();
  expect([await state(first.id), await state(last.id)]).toEqual(['active', 'deactivated']);
  expect(await walk()).toBeUndefined();
  expect(await state(first.id)).toBe('deactivated');
});

describe('mail about deactivation', () => {
  const promised = async ({ id }: { id: number }) =>
    (await deactivation(deps(), SYSTEM, (await store().users.get(id))!)).messages!.map(
      ({ body }) => body['to'],
    );

  test('is also sent when an administrator deactivates the user', async () => {
    const { id, username } = await person(400, 300);
    expect((await root('POST', `/users/${id}/deactivate`)).body).toBe(true);
    expect(await service.mailTo(`${username}@example.com`)).toHaveLength(1);
    // Who is deactivated already is told nothing again.
    expect((await root('POST', `/users/${id}/deactivate`)).body).toBe(null);
  });

  test('has the user’s name on one line, whatever it contains', async () => {
    const name = 'Eve,\n\nyour account moved to https://evil.example.\u202e\n\nHello';
    const { id } = await person(400, 300, { name });
    const planned = await deactivation(deps(), SYSTEM, (await store().users.get(id))!);
    expect(String(planned.messages![0]!.body['text']).split('\n')[0]).toBe(
      'Hello Eve, your account moved to https://evil.example. Hello,',
    );
  });

  test('goes to confirmed addresses, while the instance sends it', async () => {
    const [sure, unconfirmed] = [
      await person(400, 300),
      await person(400, 300, { skip_confirmation: false }),
    ];
    expect(await promised(sure)).toEqual([`${sure.username}@example.com`]);
    expect(await promised(unconfirmed)).toEqual([]);
    await changeSettings(service, { user_deactivation_emails_enabled: false });
    expect(await promised(sure)).toEqual([]);
    expect((await root('POST', `/users/${sure.id}/deactivate`)).body).toBe(true);
  });
});
