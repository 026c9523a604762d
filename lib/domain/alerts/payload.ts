/** Reads what monitoring tools send. All of it may be of any type. */

import { createHash } from 'node:crypto';
import {
  ALERT_SEVERITIES,
  type AlertMapping,
  type AlertSeverity,
  type MappedField,
  type SentAlert,
} from '../../records/alerts.ts';

export type Payload = Readonly<Record<string, unknown>>;

/** Characters of what is kept of each. */
const LENGTHS = { title: 200, description: 1_000, service: 100, monitoring_tool: 100, environment: 255 };
/** Characters of all hosts together. */
const MAX_HOSTS = 255;
const UNTITLED = 'New: Alert';
/** Alerts of one message of Prometheus; the product looks at as many. */
const MAX_GROUPED = 100;

/** What Prometheus' Alertmanager sends, version 4 of it. */
const PROMETHEUS = [
  ...['version', 'groupKey', 'status', 'receiver', 'groupLabels', 'commonLabels', 'commonAnnotations'],
  ...['externalURL', 'alerts'],
];

export const isOfPrometheus = (payload: Payload): boolean =>
  payload['version'] === '4' && PROMETHEUS.every((name) => Object.hasOwn(payload, name));

/** The alerts of a message of Prometheus, each as it is told there. */
export const groupedAlerts = ({ alerts }: Payload): Payload[] =>
  Array.isArray(alerts) ? alerts.slice(0, MAX_GROUPED).filter(isObject) : [];

/** An alert of Prometheus: its words are in labels and annotations. */
export function prometheusAlert(alert: Payload, now: Date): SentAlert {
  const labels = isObject(alert['labels']) ? alert['labels'] : {};
  const annotations = isObject(alert['annotations']) ? alert['annotations'] : {};
  const title = annotations['title'] ?? annotations['summary'] ?? labels['alertname'];
  const resolved = alert['status'] === 'resolved';
  return {
    title: text(title, LENGTHS.title) ?? UNTITLED,
    description: text(annotations['description'], LENGTHS.description) ?? null,
    service: text(labels['service'], LENGTHS.service) ?? null,
    monitoringTool: 'Prometheus',
    hosts: hostsOf(labels['instance']),
    severity: severityOf(labels['severity']),
    environment: text(labels['gitlab_environment_name'], LENGTHS.environment) ?? null,
    fingerprint: digest(text(alert['fingerprint'], 1_000) ?? sorted(labels)),
    startedAt: (timeOf(alert['startsAt']) ?? now).toISOString(),
    endedAt: resolved ? (timeOf(alert['endsAt']) ?? now).toISOString() : null,
  };
}

/** An alert of any other tool. */
export function genericAlert(payload: Payload, mapping: AlertMapping, now: Date): SentAlert {
  const field = (name: MappedField): unknown => {
    const path = mapping[name];
    const mapped = path === undefined ? undefined : at(payload, path);
    return mapped ?? payload[name];
  };
  const ended = timeOf(field('end_time'));
  const environment = field('gitlab_environment_name') ?? payload['service_environment_name'];
  return {
    title: text(field('title'), LENGTHS.title) ?? UNTITLED,
    description: text(field('description'), LENGTHS.description) ?? null,
    service: text(field('service'), LENGTHS.service) ?? null,
    monitoringTool: text(field('monitoring_tool'), LENGTHS.monitoring_tool) ?? null,
    hosts: hostsOf(field('hosts')),
    severity: severityOf(field('severity')),
    environment: text(environment, LENGTHS.environment) ?? null,
    fingerprint: fingerprintOf(field('fingerprint'), payload),
    startedAt: (timeOf(field('start_time')) ?? now).toISOString(),
    endedAt: ended?.toISOString() ?? null,
  };
}

/** Without one, alerts are one that tell the same, but for when and where. */
function fingerprintOf(given: unknown, payload: Payload): string {
  const parts = (Array.isArray(given) ? given : [given]).flatMap((each: unknown) => text(each, 10_000) ?? []);
  if (parts.length > 0) return digest(parts.join(''));
  const { start_time: _s, end_time: _e, hosts: _h, ...rest } = payload;
  return digest(sorted(rest));
}

const digest = (value: string): string => createHash('sha1').update(value).digest('hex');

/** JSON that does not depend on the order of members. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );

function at(payload: unknown, path: readonly (string | number)[]): unknown {
  let value = payload;
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)];
    else if (isObject(value) && Object.hasOwn(value, String(step))) value = value[String(step)];
    else return undefined;
  }
  return value;
}

function severityOf(given: unknown): AlertSeverity {
  const word = text(given, 20)?.toLowerCase();
  return ALERT_SEVERITIES.find((severity) => severity === word) ?? 'critical';
}

/** As many hosts as fit. */
function hostsOf(given: unknown): string[] {
  const hosts: string[] = [];
  let room = MAX_HOSTS;
  for (const each of (Array.isArray(given) ? given : [given]) as unknown[]) {
    const host = text(each, Math.max(0, room));
    if (host === undefined) continue;
    hosts.push(host);
    room -= host.length + 1;
    if (room <= 0) break;
  }
  return hosts;
}

/** A time, in seconds since 1970 or as a text; a year that no clock shows is none. */
function timeOf(given: unknown): Date | undefined {
  const ms =
    typeof given === 'number' ? given * 1000 : typeof given === 'string' ? Date.parse(given) : Number.NaN;
  return ms > 0 && ms < Date.UTC(10_000, 0) ? new Date(ms) : undefined;
}

/** A text that is not blank, cut. Numbers are texts, and so is a list of them; an object is as JSON. */
function text(value: unknown, length: number): string | undefined {
  if (value === undefined || value === null) return undefined;
  const whole =
    typeof value !== 'object'
      ? String(value)
      : Array.isArray(value)
        ? value.filter((each: unknown) => each !== null && typeof each !== 'object').join(', ')
        : JSON.stringify(value);
  const cut = whole.slice(0, length).trim();
  return cut === '' ? undefined : cut;
}

const isObject = (value: unknown): value is Payload =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
