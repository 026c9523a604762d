import type { AlertIntegration, AlertRecord } from '../../lib/records/alerts.ts';
import type { IssueRecord } from '../../lib/records/issues.ts';
import {
  ALERT_INTEGRATION_PREFIX,
  ALERT_PREFIX,
  alertCountKey,
  alertEndpointKey,
  alertIntegrationCountKey,
  alertIntegrationsPartition,
  alertKey,
  alertKeyKey,
  alertPayloadKey,
  alertTallyKey,
  OPEN_ALERT_PREFIX,
  openAlertKey,
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

const KINDS = ['alert', 'alert-payload', 'alert-tally', 'open-alert', 'alert-count'] as const;

/**
 * Alerts that are not resolved are found by their fingerprints, have a payload, and a number that was given. Whoever
 * counted one that was sent again has finished.
 */
export const alerts = rowCheck(KINDS, function* (rows) {
  const all = rows.of('ALERTS#');
  const tallies = new Set(all.filter(({ sk }) => sk.startsWith('TALLY#')).map(keyText));
  const open = new Set(all.filter(({ sk }) => sk.startsWith(OPEN_ALERT_PREFIX)).map(keyText));
  const found = all.filter(({ sk }) => sk.startsWith(ALERT_PREFIX)) as unknown as (Row & AlertRecord)[];
  for (const { projectId, iid, status, fingerprint, endedAt, issueIid, ...more } of found) {
    if (issueIid !== undefined) {
      const issue = rows.get(issueKey({ projectId, iid: issueIid }));
      if (issue !== undefined && issue['alertIid'] !== iid)
        yield `alert ${projectId}/${iid} names incident ${issueIid}, which is of alert ${issue['alertIid']}`;
    }
    const tally = rows.get(alertTallyKey(projectId, iid));
    tallies.delete(keyText(alertTallyKey(projectId, iid)));
    const { more: again } = (tally ?? {}) as { more?: number };
    if (again === undefined || again < 0) yield `alert ${projectId}/${iid} was sent ${again} times more`;
    if (Object.keys(tally ?? {}).some((name) => name.startsWith('of_')))
      yield `alert ${projectId}/${iid} is still being counted`;
    const key = openAlertKey(projectId, fingerprint);
    const isOpen = rows.get(key)?.['iid'] === iid;
    if (isOpen) open.delete(keyText(key));
    if (isOpen !== (status !== 'resolved'))
      yield `alert ${projectId}/${iid} is ${status}, and open: ${isOpen}`;
    if ((endedAt === null) !== (status !== 'resolved')) yield `alert ${projectId}/${iid} ended at ${endedAt}`;
    if ((more['sent'] === undefined) === (rows.get(alertPayloadKey(projectId, iid)) === undefined))
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
