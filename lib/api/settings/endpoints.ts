import { registrationToken } from '../../domain/runners/registration-tokens.ts';
import { changeSettings, readSettings } from '../../domain/settings/change.ts';
import { started } from '../../domain/started.ts';
import { administrator } from '../../http/access.ts';
import { type ApiDeps, endpoint } from '../endpoint.ts';
import { settingsGiven } from './given.ts';
import { settingParameters } from './parameters.ts';
import { presentSettings } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'settings';

/** With which runners of the instance register. */
const tokenOf = (deps: ApiDeps) => registrationToken(deps, { kind: 'instance' });

export const settingEndpoints = [
  endpoint({
    method: 'GET',
    path: '/application/settings',
    area,
    summary: 'Get the settings of the instance',
    description:
      'Returns all settings except secrets, which are write-only; and the token with which runners of the instance register.',
    access: administrator(),
    returns: { body: shapes.applicationSettings },
    handle: async (_, deps) => {
      const [settings, token] = await Promise.all([readSettings(deps), tokenOf(deps)]);
      return presentSettings(settings, token);
    },
  }),
  endpoint({
    method: 'PUT',
    path: '/application/settings',
    area,
    summary: 'Update the settings of the instance',
    description: 'Only the given settings change. A change takes effect everywhere within seconds.',
    access: administrator(),
    // Maintenance mode is itself a setting: without this it could not be turned off.
    inMaintenance: true,
    body: settingParameters,
    returns: { body: shapes.applicationSettings },
    errors: [
      { status: 400, description: 'Invalid values by setting' },
      { status: 409, description: 'Other requests keep changing the settings at the same time' },
    ],
    handle: async ({ actor, body }, deps) => {
      const token = started(tokenOf(deps));
      const settings = await changeSettings(deps, actor, await settingsGiven(deps, body));
      return presentSettings(settings, await token);
    },
  }),
];
