import * as tracking from '../../domain/error-tracking/error-tracking.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { json } from '../../http/reply.ts';
import type { ClientKey, ErrorTrackingSettings } from '../../records/error-tracking.ts';
import { endpoint } from '../endpoint.ts';
import { collectorEndpoints } from './collector.ts';
import { trackedErrorEndpoints } from './errors.ts';
import * as shapes from './shapes.ts';

const area = 'monitoring';
const path = '/projects/:id/error_tracking';
const access = project('admin_error_tracking');
const changed = { status: 409, description: 'It was changed by other requests' };
const noSettings = { status: 404, description: 'The project has no such settings' };

/** What the errors of a project collected elsewhere would be found by is null: nothing sets it. */
const shownSettings = ({ active, integrated }: ErrorTrackingSettings) => ({
  active,
  project_name: null,
  sentry_external_url: null,
  errtracker_external_url: null,
  api_url: null,
  integrated,
});

function shownKey({ id, active, publicKey, projectId }: ClientKey, baseUrl: string) {
  const [scheme, place] = baseUrl.split('://');
  const dsn = `${scheme}://${publicKey}@${place}/api/v4/error_tracking/collector/${projectId}`;
  return { id, active, public_key: publicKey, sentry_dsn: dsn, errtracker_dsn: dsn };
}

const getSettings = endpoint({
  method: 'GET',
  path: `${path}/settings`,
  area,
  summary: 'Get the error tracking settings of a project',
  access,
  returns: { body: shapes.settings },
  errors: [noSettings],
  handle: async ({ project }, deps) => shownSettings(await tracking.getSettings(deps, project)),
});

const active = () =>
  p.boolean({ required: true, blank: false, description: 'Whether errors of the project are collected' });

const changeSettings = endpoint({
  method: 'PATCH',
  path: `${path}/settings`,
  area,
  summary: 'Update the error tracking settings of a project',
  access,
  body: () =>
    p.params({
      active: active(),
      integrated: p.boolean({ description: 'Whether this service collects them. Default: as before' }),
    }),
  returns: { body: shapes.settings },
  errors: [noSettings, changed],
  handle: async ({ actor, project, body }, deps) =>
    shownSettings(await tracking.changeSettings(deps, actor, project, body)),
});

const setSettings = endpoint({
  method: 'PUT',
  path: `${path}/settings`,
  area,
  summary: 'Set the error tracking settings of a project',
  description: 'Makes them if there are none.',
  access,
  body: () =>
    p.params({
      active: active(),
      integrated: p.boolean({
        required: true,
        blank: false,
        description: 'Whether this service collects them',
      }),
    }),
  returns: { body: shapes.settings },
  errors: [changed],
  handle: async ({ actor, project, body }, deps) =>
    shownSettings(await tracking.setSettings(deps, actor, project, body)),
});

const listKeys = endpoint({
  method: 'GET',
  path: `${path}/client_keys`,
  area,
  summary: 'List the error tracking client keys of a project',
  access,
  returns: { body: shapes.clientKeys },
  paginate: 'offset',
  handle: async ({ project, page, request }, deps) => {
    const all = await tracking.listKeys(deps, project);
    const shown = all.slice(page.offset, page.offset + page.perPage);
    return { items: shown.map((key) => shownKey(key, request.baseUrl)), total: all.length };
  },
});

const createKey = endpoint({
  method: 'POST',
  path: `${path}/client_keys`,
  area,
  summary: 'Create an error tracking client key',
  access,
  returns: { body: shapes.clientKey },
  errors: [{ status: 400, description: 'There are too many keys' }],
  handle: async ({ actor, project, request }, deps) =>
    shownKey(await tracking.createKey(deps, actor, project), request.baseUrl),
});

const deleteKey = endpoint({
  method: 'DELETE',
  path: `${path}/client_keys/:key_id`,
  area,
  summary: 'Delete an error tracking client key',
  access,
  params: () => p.params({ key_id: p.integer({ required: true, description: 'ID of the key' }) }),
  returns: { status: 200, body: shapes.clientKey },
  errors: [{ status: 404, description: 'The project has no such key' }],
  handle: async ({ actor, project, params, unmodifiedSince, request }, deps) =>
    json(
      shownKey(
        await tracking.deleteKey(deps, actor, project, params.key_id, unmodifiedSince),
        request.baseUrl,
      ),
    ),
});

export const errorTrackingEndpoints = [
  getSettings,
  changeSettings,
  setSettings,
  listKeys,
  createKey,
  deleteKey,
  ...trackedErrorEndpoints,
  ...collectorEndpoints,
];
