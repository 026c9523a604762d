import type { Operation } from './driver.ts';
import type { Fixtures } from './fixtures.ts';
import { after, endpoint, type Sent } from './sent.ts';

/** Notification settings: level, events and, for the global ones, the watcher index change together. */
export const notificationWrites: readonly Operation[] = [
  endpoint('PUT /notification_settings', async (fixtures) => {
    const { id, token } = await fixtures.service.user(fixtures.fresh('reader'));
    const { state, ...sent } = choice(fixtures, '', token);
    const { notificationSettings } = fixtures.store;
    return {
      ...sent,
      state: async () => {
        const { ids } = await notificationSettings.globalSubscribers(id - 1, 1);
        const watching = ids.includes(id) ? 'after' : 'before';
        return (await state()) === watching ? watching : 'half';
      },
    };
  }),
  endpoint('PUT /projects/:id/notification_settings', (fixtures) => ofNew(fixtures, 'projects')),
  endpoint('PUT /groups/:id/notification_settings', (fixtures) => ofNew(fixtures, 'groups')),
];

async function ofNew(fixtures: Fixtures, kind: 'projects' | 'groups'): Promise<Sent> {
  const { token } = await fixtures.owner();
  const name = fixtures.fresh('heard');
  const { id } = await fixtures.done('POST', `/${kind}`, { token, json: { name, path: name } });
  return choice(fixtures, `/${kind}/${id}`, token);
}

function choice(fixtures: Fixtures, at: string, token: string): Sent {
  const path = `${at}/notification_settings`;
  const state = async () => {
    const { level, events } = await fixtures.done('GET', path, { token });
    return after(
      `${level} ${events?.new_note}`,
      `${at === '' ? 'participating' : 'global'} undefined`,
      'custom true',
    );
  };
  return { path, token, json: { level: 'custom', new_note: true }, state };
}
