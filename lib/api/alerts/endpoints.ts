import type { ProjectAccess } from '../../domain/access/types.ts';
import * as alerts from '../../domain/alerts/alerts.ts';
import * as integrations from '../../domain/alerts/integrations.ts';
import { project } from '../../http/access.ts';
import * as p from '../../http/params.ts';
import { accepted, noContent } from '../../http/reply.ts';
import {
  ALERT_CONSEQUENCES,
  ALERT_INTEGRATION_TYPES,
  ALERT_SEVERITIES,
  ALERT_STATUSES,
  type AlertConsequences,
  type AlertIntegration,
} from '../../records/alerts.ts';
import { endpoint } from '../endpoint.ts';
import { noteEndpoints } from '../notes/notes.ts';
import { presentAlert } from './present.ts';
import * as shapes from './shapes.ts';
import { alertUrl } from './url.ts';

const area = 'monitoring';
const path = '/projects/:id/alert_integrations';
const one = `${path}/:integration_id` as const;
const alertsPath = '/projects/:id/alerts';
const admins = project('admin_alert_integrations');
const readers = project('read_alerts');
const absent = { status: 404, description: 'The project has no such integration' };
const noAlert = { status: 404, description: 'The project has no such alert' };
const changed = { status: 409, description: 'It was changed by other requests' };
const invalid = { status: 400, description: 'A value is invalid' };
const integrationId = () =>
  p.params({ integration_id: p.integer({ required: true, description: 'ID of the integration' }) });
const alertIid = () =>
  p.params({ alert_iid: p.integer({ required: true, description: 'Number of the alert in the project' }) });

const shown = (integration: AlertIntegration, projectUrl: string) => ({
  id: integration.id,
  project_id: integration.projectId,
  name: integration.name,
  type: integration.type,
  active: integration.active,
  endpoint_identifier: integration.endpoint,
  url: alertUrl(integration, projectUrl),
  payload_attribute_mappings: Object.fromEntries(
    Object.entries(integration.mapping).map(([name, steps]) => [name, { path: steps }]),
  ),
  ...incidentsShown(integration.incidents ?? ALERT_CONSEQUENCES),
  created_at: integration.createdAt,
  updated_at: integration.updatedAt,
});

const incidentsShown = ({ createIssue, autoCloseIncident, sendEmail }: AlertConsequences) => ({
  create_issue: createIssue,
  auto_close_incident: autoCloseIncident,
  send_email: sendEmail,
});

const urlOf = (
  { project }: { readonly project: { readonly fullPath: string } },
  { baseUrl }: { readonly baseUrl: string },
): string => `${baseUrl}/${project.fullPath}`;

const fields = () => ({
  active: p.boolean({ description: 'Whether it may send alerts. Default: true' }),
  payload_attribute_mappings: p.hash({
    description:
      'Where fields of alerts are in what the tool sends: `{"title": {"path": ["event", "name"]}}`. It has the fields of alerts, and replaces the former one',
  }),
  create_issue: p.boolean({ description: 'Whether a new alert opens an incident. Default: false' }),
  auto_close_incident: p.boolean({
    description: 'Whether an alert that ends closes the incident that it opened. Default: true',
  }),
  send_email: p.boolean({
    description:
      'Whether Maintainers and Owners get mail about new alerts, and those that end. Default: false',
  }),
});

/** What alerts lead to, as it was sent. */
const incidentsIn = (body: {
  readonly create_issue?: boolean | undefined;
  readonly auto_close_incident?: boolean | undefined;
  readonly send_email?: boolean | undefined;
}) => ({
  createIssue: body.create_issue,
  autoCloseIncident: body.auto_close_incident,
  sendEmail: body.send_email,
});

const list = endpoint({
  method: 'GET',
  path,
  area,
  summary: 'List the alert integrations of a project',
  access: admins,
  returns: { body: shapes.integrations },
  paginate: 'offset',
  handle: async ({ project, page, request }, deps) => {
    const all = await integrations.listIntegrations(deps, project);
    const some = all.slice(page.offset, page.offset + page.perPage);
    return { items: some.map((each) => shown(each, urlOf(project, request))), total: all.length };
  },
});

const get = endpoint({
  method: 'GET',
  path: one,
  area,
  summary: 'Get an alert integration',
  access: admins,
  params: integrationId,
  returns: { body: shapes.integration },
  errors: [absent],
  handle: async ({ project, params, request }, deps) =>
    shown(await integrations.getIntegration(deps, project, params.integration_id), urlOf(project, request)),
});

const create = endpoint({
  method: 'POST',
  path,
  area,
  summary: 'Create an alert integration',
  description: 'Its key is shown in this answer only.',
  access: admins,
  body: () =>
    p.params({
      name: p.string({
        required: true,
        blank: false,
        description: 'Name of the tool, 255 characters at most',
      }),
      type: p.oneOf(ALERT_INTEGRATION_TYPES, {
        default: 'http',
        description: '`prometheus` takes only what Prometheus’ Alertmanager sends',
      }),
      ...fields(),
    }),
  returns: { body: shapes.integrationWithKey },
  errors: [{ status: 400, description: 'A value is invalid, or there are too many integrations' }],
  handle: async ({ actor, project, body, request }, deps) => {
    const { name, type, active, payload_attribute_mappings: mapping } = body;
    const input = { name, type, active, mapping, incidents: incidentsIn(body) };
    const { integration, key } = await integrations.createIntegration(deps, actor, project, input);
    return { ...shown(integration, urlOf(project, request)), authorization_key: key };
  },
});

const update = endpoint({
  method: 'PUT',
  path: one,
  area,
  summary: 'Update an alert integration',
  access: admins,
  params: integrationId,
  body: () => p.params({ name: p.string({ description: 'Name of the tool' }), ...fields() }),
  returns: { body: shapes.integration },
  errors: [invalid, absent, changed],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const { name, active, payload_attribute_mappings: mapping } = body;
    const id = params.integration_id;
    const input = { name, active, mapping, incidents: incidentsIn(body) };
    return shown(
      await integrations.changeIntegration(deps, actor, project, id, input),
      urlOf(project, request),
    );
  },
});

const rotate = endpoint({
  method: 'POST',
  path: `${one}/rotate_key`,
  area,
  summary: 'Replace the key of an alert integration',
  description: 'The former key is no longer good. The new one is shown in this answer only.',
  access: admins,
  params: integrationId,
  returns: { body: shapes.integrationWithKey },
  errors: [absent, changed],
  handle: async ({ actor, project, params, request }, deps) => {
    const id = params.integration_id;
    const { integration, key } = await integrations.rotateKey(deps, actor, project, id);
    return { ...shown(integration, urlOf(project, request)), authorization_key: key };
  },
});

const remove = endpoint({
  method: 'DELETE',
  path: one,
  area,
  summary: 'Delete an alert integration',
  description: 'Its alerts stay.',
  access: admins,
  params: integrationId,
  returns: { status: 204 },
  errors: [absent, changed],
  handle: async ({ actor, project, params, unmodifiedSince }, deps) => {
    await integrations.removeIntegration(deps, actor, project, params.integration_id, unmodifiedSince);
    return noContent();
  },
});

const test = endpoint({
  method: 'POST',
  path: `${one}/test`,
  area,
  summary: 'Create an alert that tries an integration',
  description: 'It is handled like one that the tool sends.',
  access: project('update_alerts'),
  params: integrationId,
  body: () =>
    p.params({ payload: p.hash({ required: true, description: 'What the tool would send, a JSON object' }) }),
  bodyLimit: 1024 * 1024,
  returns: { status: 202, body: shapes.tried },
  errors: [{ status: 403, description: 'The integration is switched off' }, absent],
  handle: async ({ project, params, body, request }, deps) => {
    const { integration_id: id } = params;
    await integrations.tryIntegration(deps, project, id, body.payload, request.baseUrl);
    return accepted();
  },
});

const listAlerts = endpoint({
  method: 'GET',
  path: alertsPath,
  area,
  summary: 'List the alerts of a project',
  description:
    'The newest first. A filter looks at 5,000 alerts for a page, which may have fewer than asked for.',
  access: readers,
  query: () =>
    p.params({
      status: p.oneOf(ALERT_STATUSES, { description: 'Return only alerts with this status' }),
      severity: p.oneOf(ALERT_SEVERITIES, { description: 'Return only alerts of this severity' }),
      environment: p.string({ description: 'Return only alerts of the environment of this name' }),
      integration_id: p.integer({ description: 'Return only alerts of this integration' }),
      search: p.string({
        maxLength: 255,
        description: 'Return only alerts whose title, description, service or tool contains this text',
      }),
    }),
  returns: { body: shapes.alerts },
  paginate: 'keyset',
  keyset: { marker: 'page_token' },
  handle: async ({ project, query, page, request }, deps) => {
    const { integration_id: integrationId, search, status, severity, environment } = query;
    const after = Number(page.after);
    const { items, more } = await alerts.listAlerts(
      deps,
      project,
      page.perPage,
      Number.isSafeInteger(after) && after > 0 ? after : undefined,
      { integrationId, search, status, severity, environment },
    );
    const people = await alerts.assigneesOf(deps, items);
    return {
      items: items.map((alert) => presentAlert(alert, people, request.baseUrl)),
      ...(more === undefined ? {} : { next: String(more) }),
    };
  },
});

const getAlert = endpoint({
  method: 'GET',
  path: `${alertsPath}/:alert_iid`,
  area,
  summary: 'Get an alert with all that was sent',
  access: readers,
  params: alertIid,
  returns: { body: shapes.alertWithPayload },
  errors: [noAlert],
  handle: async ({ project, params, request }, deps) => {
    const alert = await alerts.getAlert(deps, project, params.alert_iid);
    const [people, payload] = await Promise.all([
      alerts.assigneesOf(deps, [alert]),
      alerts.payloadOf(deps, alert),
    ]);
    return { ...presentAlert(alert, people, request.baseUrl), payload };
  },
});

const updateAlert = endpoint({
  method: 'PUT',
  path: `${alertsPath}/:alert_iid`,
  area,
  summary: 'Update the status and the assignees of an alert',
  description: 'Users who may not read alerts are not assigned.',
  access: project('update_alerts'),
  params: alertIid,
  body: () =>
    p.params(
      {
        status: p.oneOf(ALERT_STATUSES, { description: 'New status' }),
        assignee_ids: p.list(p.integer(), {
          description: 'IDs of all users who look after it; empty: nobody does',
        }),
      },
      [p.atLeastOneOf('status', 'assignee_ids')],
    ),
  returns: { body: shapes.alert },
  errors: [noAlert, { status: 409, description: 'Another alert of the same fingerprint is open' }],
  handle: async ({ actor, project, params, body, request }, deps) => {
    const { status, assignee_ids: assigneeIds } = body;
    const change = { status, assigneeIds };
    const alert = await alerts.changeAlert(deps, actor, project, params.alert_iid, change);
    return presentAlert(alert, await alerts.assigneesOf(deps, [alert]), request.baseUrl);
  },
});

/** People write none: they talk in the incident. */
const [listNotes, getNote] = noteEndpoints<ProjectAccess>({
  path: `${alertsPath}/:alert_iid`,
  area,
  object: 'an alert',
  missing: 'Alert',
  access: readers,
  params: () => ({
    alert_iid: p.integer({ required: true, description: 'Number of the alert in the project' }),
  }),
  open: (deps, _actor, access, { alert_iid }) => alerts.alertWithNotes(deps, access, Number(alert_iid)),
});

export const alertEndpoints = [
  list,
  get,
  create,
  update,
  rotate,
  remove,
  test,
  listAlerts,
  getAlert,
  updateAlert,
  listNotes!,
  getNote!,
];
