import type { AlertRecord } from '../../records/alerts.ts';
import type { UserRecord } from '../../records/users.ts';
import { userBasic } from '../users/present.ts';

/** @param people by id */
export const presentAlert = (
  alert: AlertRecord,
  people: ReadonlyMap<number, UserRecord>,
  baseUrl: string,
) => ({
  iid: alert.iid,
  project_id: alert.projectId,
  integration_id: alert.integrationId,
  title: alert.title,
  description: alert.description,
  service: alert.service,
  monitoring_tool: alert.monitoringTool,
  hosts: alert.hosts,
  severity: alert.severity,
  environment: alert.environment,
  fingerprint: alert.fingerprint,
  status: alert.status,
  event_count: alert.events,
  issue_iid: alert.issueIid ?? null,
  assignees: (alert.assigneeIds ?? []).flatMap((id) => {
    const user = people.get(id);
    return user === undefined ? [] : [userBasic(user, baseUrl)];
  }),
  started_at: alert.startedAt,
  ended_at: alert.endedAt,
  created_at: alert.createdAt,
  updated_at: alert.updatedAt,
});
