import type { Operation } from './driver.ts';
import type { Scene } from './scene.ts';
import { after, endpoint, flip } from './sent.ts';

/** Writes of what a project has to do with people and groups. */
export const relationWrites: readonly Operation[] = [
  endpoint('POST /projects/:id/star', async (scene) => {
    const { id, token } = await withProject(scene);
    return { path: `/projects/${id}/star`, token, state: () => starred(scene, id, token) };
  }),
  endpoint('POST /projects/:id/unstar', async (scene) => {
    const { id, token } = await withProject(scene);
    await scene.done('POST', `/projects/${id}/star`, { token });
    return {
      path: `/projects/${id}/unstar`,
      token,
      state: async () => flip(await starred(scene, id, token)),
    };
  }),
  endpoint('POST /projects/:id/share', async (scene) => {
    const { id, token } = await withProject(scene);
    const json = { group_id: await innerGroup(scene, token), group_access: 30 };
    return { path: `/projects/${id}/share`, token, json, state: () => shared(scene, id, token) };
  }),
  endpoint('DELETE /projects/:id/share/:group_id', async (scene) => {
    const { id, token } = await withProject(scene);
    const json = { group_id: await innerGroup(scene, token), group_access: 30 };
    await scene.done('POST', `/projects/${id}/share`, { token, json });
    const path = `/projects/${id}/share/${json.group_id}`;
    return { path, token, state: async () => flip(await shared(scene, id, token)) };
  }),
];

async function withProject(scene: Scene): Promise<{ id: number; token: string }> {
  const { token } = await scene.owner();
  const { id } = await scene.done('POST', '/projects', { token, json: { name: scene.fresh('related') } });
  return { id, token };
}

/** One that stands in another. */
async function innerGroup(scene: Scene, token: string): Promise<number> {
  const make = async (parent: object) => {
    const path = scene.fresh('group');
    const made = await scene.done('POST', '/groups', { token, json: { name: path, path, ...parent } });
    return made.id as number;
  };
  return make({ parent_id: await make({}) });
}

async function starred(scene: Scene, id: number, token: string): Promise<string> {
  const { star_count } = await scene.done('GET', `/projects/${id}`, { token });
  const starrers = await scene.done('GET', `/projects/${id}/starrers`, { token });
  return starrers.length === star_count ? after(star_count, 0, 1) : `${star_count} and ${starrers.length}`;
}

async function shared(scene: Scene, id: number, token: string): Promise<string> {
  const project = await scene.done('GET', `/projects/${id}`, { token });
  return after(project.shared_with_groups.length, 0, 1);
}
