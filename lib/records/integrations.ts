/** Connections of projects, groups and the instance with other services: chats, trackers of issues, servers that build. */
import type { HookOwner } from './hooks.ts';

/** `system`: the instance. */
export type IntegrationOwner = HookOwner;

/** The switches of integrations, by the names of the REST API. */
export const INTEGRATION_SWITCHES = [
  'commit_events',
  'push_events',
  'issues_events',
  'confidential_issues_events',
  'merge_requests_events',
  'tag_push_events',
  'note_events',
  'confidential_note_events',
  'pipeline_events',
  'wiki_page_events',
  'job_events',
  'comment_on_event_enabled',
] as const;
export type IntegrationSwitch = (typeof INTEGRATION_SWITCHES)[number];

export type IntegrationValue = string | number | boolean | null;

/** How a project, a group or the instance uses another service. */
export interface IntegrationRecord {
  readonly id: number;
  readonly owner: IntegrationOwner;
  readonly slug: string;
  readonly active: boolean;
  /** It says nothing of its own: the settings of the nearest group above count, or else those of the instance. */
  readonly inherits: boolean;
  /** Switches that are off: all others are on. */
  readonly off: readonly IntegrationSwitch[];
  /** Values of the parameters that are no secrets; absent: not given. */
  readonly properties: Readonly<Record<string, IntegrationValue>>;
  /** Names of the parameters that are secrets of their own, for those that have a value. */
  readonly secrets: readonly string[];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}
