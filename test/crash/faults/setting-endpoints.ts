import type { Operation } from './driver.ts';
import { endpoint } from './sent.ts';

/** Changes of the instance's settings: of what rules obey, of what is only kept, and of a secret, together. */
export const settingWrites: readonly Operation[] = [
  endpoint('PUT /application/settings', async (fixtures) => {
    const token = fixtures.service.rootToken;
    const path = '/application/settings';
    const text = fixtures.fresh('text');
    const json = { rate_limiting_response_text: text, help_text: text, slack_app_secret: text };
    const state = async () => {
      const { body } = await fixtures.service.call('GET', path, { token });
      const told = [body.rate_limiting_response_text === text, body.help_text === text];
      return told[0] === told[1] ? (told[0] ? 'after' : 'before') : 'half';
    };
    return { path, token, json, state };
  }),
];
