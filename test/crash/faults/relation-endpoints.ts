import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, endpoint, flip } from './sent.ts';

/** Writes of what a project has to do with people and groups. */
export const relationWrites: readonly Operation[] = [
  endpoint('POST /projects/:id/star', async (fixtures) => {
    const { id, token } = await withProject(fixtures);
    return { path: `/projects/${id}/star`, token, state: () => starred(fixtures, id, token) };
  }),
  endpoint('POST /projects/:id/unstar', async (fixtures) => {
    const { id, token } = await withProject(fixtures);
    await fixtures.done('POST', `/projects/${id}/star`, { token });
    return {
      path: `/projects/${id}/unstar`,
      token,
      state: async () => flip(await starred(fixtures, id, token)),
    };
  }),
  endpoint('POST /projects/:id/share', async (fixtures) => {
    const { id, token } = await withProject(fixtures);
    const json = { group_id: await innerGroup(fixtures, token), group_access: 30 };
    return { path: `/projects/${id}/share`, token, json, state: () => shared(fixtures, id, token) };
  }),
  endpoint('DELETE /projects/:id/share/:group_id', async (fixtures) => {
    const { id, token } = await withProject(fixtures);
    const json = { group_id: await innerGroup(fixtures, token), group_access: 30 };
    await fixtures.done('POST', `/projects/${id}/share`, { token, json });
    const path = `/projects/${id}/share/${json.group_id}`;
    return { path, token, state: async () => flip(await shared(fixtures, id, token)) };
  }),
];

async function withProject(fixtures: Fixtures): Promise<{ id: number; token: string }> {
  const { token } = await fixtures.owner();
  const { id } = await fixtures.done('POST', '/projects', {
    token,
    json: { name: fixtures.fresh('related') },
  });
  return { id, token };
}

/** One that stands in another. */
async function innerGroup(fixtures: Fixtures, token: string): Promise<number> {
  const make = async (parent: object) => {
    const path = fixtures.fresh('group');
    const made = await fixtures.done('POST', '/groups', { token, json: { name: path, path, ...parent } });
    return made.id as number;
  };
  return make({ parent_id: await make({}) });
}

async function starred(fixtures: Fixtures, id: number, token: string): Promise<string> {
  const { star_count } = await fixtures.done('GET', `/projects/${id}`, { token });
  const starrers = await fixtures.done('GET', `/projects/${id}/starrers`, { token });
  return starrers.length === star_count ? after(star_count, 0, 1) : `${star_count} and ${starrers.length}`;
}

async function shared(fixtures: Fixtures, id: number, token: string): Promise<string> {
  const project = await fixtures.done('GET', `/projects/${id}`, { token });
  return after(project.shared_with_groups.length, 0, 1);
}
