/**
 * Who is sent mail of an event, and why: one person at a time, by what they are to it and what they chose. It knows
 * nothing of where people are found, of what they may see, nor of addresses.
 */
import type { NotificationEvent } from '../../records/notifications.ts';
import type { EffectiveSetting } from './levels.ts';

/** What somebody is to the event and to what it is about. */
export type Relation =
  /** Did it. */
  | 'actor'
  /** Of the issue, the merge request, the commit, the pipeline. */
  | 'author'
  | 'assignee'
  | 'former_assignee'
  | 'reviewer'
  | 'former_reviewer'
  /** Wrote about it before, or was called there. */
  | 'participant'
  /** Is called in the text that is new. */
  | 'mentioned'
  /** Asked for mail of this very thing, or for no more of it. */
  | 'subscribed'
  | 'unsubscribed'
  /** Of the project. */
  | 'member';

/** Why somebody is sent mail; the first five are those that mail filters know. */
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

/** Whom an event concerns beside those who watch. */
interface EventRule {
  /** `thread`: who takes part, then who watches. `involved`: who takes part, and who chose it. */
  readonly of: 'thread' | 'involved' | 'pipeline' | 'members' | 'releases';
  /** Relations that count like being called by name. */
  readonly calls?: readonly Relation[];
}

const CALLED = ['mentioned'] as const;
const ASSIGNED = ['assignee', 'former_assignee'] as const;
const REVIEWING = ['reviewer', 'former_reviewer'] as const;

const RULES: Readonly<Record<NotificationEvent, EventRule>> = {
  new_note: { of: 'thread', calls: CALLED },
  new_issue: { of: 'thread', calls: CALLED },
  close_issue: { of: 'thread' },
  reopen_issue: { of: 'thread' },
  reassign_issue: { of: 'thread', calls: ASSIGNED },
  issue_due: { of: 'involved' },
  new_merge_request: { of: 'thread', calls: CALLED },
  push_to_merge_request: { of: 'involved' },
  close_merge_request: { of: 'thread' },
  reopen_merge_request: { of: 'thread' },
  merge_merge_request: { of: 'thread' },
  merge_when_pipeline_succeeds: { of: 'thread' },
  reassign_merge_request: { of: 'thread', calls: ASSIGNED },
  change_reviewer_merge_request: { of: 'thread', calls: REVIEWING },
  new_epic: { of: 'thread', calls: CALLED },
  failed_pipeline: { of: 'pipeline' },
  fixed_pipeline: { of: 'pipeline' },
  success_pipeline: { of: 'pipeline' },
  moved_project: { of: 'members' },
  new_release: { of: 'releases' },
};

export interface Candidate {
  readonly relations: ReadonlySet<Relation>;
  /** What they chose for where it happened. */
  readonly setting: EffectiveSetting;
  /** Whether they want mail of what they do themselves. */
  readonly ownActivity?: boolean;
}

/** @returns why they are sent mail; undefined: they are not */
export function reasonToMail(
  event: NotificationEvent,
  { relations, setting, ownActivity = false }: Candidate,
): Reason | undefined {
  if (setting.level === 'disabled') return undefined;
  // Nobody does that an issue is due; everything else its author knows already.
  const own = relations.has('actor') && event !== 'issue_due';
  if (own && !ownActivity) return undefined;
  const reason = REACHED[RULES[event].of](event, relations, setting);
  return reason !== undefined && own ? 'own_activity' : reason;
}

type Reached = (
  event: NotificationEvent,
  relations: ReadonlySet<Relation>,
  setting: EffectiveSetting,
) => Reason | undefined;

const chose = (event: NotificationEvent, { level, events }: EffectiveSetting): boolean =>
  level === 'custom' && events[event];

const REACHED: Readonly<Record<EventRule['of'], Reached>> = {
  thread: (event, relations, setting) =>
    inThread(event, relations, setting) ??
    (relations.has('unsubscribed') ? undefined : hearingAll(event, setting)),
  involved: (event, relations, setting) =>
    inThread(event, relations, setting) ??
    (chose(event, setting) && !relations.has('unsubscribed') ? 'custom' : undefined),
  // Its author, as far as they want to hear; that all went well is for those who chose so.
  pipeline: (event, relations, { level, events }) => {
    if (!relations.has('author') || level === 'mention') return undefined;
    const wanted = level === 'custom' ? events[event] : event !== 'success_pipeline';
    return wanted ? 'author' : undefined;
  },
  members: (event, relations, { level, events }) =>
    relations.has('member') && (level !== 'custom' || events[event]) ? 'member' : undefined,
  releases: (event, relations, setting) => (relations.has('member') ? hearingAll(event, setting) : undefined),
};

/** Who watches hears of everything, others of what they chose. */
function hearingAll(event: NotificationEvent, setting: EffectiveSetting): Reason | undefined {
  if (setting.level === 'watch') return 'watching';
  return chose(event, setting) ? 'custom' : undefined;
}

/** Who is called hears of it however they left; who takes part, unless they asked to hear no more, or of calls alone. */
function inThread(
  event: NotificationEvent,
  relations: ReadonlySet<Relation>,
  { level }: EffectiveSetting,
): Reason | undefined {
  const called = RULES[event].calls?.some((relation) => relations.has(relation)) === true;
  if (called) return whyInvolved(relations);
  if (relations.has('unsubscribed')) return undefined;
  if (level !== 'mention' && INVOLVED.some((relation) => relations.has(relation)))
    return whyInvolved(relations);
  return relations.has('subscribed') ? 'subscribed' : undefined;
}

const INVOLVED = ['author', 'assignee', 'reviewer', 'mentioned', 'participant'] as const;

function whyInvolved(relations: ReadonlySet<Relation>): Reason {
  if (relations.has('assignee')) return 'assigned';
  if (relations.has('reviewer')) return 'review_requested';
  if (relations.has('mentioned')) return 'mentioned';
  if (relations.has('subscribed')) return 'subscribed';
  return relations.has('author') ? 'author' : 'participating';
}
