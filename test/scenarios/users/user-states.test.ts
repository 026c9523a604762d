/** Who may sign in, who follows whom, what one says of oneself, and what administrators look up. */
import { describe, expect, test } from 'vitest';
import type { UserChange } from '../../../lib/store/users/users.ts';
import { ownWorld } from '../../harness/own-world.ts';
import { ADMIN_ONLY, absent } from '../../harness/refusals.ts';
import { scenarios } from '../../harness/scenarios.ts';
import { expectSchema } from '../../harness/schemas.ts';
import type { Answer } from '../../harness/service.ts';

const { service, world, as, root, someone } = ownWorld();

const set = async (id: number, change: UserChange) =>
  world.store.users.update((await world.store.users.get(id))!, change);

describe('user state changes', () => {
  const transitions = ['block', 'unblock', 'ban', 'unban', 'deactivate', 'activate', 'approve', 'reject'];
  scenarios(
    () => world,
    transitions.map((name) => ({
      request: `POST /users/999999/${name}`,
      as: { ...ADMIN_ONLY, administrator: absent('User') },
    })),
  );

  const blocked = 'Your account has been blocked.';
  const reason = (text: string) => ({ message: `403 Forbidden - ${text}` });
  test.each([
    ['active', 'block', 201, true, 'blocked'],
    ['blocked', 'block', 201, null, 'blocked'],
    ['blocked', 'unblock', 201, true, 'active'],
    ['active', 'unblock', 201, false, 'active'],
    ['banned', 'block', 201, null, 'banned'],
    ['blocked_pending_approval', 'block', 201, null, 'blocked_pending_approval'],
    [
      'deactivated',
      'unblock',
      403,
      reason('Deactivated users cannot be unblocked by the API'),
      'deactivated',
    ],
    ['banned', 'unblock', 403, reason('Banned users cannot be unblocked by the API'), 'banned'],
    ['active', 'ban', 201, true, 'banned'],
    ['blocked', 'ban', 403, { message: 'You cannot ban blocked users.' }, 'blocked'],
    ['banned', 'unban', 201, true, 'active'],
    ['active', 'unban', 403, { message: 'You cannot unban active users.' }, 'active'],
    ['active', 'deactivate', 201, true, 'deactivated'],
    ['deactivated', 'deactivate', 201, null, 'deactivated'],
    ['blocked', 'deactivate', 403, reason('A blocked user cannot be deactivated by the API'), 'blocked'],
    ['deactivated', 'activate', 201, true, 'active'],
    ['active', 'activate', 201, null, 'active'],
    ['blocked', 'activate', 403, reason('A blocked user must be unblocked to be activated'), 'blocked'],
    ['blocked_pending_approval', 'approve', 201, { message: 'Success' }, 'active'],
    [
      'active',
      'approve',
      409,
      { message: 'The user you are trying to approve is not pending approval' },
      'active',
    ],
    ['active', 'reject', 409, { message: 'User does not have a pending request' }, 'active'],
    ['blocked_pending_approval', 'reject', 201, { message: 'Success' }, undefined],
  ] as const)('from %s by %s are answered with %i', async (state, transition, status, body, then) => {
    const { id } = await someone();
    await set(id, { state, lastActivityOn: null });
    const answer = await root('POST', `/users/${id}/${transition}`);
    expect([answer.status, answer.body]).toEqual([status, body]);
    expect((await world.store.users.get(id))?.state).toBe(then);
  });

  test('do not deactivate a user active within 90 days', async () => {
    const { id } = await someone();
    const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
    await set(id, { lastActivityOn: day(89) });
    const answer = await root('POST', `/users/${id}/deactivate`);
    expect([answer.status, answer.body]).toEqual([
      403,
      reason(
        'The user you are trying to deactivate has been active in the past 90 days and cannot be deactivated',
      ),
    ]);
    await set(id, { lastActivityOn: day(91) });
    expect((await root('POST', `/users/${id}/deactivate`)).status).toBe(201);
  });

  test('take effect on the next request to the API and to Git, and unblocking restores the tokens', async () => {
    const { id, token, username } = await someone();
    const git = () =>
      fetch(`${service.url}/owner/public-thing.git/info/refs?service=git-upload-pack`, {
        headers: { Authorization: `Basic ${btoa(`${username}:${token}`)}` },
      });
    expect([(await service.call('GET', '/user', { token })).status, (await git()).status]).toEqual([
      200, 200,
    ]);
    await root('POST', `/users/${id}/block`);
    const locked = await service.call('GET', '/user', { token });
    expect([locked.status, locked.body]).toEqual([403, reason(blocked)]);
    expect([401, 403]).toContain((await git()).status);
    await root('POST', `/users/${id}/unblock`);
    expect([(await service.call('GET', '/user', { token })).status, (await git()).status]).toEqual([
      200, 200,
    ]);
  });

  test('leave a user who waits for approval without any access', async () => {
    const { id, token } = await someone();
    await set(id, { state: 'blocked_pending_approval' });
    const answer = await service.call('GET', '/user', { token });
    expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining('pending approval')]);
    expect((await root('GET', `/users/${id}`)).body.state).toBe('blocked_pending_approval');
  });

  test('do not let an administrator block themselves, or two block each other', async () => {
    for (const transition of ['block', 'ban', 'deactivate']) {
      const own = await root('POST', `/users/${world.ids['administrator']}/${transition}`);
      expect([own.status, own.body.message]).toEqual([403, expect.stringMatching(/^403 Forbidden - /)]);
    }
    for (let n = 0; n < 3; n++) {
      const [a, b] = [await someone({ admin: true }), await someone({ admin: true })];
      const answers = await Promise.all([
        service.call('POST', `/users/${b.id}/block`, { token: a.token }),
        service.call('POST', `/users/${a.id}/block`, { token: b.token }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 403]);
    }
  });
});

describe('following users', () => {
  scenarios(
    () => world,
    [
      {
        request: 'POST /users/{guest}/follow',
        as: { anonymous: 401, stranger: 201, blocked: 403, expired: 401, read_user: 403 },
        holds: { username: 'guest' },
        look: ({ status, body }) => status === 201 && expectSchema('user/basic', body),
      },
      { request: 'POST /users/{guest}/follow', as: { guest: 304, stranger: 304, reporter: 201 } },
      { request: 'POST /users/999999/follow', as: { stranger: absent('User') } },
      {
        request: 'GET /users/{guest}/followers',
        as: { anonymous: 401, stranger: 200, read_user: 200, read_repository: 403 },
        holds: [{ username: 'stranger' }, { username: 'reporter' }],
      },
      { request: 'GET /users/{stranger}/following', as: { guest: 200 }, holds: [{ username: 'guest' }] },
      {
        request: 'GET /users/{guest}',
        as: { stranger: 200, guest: 200 },
        holds: (_, who) => ({ followers: 2, following: 0, is_followed: who === 'stranger' }),
      },
      { request: 'POST /users/{guest}/unfollow', as: { anonymous: 401, stranger: 201, guest: 304 } },
      { request: 'POST /users/{guest}/unfollow', as: { stranger: 304 } },
      { request: 'GET /users/{guest}', as: { stranger: 200 }, holds: { followers: 1, is_followed: false } },
    ],
  );

  test('counts once for five simultaneous requests', async () => {
    const { id } = await someone();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => as('stranger', 'POST', `/users/${id}/follow`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 304, 304, 304, 304]);
    expect((await world.store.users.get(id))!.followers).toBe(1);
  });

  test('is hidden for private profiles', async () => {
    const hidden = await someone({ private_profile: true });
    await as('stranger', 'POST', `/users/${hidden.id}/follow`);
    expect((await as('reporter', 'GET', `/users/${hidden.id}/followers`)).body).toEqual([]);
    expect((await as('reporter', 'GET', `/users/${hidden.id}`)).body).not.toHaveProperty('followers');
    const own = await service.call('GET', `/users/${hidden.id}`, { token: hidden.token });
    expect(own.body).toMatchObject({ followers: 1, created_at: expect.any(String) });
    expect((await root('GET', `/users/${hidden.id}/followers`)).body).toHaveLength(1);
  });
});

describe('the current user', () => {
  const nothing = ({ status, body }: Answer) => {
    if (status === 200) expect(body).toEqual({});
  };
  scenarios(
    () => world,
    [
      { request: 'GET /user/status', as: { anonymous: 401, stranger: 200, read_user: 200 }, look: nothing },
      {
        request: 'PUT /user/status',
        json: { message: 'at <lunch>', availability: 'busy', clear_status_after: '3_hours' },
        as: { anonymous: 401, stranger: 200, read_user: 403, blocked: 403 },
        holds: { emoji: 'speech_balloon', message: 'at <lunch>', availability: 'busy' },
        look: ({ status, body }) => {
          if (status !== 200) return;
          expect(body.message_html).not.toContain('<lunch>');
          const hours = (Date.parse(body.clear_status_at) - Date.now()) / 3_600_000;
          expect(Math.round(hours)).toBe(3);
        },
      },
      ...['{stranger}', 'stranger', 'STRANGER'].map((name) => ({
        request: `GET /users/${name}/status`,
        as: { anonymous: 200, guest: 200 },
        holds: { message: 'at <lunch>' },
      })),
      { request: 'GET /users/nobody/status', as: { anonymous: absent('User') } },
      { request: 'PUT /user/status', json: {}, as: { stranger: 200 }, look: nothing },
      { request: 'GET /users/{stranger}/status', as: { anonymous: 200 }, look: nothing },
      {
        request: 'PUT /user/status',
        json: { message: 'x'.repeat(101), emoji: 'not an emoji' },
        as: {
          stranger: {
            status: 400,
            holds: {
              message: {
                emoji: ['is not a valid emoji name'],
                message: ['is too long (maximum is 100 characters)'],
              },
            },
          },
        },
      },
      {
        request: 'PUT /user/status',
        json: { clear_status_after: 'never' },
        as: { stranger: { status: 400, holds: { error: 'clear_status_after does not have a valid value' } } },
      },
      {
        request: 'GET /user/preferences',
        as: { anonymous: 401, stranger: 200 },
        holds: { view_diffs_file_by_file: false, show_whitespace_in_diffs: true },
      },
      {
        request: 'PUT /user/preferences',
        json: { view_diffs_file_by_file: true, show_whitespace_in_diffs: false },
        as: { anonymous: 401, stranger: 200, read_user: 403 },
        holds: { view_diffs_file_by_file: true, show_whitespace_in_diffs: false },
      },
      {
        request: 'GET /user/preferences',
        as: { stranger: 200 },
        holds: { view_diffs_file_by_file: true, show_whitespace_in_diffs: false },
      },
      {
        request: 'PUT /user/preferences',
        json: {},
        as: {
          stranger: {
            status: 400,
            holds: {
              error:
                'view_diffs_file_by_file, show_whitespace_in_diffs are missing, at least one parameter must be provided',
            },
          },
        },
      },
      { request: 'GET /user_counts', as: { anonymous: 401, stranger: 200 }, holds: { todos: 0 } },
    ],
  );

  test('has a status that expires', async () => {
    await as('guest', 'PUT', '/user/status', { emoji: 'coffee', clear_status_after: '30_minutes' });
    const guest = (await world.store.users.get(world.ids['guest']!))!;
    await set(guest.id, { status: { ...guest.status!, clearAt: new Date(Date.now() - 1).toISOString() } });
    expect((await as('guest', 'GET', '/user/status')).body).toEqual({});
  });
});

describe('administrators’ look-ups of users', () => {
  scenarios(
    () => world,
    [
      {
        request: 'GET /users/{guest}/memberships',
        as: { ...ADMIN_ONLY, guest: 403, administrator: 200 },
        look: ({ status, body }) => {
          if (status !== 200) return;
          expectSchema('memberships', body);
          expect(body).toHaveLength(3);
          expect(body[0]).toMatchObject({
            source_type: 'Project',
            source_name: 'public thing',
            access_level: 10,
          });
        },
      },
      {
        request: 'GET /users/{guest}/memberships?type=Namespace',
        as: { administrator: 200 },
        look: ({ body }) => expect(body).toEqual([]),
      },
      {
        request: 'GET /users/{guest}/memberships?per_page=2&page=2',
        as: { administrator: 200 },
        look: ({ body, headers }) =>
          expect([body.length, headers.get('x-total'), headers.get('x-next-page')]).toEqual([1, '3', '']),
      },
      { request: 'GET /users/999999/memberships', as: { administrator: absent('User') } },
      {
        request: 'GET /users/{guest}/associations_count',
        as: { anonymous: 401, stranger: 403, owner: 403, guest: 200, administrator: 200 },
        holds: { groups_count: 0, projects_count: 3, issues_count: 0, merge_requests_count: 0 },
      },
      { request: 'GET /users/999999/associations_count', as: { administrator: absent('User') } },
      { request: 'GET /user/activities', as: { ...ADMIN_ONLY, administrator: 200 } },
    ],
  );

  test('list by last activity, oldest first', async () => {
    const people = [await someone(), await someone(), await someone()];
    const days = ['2031-03-03', '2031-01-01', '2031-02-02'];
    for (const [n, { id }] of people.entries()) await set(id, { lastActivityOn: days[n]! });
    const { body } = await root('GET', '/user/activities?from=2031-01-02');
    expect(body).toEqual(
      [people[2]!, people[0]!].map(({ username }, n) => ({
        username,
        last_activity_on: ['2031-02-02', '2031-03-03'][n],
        last_activity_at: `${['2031-02-02', '2031-03-03'][n]} 00:00:00`,
      })),
    );
  });

  test('find by a non-public address, which others cannot', async () => {
    const { id, username } = await someone();
    const search = `/users?search=${username}%40example.com`;
    expect((await root('GET', search)).body).toMatchObject([{ id }]);
    expect((await as('stranger', 'GET', search)).body).toEqual([]);
    await root('PUT', `/users/${id}`, { public_email: `${username}@example.com` });
    expect((await as('stranger', 'GET', search)).body).toMatchObject([{ id }]);
  });
});
