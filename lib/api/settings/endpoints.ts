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
    description: 'All of them but secrets, which are told to nobody.',
    access: administrator(),
    returns: { body: shapes.applicationSettings },
    handle: async (_, deps) => presentSettings(await readSettings(deps)),
  }),
  endpoint({
    method: 'PUT',
    path: '/application/settings',
    area,
    summary: 'Change settings of the instance',
    description: 'Those that are given; whatever runs obeys them within seconds.',
    access: administrator(),
    // Nobody could end it otherwise.
    inMaintenance: true,
    body: settingParameters,
    returns: { body: shapes.applicationSettings },
    errors: [
      { status: 400, description: 'A value that a setting cannot have, by field' },
      { status: 409, description: 'Others change settings at the same time, again and again' },
    ],
    handle: async ({ actor, body }, deps) =>
      presentSettings(await changeSettings(deps, actor, await settingsGiven(deps, body))),
  }),
];
