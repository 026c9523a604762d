import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, endpoint } from './sent.ts';

const BASES = [
  ...(['/projects/:id/integrations', '/projects/:id/services'] as const),
  ...(['/groups/:id/integrations', '/integrations'] as const),
] as const;

const SLACK = { webhook: 'https://chat.example.com/hook' };

/** Writes of integrations, with their sealed secrets. */
export const integrationWrites: readonly Operation[] = BASES.flatMap((base) => [
  endpoint(`PUT ${base}/:slug`, async (fixtures) => {
    const { path, token } = await place(fixtures, base);
    const at = `${path}/asana`;
    // The project, or the instance, has had it in other runs.
    await fixtures.done('DELETE', at, { token });
    const state = async () => {
      const answer = await fixtures.service.call('GET', at, { token });
      return answer.status === 404 ? 'before' : after(answer.body.active, false, true);
    };
    return { path: at, token, json: { api_key: 'secret' }, state };
  }),
  endpoint(`DELETE ${base}/:slug`, async (fixtures) => {
    const { path, token } = await place(fixtures, base);
    const at = `${path}/slack`;
    await fixtures.done('PUT', at, { token, json: SLACK });
    const state = async () => {
      const { active } = await fixtures.done('GET', at, { token });
      return after(active, true, false);
    };
    return { path: at, token, state };
  }),
]);

async function place(fixtures: Fixtures, base: (typeof BASES)[number]) {
  const name = base.split('/').at(-1)!;
  if (base.startsWith('/projects')) {
    const { id, owner } = await fixtures.ground();
    return { path: `/projects/${id}/${name}`, token: owner.token };
  }
  if (base === '/integrations') return { path: base, token: fixtures.service.rootToken };
  const { token } = await fixtures.owner();
  const fresh = fixtures.fresh('group');
  const { id } = await fixtures.done('POST', '/groups', { token, json: { name: fresh, path: fresh } });
  return { path: `/groups/${id}/${name}`, token };
}
