import { randomUUID } from 'node:crypto';
import { MAINTENANCE, messageInOrder, outboxWrites } from '../../../lib/store/outbox/outbox.ts';
import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, countOf } from './sent.ts';

/** Delivers the event before again: what a fault left of it would be delivered with the next, to hooks that are newer. */
let deliverRest: (() => Promise<unknown>) | undefined;

/** What workers do for hooks. A message that comes again has the id that it had. */
export const hookJobs: readonly Operation[] = [
  {
    name: 'job: an event waits for the hooks that hear of it',
    async prepare(fixtures) {
      await deliverRest?.();
      const { projectId, path, token } = await hooked(fixtures);
      const body = {
        actorId: null,
        baseUrl: 'http://localhost',
        at: new Date().toISOString(),
        scene: { kind: 'project', id: projectId, groupIds: [] },
        events: [{ kind: 'made', hook: 'pipeline_events', payload: { object_kind: 'pipeline' } }],
      };
      const promise = messageInOrder(MAINTENANCE, 'hook.tell', { list: `hooks/project/${projectId}`, body });
      // Its message has been sent: its row is gone.
      await fixtures.store.table.transact(outboxWrites([promise]).slice(1));
      const state = async () => countOf(await fixtures.done('GET', `${path}/events`, { token }));
      const run = again(fixtures, 'hook.tell', promise.body, promise.id);
      deliverRest = run;
      return { run, state };
    },
  },
  {
    name: 'job: an event waits for a hook and the integrations that hear of it, of the project and of the group',
    async prepare(fixtures) {
      const { owner } = await fixtures.ground();
      const { token } = owner;
      const name = fixtures.fresh('told');
      const group = await fixtures.done('POST', '/groups', { token, json: { name, path: name } });
      const json = { name: 'told', namespace_id: group.id };
      const { id: projectId } = await fixtures.done('POST', '/projects', { token, json });
      const chat = { webhook: 'https://chat.example.com/x', pipeline_events: true };
      const asked = { token, json: { ...chat, branches_to_be_notified: 'all' } };
      await fixtures.done('PUT', `/projects/${projectId}/integrations/slack`, asked);
      await fixtures.done('PUT', `/groups/${group.id}/integrations/mattermost`, asked);
      const hook = { url: 'https://example.com/hook', pipeline_events: true };
      const path = `/projects/${projectId}/hooks`;
      const { id: hookId } = await fixtures.done('POST', path, { token, json: hook });
      const body = {
        actorId: null,
        baseUrl: 'http://localhost',
        at: new Date().toISOString(),
        scene: { kind: 'project', id: projectId, groupIds: [group.id] },
        events: [
          {
            kind: 'made',
            hook: 'pipeline_events',
            payload: {
              object_kind: 'pipeline',
              object_attributes: { id: 1, ref: 'main', status: 'failed', duration: 1, sha: '1'.repeat(40) },
              project: { default_branch: 'main' },
            },
          },
        ],
      };
      const { integrations, hookDeliveries } = fixtures.store;
      const [own, inherited] = await Promise.all([
        integrations.get({ kind: 'project', id: projectId }, 'slack'),
        integrations.get({ kind: 'group', id: group.id }, 'mattermost'),
      ]);
      const listeners = [hookId as number, own!.id, inherited!.id];
      const state = async () => {
        const waiting = await Promise.all(listeners.map((id) => hookDeliveries.first(id)));
        const heard = waiting.filter((first) => first !== undefined).length;
        return heard === 0 ? 'before' : heard === 3 ? 'after' : `${heard} of 3 hear of it`;
      };
      return { run: again(fixtures, 'hook.tell', body), state };
    },
  },
  {
    name: 'job: the answer to a call of a hook is noted',
    async prepare(fixtures) {
      const { projectId, hookId, path, token } = await hooked(fixtures);
      await fixtures.done('POST', `${path}/test/push_events`, { token });
      const [{ id: deliveryId }] = await fixtures.done('GET', `${path}/events`, { token });
      const holder = randomUUID();
      await fixtures.store.hookDeliveries.take(hookId, holder, new Date(), 600_000);
      const outcome = { status: 200, headers: {}, body: 'thank you', milliseconds: 5 };
      const owner = { kind: 'project', id: projectId };
      const body = { owner, hookId, deliveryId, holder, outcome };
      const state = async () => {
        const [event] = await fixtures.done('GET', `${path}/events`, { token });
        return after(event.state, 'waiting', 'delivered');
      };
      return { run: again(fixtures, 'hook.called', body), state };
    },
  },
];

function again(fixtures: Fixtures, type: string, body: object, id = fixtures.fresh('message')) {
  const message = { MessageId: id, Body: JSON.stringify({ id, type, body }) };
  return () => fixtures.attempt('maintenance', message);
}

async function hooked(fixtures: Fixtures) {
  const { id: projectId, owner } = await fixtures.ground();
  const { token } = owner;
  const path = `/projects/${projectId}/hooks`;
  const json = { url: 'https://example.com/hook', pipeline_events: true };
  const { id: hookId } = await fixtures.done('POST', path, { token, json });
  return { projectId, hookId, token, path: `${path}/${hookId}` };
}
