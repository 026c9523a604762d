import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, counted, countOf, endpoint, flip } from './sent.ts';

const SETTINGS = '/projects/:id/error_tracking/settings';
const KEYS = '/projects/:id/error_tracking/client_keys';

/** Writes of the settings of error tracking and of client keys. */
export const errorTrackingWrites: readonly Operation[] = [
  endpoint(`PUT ${SETTINGS}`, async (fixtures) => {
    const { path, token } = await tracked(fixtures, 'settings');
    const state = async () => {
      const { status } = await fixtures.service.call('GET', path, { token });
      return after(status, 404, 200);
    };
    return { path, token, json: { active: true, integrated: true }, state };
  }),
  endpoint(`PATCH ${SETTINGS}`, async (fixtures) => {
    const { path, token } = await tracked(fixtures, 'settings');
    await fixtures.done('PUT', path, { token, json: { active: false, integrated: true } });
    const state = async () => after((await fixtures.done('GET', path, { token })).active, false, true);
    return { path, token, json: { active: true }, state };
  }),
  endpoint(`POST ${KEYS}`, async (fixtures) => {
    const { path, token } = await tracked(fixtures, 'client_keys');
    return { path, token, state: () => counted(fixtures, path, token) };
  }),
  endpoint(`DELETE ${KEYS}/:key_id`, async (fixtures) => {
    const { path, token } = await tracked(fixtures, 'client_keys');
    const { id } = await fixtures.done('POST', path, { token });
    return { path: `${path}/${id}`, token, state: async () => flip(await counted(fixtures, path, token)) };
  }),
  endpoint('PUT /projects/:id/error_tracking/errors/:error_id', async (fixtures) => {
    const { errors, collector, token } = await collecting(fixtures);
    await fixtures.done('POST', collector('store'), { token, json: { message: 'x' } });
    await fixtures.settle();
    const [{ id }] = await fixtures.done('GET', errors, { token });
    const path = `${errors}/${id}`;
    const state = async () =>
      after((await fixtures.done('GET', path, { token })).status, 'unresolved', 'ignored');
    return { path, token, json: { status: 'ignored' }, state };
  }),
  ...(['store', 'envelope'] as const).map((kind) =>
    endpoint(`POST /error_tracking/collector/api/:id/${kind}`, async (fixtures) => {
      const { errors, collector, token } = await collecting(fixtures);
      const raw = kind === 'store' ? '{"message":"x"}' : '{}\n{"type":"event"}\n{"message":"x"}';
      const state = async () => {
        await fixtures.settle();
        return countOf(await fixtures.done('GET', errors, { token }));
      };
      return { path: collector(kind), token, raw, state };
    }),
  ),
];

/** What a worker does for an error. A message that comes again has the id that it had. */
export const errorTrackingJobs: readonly Operation[] = [
  {
    name: 'job: an error of a program is noted',
    async prepare(fixtures) {
      const { id: projectId, errors, token } = await collecting(fixtures);
      const sent = {
        ...{ eventId: '0', fingerprint: 'x', name: 'x', description: null, actor: null, platform: null },
        ...{ level: null, environment: null, occurredAt: new Date().toISOString(), payload: '{}' },
      };
      const id = fixtures.fresh('message');
      const Body = JSON.stringify({ id, type: 'error-tracking.note', body: { projectId, sent } });
      const state = async () => {
        const all: { count: number }[] = await fixtures.done('GET', errors, { token });
        return all.length === 1 && all[0]!.count !== 1 ? `counts ${all[0]!.count}` : countOf(all);
      };
      return { run: () => fixtures.attempt('maintenance', { MessageId: id, Body }), state };
    },
  },
];

async function collecting(fixtures: Fixtures) {
  const { id, owner } = await fixtures.ownGround();
  const { token } = owner;
  const path = `/projects/${id}/error_tracking`;
  await fixtures.done('PUT', `${path}/settings`, { token, json: { active: true, integrated: true } });
  const { public_key: key } = await fixtures.done('POST', `${path}/client_keys`, { token });
  const collector = (kind: string) => `/error_tracking/collector/api/${id}/${kind}?sentry_key=${key}`;
  return { id, errors: `${path}/errors`, collector, token };
}

async function tracked(fixtures: Fixtures, what: string) {
  const { id, owner } = await fixtures.ownGround();
  return { path: `/projects/${id}/error_tracking/${what}`, token: owner.token };
}
