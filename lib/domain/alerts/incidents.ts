/** Incidents that alerts open and close, in the name of an account of the service. */

import { inTurns } from '../../git/work.ts';
import type { AlertRecord } from '../../records/alerts.ts';
import { snapshotOf } from '../../records/authors.ts';
import type { IssueRecord, Severity } from '../../records/issues.ts';
import type { ProjectRecord } from '../../records/projects.ts';
import type { OutboxMessage } from '../../store/outbox/outbox.ts';
import type { Write } from '../../store/table/write.ts';
import { REPORTER } from '../access/levels.ts';
import { can } from '../access/permissions.ts';
import type { ProjectAccess } from '../access/types.ts';
import type { Actor } from '../actor.ts';
import type { Deps } from '../deps.ts';
import { addBeside, changeIssue } from '../issues/change.ts';
import { stateAfter } from '../issues/issues.ts';
import { oneLine } from '../mail/message.ts';
import { keptText } from '../tracked/input.ts';
import { tasksOf } from '../tracked/tasks.ts';

/** Who opens and closes incidents. */
export type AlertBot = Extract<Actor, { kind: 'user' }>;

export interface More {
  readonly writes: readonly Write[];
  readonly messages: readonly OutboxMessage[];
}

/** It may work on all incidents of the project, whoever made them confidential. */
const accessTo = (project: ProjectRecord): ProjectAccess => ({ project, level: REPORTER });

/** Whether the project takes incidents: it has issues, and is not archived. */
export const takesIncidents = (bot: AlertBot, project: ProjectRecord): boolean =>
  can(bot, accessTo(project), 'create_issue');

/**
 * Opens the incident of an alert, in one transaction with it.
 * @param moreOf further writes and messages, for the alert that names its incident
 * @throws TransactionRefused as `project` when the project is deleted, and for what is written beside
 */
export async function openIncident(
  deps: Deps,
  bot: AlertBot,
  project: ProjectRecord,
  alert: AlertRecord,
  moreOf: (alert: AlertRecord) => Promise<More>,
): Promise<void> {
  const { id, iid } = await deps.store.issues.allocate(project.id);
  const at = deps.now().toISOString();
  const { user } = bot;
  const url = `${bot.origin?.baseUrl ?? ''}/api/v4/projects/${project.id}/alerts/${alert.iid}`;
  const description = incidentText(alert, url);
  const issue: IssueRecord = {
    ...{ id, iid, projectId: project.id, alertIid: alert.iid, type: 'incident', state: 'opened' },
    title: oneLine(alert.title),
    description: await keptText(deps, project.id, description),
    author: snapshotOf(user),
    severity: SEVERITIES[alert.severity],
    ...{ confidential: false, assigneeIds: [], labelIds: [], milestoneId: null, iterationId: null },
    ...{ epicId: null, dueDate: null, weight: null, healthStatus: null, discussionLocked: null },
    ...{ timeEstimate: 0, timeSpent: 0, closedAt: null, closedById: null, movedTo: null },
    ...{ duplicatedTo: null, relativePosition: null, tasks: await inTurns(tasksOf(description)) },
    ...{ createdAt: at, updatedAt: at, userNotesCount: 0, upvotes: 0, downvotes: 0, version: 1 },
  };
  const created = { actor: bot, access: accessTo(project), after: issue, description };
  await addBeside(deps, undefined, created, await moreOf({ ...alert, issueIid: iid }));
}

/**
 * Closes the incident of an alert, which resolves the alert in the same transaction.
 * @returns whether it did; false for one that is closed already, or gone
 * @throws DomainError `not-found` where it is deleted meanwhile; TransactionRefused for `more`
 */
export async function closeIncident(
  deps: Deps,
  bot: AlertBot,
  project: ProjectRecord,
  { projectId, issueIid, iid }: AlertRecord,
  alertEndedAt: string,
  { writes, messages }: More,
): Promise<boolean> {
  if (issueIid === undefined) return false;
  const issue = await deps.store.issues.get({ projectId, iid: issueIid });
  if (issue?.state !== 'opened' || issue.alertIid !== iid) return false;
  const at = deps.now();
  const close = (before: IssueRecord) => ({
    ...stateAfter(before, 'close', bot.user.id, at),
    updatedAt: at.toISOString(),
  });
  await changeIssue(deps, bot, accessTo(project), issueIid, close, {
    notes: [{ action: 'closed', text: 'automatically closed this incident because the alert resolved.' }],
    alongside: writes,
    messages,
    alertEndedAt,
  });
  return true;
}

const SEVERITIES: Readonly<Record<AlertRecord['severity'], Severity>> = {
  critical: 'CRITICAL',
  high: 'HIGH',
  medium: 'MEDIUM',
  low: 'LOW',
  info: 'UNKNOWN',
  unknown: 'UNKNOWN',
};

/** Markdown. The description is the tool's own text; what else it sends is shown as it is, and names nobody. */
function incidentText(alert: AlertRecord, url: string): string {
  const { service, monitoringTool, hosts, environment, description } = alert;
  const facts: readonly (readonly [string, string])[] = [
    ['Start time', DAY.format(new Date(alert.startedAt))],
    ['Severity', alert.severity],
    ...(service === null ? [] : [['Service', asCode(service)] as const]),
    ...(monitoringTool === null ? [] : [['Monitoring tool', asCode(monitoringTool)] as const]),
    ...(hosts.length === 0 ? [] : [['Hosts', hosts.map(asCode).join(', ')] as const]),
    ...(environment === null ? [] : [['Environment', asCode(environment)] as const]),
    ['Alert', url],
  ];
  const list = facts.map(([name, value]) => `- **${name}:** ${value}`).join('\n');
  return description === null ? list : `${list}\n\n${description}`;
}

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' });

/** A code span, which needs more backticks around it than there are in it. */
function asCode(text: string): string {
  const line = oneLine(text);
  const fence = '`'.repeat(1 + Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length)));
  return fence === '`' ? `\`${line}\`` : `${fence} ${line} ${fence}`;
}
