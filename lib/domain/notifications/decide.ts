/**
 * Decides whether one person is sent mail about an event, and why: by their relations to it and their notification
 * settings. Finding candidates, checking access and choosing addresses happen elsewhere.
 */
import { NOTIFICATION_EVENTS, type NotificationEvent } from '../../records/notifications.ts';
import type { EffectiveSetting } from './levels.ts';

/** What mail is sent about: the events that users choose from, and changes of issues, merge requests and epics that nobody chooses. */
export const MAIL_EVENTS = [
  ...NOTIFICATION_EVENTS,
  'mention_in_issue',
  'relabel_issue',
  'change_milestone_of_issue',
  'move_issue',
  'mention_in_merge_request',
  'relabel_merge_request',
  'change_milestone_of_merge_request',
  'approve_merge_request',
  'unapprove_merge_request',
  'resolve_all_discussions',
  'close_epic',
  'reopen_epic',
  'alert',
] as const;
export type MailEvent = (typeof MAIL_EVENTS)[number];

/** Relation of a user to the event or to its subject. */
export type Relation =
  /** Caused the event. */
  | 'actor'
  /** Of the issue, the merge request, the commit, the pipeline. */
  | 'author'
  | 'assignee'
  | 'former_assignee'
  | 'reviewer'
  | 'former_reviewer'
  /** Commented on it before, or was mentioned there. */
  | 'participant'
  /** Is mentioned in the new text. */
  | 'mentioned'
  /** Subscribed to or unsubscribed from this subject explicitly; subscribed to a label that it was given. */
  | 'subscribed'
  | 'unsubscribed'
  /** A member of the project. */
  | 'member';

/** Reasons to send mail. The first five are those of the original product, which mail filters know. */
const REASONS = [
  'own_activity',
  'assigned',
  'review_requested',
  'mentioned',
  'subscribed',
  'author',
  'participating',
  'member',
  'asked',
  'watching',
  'custom',
] as const;
export type Reason = (typeof REASONS)[number];

/** Whom an event concerns besides those who watch. */
interface EventRule {
  /** `thread`: participants, then watchers. `involved`: participants, and users who chose the event. */
  readonly of: 'thread' | 'involved' | 'mentioned' | 'subscribers' | 'pipeline' | 'members' | 'releases';
  /** Relations that count as a mention. */
  readonly calls?: readonly Relation[];
}

const MENTIONED = ['mentioned'] as const;
const ASSIGNED = ['assignee', 'former_assignee'] as const;
const REVIEWING = ['reviewer', 'former_reviewer'] as const;

const RULES: Readonly<Record<MailEvent, EventRule>> = {
  new_note: { of: 'thread', calls: MENTIONED },
  new_issue: { of: 'thread', calls: MENTIONED },
  close_issue: { of: 'thread' },
  reopen_issue: { of: 'thread' },
  reassign_issue: { of: 'thread', calls: ASSIGNED },
  issue_due: { of: 'involved' },
  mention_in_issue: { of: 'mentioned', calls: MENTIONED },
  relabel_issue: { of: 'subscribers' },
  change_milestone_of_issue: { of: 'thread' },
  move_issue: { of: 'thread' },
  new_merge_request: { of: 'thread', calls: MENTIONED },
  push_to_merge_request: { of: 'involved' },
  close_merge_request: { of: 'thread' },
  reopen_merge_request: { of: 'thread' },
  merge_merge_request: { of: 'thread' },
  merge_when_pipeline_succeeds: { of: 'thread' },
  reassign_merge_request: { of: 'thread', calls: ASSIGNED },
  change_reviewer_merge_request: { of: 'thread', calls: REVIEWING },
  mention_in_merge_request: { of: 'mentioned', calls: MENTIONED },
  relabel_merge_request: { of: 'subscribers' },
  change_milestone_of_merge_request: { of: 'thread' },
  approve_merge_request: { of: 'thread' },
  unapprove_merge_request: { of: 'thread' },
  resolve_all_discussions: { of: 'thread' },
  new_epic: { of: 'thread', calls: MENTIONED },
  close_epic: { of: 'thread' },
  reopen_epic: { of: 'thread' },
  failed_pipeline: { of: 'pipeline' },
  fixed_pipeline: { of: 'pipeline' },
  success_pipeline: { of: 'pipeline' },
  moved_project: { of: 'members' },
  alert: { of: 'members' },
  new_release: { of: 'releases' },
};

export interface Candidate {
  readonly relations: ReadonlySet<Relation>;
  /** The effective setting for the project or group of the event. */
  readonly setting: EffectiveSetting;
  /** Whether they want mail about their own activity. */
  readonly ownActivity?: boolean;
}

/** @returns why they are sent mail, or undefined when they are not */
export function reasonToMail(
  event: MailEvent,
  { relations, setting, ownActivity = false }: Candidate,
): Reason | undefined {
  if (setting.level === 'disabled') return undefined;
  // A due date has no actor; any other event is known to the user who caused it.
  const isActor = relations.has('actor') && event !== 'issue_due';
  if (isActor && !ownActivity) return undefined;
  const reason = REASON_BY_RULE[RULES[event].of](event, relations, setting);
  return reason !== undefined && isActor ? 'own_activity' : reason;
}

type ReasonRule = (
  event: MailEvent,
  relations: ReadonlySet<Relation>,
  setting: EffectiveSetting,
) => Reason | undefined;

const choseEvent = (event: MailEvent, { level, events }: EffectiveSetting): boolean =>
  level === 'custom' && isChoice(event) && events[event];

const isChoice = (event: MailEvent): event is NotificationEvent =>
  (NOTIFICATION_EVENTS as readonly string[]).includes(event);

const REASON_BY_RULE: Readonly<Record<EventRule['of'], ReasonRule>> = {
  thread: (event, relations, setting) =>
    threadReason(event, relations, setting) ??
    (relations.has('unsubscribed') ? undefined : watchingReason(event, setting)),
  involved: (event, relations, setting) =>
    threadReason(event, relations, setting) ??
    (choseEvent(event, setting) && !relations.has('unsubscribed') ? 'custom' : undefined),
  mentioned: (event, relations, setting) =>
    relations.has('mentioned') ? threadReason(event, relations, setting) : undefined,
  subscribers: (_event, relations) =>
    relations.has('subscribed') && !relations.has('unsubscribed') ? 'subscribed' : undefined,
  // Success is mailed only to authors who chose that event.
  pipeline: (event, relations, setting) => {
    if (!relations.has('author') || setting.level === 'mention') return undefined;
    const wanted = setting.level === 'custom' ? choseEvent(event, setting) : event !== 'success_pipeline';
    return wanted ? 'author' : undefined;
  },
  members: (event, relations, setting) =>
    relations.has('member') && (setting.level !== 'custom' || choseEvent(event, setting))
      ? 'member'
      : undefined,
  releases: (event, relations, setting) =>
    relations.has('member') ? watchingReason(event, setting) : undefined,
};

/** Watchers receive every event, others the events they chose. */
function watchingReason(event: MailEvent, setting: EffectiveSetting): Reason | undefined {
  if (setting.level === 'watch') return 'watching';
  return choseEvent(event, setting) ? 'custom' : undefined;
}

/** Mentioned users receive mail even after unsubscribing; participants unless they unsubscribed or chose mentions only. */
function threadReason(
  event: MailEvent,
  relations: ReadonlySet<Relation>,
  { level }: EffectiveSetting,
): Reason | undefined {
  const mentioned = RULES[event].calls?.some((relation) => relations.has(relation)) === true;
  if (mentioned) return involvementReason(relations);
  if (relations.has('unsubscribed')) return undefined;
  if (level !== 'mention' && INVOLVED.some((relation) => relations.has(relation)))
    return involvementReason(relations);
  return relations.has('subscribed') ? 'subscribed' : undefined;
}

const INVOLVED = ['author', 'assignee', 'reviewer', 'mentioned', 'participant'] as const;

function involvementReason(relations: ReadonlySet<Relation>): Reason {
  if (relations.has('assignee')) return 'assigned';
  if (relations.has('reviewer')) return 'review_requested';
  if (relations.has('mentioned')) return 'mentioned';
  if (relations.has('subscribed')) return 'subscribed';
  return relations.has('author') ? 'author' : 'participating';
}
