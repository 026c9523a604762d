import type { Operation } from './driver.ts';
import type { Fixtures, Someone } from './fixtures.ts';
import { after, endpoint, flip, found } from './sent.ts';

/** Writes of groups and of their members. */
export const groupWrites: readonly Operation[] = [
  endpoint('POST /groups', async (fixtures) => {
    const { token } = await fixtures.owner();
    const path = fixtures.fresh('group');
    const json = { name: path, path };
    return { path: '/groups', token, json, state: () => found(fixtures, `/groups/${path}`, token) };
  }),
  endpoint('PUT /groups/:id', async (fixtures) => {
    const { id, path, token } = await withGroup(fixtures);
    const state = async () =>
      after((await fixtures.done('GET', `/groups/${id}`, { token })).path, path, `${path}-on`);
    return { path: `/groups/${id}`, token, json: { path: `${path}-on` }, state };
  }),
  endpoint('DELETE /groups/:id', async (fixtures) => {
    const { id, token } = await withGroup(fixtures);
    const path = `/groups/${id}`;
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
  endpoint('POST /groups/:id/restore', async (fixtures) => {
    const { id, token } = await withGroup(fixtures);
    const group = (await fixtures.store.groups.get(id))!;
    const deletion = { askedAt: group.createdAt, dueOn: '2999-01-01' };
    await fixtures.store.groups.update(group, { deletion });
    const state = async () =>
      after(
        (await fixtures.done('GET', `/groups/${id}`, { token })).marked_for_deletion_on,
        deletion.askedAt.slice(0, 10),
        null,
      );
    return { path: `/groups/${id}/restore`, token, state };
  }),
  endpoint('POST /groups/:id/transfer', async (fixtures) => {
    const [into, { id, token }] = [await withGroup(fixtures), await withGroup(fixtures)];
    const state = async () =>
      after(
        (await fixtures.done('GET', `/groups/${id}`, { token })).parent_id as number | null,
        null,
        into.id,
      );
    return { path: `/groups/${id}/transfer`, token, json: { group_id: into.id }, state };
  }),
  endpoint('POST /groups/:id/share', async (fixtures) => {
    const [invited, { id, token }] = [await withGroup(fixtures), await withGroup(fixtures)];
    const json = { group_id: invited.id, group_access: 30 };
    return { path: `/groups/${id}/share`, token, json, state: () => shared(fixtures, id, token) };
  }),
  endpoint('DELETE /groups/:id/share/:group_id', async (fixtures) => {
    const [invited, { id, token }] = [await withGroup(fixtures), await withGroup(fixtures)];
    const json = { group_id: invited.id, group_access: 30 };
    await fixtures.done('POST', `/groups/${id}/share`, { token, json });
    const path = `/groups/${id}/share/${invited.id}`;
    return { path, token, state: async () => flip(await shared(fixtures, id, token)) };
  }),
  endpoint('POST /groups/:id/members', async (fixtures) => {
    const { id, token } = await withGroup(fixtures);
    const user = await fixtures.guest();
    const path = `/groups/${id}/members`;
    const json = { user_id: user.id, access_level: 50 };
    return { path, token, json, state: () => found(fixtures, `${path}/${user.id}`, token) };
  }),
  endpoint('PUT /groups/:id/members/:user_id', async (fixtures) => {
    const { token, path } = await withOwner(fixtures);
    const state = async () => after((await fixtures.done('GET', path, { token })).access_level, 50, 20);
    return { path, token, json: { access_level: 20 }, state };
  }),
  endpoint('DELETE /groups/:id/members/:user_id', async (fixtures) => {
    const { token, path } = await withOwner(fixtures);
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
];

async function withGroup(
  fixtures: Fixtures,
): Promise<{ id: number; path: string; token: string; owner: Someone }> {
  const owner = await fixtures.owner();
  const path = fixtures.fresh('group');
  const { token } = owner;
  const { id } = await fixtures.done('POST', '/groups', { token, json: { name: path, path } });
  return { id, path, token, owner };
}

/** A group with another owner, who is to go. */
async function withOwner(fixtures: Fixtures): Promise<{ token: string; path: string }> {
  const { id, token } = await withGroup(fixtures);
  const user = await fixtures.guest();
  const json = { user_id: user.id, access_level: 50 };
  await fixtures.done('POST', `/groups/${id}/members`, { token, json });
  return { token, path: `/groups/${id}/members/${user.id}` };
}

async function shared(fixtures: Fixtures, id: number, token: string): Promise<string> {
  const group = await fixtures.done('GET', `/groups/${id}`, { token });
  return group.shared_with_groups.length === 0 ? 'before' : 'after';
}
