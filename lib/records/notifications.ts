import type { LongText } from './texts.ts';

/** How much mail a user gets; `global`: the level set on the nearest group above, else the user's global level. */
export const NOTIFICATION_LEVELS = [
  'disabled',
  'participating',
  'watch',
  'global',
  'mention',
  'custom',
] as const;

export type NotificationLevel = (typeof NOTIFICATION_LEVELS)[number];

/** Events that mail is sent for. */
export const NOTIFICATION_EVENTS = [
  'new_release',
  'new_note',
  'new_issue',
  'reopen_issue',
  'close_issue',
  'reassign_issue',
  'issue_due',
  'new_merge_request',
  'push_to_merge_request',
  'reopen_merge_request',
  'close_merge_request',
  'reassign_merge_request',
  'change_reviewer_merge_request',
  'merge_merge_request',
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'moved_project',
  'merge_when_pipeline_succeeds',
  'new_epic',
] as const;

export type NotificationEvent = (typeof NOTIFICATION_EVENTS)[number];

/** A user's notification setting for one project or group, or globally; absent fields were never set. */
export interface NotificationChoice {
  readonly level?: NotificationLevel;
  readonly events: Readonly<Partial<Record<NotificationEvent, boolean>>>;
  /** Address that mail is sent to; null: the primary one. Only in the global setting. */
  readonly email?: string | null;
}

/**
 * Whom a text mentioned that another text replaces: their names; or the long text itself, for a worker to read, which
 * stays for some minutes.
 */
export type FormerMentions = readonly string[] | LongText;
