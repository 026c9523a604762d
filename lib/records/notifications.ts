/** How much mail somebody wants; `global`: as the groups above say, then as it is for everything else. */
export const NOTIFICATION_LEVELS = [
  'disabled',
  'participating',
  'watch',
  'global',
  'mention',
  'custom',
] as const;

export type NotificationLevel = (typeof NOTIFICATION_LEVELS)[number];

/** What mail may be about. */
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

/** What somebody chose; what is absent they never did. */
export interface NotificationChoice {
  readonly level?: NotificationLevel;
  readonly events: Readonly<Partial<Record<NotificationEvent, boolean>>>;
  /** Where mail goes; null: to the first address. Of the choice for everything alone. */
  readonly email?: string | null;
}
