import type { Operation } from './driver.ts';
import type { Scene, Someone } from './scene.ts';
import { after, endpoint, flip, found } from './sent.ts';

/** Writes of groups and of their members. */
export const groupWrites: readonly Operation[] = [
  endpoint('POST /groups', async (scene) => {
    const { token } = await scene.owner();
    const path = scene.fresh('group');
    const json = { name: path, path };
    return { path: '/groups', token, json, state: () => found(scene, `/groups/${path}`, token) };
  }),
  endpoint('PUT /groups/:id', async (scene) => {
    const { id, path, token } = await withGroup(scene);
    const state = async () =>
      after((await scene.done('GET', `/groups/${id}`, { token })).path, path, `${path}-on`);
    return { path: `/groups/${id}`, token, json: { path: `${path}-on` }, state };
  }),
  endpoint('DELETE /groups/:id', async (scene) => {
    const { id, token } = await withGroup(scene);
    const path = `/groups/${id}`;
    return { path, token, state: async () => flip(await found(scene, path, token)) };
  }),
  endpoint('POST /groups/:id/restore', async (scene) => {
    const { id, token } = await withGroup(scene);
    const group = (await scene.store.groups.get(id))!;
    const deletion = { askedAt: group.createdAt, dueOn: '2999-01-01' };
    await scene.store.groups.update(group, { deletion });
    const state = async () =>
      after(
        (await scene.done('GET', `/groups/${id}`, { token })).marked_for_deletion_on,
        deletion.askedAt.slice(0, 10),
        null,
      );
    return { path: `/groups/${id}/restore`, token, state };
  }),
  endpoint('POST /groups/:id/transfer', async (scene) => {
    const [into, { id, token }] = [await withGroup(scene), await withGroup(scene)];
    const state = async () =>
      after((await scene.done('GET', `/groups/${id}`, { token })).parent_id as number | null, null, into.id);
    return { path: `/groups/${id}/transfer`, token, json: { group_id: into.id }, state };
  }),
  endpoint('POST /groups/:id/share', async (scene) => {
    const [invited, { id, token }] = [await withGroup(scene), await withGroup(scene)];
    const json = { group_id: invited.id, group_access: 30 };
    return { path: `/groups/${id}/share`, token, json, state: () => shared(scene, id, token) };
  }),
  endpoint('DELETE /groups/:id/share/:group_id', async (scene) => {
    const [invited, { id, token }] = [await withGroup(scene), await withGroup(scene)];
    const json = { group_id: invited.id, group_access: 30 };
    await scene.done('POST', `/groups/${id}/share`, { token, json });
    const path = `/groups/${id}/share/${invited.id}`;
    return { path, token, state: async () => flip(await shared(scene, id, token)) };
  }),
  endpoint('POST /groups/:id/members', async (scene) => {
    const { id, token } = await withGroup(scene);
    const user = await scene.guest();
    const path = `/groups/${id}/members`;
    const json = { user_id: user.id, access_level: 50 };
    return { path, token, json, state: () => found(scene, `${path}/${user.id}`, token) };
  }),
  endpoint('PUT /groups/:id/members/:user_id', async (scene) => {
    const { token, path } = await withOwner(scene);
    const state = async () => after((await scene.done('GET', path, { token })).access_level, 50, 20);
    return { path, token, json: { access_level: 20 }, state };
  }),
  endpoint('DELETE /groups/:id/members/:user_id', async (scene) => {
    const { token, path } = await withOwner(scene);
    return { path, token, state: async () => flip(await found(scene, path, token)) };
  }),
];

async function withGroup(scene: Scene): Promise<{ id: number; path: string; token: string; owner: Someone }> {
  const owner = await scene.owner();
  const path = scene.fresh('group');
  const { token } = owner;
  const { id } = await scene.done('POST', '/groups', { token, json: { name: path, path } });
  return { id, path, token, owner };
}

/** A group with another owner, who is to go. */
async function withOwner(scene: Scene): Promise<{ token: string; path: string }> {
  const { id, token } = await withGroup(scene);
  const user = await scene.guest();
  const json = { user_id: user.id, access_level: 50 };
  await scene.done('POST', `/groups/${id}/members`, { token, json });
  return { token, path: `/groups/${id}/members/${user.id}` };
}

async function shared(scene: Scene, id: number, token: string): Promise<string> {
  const group = await scene.done('GET', `/groups/${id}`, { token });
  return group.shared_with_groups.length === 0 ? 'before' : 'after';
}
