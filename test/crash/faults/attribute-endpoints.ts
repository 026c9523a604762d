import type { Operation } from './driver.ts';
import type { Scene } from './scene.ts';
import { endpoint, flip, found } from './sent.ts';

/** Writes of custom attributes. */
export const attributeWrites: readonly Operation[] = (['user', 'group', 'project'] as const).flatMap(
  (kind) => [
    endpoint(`PUT /${kind}s/:id/custom_attributes/:key`, async (scene) => {
      const { path, token } = await attribute(scene, kind);
      return { path, token, json: { value: 'blue' }, state: () => found(scene, path, token) };
    }),
    endpoint(`DELETE /${kind}s/:id/custom_attributes/:key`, async (scene) => {
      const { path, token } = await attribute(scene, kind);
      await scene.done('PUT', path, { token, json: { value: 'blue' } });
      return { path, token, state: async () => flip(await found(scene, path, token)) };
    }),
  ],
);

async function attribute(scene: Scene, kind: 'user' | 'group' | 'project') {
  const { id: userId, token: owner } = await scene.owner();
  const name = scene.fresh(kind);
  const json = { name, path: name };
  const id =
    kind === 'user' ? userId : ((await scene.done('POST', `/${kind}s`, { token: owner, json })).id as number);
  return {
    path: `/${kind}s/${id}/custom_attributes/${scene.fresh('attribute')}`,
    token: scene.service.rootToken,
  };
}
