import type { StoredText } from './texts.ts';

export const ALERT_INTEGRATION_TYPES = ['http', 'prometheus'] as const;
export type AlertIntegrationType = (typeof ALERT_INTEGRATION_TYPES)[number];

/** Fields of an alert that an integration may take from elsewhere in what it is sent. */
export const MAPPED_FIELDS = [
  'title',
  'description',
  'start_time',
  'end_time',
  'monitoring_tool',
  'service',
  'severity',
  'hosts',
  'fingerprint',
  'gitlab_environment_name',
] as const;
export type MappedField = (typeof MAPPED_FIELDS)[number];

/** Where fields are: names of members, and places in lists. */
export type AlertMapping = Readonly<Partial<Record<MappedField, readonly (string | number)[]>>>;

/** What an alert leads to, beside being noted. */
export interface AlertConsequences {
  /** A new alert opens an incident. */
  readonly createIssue: boolean;
  /** An alert that ends closes the incident that it opened. */
  readonly autoCloseIncident: boolean;
  /** New alerts, and those that end, are told to the Maintainers and Owners of the project. */
  readonly sendEmail: boolean;
}

/** As the product begins. */
export const ALERT_CONSEQUENCES: AlertConsequences = {
  createIssue: false,
  autoCloseIncident: true,
  sendEmail: false,
};

/** A monitoring tool that may send alerts to a project. */
export interface AlertIntegration {
  readonly id: number;
  readonly projectId: number;
  readonly name: string;
  readonly type: AlertIntegrationType;
  readonly active: boolean;
  /** Names it in its address: 16 hexadecimal digits. */
  readonly endpoint: string;
  /** SHA-256 of its key, which is shown once. */
  readonly keyHash: string;
  readonly mapping: AlertMapping;
  /** What alerts lead to; records of earlier releases have none of these. */
  readonly incidents?: AlertConsequences;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}

export const ALERT_STATUSES = ['triggered', 'acknowledged', 'resolved', 'ignored'] as const;
export type AlertStatus = (typeof ALERT_STATUSES)[number];

export const ALERT_SEVERITIES = ['critical', 'high', 'medium', 'low', 'info', 'unknown'] as const;
export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

/** What a tool says of an alert. */
export interface SentAlert {
  readonly title: string;
  readonly description: string | null;
  readonly service: string | null;
  readonly monitoringTool: string | null;
  readonly hosts: readonly string[];
  readonly severity: AlertSeverity;
  readonly environment: string | null;
  /** SHA-1 of what makes alerts one. */
  readonly fingerprint: string;
  readonly startedAt: string;
  /** Null: it goes on. */
  readonly endedAt: string | null;
}

/** Alerts of one cause, until they are resolved. */
export interface AlertRecord extends SentAlert {
  /** Its number in the project. */
  readonly iid: number;
  readonly projectId: number;
  readonly integrationId: number;
  readonly status: AlertStatus;
  /** How often it was sent. */
  readonly events: number;
  /** How often it was sent again, and when last, when its cause led to a later alert. */
  readonly more?: number;
  readonly lastAt?: string;
  /** Who looks after it; absent: nobody. */
  readonly assigneeIds?: readonly number[];
  /** The number of the incident that it opened; absent: none. */
  readonly issueIid?: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** An alert with all that was sent, as JSON. */
export interface NewAlert extends SentAlert {
  readonly payload: StoredText;
}
