import * as tracked from '../../domain/error-tracking/tracked-errors.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { ERROR_STATUSES, type ErrorEvent, type TrackedError } from '../../records/error-tracking.ts';
import { BY_ROWS, counted, endpoint } from '../endpoint.ts';
import * as shapes from './shapes.ts';

const area = 'monitoring';
const path = '/projects/:id/error_tracking/errors';
const readers = project('read_tracked_errors');
const absent = { status: 404, description: 'The project has no such error' };
const errorId = () => p.params({ error_id: p.integer({ required: true, description: 'ID of the error' }) });

const shownError = (error: TrackedError) => ({
  id: error.id,
  project_id: error.projectId,
  fingerprint: error.fingerprint,
  name: error.name,
  description: error.description,
  actor: error.actor,
  platform: error.platform,
  level: error.level,
  status: error.status,
  count: error.count,
  first_seen_at: error.firstSeenAt,
  last_seen_at: error.lastSeenAt,
});

const shownEvent = ({ id, eventId, payload, ...event }: ErrorEvent) => ({
  id,
  event_id: eventId,
  description: event.description,
  level: event.level,
  environment: event.environment,
  occurred_at: event.occurredAt,
  payload: JSON.parse(payload) as unknown,
});

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the errors of a project’s programs',
  description: 'In the order in which they came first.',
  access: readers,
  query: () =>
    p.params({
      status: p.oneOf(ERROR_STATUSES, { description: 'Return only errors with this status' }),
      search: p.string({
        maxLength: 255,
        description: 'Return only errors whose name, description or place contains this text',
      }),
      sort: p.oneOf(['asc', 'desc'], { default: 'desc', description: 'Sort direction' }),
    }),
  returns: { body: shapes.trackedErrors },
  ...BY_ROWS,
  handle: async ({ project, query, page }, deps) => {
    const { status, search, sort } = query;
    const found = await tracked.listErrors(deps, project, counted(page), { status, search, sort });
    return { ...found, items: found.items.map(shownError) };
  },
});

const get = endpoint({
  method: 'GET',
  path: `${path}/:error_id`,
  area,
  summary: 'Get an error of a project’s programs',
  access: readers,
  params: errorId,
  returns: { body: shapes.trackedError },
  errors: [absent],
  handle: async ({ project, params }, deps) =>
    shownError(await tracked.getError(deps, project, params.error_id)),
});

const update = endpoint({
  method: 'PUT',
  path: `${path}/:error_id`,
  area,
  summary: 'Update the status of an error',
  description: 'One that is resolved is unresolved when it happens again; one that is ignored stays so.',
  access: project('update_tracked_errors'),
  params: errorId,
  body: () => p.params({ status: p.oneOf(ERROR_STATUSES, { required: true, description: 'New status' }) }),
  returns: { body: shapes.trackedError },
  errors: [absent],
  handle: async ({ project, params, body }, deps) =>
    shownError(await tracked.setErrorStatus(deps, project, params.error_id, body.status)),
});

const events = endpoint({
  method: 'GET',
  path: `${path}/:error_id/events`,
  area,
  summary: 'List the occurrences of an error',
  description: 'The newest first. They are kept for 90 days.',
  access: readers,
  params: errorId,
  returns: { body: shapes.errorEvents },
  errors: [absent],
  paginate: 'keyset',
  keyset: { marker: 'page_token' },
  handle: async ({ project, params, page }, deps) => {
    const found = await tracked.listEvents(deps, project, params.error_id, page.perPage, page.after);
    const last = found.items.at(-1);
    return {
      items: found.items.map(shownEvent),
      more: found.more,
      ...(found.more && last !== undefined ? { next: last.id } : {}),
    };
  },
});

export const trackedErrorEndpoints = [list, get, update, events];
