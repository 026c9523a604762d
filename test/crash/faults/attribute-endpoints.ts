import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { endpoint, flip, found } from './sent.ts';

/** Writes of custom attributes. */
export const attributeWrites: readonly Operation[] = (['user', 'group', 'project'] as const).flatMap(
  (kind) => [
    endpoint(`PUT /${kind}s/:id/custom_attributes/:key`, async (fixtures) => {
      const { path, token } = await attribute(fixtures, kind);
      return { path, token, json: { value: 'blue' }, state: () => found(fixtures, path, token) };
    }),
    endpoint(`DELETE /${kind}s/:id/custom_attributes/:key`, async (fixtures) => {
      const { path, token } = await attribute(fixtures, kind);
      await fixtures.done('PUT', path, { token, json: { value: 'blue' } });
      return { path, token, state: async () => flip(await found(fixtures, path, token)) };
    }),
  ],
);

async function attribute(fixtures: Fixtures, kind: 'user' | 'group' | 'project') {
  const { id: userId, token: owner } = await fixtures.owner();
  const name = fixtures.fresh(kind);
  const json = { name, path: name };
  const id =
    kind === 'user'
      ? userId
      : ((await fixtures.done('POST', `/${kind}s`, { token: owner, json })).id as number);
  return {
    path: `/${kind}s/${id}/custom_attributes/${fixtures.fresh('attribute')}`,
    token: fixtures.service.rootToken,
  };
}
