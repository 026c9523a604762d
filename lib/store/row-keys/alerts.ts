import { type Key, padded } from './key.ts';
import type { RowKind } from './row-kind.ts';

export const alertIntegrationsPartition = (projectId: number): string =>
  `ALERTINTEGRATIONS#${padded(projectId)}`;

export const ALERT_INTEGRATION_PREFIX = 'ID#';

/** A tool that may send alerts; in the order of ids. */
export const alertIntegrationKey = (projectId: number, id: number): Key => ({
  pk: alertIntegrationsPartition(projectId),
  sk: `${ALERT_INTEGRATION_PREFIX}${padded(id)}`,
});

/** How many integrations there are. */
export const alertIntegrationCountKey = (projectId: number): Key => ({
  pk: alertIntegrationsPartition(projectId),
  sk: 'COUNT',
});

/** What a request that names an endpoint is checked against. */
export const alertEndpointKey = (endpoint: string): Key => ({
  pk: `ALERTENDPOINT#${endpoint}`,
  sk: 'ENDPOINT',
});

/** The same for a request that names none, by the hash of its key. */
export const alertKeyKey = (hash: string): Key => ({ pk: `ALERTKEY#${hash}`, sk: 'KEY' });

export const alertsPartition = (projectId: number): string => `ALERTS#${padded(projectId)}`;

export const ALERT_PREFIX = 'ALERT#';

/** An alert; in the order of numbers. */
export const alertKey = (projectId: number, iid: number): Key => ({
  pk: alertsPartition(projectId),
  sk: `${ALERT_PREFIX}${padded(iid)}`,
});

/** What was sent of an alert. */
export const alertPayloadKey = (projectId: number, iid: number): Key => ({
  pk: alertsPartition(projectId),
  sk: `PAYLOAD#${padded(iid)}`,
});

/** How often an alert of an earlier release was sent again. */
export const alertTallyKey = (projectId: number, iid: number): Key => ({
  pk: alertsPartition(projectId),
  sk: `TALLY#${padded(iid)}`,
});

export const ALERT_CAUSE_PREFIX = 'OPEN#';

/** Leads from a fingerprint to its last alert, and counts it. A row of its own: it is changed often, and small. */
export const alertCauseKey = (projectId: number, fingerprint: string): Key => ({
  pk: alertsPartition(projectId),
  sk: `${ALERT_CAUSE_PREFIX}${fingerprint}`,
});

/** The last number given. */
export const alertCountKey = (projectId: number): Key => ({ pk: alertsPartition(projectId), sk: 'COUNT' });

const of = ['project'] as const;

export const rowKinds = [
  { name: 'alert-integration', partitions: ['ALERTINTEGRATIONS#'], keys: { alertIntegrationKey }, of },
  {
    name: 'alert-integration-count',
    partitions: ['ALERTINTEGRATIONS#'],
    keys: { alertIntegrationCountKey },
    of,
  },
  { name: 'alert-endpoint', partitions: ['ALERTENDPOINT#'], keys: { alertEndpointKey }, of },
  { name: 'alert-key', partitions: ['ALERTKEY#'], keys: { alertKeyKey }, of },
  { name: 'alert', partitions: ['ALERTS#'], keys: { alertKey }, of },
  { name: 'alert-payload', partitions: ['ALERTS#'], keys: { alertPayloadKey }, of },
  { name: 'alert-tally', partitions: ['ALERTS#'], keys: { alertTallyKey }, of },
  { name: 'alert-cause', partitions: ['ALERTS#'], keys: { alertCauseKey }, of },
  { name: 'alert-count', partitions: ['ALERTS#'], keys: { alertCountKey }, of },
] as const satisfies readonly RowKind[];
