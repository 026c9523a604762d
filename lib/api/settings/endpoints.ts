import { changeSettings, readSettings } from '../../domain/settings/change.ts';
import { administrator } from '../../http/access.ts';
import { endpoint } from '../endpoint.ts';
import { settingsGiven } from './given.ts';
import { settingParameters } from './parameters.ts';
import { presentSettings } from './present.ts';
import * as shapes from './shapes.ts';

const area = 'settings';

export const settingEndpoints = [
  endpoint({
    method: 'GET',
    path: '/application/settings',
    area,
    summary: 'Get the settings of the instance',
    description: 'Returns all settings except secrets, which are write-only.',
    access: administrator(),
    returns: { body: shapes.applicationSettings },
    handle: async (_, deps) => presentSettings(await readSettings(deps)),
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
    handle: async ({ actor, body }, deps) =>
      presentSettings(await changeSettings(deps, actor, await settingsGiven(deps, body))),
  }),
];
