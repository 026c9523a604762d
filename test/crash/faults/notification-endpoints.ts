import type { Operation } from './driver.ts';
import type { Scene } from './scene.ts';
import { after, endpoint, type Sent } from './sent.ts';

/** How much mail somebody wants: level, event and, for everything, that they are found as a watcher, together. */
export const notificationWrites: readonly Operation[] = [
  endpoint('PUT /notification_settings', async (scene) => {
    const { id, token } = await scene.service.user(scene.fresh('reader'));
    const { state, ...sent } = choice(scene, '', token);
    const { notificationSettings } = scene.store;
    return {
      ...sent,
      state: async () => {
        const { ids } = await notificationSettings.globalSubscribers(id - 1, 1);
        const watching = ids.includes(id) ? 'after' : 'before';
        return (await state()) === watching ? watching : 'half';
      },
    };
  }),
  endpoint('PUT /projects/:id/notification_settings', (scene) => ofNew(scene, 'projects')),
  endpoint('PUT /groups/:id/notification_settings', (scene) => ofNew(scene, 'groups')),
];

async function ofNew(scene: Scene, kind: 'projects' | 'groups'): Promise<Sent> {
  const { token } = await scene.owner();
  const name = scene.fresh('heard');
  const { id } = await scene.done('POST', `/${kind}`, { token, json: { name, path: name } });
  return choice(scene, `/${kind}/${id}`, token);
}

function choice(scene: Scene, at: string, token: string): Sent {
  const path = `${at}/notification_settings`;
  const state = async () => {
    const { level, events } = await scene.done('GET', path, { token });
    return after(
      `${level} ${events?.new_note}`,
      `${at === '' ? 'participating' : 'global'} undefined`,
      'custom true',
    );
  };
  return { path, token, json: { level: 'custom', new_note: true }, state };
}
