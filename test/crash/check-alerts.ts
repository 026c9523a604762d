import type { AlertIntegration, AlertRecord } from '../../lib/records/alerts.ts';
import type { IssueRecord } from '../../lib/records/issues.ts';
import { unpacked } from '../../lib/store/alerts/packed.ts';
import {
  ALERT_CAUSE_PREFIX,
  ALERT_INTEGRATION_PREFIX,
  ALERT_PREFIX,
  alertCauseKey,
  alertCountKey,
  alertEndpointKey,
  alertIntegrationCountKey,
  alertIntegrationsPartition,
  alertKey,
  alertKeyKey,
  alertPayloadKey,
  alertTallyKey,
} from '../../lib/store/row-keys/alerts.ts';
import { ISSUE, issueKey } from '../../lib/store/row-keys/issues.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

/** Integrations are found by their endpoints and keys, which know their state, and are counted. */
export const alertIntegrations = rowCheck(
  ['alert-integration', 'alert-integration-count', 'alert-endpoint', 'alert-key'],
  function* (rows) {
    const leading = new Set([...rows.of('ALERTENDPOINT#'), ...rows.of('ALERTKEY#')].map(keyText));
    const all = rows
      .of('ALERTINTEGRATIONS#')
      .filter(({ sk }) => sk.startsWith(ALERT_INTEGRATION_PREFIX)) as unknown as (Row & AlertIntegration)[];
    for (const { id, endpoint, keyHash, active } of all)
      for (const key of [alertEndpointKey(endpoint), alertKeyKey(keyHash)]) {
        const row = rows.get(key);
        if (!leading.delete(keyText(key)) || row?.['id'] !== id)
          yield `${keyText(key)} does not lead to the integration ${id}`;
        if (row?.['active'] !== active || row?.['keyHash'] !== keyHash)
          yield `${keyText(key)} is not up to date`;
      }
    for (const key of leading) yield `${key} leads to no integration`;
    for (const { id } of livingOf(rows)) {
      const held = all.filter(({ pk }) => pk === alertIntegrationsPartition(id)).length;
      const total = (rows.get(alertIntegrationCountKey(id))?.['total'] as number | undefined) ?? 0;
      if (total !== held) yield `project ${id} counts ${total} of ${held} alert integrations`;
    }
  },
);

const KINDS = ['alert', 'alert-payload', 'alert-tally', 'alert-cause', 'alert-count'] as const;

/**
 * Alerts that are not resolved are found by their fingerprints, have a payload, and a number that was given. Whoever
 * counted one that was sent again has finished.
 */
export const alerts = rowCheck(KINDS, function* (rows) {
  const all = rows.of('ALERTS#');
  const tallies = new Set(all.filter(({ sk }) => sk.startsWith('TALLY#')).map(keyText));
  const causes = all.filter(({ sk }) => sk.startsWith(ALERT_CAUSE_PREFIX));
  for (const { pk, sk, ...cause } of causes) {
    const { more = 0 } = cause as { more?: number };
    if (more < 0) yield `the alert of ${pk} ${sk} was sent ${more} times more`;
    if (Object.keys(cause).some((name) => name.startsWith('of_'))) yield `${pk} ${sk} is still being counted`;
  }
  const open = new Set(causes.filter(({ closed }) => closed !== true).map(keyText));
  const found = all.filter(({ sk }) => sk.startsWith(ALERT_PREFIX)) as unknown as (Row & AlertRecord)[];
  for (const { projectId, iid, status, fingerprint, endedAt, issueIid, ...row } of found) {
    if (issueIid !== undefined) {
      const issue = rows.get(issueKey({ projectId, iid: issueIid }));
      if (issue !== undefined && issue['alertIid'] !== iid)
        yield `alert ${projectId}/${iid} names incident ${issueIid}, which is of alert ${issue['alertIid']}`;
    }
    tallies.delete(keyText(alertTallyKey(projectId, iid)));
    const key = alertCauseKey(projectId, fingerprint);
    const cause = rows.get(key);
    const isOpen = cause?.['iid'] === iid && cause['closed'] !== true;
    if (isOpen) open.delete(keyText(key));
    if (isOpen !== (status !== 'resolved'))
      yield `alert ${projectId}/${iid} is ${status}, and open: ${isOpen}`;
    if ((endedAt === null) !== (status !== 'resolved')) yield `alert ${projectId}/${iid} ended at ${endedAt}`;
    if (hasPayload(row) === (rows.get(alertPayloadKey(projectId, iid)) !== undefined))
      yield `alert ${projectId}/${iid} has no payload, or two`;
    if (((rows.get(alertCountKey(projectId))?.['iid'] as number | undefined) ?? 0) < iid)
      yield `the number of alert ${projectId}/${iid} was not given`;
  }
  for (const key of open) yield `${key} leads to no alert that is open`;
  for (const key of tallies) yield `${key} is of no alert`;
  const alertsOf = new Map(found.map((alert) => [keyText(alert), alert]));
  const issues = rows.of('ISSUES#').filter(({ sk }) => sk.startsWith(ISSUE)) as unknown as IssueRecord[];
  for (const { projectId, iid, alertIid } of issues) {
    if (alertIid === undefined) continue;
    if (alertsOf.get(keyText(alertKey(projectId, alertIid)))?.issueIid !== iid)
      yield `issue ${projectId}#${iid} is the incident of an alert that does not name it`;
  }
});

/** Whether all that was sent is in the row of the alert. */
const hasPayload = ({ said, sent }: Record<string, unknown>): boolean =>
  said instanceof Uint8Array ? !unpacked(said).endsWith('\n') : sent !== undefined;
