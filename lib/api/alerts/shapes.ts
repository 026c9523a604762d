import * as z from 'zod';
import { shape } from '../../http/shape.ts';
import { ALERT_INTEGRATION_TYPES, ALERT_SEVERITIES, ALERT_STATUSES } from '../../records/alerts.ts';
import { time, userBasic } from '../users/shapes.ts';

const integrationFields = () => ({
  id: z.int(),
  project_id: z.int(),
  name: z.string(),
  type: z.enum(ALERT_INTEGRATION_TYPES),
  active: z.boolean(),
  endpoint_identifier: z.string(),
  url: z.string().describe('Where the tool sends its alerts to'),
  payload_attribute_mappings: z
    .record(z.string(), z.object({ path: z.array(z.union([z.string(), z.int()])) }))
    .describe('Where fields of alerts are in what the tool sends'),
  create_issue: z.boolean().describe('Whether a new alert opens an incident'),
  auto_close_incident: z.boolean().describe('Whether an alert that ends closes the incident that it opened'),
  send_email: z.boolean().describe('Whether Maintainers and Owners get mail about alerts'),
  created_at: time(),
  updated_at: time(),
});

export const integration = shape(() => z.object(integrationFields()).meta({ id: 'AlertIntegration' }));
export const integrations = shape(() => z.array(integration()));
export const integrationWithKey = shape(() =>
  z
    .object({
      ...integrationFields(),
      authorization_key: z.string().describe('Shown only now. The tool sends it as bearer token or password'),
    })
    .meta({ id: 'AlertIntegrationWithKey' }),
);

export const alertFields = () => ({
  iid: z.int(),
  project_id: z.int(),
  integration_id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  service: z.string().nullable(),
  monitoring_tool: z.string().nullable(),
  hosts: z.array(z.string()),
  severity: z.enum(ALERT_SEVERITIES),
  environment: z.string().nullable(),
  fingerprint: z.string().describe('Alerts of the same are one until it is resolved'),
  status: z.enum(ALERT_STATUSES),
  event_count: z.int().describe('How often it was sent'),
  assignees: z.array(userBasic()).describe('Who looks after it'),
  issue_iid: z.int().nullable().describe('Number of the incident that it opened'),
  started_at: time(),
  ended_at: time().nullable(),
  created_at: time(),
  updated_at: time(),
});

export const alert = shape(() => z.object(alertFields()).meta({ id: 'Alert' }));
export const alerts = shape(() => z.array(alert()));
export const alertWithPayload = shape(() =>
  z
    .object({ ...alertFields(), payload: z.record(z.string(), z.unknown()).describe('All that was sent') })
    .meta({ id: 'AlertWithPayload' }),
);
export const tried = shape(() => z.object({ message: z.string() }).meta({ id: 'TriedAlertIntegration' }));
