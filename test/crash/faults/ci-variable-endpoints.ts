import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, endpoint, flip, found } from './sent.ts';

const PLACES = ['/projects/:id/variables', '/groups/:id/variables', '/admin/ci/variables'] as const;

/** Writes of variables of projects, groups and the instance. */
export const ciVariableWrites: readonly Operation[] = PLACES.flatMap((place) => [
  endpoint(`POST ${place}`, async (fixtures) => {
    const { path, token, key } = await inPlace(fixtures, place);
    const json = { key, value: 'one', environment_scope: '*' };
    return { path, token, json, state: () => found(fixtures, `${path}/${key}`, token) };
  }),
  endpoint(`PUT ${place}/:key`, async (fixtures) => {
    const { path, token } = await variable(fixtures, place);
    const state = async () => {
      const { value, protected: guarded } = await fixtures.done('GET', path, { token });
      return after(`${value} ${guarded}`, 'one false', 'longer true');
    };
    return { path, token, json: { value: 'longer', protected: true }, state };
  }),
  endpoint(`DELETE ${place}/:key`, async (fixtures) => {
    const { path, token } = await variable(fixtures, place);
    return { path, token, state: async () => flip(await found(fixtures, path, token)) };
  }),
]);

async function inPlace(fixtures: Fixtures, place: (typeof PLACES)[number]) {
  const key = fixtures.fresh('KEY').replace('-', '_');
  if (place === '/admin/ci/variables') return { path: place, token: await emptied(fixtures), key };
  const { id, owner } = await fixtures.ground();
  const { token } = owner;
  if (place === '/projects/:id/variables') return { path: `/projects/${id}/variables`, token, key };
  const name = fixtures.fresh('group');
  const group = await fixtures.done('POST', '/groups', { token, json: { name, path: name } });
  return { path: `/groups/${group.id}/variables`, token, key };
}

/** Deletes the variables of the instance, which may be few. @returns the token of an administrator */
async function emptied(fixtures: Fixtures): Promise<string> {
  const token = fixtures.service.rootToken;
  for (const { key } of await fixtures.done('GET', '/admin/ci/variables?per_page=100', { token }))
    await fixtures.done('DELETE', `/admin/ci/variables/${key}`, { token });
  return token;
}

async function variable(fixtures: Fixtures, place: (typeof PLACES)[number]) {
  const { path, token, key } = await inPlace(fixtures, place);
  await fixtures.done('POST', path, { token, json: { key, value: 'one' } });
  return { path: `${path}/${key}`, token };
}
