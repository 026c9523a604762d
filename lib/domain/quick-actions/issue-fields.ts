/** Quick actions that change fields of an issue. */

import { HEALTH_STATUSES, type IssueRecord, SEVERITIES, type Severity } from '../../records/issues.ts';
import { humanDuration, workingTime } from '../issues/durations.ts';
import { assignable } from '../issues/input.ts';
import { stateAfter } from '../issues/issues.ts';
import { epicsOf } from '../issues/related.ts';
import { sentence } from '../issues/system-notes.ts';
import { MAX_TIME, spendSeconds } from '../issues/time-tracking.ts';
import {
  epicIn,
  iterationIn,
  labelReference,
  labelsIn,
  milestoneIn,
  milestoneReference,
  usersIn,
} from './arguments.ts';
import { dayFrom } from './days.ts';
import { type Changes, notApplied } from './interpret.ts';
import {
  all,
  type IssueAction,
  type IssueContext,
  type IssueEffect,
  maySet,
  mayWrite,
  setting,
  stored,
} from './issue-action.ts';

const moving =
  (event: 'close' | 'reopen', summary: string): IssueAction['effect'] =>
  ({ deps, actor }) => ({
    summary,
    changes: () => ({ state_event: event }),
    fields: (before) => stateAfter(before, event, actor.user.id, deps.now()),
  });

const idsIn = (changes: Changes, name: string, otherwise: readonly number[] = []): readonly number[] =>
  (changes[name] as readonly number[] | undefined) ?? otherwise;
const union = (...ids: readonly (readonly number[])[]): number[] => [...new Set(ids.flat())];

const labelled = (labels: Parameters<typeof labelReference>[0][]): string =>
  `${labels.map(labelReference).join(' ')} ${labels.length === 1 ? 'label' : 'labels'}`;

const assigned = (before: IssueRecord | undefined): readonly number[] => before?.assigneeIds ?? [];

/** Assigns users to an issue, in addition to others or in their place. */
const assigning =
  (summaryOf: (names: string) => string, kept: (ids: readonly number[]) => readonly number[]) =>
  async ({ deps, actor, access, issue }: IssueContext, argument: string): Promise<IssueEffect> => {
    const named = await usersIn(deps, actor, argument);
    const users = await assignable(
      deps,
      access,
      named.map(({ id }) => id),
    );
    if (users.length === 0) return { summary: 'Failed to assign a user because no user was found.' };
    const ids = users.map(({ id }) => id);
    return {
      summary: summaryOf(sentence(users.map(({ username }) => `@${username}`))),
      changes: (soFar) => ({
        assignee_ids: union(kept(idsIn(soFar, 'assignee_ids', assigned(issue.stored))), ids),
      }),
      fields: ({ assigneeIds }) => ({ assigneeIds: union(kept(assigneeIds), ids) }),
    };
  };

const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' });

/** By severity: its name and its numbers, as people write them. */
const SEVERITY_WORDS: Readonly<Record<Severity, readonly string[]>> = {
  UNKNOWN: ['unknown', '0'],
  LOW: ['low', '4', 's4'],
  MEDIUM: ['medium', '3', 's3'],
  HIGH: ['high', '2', 's2'],
  CRITICAL: ['critical', '1', 's1'],
};

/** A day of work, of the past or today: `2026-11-23`, `26.11.23`. */
const SPENT_AT = /(?:^|\s)(\d{2,4})[-/.](\d{1,2})[-/.](\d{1,2})(?:\s|$)/;

/** Reads `1h 30m`, `-30m`, `2h 2026-11-23`. @returns undefined for no time, and for a day that is to come */
function spentIn(argument: string, now: Date): { readonly seconds: number; readonly at: string } | undefined {
  const [written, year, month, day] = SPENT_AT.exec(argument) ?? [];
  const seconds = workingTime(written === undefined ? argument : argument.replace(written, ' '));
  if (seconds === undefined || seconds === 0 || Math.abs(seconds) > MAX_TIME) return undefined;
  if (written === undefined) return { seconds, at: now.toISOString() };
  const date = dayFrom(`${year!.length === 2 ? '20' : ''}${year}-${month}-${day}`, now);
  if (date === undefined || date > now.toISOString().slice(0, 10)) return undefined;
  return { seconds, at: `${date}T12:00:00.000Z` };
}

const MAX_TITLE = 255;
const MAX_WEIGHT = 2_147_483_647;

export const FIELD_ACTIONS: readonly IssueAction[] = [
  {
    names: ['close'],
    applies: all(
      mayWrite,
      stored(({ state }) => state === 'opened'),
    ),
    effect: moving('close', 'Closed this issue.'),
  },
  {
    names: ['reopen'],
    applies: all(
      mayWrite,
      stored(({ state }) => state === 'closed'),
    ),
    effect: moving('reopen', 'Reopened this issue.'),
  },
  {
    names: ['title'],
    argument: 'needed',
    applies: mayWrite,
    effect: (_, title) =>
      [...title].length > MAX_TITLE
        ? { summary: notApplied('title') }
        : setting(['title', 'title'], title, `Changed the title to "${title}".`),
  },
  {
    names: ['label', 'labels'],
    argument: 'needed',
    applies: maySet,
    effect: async ({ deps, access }, argument) => {
      const labels = await labelsIn(deps, access, argument);
      const ids = labels.map(({ id }) => id);
      if (ids.length === 0) return undefined;
      return {
        summary: `Added ${labelled(labels)}.`,
        changes: (soFar) => ({ add_label_ids: union(idsIn(soFar, 'add_label_ids'), ids) }),
        fields: ({ labelIds }) => ({ labelIds: union(labelIds, ids) }),
      };
    },
  },
  {
    names: ['unlabel', 'remove_label', 'remove_labels'],
    applies: all(
      maySet,
      stored(({ labelIds }) => labelIds.length > 0),
    ),
    effect: async ({ deps, access }, argument) => {
      if (argument === '') return setting(['labelIds', 'label_ids'], [], 'Removed all labels.');
      const labels = await labelsIn(deps, access, argument);
      const ids = labels.map(({ id }) => id);
      if (ids.length === 0) return undefined;
      return {
        summary: `Removed ${labelled(labels)}.`,
        changes: (soFar) => ({ remove_label_ids: union(idsIn(soFar, 'remove_label_ids'), ids) }),
        fields: ({ labelIds }) => ({ labelIds: labelIds.filter((id) => !ids.includes(id)) }),
      };
    },
  },
  {
    names: ['relabel'],
    argument: 'needed',
    applies: all(
      maySet,
      stored(({ labelIds }) => labelIds.length > 0),
    ),
    effect: async ({ deps, access }, argument) => {
      const labels = await labelsIn(deps, access, argument);
      const ids = labels.map(({ id }) => id);
      if (ids.length === 0) return undefined;
      return setting(['labelIds', 'label_ids'], ids, `Replaced all labels with ${labelled(labels)}.`);
    },
  },
  {
    names: ['assign'],
    argument: 'needed',
    applies: maySet,
    effect: assigning(
      (names) => `Assigned ${names}.`,
      (ids) => ids,
    ),
  },
  {
    names: ['reassign'],
    argument: 'needed',
    applies: all(maySet, stored()),
    effect: assigning(
      () => 'Changed assignee(s).',
      () => [],
    ),
  },
  {
    names: ['unassign', 'remove_assignee'],
    applies: all(
      maySet,
      stored(({ assigneeIds }) => assigneeIds.length > 0),
    ),
    effect: async ({ deps, actor, issue }, argument) => {
      const named = await usersIn(deps, actor, argument);
      const users = (
        named.length > 0 ? named : await deps.store.users.getMany(assigned(issue.stored))
      ).filter((user) => user !== undefined);
      const ids = users.map(({ id }) => id);
      const names = sentence(users.map(({ username }) => `@${username}`));
      const left = (before: readonly number[]) =>
        named.length === 0 ? [] : before.filter((id) => !ids.includes(id));
      return {
        summary: `Removed ${users.length === 1 ? 'assignee' : 'assignees'} ${names}.`,
        changes: (soFar) => ({ assignee_ids: left(idsIn(soFar, 'assignee_ids', assigned(issue.stored))) }),
        fields: ({ assigneeIds }) => ({ assigneeIds: left(assigneeIds) }),
      };
    },
  },
  {
    names: ['milestone'],
    argument: 'needed',
    applies: maySet,
    effect: async ({ deps, access }, argument) => {
      const milestone = await milestoneIn(deps, access, argument);
      return (
        milestone &&
        setting(
          ['milestoneId', 'milestone_id'],
          milestone.id,
          `Set the milestone to ${milestoneReference(milestone)}.`,
        )
      );
    },
  },
  {
    names: ['remove_milestone'],
    applies: all(
      maySet,
      stored(({ milestoneId }) => milestoneId !== null),
    ),
    effect: async ({ deps, issue }) => {
      const milestone = await deps.store.milestones.get(issue.stored!.milestoneId!);
      const name = milestone === undefined ? '' : `${milestoneReference(milestone)} `;
      return setting(['milestoneId', 'milestone_id'], null, `Removed ${name}milestone.`);
    },
  },
  {
    names: ['epic'],
    argument: 'needed',
    applies: maySet,
    effect: async ({ deps, actor, access, issue }, argument) => {
      const epic = await epicIn(deps, actor, access, argument);
      if (epic === undefined)
        return { summary: "This epic does not exist or you don't have sufficient permission." };
      if (issue.stored?.epicId === epic.id)
        return { summary: `Issue #${issue.stored.iid} has already been added to epic &${epic.iid}.` };
      return setting(['epicId', 'epic_id'], epic.id, 'Added an issue to an epic.');
    },
  },
  {
    names: ['remove_epic'],
    applies: all(
      maySet,
      // Of a hidden epic the actor is not to know.
      async ({ deps, actor, issue: { stored: before } }) =>
        before !== undefined && (await epicsOf(deps, actor, [before])).size > 0,
    ),
    effect: () => setting(['epicId', 'epic_id'], null, 'Removed an issue from an epic.'),
  },
  {
    names: ['iteration'],
    argument: 'needed',
    applies: maySet,
    effect: async ({ deps, access }, argument) => {
      const id = await iterationIn(deps, access, argument);
      return id === undefined
        ? undefined
        : setting(['iterationId', 'iteration_id'], id, `Set the iteration to *iteration:${id}.`);
    },
  },
  {
    names: ['remove_iteration'],
    applies: all(
      maySet,
      stored(({ iterationId }) => iterationId !== null),
    ),
    effect: ({ issue }) =>
      setting(
        ['iterationId', 'iteration_id'],
        null,
        `Removed *iteration:${issue.stored!.iterationId} iteration.`,
      ),
  },
  {
    names: ['due'],
    argument: 'needed',
    applies: maySet,
    effect: ({ deps }, argument) => {
      const day = dayFrom(argument, deps.now());
      return day === undefined
        ? { summary: 'Failed to set due date because the date format is invalid.' }
        : setting(['dueDate', 'due_date'], day, `Set the due date to ${DAY.format(new Date(day))}.`);
    },
  },
  {
    names: ['remove_due_date'],
    applies: all(
      maySet,
      stored(({ dueDate }) => dueDate !== null),
    ),
    effect: () => setting(['dueDate', 'due_date'], null, 'Removed the due date.'),
  },
  {
    names: ['weight'],
    argument: 'needed',
    applies: maySet,
    effect: (_, argument) =>
      /^\d{1,10}$/.test(argument) && Number(argument) <= MAX_WEIGHT
        ? setting(['weight', 'weight'], Number(argument), `Set weight to ${Number(argument)}.`)
        : undefined,
  },
  {
    names: ['clear_weight'],
    applies: all(
      maySet,
      stored(({ weight }) => weight !== null),
    ),
    effect: () => setting(['weight', 'weight'], null, 'Cleared weight.'),
  },
  {
    names: ['health_status'],
    argument: 'needed',
    applies: maySet,
    effect: (_, argument) => {
      const status = HEALTH_STATUSES.find((each) => each === argument.toLowerCase().replaceAll(/[ -]/g, '_'));
      return status && setting(['healthStatus', 'health_status'], status, `Set health status to ${status}.`);
    },
  },
  {
    names: ['clear_health_status'],
    applies: all(
      maySet,
      stored(({ healthStatus }) => healthStatus !== null),
    ),
    effect: () => setting(['healthStatus', 'health_status'], null, 'Cleared health status.'),
  },
  {
    names: ['confidential'],
    // Whoever creates an issue decides whether it is confidential.
    applies: (context) =>
      !context.issue.confidential && (context.issue.stored === undefined || maySet(context)),
    effect: () => setting(['confidential', 'confidential'], true, 'Made this issue confidential.'),
  },
  {
    names: ['lock'],
    applies: all(
      maySet,
      stored(({ discussionLocked }) => discussionLocked !== true),
    ),
    effect: () => setting(['discussionLocked', 'discussion_locked'], true, 'Locked the discussion.'),
  },
  {
    names: ['unlock'],
    applies: all(
      maySet,
      stored(({ discussionLocked }) => discussionLocked === true),
    ),
    effect: () => setting(['discussionLocked', 'discussion_locked'], false, 'Unlocked the discussion.'),
  },
  {
    names: ['severity'],
    argument: 'needed',
    applies: (context) => maySet(context) && context.issue.type === 'incident',
    effect: (_, argument) => {
      const severity = SEVERITIES.find((each) => SEVERITY_WORDS[each].includes(argument.toLowerCase()));
      if (severity === undefined) return { summary: 'No severity matches the provided parameter' };
      const name = severity[0] + severity.slice(1).toLowerCase();
      return {
        summary: `Severity updated to ${name}.`,
        fields: () => ({ severity }),
      };
    },
  },
  {
    names: ['promote_to_incident'],
    applies: all(
      maySet,
      stored(({ type }) => type !== 'incident'),
    ),
    effect: () => setting(['type', 'issue_type'], 'incident', 'Issue has been promoted to incident'),
  },
  {
    names: ['estimate', 'estimate_time'],
    argument: 'needed',
    applies: maySet,
    effect: (_, argument) => {
      const seconds = workingTime(argument);
      if (seconds === undefined || seconds < 0 || seconds > MAX_TIME) return undefined;
      const span = humanDuration(seconds);
      return setting(
        ['timeEstimate', 'time_estimate'],
        seconds,
        span === null ? 'Removed time estimate.' : `Set time estimate to ${span}.`,
      );
    },
  },
  {
    names: ['remove_estimate', 'remove_time_estimate'],
    applies: all(maySet, stored()),
    effect: () => setting(['timeEstimate', 'time_estimate'], 0, 'Removed time estimate.'),
  },
  {
    names: ['spend', 'spent', 'spend_time'],
    argument: 'needed',
    applies: maySet,
    effect: ({ deps, actor, issue }, argument) => {
      const spent = spentIn(argument, deps.now());
      if (spent === undefined) return undefined;
      const { seconds, at } = spent;
      const total = (issue.stored?.timeSpent ?? 0) + seconds;
      if (total < 0 || total > MAX_TIME) return { summary: notApplied('spend') };
      const [did, span] = [seconds > 0 ? 'Added' : 'Subtracted', humanDuration(Math.abs(seconds))];
      return {
        summary: `${did} ${span} spent time.`,
        changes: () => ({ spend_time: { duration: seconds, user_id: actor.user.id, spent_at: at } }),
        fields: spendSeconds(seconds),
      };
    },
  },
  {
    names: ['remove_time_spent'],
    applies: all(maySet, stored()),
    effect: ({ actor }) => ({
      summary: 'Removed spent time.',
      changes: () => ({ spend_time: { duration: 'reset', user_id: actor.user.id } }),
      fields: () => ({ timeSpent: 0 }),
    }),
  },
];
