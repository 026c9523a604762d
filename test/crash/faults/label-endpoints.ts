import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, endpoint, flip, found } from './sent.ts';

const COLOR = '#ff0000';

/** Writes of labels, of projects and of groups. */
export const labelWrites: readonly Operation[] = (['project', 'group'] as const).flatMap((kind) => [
  endpoint(`POST /${kind}s/:id/labels`, async (fixtures) => {
    const { path, token } = await container(fixtures, kind);
    return {
      path,
      token,
      json: { name: 'bug', color: COLOR },
      state: () => counted(fixtures, path, token),
    };
  }),
  ...(['path', 'body'] as const).map((place) =>
    endpoint(`PUT /${kind}s/:id/labels${place === 'path' ? '/:name' : ''}`, async (fixtures) => {
      const { path, token } = await withLabel(fixtures, kind);
      const json = { new_name: 'defect', ...(place === 'path' ? {} : { name: 'bug' }) };
      const state = async () => {
        const listed = await fixtures.done('GET', path, { token });
        return after(listed.map(({ name }: { name: string }) => name).join(), 'bug', 'defect');
      };
      return { path: place === 'path' ? `${path}/bug` : path, token, json, state };
    }),
  ),
  ...(['path', 'query'] as const).map((place) =>
    endpoint(`DELETE /${kind}s/:id/labels${place === 'path' ? '/:name' : ''}`, async (fixtures) => {
      const { path, token } = await withLabel(fixtures, kind);
      return {
        path: place === 'path' ? `${path}/bug` : `${path}?name=bug`,
        token,
        state: async () => flip(await counted(fixtures, path, token)),
      };
    }),
  ),
  ...(['subscribe', 'unsubscribe'] as const).map((name) =>
    endpoint(`POST /${kind}s/:id/labels/:name/${name}`, async (fixtures) => {
      const { path, token } = await withLabel(fixtures, kind);
      if (name === 'unsubscribe') await fixtures.done('POST', `${path}/bug/subscribe`, { token });
      const state = async () => {
        const { subscribed } = await fixtures.done('GET', `${path}/bug`, { token });
        return after(subscribed, name === 'unsubscribe', name === 'subscribe');
      };
      return { path: `${path}/bug/${name}`, token, state };
    }),
  ),
  ...(kind === 'group'
    ? []
    : [
        endpoint('PUT /projects/:id/labels/:name/promote', async (fixtures) => {
          const { path: group, token, id: namespace_id } = await container(fixtures, 'group');
          const json = { name: fixtures.fresh('labelled'), namespace_id };
          const { id } = await fixtures.done('POST', '/projects', { token, json });
          await fixtures.done('POST', `/projects/${id}/labels`, {
            token,
            json: { name: 'bug', color: COLOR },
          });
          const state = () => found(fixtures, `${group}/bug`, token);
          return { path: `/projects/${id}/labels/bug/promote`, token, state };
        }),
      ]),
]);

/** A new project or group without labels. */
async function container(
  fixtures: Fixtures,
  kind: 'project' | 'group',
): Promise<{ readonly id: number; readonly path: string; readonly token: string }> {
  const { token } = await fixtures.owner();
  const name = fixtures.fresh('labelled');
  const json = { name, path: name };
  const { id } = await fixtures.done('POST', `/${kind}s`, { token, json });
  return { id, path: `/${kind}s/${id}/labels`, token };
}

async function withLabel(fixtures: Fixtures, kind: 'project' | 'group') {
  const made = await container(fixtures, kind);
  const json = { name: 'bug', color: COLOR };
  await fixtures.done('POST', made.path, { token: made.token, json });
  return made;
}
