import type { UserChange } from '../../../lib/store/users/users.ts';
import type { Operation } from './driver.ts';
import type { Fixtures, Someone } from './fixtures.ts';
import { after, answered, endpoint, flip, found, type Sent } from './sent.ts';

/** Writes of accounts, and of what people say of themselves. */
export const userWrites: readonly Operation[] = [
  endpoint('PUT /users/:id', async (fixtures) => {
    const { id, username } = await someone(fixtures);
    const path = `/users/${id}`;
    const json = {
      username: `${username}-on`,
      email: `${username}-on@example.com`,
      skip_reconfirmation: true,
      extern_uid: username,
      provider: 'faults',
    };
    const state = async () => {
      const user = await fixtures.done('GET', path, { token: fixtures.service.rootToken });
      const all = [user.username, user.email, user.identities.length].join();
      return after(
        all,
        `${username},${username}@example.com,0`,
        `${username}-on,${username}-on@example.com,1`,
      );
    };
    return { path, json, token: fixtures.service.rootToken, state };
  }),
  endpoint('DELETE /users/:id', async (fixtures) => {
    const { id } = await someone(fixtures);
    const path = `/users/${id}`;
    const { rootToken: token } = fixtures.service;
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
  endpoint('DELETE /users/:id/identities/:provider', async (fixtures) => {
    const { id, username } = await someone(fixtures);
    const { rootToken: token } = fixtures.service;
    await fixtures.done('PUT', `/users/${id}`, { token, json: { extern_uid: username, provider: 'faults' } });
    const state = async () =>
      after((await fixtures.done('GET', `/users/${id}`, { token })).identities.length as number, 1, 0);
    return { path: `/users/${id}/identities/faults`, token, state };
  }),
  transition('block', {}, 'active', 'blocked'),
  transition('unblock', { state: 'blocked' }, 'blocked', 'active'),
  transition('ban', {}, 'active', 'banned'),
  transition('unban', { state: 'banned' }, 'banned', 'active'),
  transition('deactivate', { lastActivityOn: null }, 'active', 'deactivated'),
  transition('activate', { state: 'deactivated' }, 'deactivated', 'active'),
  transition('approve', { state: 'blocked_pending_approval' }, 'blocked_pending_approval', 'active'),
  transition('reject', { state: 'blocked_pending_approval' }, 'blocked_pending_approval', undefined),
  endpoint('POST /users/:id/follow', (fixtures) => following(fixtures, 'follow')),
  endpoint('POST /users/:id/unfollow', async (fixtures) => {
    const sent = await following(fixtures, 'unfollow');
    await fixtures.done('POST', sent.path.replace('unfollow', 'follow'), { token: sent.token });
    return { ...sent, state: async () => flip(await sent.state()) };
  }),
  endpoint('PUT /user/status', async (fixtures) => {
    const { token } = await someone(fixtures);
    const state = async () =>
      after(
        (await fixtures.done('GET', '/user/status', { token })).message as string | undefined,
        undefined,
        'away',
      );
    return { path: '/user/status', token, json: { message: 'away' }, state };
  }),
  endpoint('PUT /user/preferences', async (fixtures) => {
    const { token } = await someone(fixtures);
    const path = '/user/preferences';
    const state = async () =>
      after((await fixtures.done('GET', path, { token })).show_whitespace_in_diffs as boolean, true, false);
    return { path, token, json: { show_whitespace_in_diffs: false }, state };
  }),
  endpoint('PUT /user/avatar', async (fixtures) => {
    const { token } = await someone(fixtures);
    const path = '/user/avatar';
    const raw = new FormData();
    raw.set('avatar', new Blob(['GIF89a\x01\0\x01\0\0\0\0']), 'a.gif');
    await fixtures.done('PUT', path, { token, raw });
    const state = async () =>
      after((await fixtures.done('GET', '/user', { token })).avatar_url === null, false, true);
    return { path, token, json: { avatar: '' }, state };
  }),
];

const someone = (fixtures: Fixtures): Promise<Someone> => fixtures.service.user(fixtures.fresh('account'));

function transition(name: string, change: UserChange, before: string, then: string | undefined): Operation {
  return endpoint(`POST /users/:id/${name}`, async (fixtures) => {
    const { id } = await someone(fixtures);
    await fixtures.store.users.update((await fixtures.store.users.get(id))!, change);
    const state = async () =>
      after((await fixtures.store.users.get(id))?.state, before as 'active', then as 'active');
    return { path: `/users/${id}/${name}`, token: fixtures.service.rootToken, state };
  });
}

/** Row and counts go together. */
async function following(fixtures: Fixtures, name: string): Promise<Sent> {
  const [follower, followed] = [await someone(fixtures), await someone(fixtures)];
  const { rootToken: token } = fixtures.service;
  const state = async () => {
    const [one, other] = await Promise.all(
      [follower, followed].map(({ id }) => fixtures.done('GET', `/users/${id}`, { token })),
    );
    const list = await fixtures.service.call('GET', `/users/${followed.id}/followers`, { token });
    if (list.status !== 200) return answered(list);
    return after([one.following, other.followers, list.body.length].join(), '0,0,0', '1,1,1');
  };
  return { path: `/users/${followed.id}/${name}`, token: follower.token, state };
}
